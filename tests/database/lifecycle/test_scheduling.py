"""The decision table of schedule, reschedule, ensure, cancel and replay: what each does in each state of the unit."""

import gc
import time
from datetime import timedelta
from uuid import UUID

import pytest
from django.db import connection, transaction

from django_punctual import (
    Cancelled,
    InvalidTask,
    Outcome,
    Scheduled,
    cancel,
    ensure,
    find,
    reschedule,
    reschedule_many,
    schedule,
    schedule_many,
)
from tasks_app.core.sharding import shard_of
from tasks_app.core.states import Status
from tasks_app.core.task import GoneAway
from tasks_app.engine.doctor.whole import assert_consistent
from tasks_app.lifecycle.dead_letter import Replayed, replay
from tasks_app.lifecycle.start import start
from tasks_app.models import DlqEntry, ScheduleTask
from tests.support.engine import row, run_due
from tests.support.marks import commits
from tests.support.moves import (
    FINAL,
    MONDAY,
    OK,
    RETRY,
    TUESDAY,
    TYPE,
    WEDNESDAY,
    State,
    claim_one,
    dead,
    events,
    ids_of,
    rows_of,
    scheduled,
    settled,
    started,
    state,
)

NEXT_LOOK_KEY = "punctual:next_look"
SIGNAL_KEY = "punctual:signal:"
pytestmark = pytest.mark.django_db

CREATED, EXISTS, UPDATED = Outcome.CREATED, Outcome.EXISTS, Outcome.UPDATED
REPLACED, IGNORED = Outcome.REPLACED, Outcome.IGNORED

BLOCKED, INIT, RUNNING, AWAY, SUCCESS, ROLLING, FAIL, DEAD, CANCELLED, NONE = [
    "BLOCKED",
    "INIT",
    "RUNNING",
    "AWAY",
    "SUCCESS",
    "ROLLING",
    "FAIL",
    "DEAD",
    "CANCELLED",
    "NONE",
]


def bring(status: str, **options) -> int | None:
    """Bring unit "a" into this state by the moves that lead there; its id."""
    if status == NONE:
        return None
    if status in (BLOCKED, INIT):
        [task] = scheduled("a", at=MONDAY, **options)
        if status == BLOCKED:
            ScheduleTask.objects.filter(id=task).update(status=Status.BLOCKED, due_at=None)
        return task
    batch = started("a", **options, **({"repeat_after": 3600} if status == ROLLING else {}))
    [task] = ids_of(batch)
    if status == CANCELLED:
        cancel(TYPE, "a", reason="brought there", by="setup")
    elif status != RUNNING:
        settled(batch, {SUCCESS: OK, ROLLING: OK, AWAY: GoneAway(3600), FAIL: RETRY, DEAD: FINAL}[status])
    return task


def the_new_row(old: int | None) -> ScheduleTask:
    """The unit's current row, which must have taken over from the old one."""
    *_, new = [each for each in rows_of("a") if each.tenant == "default"]
    assert (new.current, new.replaces) == (True, old)
    if old is not None:
        assert (row(old).current, new.id > old) == (False, True)
    return new


@pytest.fixture(autouse=True)
def _consistent(db):
    yield
    assert_consistent()


# The table.


