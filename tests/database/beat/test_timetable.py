"""The timetable: an entry stays where it is when its task runs, and looks begin where the timetable lies behind."""

from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from django_punctual import reschedule, schedule, schedule_many
from tasks_app.conf import conf
from tasks_app.core.lanes import LANES
from tasks_app.lifecycle.claim import EVERYTHING, LaneShare, claim, pass_entries, peek, return_batches
from tasks_app.models import ScheduleTask, Timetable
from tasks_app.sql import _text
from tests.support.engine import anybodys, batch_row, claim_due, row, run_due
from tests.support.marks import commits
from tests.support.moves import RETRY, TUESDAY, scheduled, settled, started

pytestmark = commits


def execute(statement: str, *values: object) -> list[tuple]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values or None)
        return cursor.fetchall() if cursor.description else []


def pass_twice() -> None:
    """The first look makes a mark, and the second notes what lies before it."""
    for _ in range(2):
        pass_entries(range(conf().SHARDS))


def passed(task: int) -> bool:
    """Whether looks begin after the entry of this one."""
    one = row(task)
    [[at]] = execute(
        "SELECT (passed ->> %s)::timestamptz FROM punctual_timetable WHERE shard = %s", one.lane, one.shard
    )
    return at is not None and at > one.entry_at


def waits_at_its_entry(task: int) -> bool:
    one = row(task)
    return (one.entry_at, one.wait_at) == (one.due_at, None)


def waits_apart(task: int) -> bool:
    one = row(task)
    return one.wait_at == one.due_at is not None


def claimed() -> set[int]:
    """What a claim finds now, from where the timetable lies behind."""
    batches = [batch.batch_no for batch in claim_due()]
    return set(ScheduleTask.objects.filter(batch_no__in=batches).values_list("id", flat=True))


def test_what_is_claimed_and_done_is_passed_and_what_waits_is_not():
    [done] = scheduled("a")
    run_due()
    [waiting] = scheduled("b")

    pass_twice()

    assert passed(done) and not passed(waiting)
    assert claimed() == {waiting}


def test_looks_do_not_step_over_what_is_passed():
    schedule_many("T_QUIET", [{"key": n} for n in range(500)])
    claim_due()
    pass_twice()
    before = _read_of_the_timetable()

    peek("test", range(conf().SHARDS))

    assert _read_of_the_timetable() - before < 50


def test_a_claim_of_a_mass_goes_on_where_the_last_one_left_something():
    """All are due at one moment: the id tells where that was."""
    schedule_many("T_QUIET", [{"key": n} for n in range(1_000)], at=timezone.now() + timedelta(seconds=1))
    found, place = [], EVERYTHING
    while True:
        before = _read_of_the_timetable()
        share = LaneShare("default", 10, 100, place)
        batches = claim([share], {"T_QUIET": 1_000}, "test", anybodys(), ahead=60)
        if not batches:
            break
        assert _read_of_the_timetable() - before < 1_000
        found += [id_ for batch in batches for id_ in batch_row(batch).ids]
        place = batches[0].left_from or place

    assert len(found) == len(set(found)) == 1_000


def _read_of_the_timetable() -> int:
    execute("SELECT pg_stat_force_next_flush()")
    [[read]] = execute("SELECT idx_tup_read FROM pg_stat_user_indexes WHERE indexrelname = 'punctual_task_entry'")
    return read


def test_a_paused_lane_holds_up_no_other():
    [held], [done] = scheduled("a", lane="low"), scheduled("b")
    return_batches([batch.batch_no for batch in claim_due(lanes=["default"])])
    claim_due(lanes=["default"])

    pass_twice()

    assert passed(done) and not passed(held)


@pytest.mark.parametrize("give_back", ["the batch", "the task"])
def test_what_is_given_back_waits_apart(give_back):
    if give_back == "the batch":
        [task] = scheduled("a")
        return_batches([batch.batch_no for batch in claim_due()])
    else:
        batch = started("a")
        settled(batch, RETRY)
        [task] = batch_ids("a")

    assert waits_apart(task)


def batch_ids(*keys: str) -> list[int]:
    return list(ScheduleTask.objects.filter(biz_key__in=keys).values_list("id", flat=True))


def test_what_is_given_back_is_found_though_its_entry_is_passed():
    [task] = scheduled("a")
    batches = claim_due()
    pass_twice()
    assert passed(task)

    return_batches([batch.batch_no for batch in batches])

    assert claimed() == {task}


