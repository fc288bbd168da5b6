"""Punctual as a backend of Django's tasks: enqueued with the caller's transaction, run by our workers, found again."""

import asyncio
import dataclasses
import sys
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from django.conf import settings as django_settings
from django.db import transaction
from django.test import override_settings
from django.utils import timezone

from django_punctual.tasks import PunctualBackend, PunctualResult, ResultNotKept, cancel, reschedule
from tasks_app.core.handlers import REGISTRY
from tasks_app.core.keyring import new_key
from tasks_app.django_tasks import finding
from tasks_app.django_tasks.interface import (
    InvalidTask,
    InvalidTaskBackend,
    TaskResultDoesNotExist,
    TaskResultStatus,
    task_backends,
    task_enqueued,
    task_finished,
    task_started,
)
from tasks_app.lifecycle.past import move_batches
from tasks_app.lifecycle.start import start
from tasks_app.models import ScheduleTask
from tests.support.django_tasks import BACKEND, TASKS, background
from tests.support.engine import claim_due, make_due, row, run_due
from tests.support.marks import commits

pytestmark = pytest.mark.django_db
READY, RUNNING = TaskResultStatus.READY, TaskResultStatus.RUNNING
FAILED, SUCCESSFUL = TaskResultStatus.FAILED, TaskResultStatus.SUCCESSFUL


@pytest.fixture(autouse=True)
def tasks():
    with background() as module:
        yield module


@pytest.fixture
def signals():
    """What was sent, with the status of the result and whether a transaction was open."""
    sent = []

    def note(signal, task_result, **kwargs):
        name = next(name for name, one in _SIGNALS.items() if one is signal)
        sent.append((name, task_result.task.name, task_result.status, task_result))

    for one in _SIGNALS.values():
        one.connect(note)
    yield sent
    for one in _SIGNALS.values():
        one.disconnect(note)


_SIGNALS = {"enqueued": task_enqueued, "started": task_started, "finished": task_finished}


def stored(result) -> ScheduleTask:
    return row(int(result.id))


@commits
def test_a_task_runs_if_the_caller_commits(tasks):
    with transaction.atomic():
        kept = tasks.add.enqueue(2, b=3)
        assert kept.status == READY
    try:
        with transaction.atomic():
            lost = tasks.add.enqueue(5)
            raise LookupError
    except LookupError:
        pass

    run_due()

    kept.refresh()
    assert (kept.status, kept.return_value, kept.args, kept.kwargs) == (SUCCESSFUL, 5, [2], {"b": 3})
    assert tasks.SEEN == [(2, 3)]
    with pytest.raises(TaskResultDoesNotExist):
        tasks.add.get_result(lost.id)


def test_an_enqueued_task_is_a_task_of_its_module_path(tasks):
    result = tasks.add.enqueue(2)

    found = stored(result)
    assert (found.task_type, found.payload) == ("tests.support.testapp.background.add", {"args": [2]})
    assert (found.tenant, found.lane, result.enqueued_at) == ("default", "default", found.execute_time)
    assert result == tasks.add.get_result(result.id)
    assert dataclasses.asdict(result) == dataclasses.asdict(tasks.add.get_result(result.id))


@pytest.mark.parametrize(
    ("priority", "lane"), [(-100, "low"), (-1, "low"), (0, "default"), (1, "high"), (49, "high"), (50, "critical")]
)
def test_a_priority_is_a_lane(tasks, priority, lane):
    result = tasks.add.using(priority=priority).enqueue(1)

    assert stored(result).lane == lane
    assert tasks.add.get_result(result.id).task.priority == priority


def test_a_queue_is_a_lane_or_a_tenant(tasks):
    mail, urgent, acme = (
        tasks.add.using(**options).enqueue(1)
        for options in ({"queue_name": "mail"}, {"queue_name": "mail", "priority": 5}, {"queue_name": "acme"})
    )

    assert [(stored(one).lane, stored(one).tenant) for one in (mail, urgent, acme)] == [
        ("low", "default"),
        ("high", "default"),
        ("default", "acme"),
    ]
    assert tasks.add.get_result(acme.id).task == tasks.add.using(queue_name="acme")
    run_due()
    assert [tasks.add.get_result(one.id).status for one in (mail, urgent, acme)] == [SUCCESSFUL] * 3