@pytest.mark.parametrize(
    ("verb", "status", "outcome"),
    [
        (schedule, BLOCKED, EXISTS),
        (schedule, INIT, EXISTS),
        (schedule, RUNNING, EXISTS),
        (schedule, AWAY, EXISTS),
        (schedule, SUCCESS, CREATED),
        (schedule, ROLLING, EXISTS),
        (schedule, FAIL, EXISTS),
        (schedule, DEAD, CREATED),
        (schedule, CANCELLED, CREATED),
        (schedule, NONE, CREATED),
        (reschedule, BLOCKED, UPDATED),
        (reschedule, INIT, UPDATED),
        (reschedule, RUNNING, REPLACED),
        (reschedule, AWAY, REPLACED),
        (reschedule, SUCCESS, IGNORED),
        (reschedule, ROLLING, UPDATED),
        (reschedule, FAIL, UPDATED),
        (reschedule, DEAD, CREATED),
        (reschedule, CANCELLED, CREATED),
        (reschedule, NONE, CREATED),
        (ensure, BLOCKED, UPDATED),
        (ensure, INIT, UPDATED),
        (ensure, RUNNING, REPLACED),
        (ensure, AWAY, REPLACED),
        (ensure, SUCCESS, CREATED),
        (ensure, ROLLING, UPDATED),
        (ensure, FAIL, UPDATED),
        (ensure, DEAD, CREATED),
        (ensure, CANCELLED, CREATED),
        (ensure, NONE, CREATED),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_a_new_schedule_does_what_the_units_state_asks_for(verb, status, outcome):
    old = bring(status)
    before = None if old is None else state(old)

    answer = verb(TYPE, "a", at=TUESDAY)

    assert answer.outcome == outcome
    if outcome in (EXISTS, IGNORED):
        assert (answer.task_id, answer.due, state(old)) == (old, None, before)
        assert row(old).execute_time != TUESDAY
    elif outcome == UPDATED:
        due = None if status == BLOCKED else TUESDAY
        assert (answer.task_id, state(old)) == (old, before)
        assert (row(old).execute_time, row(old).due_at) == (TUESDAY, due)
        assert answer.due == (None if status == BLOCKED else TUESDAY.timestamp())
    else:
        new = the_new_row(old)
        assert (answer.task_id, answer.due) == (new.id, TUESDAY.timestamp())
        assert (state(new.id), new.execute_time, new.due_at) == (State("INIT", due=True), TUESDAY, TUESDAY)
        if old is not None:
            status = CANCELLED if status in (RUNNING, AWAY) else status
            assert state(old) == before._replace(status=status, current=False)
    assert len(rows_of("a")) == (1 if old is None or answer.task_id == old else 2)


@pytest.mark.parametrize("status", [BLOCKED, INIT, RUNNING, AWAY, ROLLING, FAIL])
def test_cancel_takes_whatever_is_live(status):
    task = bring(status)
    before = state(task)

    answer = cancel(TYPE, "a", reason="no longer needed", by="cleo")

    after = row(task)
    assert answer == Cancelled(True, task, "CANCELLED")
    assert state(task) == before._replace(status="CANCELLED", due=False)
    assert (after.batch_no, after.error_code, after.error_msg) == (None, "CANCELLED", "no longer needed")
    assert (after.cancelled_by, after.finish_time is not None) == ("cleo", True)
    assert events(task)[-1] == "task.cancelled"


@pytest.mark.parametrize("status", [SUCCESS, DEAD, CANCELLED])
def test_cancel_leaves_what_is_finished_and_says_so(status):
    task = bring(status)
    before = row(task)

    assert cancel(TYPE, "a", reason="too late", by="cleo") == Cancelled(False, task, status)

    assert (row(task).updated_at, row(task).cancelled_by) == (before.updated_at, before.cancelled_by)


def test_cancel_of_an_unknown_unit_says_that_there_is_none():
    assert cancel(TYPE, "a") == Cancelled(False, None, None)


def test_cancel_leaves_other_units_alone():
    mine, *others = [
        schedule(TYPE, "a", at=MONDAY).task_id,
        schedule(TYPE, "b", at=MONDAY).task_id,
        schedule(TYPE, "a", at=MONDAY, tenant="other").task_id,
        schedule("T_PLAIN", "a", at=MONDAY).task_id,
    ]

    assert cancel(TYPE, "a").task_id == mine

    assert [state(task) for task in others] == [State("INIT", due=True)] * 3


def test_a_reschedule_leaves_other_units_alone():
    mine, *others = [
        schedule(TYPE, "a", at=MONDAY).task_id,
        schedule(TYPE, "b", at=MONDAY).task_id,
        schedule(TYPE, "a", at=MONDAY, tenant="other").task_id,
        schedule("T_PLAIN", "a", at=MONDAY).task_id,
    ]

    assert reschedule(TYPE, "a", at=TUESDAY) == (UPDATED, mine, TUESDAY.timestamp())

    assert [row(task).due_at for task in (mine, *others)] == [TUESDAY, MONDAY, MONDAY, MONDAY]


@pytest.mark.parametrize("status", [BLOCKED, INIT, RUNNING, AWAY, SUCCESS, ROLLING, FAIL, CANCELLED])
def test_replay_leaves_what_is_not_dead(status):
    task = bring(status)
    before = row(task)

    assert replay([task], by="rae") == Replayed([], [task])

    assert (row(task).status, row(task).updated_at) == (before.status, before.updated_at)


def test_replay_gives_a_dead_task_a_new_budget_and_closes_its_letter():
    task = bring(DEAD)

    assert replay([task], by="rae") == Replayed([task], [])

    after, letter = row(task), DlqEntry.objects.get()
    assert state(task) == State("INIT", due=True, attempt=0, retry_count=1)
    assert abs(after.due_at - after.execute_time) < timedelta(seconds=1)
    assert (letter.replay_status, letter.closed_by, letter.closed_at is not None) == ("REPLAYED", "rae", True)
    assert [report.settled for report in run_due()] == [1]


def test_replay_leaves_a_dead_task_that_something_newer_stands_in_for():
    old = bring(DEAD)
    new = schedule(TYPE, "a", at=TUESDAY).task_id

    assert replay([old], by="rae") == Replayed([], [old])
    assert (state(old).status, state(new)) == ("DEAD", State("INIT", due=True))


def test_replay_of_several_says_which_came_back():
    a, b = dead("a", "b")
    reschedule(TYPE, "a", at=TUESDAY)

    assert replay([a, b, 10**12], by="rae") == Replayed([b], [a, 10**12])


def test_replay_closes_only_the_open_letter_of_a_task_that_died_twice():
    task = bring(DEAD)
    replay([task], by="rae")
    settled(start(claim_one(), "worker"), FINAL)
    assert list(DlqEntry.objects.order_by("id").values_list("replay_status", flat=True)) == ["REPLAYED", "OPEN"]

    replay([task], by="rob")

    assert list(DlqEntry.objects.order_by("id").values_list("closed_by", flat=True)) == ["rae", "rob"]
    assert state(task) == State("INIT", due=True, retry_count=2)


def test_a_new_schedule_closes_only_the_open_letter_of_a_task_that_died_twice():
    task = bring(DEAD)
    replay([task], by="rae")
    settled(start(claim_one(), "worker"), FINAL)

    reschedule(TYPE, "a", at=TUESDAY, by="tess")

    letters = DlqEntry.objects.order_by("id").values_list("replay_status", "closed_by")
    assert list(letters) == [("REPLAYED", "rae"), ("CLOSED", "tess")]


# What moves along with a row that is moved.


def test_moving_a_failed_task_keeps_its_counts_its_error_and_its_payload():
    task = bring(FAIL, payload={"n": 1})
    before = row(task)

    reschedule(TYPE, "a", at=TUESDAY)

    after = row(task)
    assert (after.attempt, after.retry_count, after.error_msg) == (1, 1, before.error_msg)
    assert (after.payload, after.token, after.lane, after.max_retry) == ({"n": 1}, before.token, "default", 5)


@pytest.mark.parametrize("payload", [{"n": 2}, {}, [], "", 0, False])
@pytest.mark.parametrize("status", [INIT, RUNNING])
def test_a_payload_that_is_given_replaces_the_old_one(status, payload):
    bring(status, payload={"n": 1})

    answer = reschedule(TYPE, "a", at=TUESDAY, payload=payload)

    assert row(answer.task_id).payload == payload


@pytest.mark.parametrize("status", [RUNNING, DEAD, CANCELLED])
@pytest.mark.parametrize("verb", [reschedule, ensure])
def test_a_moved_intent_keeps_its_token_its_idem_key_and_its_settings(verb, status):
    old = bring(
        status,
        payload={"n": 1},
        idem_key="order-7",
        lane="high",
        max_retry=3,
        expires_after=60,
    )
    ScheduleTask.objects.filter(id=old).update(solo=True)
    token = row(old).token

    answer = verb(TYPE, "a", at=TUESDAY, by="tess")

    new = the_new_row(old)
    assert (answer.task_id, new.token, new.idem_key, row(old).idem_key) == (new.id, token, "order-7", None)
    assert (new.payload, new.lane, new.max_retry, new.expires_after) == ({"n": 1}, "high", 3, timedelta(seconds=60))
    assert (new.solo, new.attempt, new.retry_count, new.error_code) == (True, 0, 0, "")
    assert (new.tenant, new.shard) == (row(old).tenant, row(old).shard)


def test_a_rolling_task_that_is_replaced_goes_on_rolling():
    batch = started("a", repeat_after=3600)

    answer = reschedule(TYPE, "a", at=TUESDAY)

    assert (answer.outcome, row(answer.task_id).repeat_after) == (REPLACED, timedelta(hours=1))
    assert settled(batch) == 0


def test_a_replaced_attempt_says_why_and_by_whom():
    old = bring(RUNNING)

    reschedule(TYPE, "a", at=TUESDAY, by="tess")

    assert (row(old).error_code, row(old).cancelled_by) == ("SUPERSEDED", "tess")
    assert "rescheduled while" in row(old).error_msg
    assert events(old) == ["task.cancelled"]


def test_taking_over_from_a_cancelled_row_leaves_its_reason_and_tells_nothing_again():
    old = bring(CANCELLED)

    reschedule(TYPE, "a", at=TUESDAY, by="tess")

    assert (row(old).error_code, row(old).error_msg, row(old).cancelled_by) == ("CANCELLED", "brought there", "setup")
    assert events(old) == ["task.cancelled"]


@pytest.mark.parametrize("verb", [schedule, reschedule, ensure])
def test_a_new_row_closes_the_dead_letter_of_the_old_one(verb):
    old = bring(DEAD)

    verb(TYPE, "a", at=TUESDAY, **({} if verb is schedule else {"by": "tess"}))

    letter = DlqEntry.objects.get(task_id=old)
    assert (letter.replay_status, letter.closed_by) == ("CLOSED", "system" if verb is schedule else "tess")
    assert letter.closed_at is not None
    assert events(old) == ["task.dead"]


def test_ensure_after_a_success_is_a_new_intent():
    old = bring(SUCCESS, idem_key="order-7", payload={"n": 1}, lane="low", max_retry=2)

    ensure(TYPE, "a", at=TUESDAY)

    new = the_new_row(old)
    assert new.token != row(old).token
    assert (new.idem_key, row(old).idem_key) == (None, "order-7")
    assert (new.payload, new.lane, new.max_retry) == ({"n": 1}, "low", 2)


@pytest.mark.parametrize("status", [SUCCESS, DEAD, CANCELLED])
def test_schedule_over_a_finished_row_is_a_new_intent_with_its_own_settings(status):
    old = bring(status, payload={"n": 1}, idem_key="order-7", lane="high", max_retry=3)

    schedule(TYPE, "a", at=TUESDAY, payload={"n": 2}, idem_key="order-8", lane="low", repeat_after=60)

    new = the_new_row(old)
    assert new.token != row(old).token
    assert (new.idem_key, row(old).idem_key) == ("order-8", "order-7")
    assert (new.payload, new.lane, new.max_retry) == ({"n": 2}, "low", 5)
    assert new.repeat_after == timedelta(minutes=1)


def test_a_unit_can_be_scheduled_again_again_and_again():
    ids = []
    for _ in range(3):
        batch = started("a")
        ids += ids_of(batch)
        settled(batch)

    assert [(r.id, r.current, r.replaces) for r in rows_of("a")] == [
        (ids[0], False, None),
        (ids[1], False, ids[0]),
        (ids[2], True, ids[1]),
    ]


# What a new row is made of.


def test_a_new_task_has_the_settings_of_its_handler():
    task = schedule("T_PLAIN", "a", at=MONDAY)

    new = row(task.task_id)
    assert (new.lane, new.max_retry, new.payload, new.repeat_after, new.expires_after) == ("default", 3, {}, None, None)
    assert (new.replaces, new.idem_key, new.solo) == (None, None, False)
    assert new.shard == shard_of("default", "T_PLAIN", "a", 16)


def test_a_delay_counts_from_the_databases_clock():
    task = row(schedule(TYPE, "a", delay=timedelta(hours=1)).task_id)

    assert abs(task.due_at - task.created_at - timedelta(hours=1)) < timedelta(seconds=1)


def test_without_a_time_a_task_is_due_at_once():
    schedule(TYPE, "a")

    assert [report.settled for report in run_due()] == [1]


def test_a_number_and_its_text_are_the_same_key():
    task = schedule(TYPE, 7, at=MONDAY)

    assert schedule(TYPE, "7", at=MONDAY) == Scheduled(EXISTS, task.task_id)
    assert find(TYPE, 7).id == task.task_id


def test_a_uuid_is_a_key():
    key = UUID("12345678123456781234567812345678")
    task = schedule(TYPE, key, at=MONDAY)

    assert (find(TYPE, str(key)).id, row(task.task_id).biz_key) == (task.task_id, str(key))


def test_units_differ_by_tenant_and_type():
    answers = [
        schedule(TYPE, "a", at=MONDAY),
        schedule(TYPE, "a", at=MONDAY, tenant="other"),
        schedule("T_PLAIN", "a", at=MONDAY),
    ]

    assert {answer.outcome for answer in answers} == {CREATED}
    assert len({answer.task_id for answer in answers}) == 3


def test_find_tells_how_the_unit_stands():
    task = bring(FAIL, payload={"n": 1})

    found = find(TYPE, "a")

    assert (found.id, found.status, found.live, found.attempt, found.retry_count) == (task, "FAIL", True, 1, 1)
    assert (found.error_code, found.error_msg, found.payload) == ("BROKEN", "asked to fail", {"n": 1})
    assert (found.due_at, found.finish_time) == (row(task).due_at, row(task).finish_time)


@pytest.mark.parametrize(
    ("status", "live"),
    [(BLOCKED, True), (RUNNING, True), (AWAY, True), (ROLLING, True), (SUCCESS, False), (DEAD, False)],
)
def test_find_tells_whether_the_unit_is_live(status, live):
    bring(status)

    assert find(TYPE, "a").live is live


def test_find_answers_none_for_a_unit_that_never_was():
    assert find(TYPE, "a") is None


# Idempotency keys.


def test_a_second_schedule_with_an_idem_key_answers_with_the_first_even_when_that_is_finished():
    old = bring(SUCCESS, idem_key="order-7")

    assert schedule(TYPE, "a", idem_key="order-7") == Scheduled(EXISTS, old)
    assert schedule(TYPE, "b", idem_key="order-7") == Scheduled(EXISTS, old)
    assert len(rows_of("a")) + len(rows_of("b")) == 1


def test_a_live_unit_answers_whatever_the_idem_key():
    task = bring(INIT, idem_key="order-7")

    assert schedule(TYPE, "a", at=MONDAY, idem_key="order-8") == Scheduled(EXISTS, task)
    assert row(task).idem_key == "order-7"


def test_an_idem_key_that_was_handed_on_answers_with_the_row_that_has_it():
    bring(RUNNING, idem_key="order-7")
    moved = reschedule(TYPE, "a", at=TUESDAY)

    assert schedule(TYPE, "b", idem_key="order-7") == Scheduled(EXISTS, moved.task_id)


def test_idem_keys_belong_to_a_tenant():
    schedule(TYPE, "a", at=MONDAY, idem_key="order-7")

    assert schedule(TYPE, "b", at=MONDAY, idem_key="order-7", tenant="other").outcome == CREATED


def test_a_finished_unit_is_scheduled_again_with_an_idem_key_that_another_tenant_holds():
    schedule(TYPE, "a", at=MONDAY, idem_key="order-7", tenant="other")
    old = bring(SUCCESS)

    assert schedule(TYPE, "a", at=MONDAY, idem_key="order-7").outcome == CREATED
    assert the_new_row(old).idem_key == "order-7"


def test_any_number_of_units_sharing_an_idem_key_answer_with_the_one_that_holds_it():
    answers = schedule_many(TYPE, [{"key": n} for n in range(30)], at=MONDAY, idem_key="order-7")

    [task] = ScheduleTask.objects.values_list("id", flat=True)
    assert sorted(answer.outcome for answer in answers) == [CREATED] + [EXISTS] * 29
    assert {answer.task_id for answer in answers} == {task}


def test_finished_units_that_share_an_idem_key_answer_with_the_first_that_takes_over():
    settled(started("a", "b", "c"))

    answers = schedule_many(TYPE, [{"key": k} for k in "abc"], at=MONDAY, idem_key="order-7")

    assert sorted(answer.outcome for answer in answers) == [CREATED, EXISTS, EXISTS]
    assert {answer.task_id for answer in answers} == {ScheduleTask.objects.get(idem_key="order-7").id}


# Many at once.


def test_schedule_many_answers_in_the_order_of_its_tasks():
    live = bring(INIT)
    settled(started("done"))

    answers = schedule_many(TYPE, [{"key": k} for k in ("z", "a", "done", "m", "b")], at=TUESDAY)

    assert [a.outcome for a in answers] == [CREATED, EXISTS, CREATED, CREATED, CREATED]
    assert [row(a.task_id).biz_key for a in answers] == ["z", "a", "done", "m", "b"]
    assert answers[1].task_id == live


def test_a_unit_given_twice_is_scheduled_as_the_first_one_says():
    first, other, again = schedule_many(
        TYPE, [{"key": "a", "payload": {"n": 1}}, {"key": "b"}, {"key": "a", "payload": {"n": 2}}], at=MONDAY
    )

    assert [first.outcome, other.outcome, again.outcome] == [CREATED, CREATED, EXISTS]
    assert (again.task_id, again.due, row(first.task_id).payload) == (first.task_id, None, {"n": 1})


def test_a_live_unit_given_twice_exists_twice():
    live = bring(INIT)

    assert schedule_many(TYPE, [{"key": "a"}, {"key": "a"}]) == [Scheduled(EXISTS, live)] * 2


def test_an_option_of_one_task_comes_before_the_common_one():
    first, second = schedule_many(TYPE, [{"key": "a"}, {"key": "b", "lane": "low"}], lane="high", at=MONDAY)

    assert [row(first.task_id).lane, row(second.task_id).lane] == ["high", "low"]


def test_each_of_many_keeps_its_own_options_whether_the_others_have_them_or_not():
    settled(started("done"))
    tasks = [
        {"key": "all", "at": MONDAY, "payload": {"n": 1}, "lane": "low", "max_retry": 1, "idem_key": "i"},
        {"key": "rolling", "delay": 0, "repeat_after": 60},
        {"key": "expiring", "expires_after": 30, "tenant": "other"},
        {"key": "done", "delay": 3600, "max_retry": 0},
        {"key": "none"},
    ]

    rows = [row(answer.task_id) for answer in schedule_many(TYPE, tasks)]

    now = rows[4].due_at
    assert [r.due_at for r in rows if r.biz_key != "done"] == [MONDAY, now, now, now]
    assert abs(rows[3].due_at - now - timedelta(hours=1)) < timedelta(minutes=1)
    assert [r.payload for r in rows] == [{"n": 1}, {}, {}, {}, {}]
    assert [r.lane for r in rows] == ["low"] + ["default"] * 4
    assert [r.max_retry for r in rows] == [1, 5, 5, 0, 5]
    assert [r.idem_key for r in rows] == ["i", None, None, None, None]
    assert [r.repeat_after for r in rows] == [None, timedelta(minutes=1), None, None, None]
    assert [r.expires_after for r in rows] == [None, None, timedelta(seconds=30), None, None]
    assert [r.tenant for r in rows] == ["default", "default", "other", "default", "default"]
    assert [r.replaces is not None for r in rows] == [False, False, False, True, False]


def test_many_at_once_may_be_none():
    assert (schedule_many(TYPE, []), reschedule_many(TYPE, [])) == ([], [])


def test_reschedule_many_decides_for_each_unit_and_answers_in_order():
    running = bring(RUNNING)
    settled(started("done"))
    [init] = scheduled("b", at=MONDAY)

    answers = reschedule_many(TYPE, [{"key": k} for k in ("new", "done", "b", "a")], at=TUESDAY, by="tess")

    assert [a.outcome for a in answers] == [CREATED, IGNORED, UPDATED, REPLACED]
    assert (answers[2].task_id, row(answers[3].task_id).replaces) == (init, running)
    assert row(running).cancelled_by == "tess"


def test_reschedule_many_gives_each_unit_its_own_time():
    scheduled("a", "b", at=MONDAY)

    reschedule_many(TYPE, [{"key": "a", "at": WEDNESDAY}, {"key": "b", "at": TUESDAY}])

    assert (find(TYPE, "a").due_at, find(TYPE, "b").due_at) == (WEDNESDAY, TUESDAY)


def test_a_unit_given_two_times_is_not_rescheduled():
    task = bring(INIT)

    with pytest.raises(InvalidTask, match="given twice"):
        reschedule_many(TYPE, [{"key": "a", "at": TUESDAY}, {"key": "a", "at": WEDNESDAY}])

    assert row(task).due_at == MONDAY


# expires_after.


def late(task: int, seconds: float) -> None:
    """Let it be so long since the task's time came."""
    ScheduleTask.objects.filter(id=task).update(execute_time=row(task).execute_time - timedelta(seconds=seconds))


def test_a_task_within_its_allowance_runs():
    [task] = scheduled("a", expires_after=60)
    late(task, 50)

    run_due()

    assert state(task).status == "SUCCESS"


@pytest.mark.parametrize("task_type", ["T_PLAIN", "T_EFFECT", "T_BATCH", "T_THREADS", "T_TWO_PHASE"])
def test_a_task_past_its_allowance_is_not_run_any_more(task_type):
    [task] = scheduled("a", task_type=task_type, expires_after=60, payload={"do": "die"})
    late(task, 70)

    run_due()

    assert (state(task), row(task).error_code) == (State("CANCELLED"), "EXPIRED")
    assert "later than allowed" in row(task).error_msg
    assert events(task) == ["task.cancelled"]


def test_a_reschedule_gives_a_task_its_allowance_anew():
    [task] = scheduled("a", expires_after=60)
    late(task, 70)

    reschedule(TYPE, "a", delay=0)
    run_due()

    assert state(task).status == "SUCCESS"


# Wake-ups and the caller's transaction.


@pytest.fixture
def signals(redis):
    """How many signals are pending."""
    return lambda: len(redis.keys(f"{SIGNAL_KEY}*"))


def asked(redis) -> int:
    """How often Redis was asked to signal."""
    return redis.info("commandstats").get("cmdstat_eval", {}).get("calls", 0)


VERBS = pytest.mark.parametrize("verb", [schedule, reschedule, ensure], ids=lambda verb: verb.__name__)


@commits
@VERBS
def test_outside_a_transaction_the_task_is_there_at_once_and_wakes_the_dispatcher(verb, signals):
    task = verb(TYPE, "a", delay=0)

    assert (ScheduleTask.objects.get().id, signals()) == (task.task_id, 1)


@commits
@VERBS
def test_a_rollback_leaves_no_trace_and_no_wake_up(verb, signals):
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        verb(TYPE, "a", delay=0)
        raise ZeroDivisionError

    assert (ScheduleTask.objects.count(), signals()) == (0, 0)


@pytest.mark.usefixtures("every_event")
@commits
def test_a_rollback_undoes_a_replacement_whole(signals):
    batch = started("a")
    old = ids_of(batch)[0]
    before = signals()
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        reschedule(TYPE, "a", delay=0)
        raise ZeroDivisionError

    assert [(r.id, r.status, r.current) for r in rows_of("a")] == [(old, "RUNNING", True)]
    assert (settled(batch), events(old), signals()) == (1, ["task.succeeded"], before)


@commits
def test_a_rolled_back_savepoint_takes_only_its_own_task_along(signals):
    with transaction.atomic():
        kept = schedule(TYPE, "kept")
        with pytest.raises(ZeroDivisionError), transaction.atomic():
            schedule(TYPE, "undone")
            raise ZeroDivisionError

    # A signal too many is only a look too many; the one for what was kept must be there.
    assert ([r.id for r in ScheduleTask.objects.all()], signals() in (1, 2)) == ([kept.task_id], True)


@commits
def test_a_rolled_back_savepoint_alone_wakes_nobody(signals):
    with transaction.atomic():
        with pytest.raises(ZeroDivisionError), transaction.atomic():
            schedule(TYPE, "undone")
            raise ZeroDivisionError

    assert (ScheduleTask.objects.count(), signals()) == (0, 0)


@commits
def test_one_transaction_asks_for_one_wake_up_for_the_earliest_of_its_tasks(redis, signals):
    redis.hset(NEXT_LOOK_KEY, mapping=dict.fromkeys(range(16), repr(time.time() + 60)))
    before = asked(redis)
    with transaction.atomic():
        schedule(TYPE, "a", delay=3600)
        schedule_many(TYPE, [{"key": n, "delay": 1800 - 180 * n} for n in range(10)])
        reschedule(TYPE, "a", delay=5)
        ensure(TYPE, "b", at=TUESDAY)

    assert (asked(redis) - before, signals()) == (1, 1)


@commits
@pytest.mark.parametrize(("verb", "status"), [(schedule, INIT), (reschedule, SUCCESS), (reschedule, BLOCKED)])
def test_a_schedule_that_makes_nothing_due_asks_for_no_wake_up(redis, signals, verb, status):
    bring(status)
    before = asked(redis)

    verb(TYPE, "a", at=TUESDAY)

    assert asked(redis) == before


@commits
def test_the_wake_up_waits_for_the_commit(signals):
    with transaction.atomic():
        schedule(TYPE, "a")
        assert signals() == 0
    assert signals() == 1


def test_an_idem_key_of_one_tenant_says_nothing_to_another():
    first = schedule("T_QUIET", "a", idem_key="order-1", tenant="red")
    schedule("T_QUIET", "a", tenant="blue", delay=60)

    # The unit is taken, so the key is looked up; the other tenant's row must not answer.
    again = schedule("T_QUIET", "a", idem_key="order-1", tenant="blue")
    fresh = schedule("T_QUIET", "b", idem_key="order-1", tenant="blue")

    assert again.task_id != first.task_id
    assert fresh.outcome == Outcome.CREATED


def test_the_garbage_collector_does_not_walk_the_process_while_many_are_scheduled():
    tasks = [{"key": n} for n in range(2_000)]
    walks = []

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            walks.append(info["generation"])

    gc.callbacks.append(note)
    try:
        schedule_many(TYPE, tasks)
    finally:
        gc.callbacks.remove(note)

    assert len(walks) <= 4  # between its two steps and after them, and not each time that 700 objects more were made


def test_payloads_that_differ_arrive_as_they_were_given():
    ugly = ['"', "\\", '\\"', "{}", "a,b", "NULL", "\n\t", "🦊 é", "'", {"deep": ["\\", '"', None]}, 1.5, ""]

    schedule_many("T_QUIET", [{"key": n, "delay": n, "payload": {"x": one}} for n, one in enumerate(ugly)])

    assert [row.payload["x"] for row in ScheduleTask.objects.order_by("execute_time")] == ugly


def test_more_tasks_than_are_sent_at_once_are_answered_in_the_order_of_the_call():
    there = {n: schedule(TYPE, n, delay=60).task_id for n in (3, 1_500, 2_499)}
    tasks = [{"key": n, "delay": 60 + n, "idem_key": f"i{n}" if n % 700 == 0 else None} for n in range(2_500)]
    seen = []

    # What guards each statement of a request goes around these, too.
    with connection.execute_wrapper(lambda execute, *args: seen.append(args[0]) or execute(*args)):
        answers = schedule_many(TYPE, [*tasks, {"key": 7, "delay": 1}])

    assert any(one.startswith("-- insert_keyed_tasks:") for one in seen)

    found = dict(ScheduleTask.objects.values_list("biz_key", "id"))
    assert [answer.task_id for answer in answers] == [found[str(n)] for n in [*range(2_500), 7]]
    assert [n for n, answer in enumerate(answers) if answer.outcome == "EXISTS"] == [*there, 2_500]
