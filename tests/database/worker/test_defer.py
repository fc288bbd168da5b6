"""What a task defers is written with its success, in every mode of execution, and with nothing else."""

from datetime import timedelta
from uuid import UUID

import pytest
from django.db import connection
from django.utils import timezone

from django_punctual import find, schedule, schedule_many
from django_punctual.testing import fake_task
from tasks_app.core.deferral import MOST
from tasks_app.engine.doctor.whole import assert_consistent
from tasks_app.engine.wakeup import SIGNAL, client
from tasks_app.engine.worker.executor import run_batch
from tasks_app.lifecycle.dead_letter import replay
from tasks_app.lifecycle.past import move_batches
from tasks_app.lifecycle.reap import reap
from tasks_app.models import DlqEntry, PastTask, ScheduleTask, TaskBatch
from tests.support.engine import claim_due, expire_lease, make_due, row, run_due
from tests.support.testapp.models import Effect

pytestmark = pytest.mark.django_db(transaction=True)

TWO_PHASES = ["T_TWO_PHASE", "T_TWO_PHASE_THREADS", "T_TWO_PHASE_ASYNC"]
EVERY_MODE = ["T_PLAIN", "T_THREADS", "T_ASYNC", "T_EFFECT", "T_WRITE", *TWO_PHASES]
EVERY_MODE += ["T_BATCH", "T_ASYNC_BATCH", "T_EFFECT_BATCH"]
EFFECT = "T_QUIET"


def capture(key: object = "capture", **options: object) -> dict:
    return {"task_type": EFFECT, "key": key, **options}


def effects() -> list[ScheduleTask]:
    return list(ScheduleTask.objects.filter(task_type=EFFECT).order_by("id"))


def run_one(task_type: str, key: str = "order", **payload: object) -> ScheduleTask:
    """A task of this type with this payload, after it has run."""
    task = schedule(task_type, key, payload=payload)
    run_due()
    return row(task.task_id)


@pytest.mark.parametrize("task_type", EVERY_MODE)
def test_what_a_task_defers_is_there_when_it_has_succeeded(task_type):
    done = run_one(task_type, defer=[capture(payload={"amount": 5})])

    (effect,) = effects()
    assert (done.status, done.deferred) == ("SUCCESS", [effect.id])
    assert (effect.status, effect.biz_key, effect.payload) == ("INIT", "capture", {"amount": 5})
    assert (effect.deferred_from, effect.token, effect.lane) == (done.id, done.token, "deferred")
    assert effect.due_at <= timezone.now()
    assert_consistent()


@pytest.mark.parametrize("task_type", EVERY_MODE)
def test_what_a_task_defers_and_then_fails_is_not_written(task_type):
    until = timezone.now() + timedelta(hours=1)

    for do in ("retry", "die", "skip", "crash", "snooze"):
        done = run_one(task_type, do, defer=[capture()], do=do, until=until.isoformat())

        assert (effects(), done.deferred) == ([], None), do
        assert done.status != "SUCCESS", do


@pytest.mark.parametrize("task_type", EVERY_MODE)
def test_a_neighbour_that_fails_takes_nothing_away_and_doubles_nothing(task_type):
    """In a transaction, all of it is called again after the failure."""
    payloads = [{"defer": [capture(1)]}, {"defer": [capture(2)], "do": "retry"}, {"defer": [capture(3), capture(4)]}]
    ids = [s.task_id for s in schedule_many(task_type, [{"key": n, "payload": p} for n, p in enumerate(payloads)])]

    run_due()

    assert [effect.biz_key for effect in effects()] == ["1", "3", "4"]
    one, three, four = (effect.id for effect in effects())
    assert [row(id_).deferred for id_ in ids] == [[one], None, [three, four]]


@pytest.mark.parametrize("task_type", TWO_PHASES)
def test_the_call_and_the_apply_of_a_two_phase_handler_both_defer(task_type):
    both = {"defer": [capture("call")], "apply_defers": [capture("apply")]}
    first, second = schedule_many(
        task_type,
        [{"key": 1, "payload": both}, {"key": 2, "payload": {"answer": "apply_crash", "defer": [capture("crash")]}}],
    )

    run_due()

    assert sorted(effect.biz_key for effect in effects()) == ["apply", "call"]
    assert len(row(first.task_id).deferred) == 2
    assert row(second.task_id).status == "FAIL"
    assert Effect.objects.count() == 1