def test_a_task_waits_for_its_time(tasks):
    at = timezone.now() + timedelta(hours=1)
    result = tasks.add.using(run_after=at).enqueue(1)

    assert run_due() == []
    assert stored(result).execute_time == at
    assert result.enqueued_at == stored(result).created_at
    assert result == tasks.add.get_result(result.id)
    assert tasks.add.get_result(result.id).task.run_after == at
    make_due(int(result.id))
    run_due()
    assert tasks.add.get_result(result.id).return_value == 1


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"run_after": datetime(2030, 1, 1)}, r"run_after must be an aware datetime.*2030.*time zone"),  # noqa: DTZ001
        ({"queue_name": "mails"}, r"'mails' is not valid for backend.*'acme', 'default', 'mail'.*Did you mean 'mail'"),
        ({"priority": 101}, "whole number between -100 and 100"),
    ],
)
def test_what_can_not_be_served_is_refused(tasks, wrong, words):
    with pytest.raises(InvalidTask, match=words):
        tasks.add.using(**wrong).enqueue(1)

    assert not ScheduleTask.objects.exists()


@pytest.mark.parametrize(
    ("argument", "error", "words"),
    [
        (datetime(2030, 1, 1, tzinfo=UTC), TypeError, r"Unsupported type.*background\.add.*args\[0\]=datetime.*isofor"),
        (float("nan"), InvalidTask, r"background\.add.*can't be written as JSON"),
        ("x" * 300_000, InvalidTask, r"300,01\d bytes as JSON; at most"),
        ("\0", InvalidTask, "NUL character"),
    ],
)
def test_an_argument_that_is_no_json_is_refused(tasks, argument, error, words):
    with transaction.atomic():
        with pytest.raises(error, match=words):
            tasks.add.enqueue(argument)
        with pytest.raises(error, match=words):
            tasks.add.enqueue_many([(1,), (argument,)])
        kept = tasks.add.enqueue(1)

    assert [one.id for one in ScheduleTask.objects.all()] == [int(kept.id)]


def test_arguments_are_what_json_makes_of_them(tasks):
    given = {"bytes": b"abc", "tuple": (1, (2,)), "range": range(2)}
    one = tasks.echo.enqueue(b"x", (1, 2), **given)
    [other] = tasks.echo.enqueue_many([given])

    assert (one.args, other.kwargs) == (["x", [1, 2]], {"bytes": "abc", "tuple": [1, [2]], "range": [0, 1]})
    run_due()
    assert tasks.echo.get_result(one.id).return_value == {"args": one.args, "kwargs": other.kwargs}
    assert tasks.echo.get_result(other.id).return_value == {"args": [], "kwargs": other.kwargs}


@commits
def test_a_coroutine_runs_on_the_event_loop_and_is_enqueued_and_found_by_one(tasks):
    async def enqueue():
        result = await tasks.add_later.aenqueue(2, b=3)
        many = await tasks.add_later.aenqueue_many([(1,)])
        return result, many[0], await tasks.add_later.aget_result(result.id)

    result, other, found = asyncio.run(enqueue())

    assert found == result
    assert REGISTRY.get(tasks.add_later.module_path).is_async
    run_due()
    asyncio.run(result.arefresh())
    assert (result.return_value, tasks.add_later.get_result(other.id).return_value) == (5, 1)


def test_a_failure_keeps_the_class_and_the_traceback(tasks):
    result = tasks.fail.enqueue("no money\nleft")

    run_due()

    result.refresh()
    [error] = result.errors
    assert (result.status, result.attempts, len(result.worker_ids)) == (FAILED, 1, 1)
    assert error.exception_class is tasks.Declined
    assert error.traceback.startswith("Traceback (most recent call last):\n  File")
    assert "in fail\n    raise Declined(message)" in error.traceback
    assert error.traceback.endswith("background.Declined: no money\nleft\n")
    assert result.finished_at >= result.started_at >= result.enqueued_at
    with pytest.raises(ValueError, match="Task failed"):
        _ = result.return_value


def test_a_retry_is_another_attempt(tasks):
    result = tasks.fail_once.enqueue("a")
    run_due()
    result.refresh()
    assert (result.status, result.attempts, result.finished_at) == (READY, 1, None)
    assert [one.exception_class for one in result.errors] == [ConnectionError]
    first = result.started_at

    make_due(int(result.id))
    run_due()

    result.refresh()
    assert (result.status, result.attempts, result.return_value) == (SUCCESSFUL, 2, "a")
    assert (result.started_at, len(result.errors)) == (first, 1)
    assert result.last_attempted_at > first


