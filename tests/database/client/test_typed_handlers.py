"""Handlers with typed parameters: scheduled, moved, found and run with what they declare, in every shape and mode."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.db import transaction

from django_punctual import InvalidTask, Operator, Outcome, ensure, find, handler, reschedule, schedule, schedule_many
from django_punctual.jobs import JobRequest, create_job, trigger_job
from tasks_app.core.errors import InvalidConfiguration
from tasks_app.core.handlers import REGISTRY
from tests.support.api import Api
from tests.support.engine import row, run_due
from tests.support.testapp import typed
from tests.support.testapp.models import Counter
from tests.support.testapp.typed import SEEN, Letter, Mail, Parcel, Tick, Weigh

pytestmark = pytest.mark.django_db(transaction=True)
AT = datetime(2035, 3, 1, 9, tzinfo=UTC)


def test_arguments_are_stored_as_json_and_built_when_the_handler_runs():
    planned = typed.send.schedule(5, Decimal("9.90"), key="a")

    assert row(planned.task_id).payload == {"order_id": 5, "at_most": "9.90"}
    run_due()
    assert [(5, Decimal("9.90"))] == SEEN
    assert row(planned.task_id).status == "SUCCESS"


def test_a_typed_handler_may_take_the_task_as_well():
    typed.both.schedule(5, loud=True)

    run_due()
    assert SEEN == [("5", 1, 5, True)]


@pytest.mark.parametrize(
    ("plan", "seen"),
    [
        (lambda: typed.ship.schedule(Parcel(1, Decimal("2.5"), AT)), [Parcel(1, Decimal("2.5"), AT)]),
        (lambda: typed.post.schedule(Letter(to="a")), [Letter(to="a")]),
        (lambda: typed.sweep.schedule(), ["swept"]),
        (lambda: typed.double.schedule(4), [("4", 8)]),
        (lambda: Mail.schedule("a@b", 2), [("TYPED_MAIL", "a@b", "a@b", 2)]),
        (lambda: Weigh.schedule(Parcel(1, Decimal("2"))), [("TYPED_WEIGH", '{"order":1,"weight":"2"}', Decimal(4))]),
        (lambda: Tick.schedule(), [("TYPED_TICK", "-")]),
        (lambda: typed.plain.schedule("a", payload={"x": 1}), [{"x": 1}]),
    ],
)
def test_every_shape_of_a_handler_runs_with_what_was_scheduled(plan, seen):
    planned = plan()

    run_due()
    assert seen == SEEN
    assert row(planned.task_id).status == "SUCCESS", row(planned.task_id).error_msg


def test_a_class_has_its_options_as_attributes():
    declared = REGISTRY.get("TYPED_MAIL")

    assert (declared.timeout, declared.lane, declared.max_retry) == (7.0, "high", 1)
    assert REGISTRY.get("TYPED_WEIGH").is_async
    assert Mail.key("a@b") == "a@b"
    assert row(Mail.options(lane="low").schedule("a@b").task_id).lane == "low"
    assert Mail.find("a@b").key == "a@b"
    assert Mail.reschedule("a@b", at=AT).outcome == Outcome.UPDATED
    assert Mail.ensure("c@d", at=AT).outcome == Outcome.CREATED
    assert Mail.cancel("a@b", reason="a test").task_id
    assert len(Mail.schedule_many([Mail.args("e"), Mail.args("f", copies=3)], at=AT)) == 2


def test_a_class_that_can_not_be_a_handler_is_refused():
    with pytest.raises(InvalidConfiguration, match=r"has no method run\(self, ...\)"):
        type("Idle", (typed.BaseHandler,), {"type": "TYPED_X"})
    with pytest.raises(InvalidConfiguration, match=r"timout is not an option\. Did you mean 'timeout'"):
        type("Typo", (Mail,), {"type": "TYPED_X", "timout": 5})
    with pytest.raises(InvalidConfiguration, match=r"is the task; a function has it first, a class as self\.task"):
        _class_with_task()
    with pytest.raises(InvalidConfiguration, match="batch=True makes one call for many tasks"):
        type("Batch", (Mail,), {"type": "TYPED_X", "batch": True})
    with pytest.raises(InvalidConfiguration, match="Counted has no type of its own"):
        typed.Counted.schedule()
    assert REGISTRY.get("TYPED_X") is None


def _class_with_task() -> None:
    class Both(typed.BaseHandler):
        type = "TYPED_X"

        def run(self, task: typed.Task) -> None: ...


def test_a_direct_call_is_the_function_itself():
    assert typed.send(5) == "sent 5"
    assert typed.send.__name__ == "send"
    assert REGISTRY.get("TYPED_SEND").call is not typed.send
    assert [(5, Decimal("10"))] == SEEN


def test_options_may_follow_the_arguments_or_come_before_them():
    after = typed.send.schedule(5, at=AT, lane="high", max_retry=2)
    before = typed.send.options(at=AT, lane="high", max_retry=2).schedule(order_id=6)

    for one in (after, before):
        found = row(one.task_id)
        assert (found.due_at, found.lane, found.max_retry) == (AT, "high", 2)


def test_a_parameter_that_is_called_as_an_option_is_the_handlers_own():
    planned = typed.remind.options(delay=3600, key="mine").schedule(at=AT, key="theirs")

    found = row(planned.task_id)
    assert (found.biz_key, found.payload) == ("mine", {"at": "2035-03-01T09:00:00+00:00", "key": "theirs"})
    assert found.due_at < AT
    assert row(typed.remind.schedule(AT, key="theirs").task_id).payload["key"] == "theirs"


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (lambda: typed.send.schedule("5"), "handler 'TYPED_SEND': order_id='5' must be a whole number"),
        (lambda: typed.send.schedule(5, ad=AT), "ad is not a field of handler 'TYPED_SEND'"),
        (lambda: typed.send.options(lain="low"), r"options\(\) takes no lain=. Did you mean 'lane'"),
        (lambda: typed.send.reschedule(5, lane="low", delay=1), "reschedule of TYPED_SEND takes no lane="),
        (lambda: typed.send.schedule_many([typed.both.args(5)]), "takes what its args"),
        (lambda: typed.send.schedule_many([{"key": 5}]), "takes what its args"),
        (lambda: schedule("TYPED_SEND", 5), "order_id is missing, and has no default.*Give it in payload."),
        (lambda: schedule("TYPED_SEND", 5, payload={"order_id": None}), "order_id=None must be a whole number"),
        (lambda: schedule("TYPED_SEND", 5, payload=[5]), r"payload=\[5\] must be an object"),
        (lambda: schedule_many("TYPED_SEND", [{"key": 5, "payload": {}}]), "task number 0 .*order_id is missing"),
        (lambda: reschedule("TYPED_SEND", 5, delay=1, payload={"order": 1}), "order is not a field"),
        (lambda: ensure("TYPED_SEND", 5, delay=1), "takes order_id, at_most, and this unit has no task"),
        (lambda: typed.post.schedule({"to": "a", "copies": "many"}), "copies='many' is refused"),
    ],
)
def test_what_does_not_fit_is_refused_when_scheduled(plan, words):
    with pytest.raises(InvalidTask, match=words):
        plan()
    assert find("TYPED_SEND", 5) is None


def test_a_payload_for_a_typed_handler_may_hold_python_values_too():
    planned = schedule("TYPED_SEND", "a", payload={"order_id": 5, "at_most": Decimal("1.5")})

    assert row(planned.task_id).payload == {"order_id": 5, "at_most": "1.5"}


def test_the_unit_of_the_same_arguments_is_found_moved_and_cancelled_by_them():
    planned = typed.send.schedule(5, at=AT)

    assert typed.send.key(5) == "5"
    assert typed.send.schedule(5).outcome == Outcome.EXISTS
    assert typed.send.find(5).id == planned.task_id == find("TYPED_SEND", 5).id
    assert typed.send.reschedule(5, delay=60).outcome == Outcome.UPDATED
    assert typed.send.ensure(6, delay=60).outcome == Outcome.CREATED
    assert typed.send.cancel(5, reason="enough").task_id == planned.task_id
    assert typed.send.find(5).error_msg == "enough"
    assert typed.send.options(key="x").find(5) is None


def test_a_move_keeps_the_arguments_unless_others_are_given():
    planned = typed.both.options(at=AT).schedule(5, loud=True)

    reschedule("TYPED_BOTH", 5, delay=60)
    assert row(planned.task_id).payload == {"order_id": 5, "loud": True}
    typed.both.options(delay=30).reschedule(5, loud=False)
    assert row(planned.task_id).payload == {"order_id": 5, "loud": False}


def test_many_are_planned_in_one_go_with_options_of_their_own():
    many = [typed.send.args(1), typed.send.options(at=AT, lane="low").args(2, at_most=Decimal(3))]

    first, second = typed.send.schedule_many(many, lane="high", max_retry=3)

    assert [(row(p.task_id).lane, row(p.task_id).max_retry) for p in (first, second)] == [("high", 3), ("low", 3)]
    assert row(second.task_id).due_at == AT


def test_nothing_is_scheduled_if_the_caller_rolls_back():
    with pytest.raises(KeyError), transaction.atomic():
        typed.send.schedule(5)
        raise KeyError

    assert typed.send.find(5) is None


def test_a_payload_that_no_longer_fits_is_dead_at_once_and_says_why():
    """The code has changed since: a parameter is new and has no default."""
    planned = typed.send.schedule(5)
    was = REGISTRY.get("TYPED_SEND")
    REGISTRY.discard("TYPED_SEND")

    @handler("TYPED_SEND")
    def newer(order_id: int, currency: str) -> None:
        SEEN.append("called")

    try:
        run_due()
    finally:
        REGISTRY.discard("TYPED_SEND")
        REGISTRY.add(was)

    found = row(planned.task_id)
    assert (found.status, found.error_code, SEEN) == ("DEAD", "BAD_PAYLOAD", [])
    assert "currency is missing, and has no default" in found.error_msg


def test_a_model_instance_is_stored_by_its_key_and_fetched_when_run():
    counter = Counter.objects.create(name="a")
    planned = typed.count.schedule(counter)
    Counter.objects.update(value=7)

    assert row(planned.task_id).payload == {"counter": counter.pk}
    assert row(planned.task_id).biz_key == f"testapp.counter:{counter.pk}"
    assert find("TYPED_COUNT", counter).id == planned.task_id
    run_due()
    assert [(type(one), one.value) for one in SEEN] == [(Counter, 7)]


def test_an_async_handler_gets_its_rows_too():
    counter = Counter.objects.create(name="a")
    typed.count_async.schedule(counter, by=2)
    typed.count_async.schedule(None)

    run_due()
    assert sorted(SEEN, key=lambda one: one[1]) == [(None, 1), (counter, 2)]


@pytest.mark.parametrize("declared", [typed.count, typed.count_async])
def test_a_row_that_is_gone_cancels_its_task_and_says_so(declared):
    counter = Counter.objects.create(name="a")
    planned = declared.schedule(counter)
    counter_pk = counter.pk
    counter.delete()

    run_due()
    found = row(planned.task_id)
    assert (found.status, found.error_code, SEEN) == ("CANCELLED", "ROW_GONE", [])
    assert found.error_msg == f"testapp.Counter {counter_pk} is no longer there"


def test_a_row_and_a_number_can_not_be_told_apart():
    def either(counter: int | Counter): ...

    with pytest.raises(InvalidConfiguration, match=r"Counter looks like another of them"):
        handler("TYPED_EITHER")(either)


def test_a_row_can_not_be_scheduled_before_it_is_saved_nor_one_of_another_model():
    with pytest.raises(InvalidTask, match=r"counter=.* has no primary key yet"):
        typed.count.schedule(Counter(name="a"))
    with pytest.raises(InvalidTask, match="counter='x' must be an instance of Counter, or its primary key"):
        typed.count.schedule("x")
    with pytest.raises(InvalidTask, match=r"key=.* has no primary key yet"):
        schedule("T_PLAIN", Counter(name="a"))
    with pytest.raises(InvalidTask, match="must be an instance of Counter"):
        typed.count.schedule(row(schedule("T_PLAIN", "a").task_id))


def test_a_unit_may_be_keyed_by_a_row():
    counter = Counter.objects.create(name="a")

    planned = schedule("T_PLAIN", counter, at=AT)
    assert row(planned.task_id).biz_key == f"testapp.counter:{counter.pk}"
    assert reschedule("T_PLAIN", counter, delay=60).task_id == planned.task_id
    assert typed.send.options(key=counter).key(5) == f"testapp.counter:{counter.pk}"


def test_the_payload_of_a_job_has_to_fit_as_well():
    with pytest.raises(InvalidTask, match="order_id is missing"):
        create_job(JobRequest(name="a", task_type="TYPED_SEND", every=60), Operator("tester", "a test"))
    job = create_job(
        JobRequest(name="a", task_type="TYPED_SEND", every=3600, payload=typed.send.args(5).payload),
        Operator("tester", "a test"),
    )
    assert job.payload == {"order_id": 5}

    with pytest.raises(InvalidTask, match="order_id='x' must be a whole number"):
        trigger_job(job.id, "k", Operator("tester", "a test"), payload={"order_id": "x"})
    trigger_job(job.id, "k", Operator("tester", "a test"), payload={"order_id": 6, "at_most": Decimal(1)})
    run_due()
    assert [(6, Decimal(1))] == SEEN


def test_a_failing_typed_handler_is_retried_with_the_same_arguments():
    planned = typed.send.schedule(-1)

    run_due()
    assert (row(planned.task_id).status, row(planned.task_id).error_code) == ("FAIL", "RETRYABLE")
    assert row(planned.task_id).due_at - row(planned.task_id).finish_time > timedelta(seconds=30)


def test_the_rest_api_refuses_a_payload_that_does_not_fit():
    api = Api()

    refused = api.post("/tasks", {"task_type": "TYPED_OPEN", "key": "a", "payload": {"order_id": "x"}})
    assert (refused.status, find("TYPED_OPEN", "a")) == (422, None)
    assert "order_id='x' must be a whole number" in refused.body["detail"]
    assert api.post("/tasks", {"task_type": "TYPED_OPEN", "key": "a", "payload": {"order_id": 5}}).status == 201


def test_many_of_several_types_are_scheduled_though_some_have_no_payload():
    """What a typed handler needs is asked of its own tasks only."""
    api = Api()
    typed_one = {"task_type": "TYPED_OPEN", "key": "a", "payload": {"order_id": 5}}

    answer = api.post("/tasks/bulk", {"tasks": [typed_one, {"task_type": "T_QUIET", "key": "a"}]})

    assert (answer.status, answer.body.get("created")) == (200, 2)