def test_two_tasks_that_defer_the_same_unit_share_one_task():
    first, second = schedule_many(
        "T_PLAIN", [{"key": n, "payload": {"defer": [capture(payload={"of": n})]}} for n in range(2)]
    )

    run_due()

    (effect,) = effects()
    assert (effect.deferred_from, effect.payload) == (first.task_id, {"of": 0})
    assert [row(s.task_id).deferred for s in (first, second)] == [[effect.id]] * 2


def test_a_unit_that_is_live_stays_as_it_is():
    there = row(schedule(EFFECT, "capture", delay=3600, payload={"amount": 1}).task_id)

    done = run_one("T_PLAIN", defer=[capture(payload={"amount": 2}, for_=60)])

    (effect,) = effects()
    assert done.deferred == [there.id]
    assert (effect.token, effect.payload, effect.deferred_from) == (there.token, {"amount": 1}, None)
    assert (effect.retry_for, effect.updated_at) == (None, there.updated_at)


def test_a_unit_that_is_over_gets_a_new_task():
    over = schedule(EFFECT, "capture")
    run_due()

    done = run_one("T_PLAIN", defer=[capture()])

    (new,) = (effect for effect in effects() if effect.current)
    assert (new.replaces, new.deferred_from, done.deferred) == (over.task_id, done.id, [new.id])


def test_a_deferred_effect_is_deferred_on_with_the_same_token():
    first = run_one("T_PLAIN", defer=[capture("middle", payload={"defer": [capture("last")]})])

    run_due()

    middle, last = effects()
    assert (middle.deferred_from, last.deferred_from) == (first.id, middle.id)
    assert last.token == first.token


def test_a_delay_a_lane_and_a_time_are_what_the_task_says():
    run_one("T_PLAIN", defer=[capture(delay=60, lane="low", for_=86_400)])

    (effect,) = effects()
    assert (effect.lane, effect.retry_for) == ("low", timedelta(days=1))
    assert timedelta(seconds=50) < effect.due_at - timezone.now() <= timedelta(seconds=60)


def test_the_effect_is_of_the_tenant_of_its_task():
    schedule("T_PLAIN", "order", tenant="acme", payload={"defer": [capture()]})

    run_due()

    assert [effect.tenant for effect in effects()] == ["acme"]


def test_a_rolling_task_that_defers_nothing_the_next_time_keeps_its_last_link():
    task = schedule("T_PLAIN", "order", payload={"defer": [capture()]}, repeat_after=60)
    run_due()
    ScheduleTask.objects.filter(id=task.task_id).update(payload={})
    make_due(task.task_id)

    run_due()

    (effect,) = effects()
    assert row(task.task_id).deferred == [effect.id]


# For as long as told.


def failing_effect(**options: object) -> ScheduleTask:
    run_one("T_PLAIN", defer=[capture(payload={"do": "retry"}, **options)])
    return effects()[0]


def fail_again(effect: ScheduleTask) -> ScheduleTask:
    make_due(effect.id)
    run_due()
    return row(effect.id)


def ask_earlier(effect: ScheduleTask, **ago: float) -> None:
    """Time is moved by writing it: it was asked for so long ago."""
    ScheduleTask.objects.filter(id=effect.id).update(execute_time=timezone.now() - timedelta(**ago))


def test_an_effect_is_retried_for_as_long_as_told_however_often():
    effect = failing_effect(for_=2 * 86_400)
    ScheduleTask.objects.filter(id=effect.id).update(max_retry=1)

    for _ in range(4):
        assert fail_again(effect).status == "FAIL"
    ask_earlier(effect, days=2, seconds=1)
    dead = fail_again(effect)

    assert (dead.status, dead.due_at, dead.retry_count) == ("DEAD", None, 5)
    assert DlqEntry.objects.filter(task_id=effect.id, replay_status="OPEN").count() == 1
    assert_consistent()


def test_without_a_time_the_budget_of_its_handler_counts():
    effect = failing_effect()
    ScheduleTask.objects.filter(id=effect.id).update(max_retry=1)
    ask_earlier(effect, days=9)

    assert fail_again(effect).status == "FAIL"
    assert fail_again(effect).status == "DEAD"