def test_a_return_value_of_more_than_four_kilobytes_is_not_kept_and_says_so(tasks):
    small, large = tasks.give.enqueue(4_000), tasks.give.enqueue(5_000)
    run_due()

    small.refresh()
    large.refresh()
    assert (small.return_value, large.status) == ("x" * 4_000, SUCCESSFUL)
    with pytest.raises(ResultNotKept, match=r"background\.give.*not kept: it has more than 4,096 bytes as JSON"):
        _ = large.return_value


def test_a_return_value_that_is_no_json_fails_the_task_for_good(tasks):
    result = tasks.give_a_function.enqueue()
    run_due()

    result.refresh()
    assert (result.status, result.attempts, result.errors[0].exception_class) == (FAILED, 1, TypeError)
    assert "Unsupported type" in result.errors[0].traceback


def test_a_task_knows_its_run(tasks):
    results = [tasks.know.enqueue(1), tasks.know_later.enqueue(1)]
    run_due()

    for result in results:
        result.refresh()
        assert result.return_value == result.id, result.errors


@commits
def test_effects_of_a_transactional_task_are_in_its_transaction(tasks):
    from tests.support.testapp.models import Counter

    results = tasks.count.enqueue_many([("a",), ("a",), ("b",)])
    run_due()

    assert sorted(tasks.count.get_result(one.id).status for one in results) == [READY, SUCCESSFUL, SUCCESSFUL]
    assert sorted(Counter.objects.values_list("name", flat=True)) == ["a", "b"]


def test_a_key_makes_one_live_task(tasks):
    first = tasks.remind.enqueue(5, text="pay")
    again = tasks.remind.enqueue(order=5)
    other = tasks.remind.enqueue(6)

    assert (again.id, again.kwargs) == (first.id, {"text": "pay"})
    assert [stored(one).biz_key for one in (first, other)] == ["5", "6"]
    many = tasks.remind.enqueue_many([(6,), (7,), (7,)])
    assert (many[0].id, many[1].id == many[2].id, len(many)) == (other.id, True, 3)
    assert tasks.ship.enqueue(1).id == tasks.ship.enqueue(order=1, shop="main", note="x").id
    run_due()
    assert tasks.remind.enqueue(5).id != first.id
    assert tasks.remind.get_result(first.id).status == SUCCESSFUL


def test_many_are_enqueued_in_order_all_or_none(tasks):
    results = tasks.add.enqueue_many([(number,) for number in range(50)])

    assert [one.args for one in results] == [[number] for number in range(50)]
    assert results[1:3][0].args == [1]
    assert results[0] == tasks.add.get_result(results[0].id)
    run_due()
    assert [tasks.add.get_result(one.id).return_value for one in results[:5]] == [0, 1, 2, 3, 4]
    with pytest.raises(TypeError, match=r"call number 1: .*background\.add' got args\[0\]=<object"):
        tasks.add.enqueue_many([(1,), (object(),)])
    with pytest.raises(TypeError, match="call number 0 is 'ab'; give its arguments by position as a tuple"):
        tasks.add.enqueue_many(["ab"])
    assert ScheduleTask.objects.count() == 50


def test_a_task_is_rescheduled_and_cancelled(tasks):
    at = timezone.now() + timedelta(hours=1)
    result = tasks.add.enqueue(1)

    moved = reschedule(result, at)
    assert (moved.id, stored(result).execute_time, moved.task.run_after) == (result.id, at, at)
    assert cancel(moved, reason="not wanted")
    moved.refresh()
    assert (moved.status, moved.attempts, moved.finished_at is None) == (FAILED, 0, False)
    assert moved.errors[0].exception_class.__name__ == "TaskCancelled"
    assert "not wanted" in moved.errors[0].traceback
    assert not cancel(moved)
    with pytest.raises(InvalidTask, match=r"is CANCELLED and no longer live.*Enqueue it again"):
        reschedule(moved, at)
    with pytest.raises(InvalidTask, match="aware datetime"):
        reschedule(moved, datetime(2030, 1, 1))  # noqa: DTZ001


def test_a_task_that_runs_is_replaced_by_one_with_a_result_of_its_own(tasks):
    result = tasks.add.enqueue(1)
    [batch] = claim_due()
    result.refresh()
    assert (result.status, result.attempts) == (READY, 0)  # it is only claimed
    start(UUID(batch.batch_no), "worker")
    result.refresh()
    assert (result.status, result.attempts, result.worker_ids) == (RUNNING, 1, ["worker"])

    moved = reschedule(result, timezone.now())

    result.refresh()
    assert (moved.id == result.id, moved.status, moved.args) == (False, READY, [1])
    assert (result.status, result.errors[-1].exception_class.__name__) == (FAILED, "TaskCancelled")