def test_what_is_new_waits_at_its_entry_unless_it_is_for_the_past_limited_or_rolls():
    [now], [later] = scheduled("now"), scheduled("later", delay=60)
    [past] = scheduled("past", at=TUESDAY.replace(year=2020))
    [rolling] = scheduled("rolling", repeat_after=60)

    assert [waits_at_its_entry(task) for task in (now, later)] == [True, True]
    assert [waits_apart(task) for task in (past, rolling)] == [True, True]
    assert claimed() == {now, past, rolling}


CHANGES = {
    "moved": "due_at = due_at + interval '1 h'",
    "put into another lane": "lane = 'low'",
    "in another shard": "shard = (shard + 1) % 16",
    "limited": "limited = TRUE",
    "rolls": "repeat_after = interval '1 h'",
    "without an entry": "entry_at = NULL",
    "moved there and back": "due_at = due_at + interval '1 h'; UPDATE punctual_task SET due_at = entry_at",
    "cancelled and due again": (
        "due_at = NULL, status = 'CANCELLED'; UPDATE punctual_task SET status = 'INIT', due_at = entry_at"
    ),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_who_changes_a_row_by_hand_need_not_know_of_the_timetable(change):
    [task] = scheduled("a", delay=60)

    execute("UPDATE punctual_task SET " + change)

    assert waits_apart(task)


def test_who_writes_a_row_by_hand_need_not_know_of_it_either():
    execute(
        "INSERT INTO punctual_task (tenant, task_type, biz_key, status, execute_time, due_at, lane, shard, max_retry)"
        " VALUES ('default', 'T_QUIET', 'a', 'INIT', now(), now(), 'default', 3, 0)"
    )

    [task] = batch_ids("a")
    assert waits_apart(task) and claimed() == {task}


def test_what_does_not_wait_has_no_place_apart():
    [task] = scheduled("a", at=TUESDAY.replace(year=2020))

    execute("UPDATE punctual_task SET due_at = NULL, status = 'CANCELLED'")

    assert row(task).wait_at is None


def test_a_change_that_moves_nothing_leaves_it_at_its_entry():
    [task] = scheduled("a", delay=60)

    execute("UPDATE punctual_task SET payload = '{}', updated_at = clock_timestamp(), due_at = due_at")

    assert waits_at_its_entry(task)


def test_a_task_that_is_moved_is_found_at_its_new_time():
    task = schedule("T_QUIET", "a", delay=3600).task_id
    reschedule("T_QUIET", "a", delay=0)

    assert waits_apart(task) and claimed() == {task}


def test_with_the_clock_set_back_looks_begin_at_the_beginning():
    [task] = scheduled("a")
    for shard in range(conf().SHARDS):
        Timetable.objects.create(shard=shard, passed=dict.fromkeys(LANES, "2090-01-01T00:00:00Z"), mark_xid=1)
    execute("UPDATE punctual_timetable SET noted_at = clock_timestamp() + interval '1 h', mark_at = noted_at")

    assert [view.lane for view in peek("test", range(conf().SHARDS)).lanes if view.next_due] == ["default"]
    assert claimed() == {task}


def test_with_the_clock_set_back_it_is_noted_anew():
    [task] = scheduled("a")
    pass_twice()
    execute("UPDATE punctual_timetable SET noted_at = clock_timestamp() + interval '1 h'")
    execute("UPDATE punctual_timetable SET passed = jsonb_build_object('default', now() + interval '1 h')")

    pass_entries(range(conf().SHARDS))
    assert {one.passed.get("default") for one in Timetable.objects.all()} == {None}

    execute("SELECT pg_current_xact_id()")
    pass_entries(range(conf().SHARDS))
    assert not passed(task)


def test_numbers_of_transactions_that_begin_anew_are_marked_anew():
    """As after a dump was restored."""
    scheduled("a")
    claim_due()
    pass_twice()
    execute("UPDATE punctual_timetable SET mark_xid = mark_xid + 1000000000")

    pass_entries(range(conf().SHARDS))

    [[ahead]] = execute(
        "SELECT count(*) FROM punctual_timetable WHERE mark_xid > pg_snapshot_xmax(pg_current_snapshot())::text::bigint"
    )
    assert ahead == 0


@pytest.mark.parametrize(
    "statement", ["insert_task", "insert_alike", "insert_new_alike", "insert_tasks", "plan_instances"]
)
def test_who_makes_an_entry_has_a_number_before_the_clock_is_read(statement):
    """Held open between the two, a transaction could make an entry before a mark that knows nothing of it."""
    assert "CASE WHEN pg_current_xact_id() IS NOT NULL THEN clock_timestamp() END AS now" in _text(statement)