def test_a_replayed_effect_gets_its_whole_time_again():
    effect = failing_effect(for_=3600)
    ask_earlier(effect, hours=2)
    assert fail_again(effect).status == "DEAD"

    replay([effect.id], by="rae")

    assert fail_again(effect).status == "FAIL"


@pytest.mark.parametrize(("asked", "status"), [(1, "FAIL"), (7200, "DEAD")])
def test_an_effect_whose_worker_dies_counts_by_its_time_too(asked, status):
    effect = failing_effect(for_=3600)
    ScheduleTask.objects.filter(id=effect.id).update(max_retry=0)
    ask_earlier(effect, seconds=asked)
    (batch,) = claim_due()
    TaskBatch.objects.update(started_at=timezone.now())
    expire_lease(batch)

    reap()

    assert (row(effect.id).status, row(effect.id).error_code) == (status, "LOST")


# What it costs, and what is refused.


def statements_of(*payloads: dict) -> list[str]:
    """The verbs of the statements that settle a batch of these."""
    schedule_many("T_BATCH", [{"key": n, "payload": payload} for n, payload in enumerate(payloads)])
    (batch,) = claim_due()
    asked: list[str] = []

    def note(execute, statement, *rest):
        asked.append(str(statement))
        return execute(statement, *rest)

    with connection.execute_wrapper(note):
        run_batch(UUID(batch.batch_no), guarded=False)
    return [one.split(":")[0].removeprefix("-- ") for one in asked if one.startswith("-- ")]


@pytest.mark.usefixtures("every_event")
def test_a_batch_defers_in_one_insert_however_many_there_are():
    assert statements_of(*[{"defer": [capture(n), capture(-n - 1)]} for n in range(20)]) == [
        *("start", "lock_to_defer", "insert_told_tasks", "link_deferred", "mark_success"),
    ]
    assert len(effects()) == 40


def test_a_batch_that_defers_nothing_pays_nothing():
    assert statements_of({}, {}) == ["start", "mark_success"]


def test_whoever_has_to_look_earlier_is_woken():
    redis = client(1)
    redis.flushdb()
    run_one("T_PLAIN", defer=[capture()])

    (effect,) = effects()
    assert redis.llen(f"punctual:{SIGNAL}{effect.shard}") == 1


@pytest.mark.parametrize(
    ("effect", "words"),
    [
        ({"task_type": "NOBODY", "key": 1}, "task type 'NOBODY' has no handler."),
        ({"task_type": "T_PLAIN", "key": "order"}, "which is its own unit."),
        (capture(""), "key is empty"),
        (capture(lane="slow"), "lane 'slow' doesn't exist."),
        (capture(for_=0), "for_=0 must be more than zero seconds"),
        (capture(delay=-1), "delay=-1 must be zero or more seconds"),
    ],
)
def test_what_makes_no_sense_is_refused_in_the_handler(effect, words):
    failed = run_one("T_PLAIN", defer=[capture(), effect])

    assert (failed.status, failed.error_code) == ("FAIL", "InvalidTask")
    assert words in failed.error_msg
    assert effects() == []


def test_a_task_that_defers_without_end_is_refused():
    failed = run_one("T_PLAIN", defer=[capture(n) for n in range(MOST + 1)])

    assert f"has deferred {MOST} effects, and no task may defer more" in failed.error_msg
    assert effects() == []


def test_a_handler_that_is_called_without_a_database_shows_what_it_deferred():
    task = fake_task("T_PLAIN", key="order")

    task.defer(EFFECT, 5, {"amount": 1}, for_=timedelta(hours=1))

    assert [(one.task_type, one.key, one.payload, one.retry_for) for one in task.deferred] == [
        (EFFECT, "5", {"amount": 1}, 3600.0)
    ]


# The links stay.


def test_the_links_go_to_the_past_with_the_tasks():
    done = run_one("T_PLAIN", defer=[capture(for_=60)])
    (effect,) = effects()
    run_due()
    TaskBatch.objects.update(finished_at=timezone.now() - timedelta(days=1))
    ScheduleTask.objects.update(updated_at=timezone.now() - timedelta(days=2))

    move_batches()

    assert PastTask.objects.get(id=done.id).deferred == [effect.id]
    past = PastTask.objects.get(id=effect.id)
    assert (past.deferred_from, past.retry_for) == (done.id, timedelta(minutes=1))
    assert find("T_PLAIN", "order").deferred == (effect.id,)
    assert find(EFFECT, "capture").deferred_from == done.id