@commits
def test_a_result_is_found_in_the_past(tasks, no_past_left):
    done, failed = tasks.add.enqueue(1, b=2), tasks.fail.enqueue("no")
    run_due()
    live = [tasks.add.get_result(done.id), tasks.fail.get_result(failed.id)]
    with override_settings(PUNCTUAL=django_settings.PUNCTUAL | {"KEEP_LIVE_SECONDS": 0.001}):
        move_batches()

    assert not ScheduleTask.objects.filter(id=done.id).exists()
    assert [tasks.add.get_result(done.id), tasks.fail.get_result(failed.id)] == live


def test_an_encrypted_task_is_read_in_the_clear(tasks, settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"SECRET_KEYS": [new_key()]}
    result = tasks.hush.enqueue("psst")
    run_due()

    assert "psst" not in str(stored(result).payload)
    assert (tasks.hush.get_result(result.id).args, tasks.hush.get_result(result.id).return_value) == (["psst"], "psst!")
    later = tasks.hush.enqueue("hush")
    assert reschedule(later, timezone.now() + timedelta(hours=1)).args == ["hush"]


def test_cancelling_an_old_result_leaves_the_newer_task_of_its_key_alone(tasks):
    old = tasks.remind.enqueue(5)
    run_due()
    new = tasks.remind.enqueue(5)

    assert not cancel(old)
    assert tasks.remind.get_result(new.id).status == READY


def test_signals_are_sent_when_a_task_is_enqueued_started_and_finished(tasks, signals):
    done = tasks.add.enqueue(2)
    run_due()
    failed = tasks.fail.enqueue("no")
    run_due()
    later = tasks.fail_once.enqueue("a")
    run_due()

    assert [one[:3] for one in signals] == [
        ("enqueued", "add", READY),
        ("started", "add", RUNNING),
        ("finished", "add", SUCCESSFUL),
        ("enqueued", "fail", READY),
        ("started", "fail", RUNNING),
        ("finished", "fail", FAILED),
        ("enqueued", "fail_once", READY),
        ("started", "fail_once", RUNNING),
    ]
    results = [one[3] for one in signals]
    assert (results[0].id, results[2].return_value, results[2].attempts) == (done.id, 2, 1)
    assert [one.exception_class for one in results[5].errors] == [tasks.Declined]
    assert (results[5].id, results[7].attempts, results[7].id) == (failed.id, 1, later.id)
    assert results[1].enqueued_at == done.enqueued_at
    assert all(isinstance(one, PunctualResult) for one in results)


def test_a_receiver_that_fails_does_not_fail_the_task(tasks, signals):
    def broken(**kwargs):
        raise LookupError

    task_started.connect(broken)
    task_finished.connect(broken)
    try:
        results = [tasks.add.enqueue(1), tasks.add_later.enqueue(1)]
        run_due()
    finally:
        task_started.disconnect(broken)
        task_finished.disconnect(broken)

    for result in results:
        result.refresh()
        assert result.status == SUCCESSFUL


def test_options_of_a_task_are_those_of_a_handler(tasks):
    slowly, hush, retried = (REGISTRY.get(one.module_path) for one in (tasks.slowly, tasks.hush, tasks.fail_once))

    assert (slowly.limit.rate, hush.encrypted, retried.policy.seconds, retried.max_retry) == (1000, True, (60.0,), 1)
    assert stored(tasks.slowly.enqueue(1)).limited
    assert {tasks.fail_once: 1}[tasks.fail_once] == 1


def test_options_of_the_backend_hold_for_tasks_that_say_nothing(tasks):
    for one in tasks.DECLARED:
        REGISTRY.discard(one.module_path)
    with override_settings(TASKS={"default": {"BACKEND": BACKEND, "OPTIONS": {"TASK": {"max_retry": 2}}}}):
        tasks.add.enqueue(1)
        tasks.fail.enqueue("no")

    assert [REGISTRY.get(one.module_path).max_retry for one in (tasks.add, tasks.fail)] == [2, 0]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"LANE": {}}, r"TASKS\['default'\]\['OPTIONS'\] has no option 'LANE'\. Did you mean 'LANES'"),
        ({"LANES": {"mails": "low"}}, "names the queue 'mails', which is not in QUEUES. Did you mean 'mail'"),
        ({"LANES": {"mail": "lo"}}, r"\['LANES'\]\['mail'\] is 'lo', which is no lane"),
        ({"TENANTS": {"mail": 5}}, r"\['TENANTS'\]\['mail'\] is 5; it must be the name of a tenant"),
        ({"TASK": {"retries": 5}}, r"\['TASK'\] has no option 'retries'"),
        ([], r"\['OPTIONS'\] is \[\]; it must be a dict"),
    ],
)
def test_wrong_options_of_the_backend_are_named(options, words):
    with override_settings(TASKS={"default": TASKS["default"] | {"OPTIONS": options}}):
        with pytest.raises(InvalidTaskBackend, match=words):
            _ = task_backends["default"]


def test_the_check_asks_for_the_app(settings):
    assert list(task_backends["default"].check()) == []
    settings.INSTALLED_APPS = [one for one in settings.INSTALLED_APPS if one != "django_punctual"]
    [error] = task_backends["default"].check()
    assert (error.id, "INSTALLED_APPS" in error.msg) == ("punctual.E200", True)


def test_a_wrong_key_or_option_of_a_task_is_named(tasks):
    with pytest.raises(InvalidTask, match=r"key='ordr' names 'ordr', .*Did you mean 'order'\? It takes order, text"):
        dataclasses.replace(tasks.remind, key="ordr")
    with pytest.raises(InvalidTask, match=r"key=\(\) names no parameter"):
        dataclasses.replace(tasks.remind, key=())
    with pytest.raises(InvalidTask, match=r"background\.remind' can't be called so: missing a required argument"):
        tasks.remind.enqueue(text="pay")
    with pytest.raises(InvalidTask, match=r"can't be called so: too many positional arguments"):
        tasks.remind.enqueue(5, "pay", "now")
    REGISTRY.discard(tasks.remind.module_path)
    with pytest.raises(InvalidTask, match=r"background\.remind' has rate=5, and beats.*modules named 'tasks'"):
        dataclasses.replace(tasks.remind, rate=5)
    with pytest.raises(InvalidTask, match=r"background\.remind': timeout=-1 must be more than 0 seconds"):
        dataclasses.replace(tasks.remind, timeout=-1)


@pytest.mark.parametrize(
    ("backend", "imported"),
    [("django_punctual.tasks.PunctualBackend", True), (f"{__name__}.OwnBackend", True), ("shop.Missing", False)],
)
def test_modules_named_tasks_are_imported_at_startup_if_the_backend_is_configured(backend, imported):
    sys.modules.pop("tests.support.testapp.tasks", None)

    with override_settings(TASKS={"default": {"BACKEND": backend}}):
        finding.install()

    assert ("tests.support.testapp.tasks" in sys.modules) is imported


class OwnBackend(PunctualBackend):
    """While it validates one task, another thread validates another."""

    def validate_task(self, task) -> None:
        super().validate_task(task)
        super().validate_task(task_in(task, "fail"))


def task_in(task, name: str):
    return getattr(sys.modules[task.func.__module__], name)


def test_threads_that_share_a_backend_do_not_mix_up_their_tasks(tasks):
    with override_settings(TASKS={"default": {"BACKEND": f"{__name__}.OwnBackend"}}):
        result = tasks.add.enqueue(1)

    assert stored(result).task_type == tasks.add.module_path


def test_a_worker_imports_a_task_that_it_does_not_know(tasks):
    result = tasks.add.enqueue(1)
    REGISTRY.discard(tasks.add.module_path)

    run_due()

    result.refresh()
    assert result.status == SUCCESSFUL


def test_a_worker_that_can_not_import_a_task_says_why_and_another_may_run_it(tasks, caplog):
    result = tasks.add.enqueue(1)
    ScheduleTask.objects.filter(id=result.id).update(task_type="shop.gone.send")

    run_due()

    found = row(int(result.id))
    assert (found.status, found.error_code, found.retry_count) == ("INIT", "UNKNOWN_HANDLER", 0)
    assert "it can't import the task: ModuleNotFoundError: No module named 'shop'" in found.error_msg
    with pytest.raises(TaskResultDoesNotExist, match=r"'shop\.gone\.send' can't be imported here"):
        tasks.add.get_result(result.id)
    ScheduleTask.objects.filter(id=result.id).update(task_type="tests.support.testapp.models.Counter")
    make_due(int(result.id))
    run_due()
    assert "has a ModelBase, which is no task, under the name 'Counter'" in row(int(result.id)).error_msg


@pytest.mark.parametrize("result_id", ["123", "", "abc", "9" * 30, "²"])
def test_an_unknown_result_is_refused(tasks, result_id):
    with pytest.raises(TaskResultDoesNotExist):
        tasks.add.get_result(result_id)
