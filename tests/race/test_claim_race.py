"""claim against claim and against the return of a batch: a due row belongs to one batch, and nobody waits for it."""

from datetime import timedelta
from uuid import UUID

from django.db import connection, transaction

from django_punctual import cancel
from tasks_app.conf import conf
from tasks_app.core.lanes import DEFAULT_LANE
from tasks_app.core.sharding import shard_of
from tasks_app.core.task import Failure
from tasks_app.lifecycle.claim import LaneShare, claim, return_batches, return_unstarted, set_retries_aside
from tasks_app.lifecycle.start import start
from tasks_app.models import ScheduleTask, TaskBatch
from tests.support.engine import anybodys, batch_row, claim_due, make_due, row
from tests.support.marks import commits
from tests.support.moves import TUESDAY, TYPE, State, claimed, scheduled, settled, started, state
from tests.support.overlap import overlap, overlap_results

pytestmark = commits


def test_a_rival_claim_finds_nothing_and_does_not_wait():
    tasks = scheduled("a", "b", "c")

    first, second = overlap_results(claim_due, claim_due)

    [batch] = first.value
    assert (second.value, second.waited) == ([], False)
    assert sorted(batch_row(batch).ids) == tasks
    assert {str(row(task).batch_no) for task in tasks} == {batch.batch_no}
    assert TaskBatch.objects.count() == 1


def test_what_a_claim_left_goes_to_its_rival():
    a, b = scheduled("a", "b")
    its_shard = {row(a).shard: None}
    assert row(b).shard not in its_shard

    first, second = overlap(lambda: claim([LaneShare(DEFAULT_LANE, 10, 10)], {}, "test", its_shard), claim_due)

    assert [batch_row(batch).ids for batch in (*first, *second)] == [[a], [b]]


def test_rows_of_a_claim_that_rolled_back_are_due_as_before():
    [task] = scheduled("a")
    due = row(task).due_at

    _, second = overlap(claim_due, claim_due, commit=False)

    assert second == []
    assert (state(task), row(task).due_at) == (State("INIT", due=True), due)
    assert TaskBatch.objects.count() == 0


def test_a_lane_with_room_for_one_batch_gets_the_one_that_has_been_due_for_longest():
    a, b, c = scheduled("a", "b", "c", at=TUESDAY)
    for task in (c, a, b):
        make_due(task)

    [batch] = claim([LaneShare(DEFAULT_LANE, 1000, 1)], {TYPE: 2}, "test", anybodys())

    assert sorted(batch_row(batch).ids) == [a, c]
    assert [batch_row(batch).ids for batch in claim_due()] == [[b]]


def test_a_solo_task_that_has_been_due_for_longest_goes_before_every_full_batch_of_a_backlog():
    first, second = scheduled("lost", "lost too")
    for task, seconds in ((first, 20), (second, 10)):
        due = row(task).due_at - timedelta(seconds=seconds)
        ScheduleTask.objects.filter(id=task).update(solo=True, due_at=due)
    scheduled(*(f"backlog {n}" for n in range(6)))
    scheduled(*(f"other backlog {n}" for n in range(6)), task_type="T_LONG")

    batches = claim([LaneShare(DEFAULT_LANE, 1000, 2)], {TYPE: 3, "T_LONG": 3}, "test", anybodys())

    assert sorted(batch_row(batch).ids for batch in batches) == [[first], [second]]


def test_a_claim_takes_the_rows_that_have_been_due_for_longest_and_no_more_of_a_shard_than_its_share():
    keys = [f"k{n}" for n in range(200) if shard_of("default", TYPE, f"k{n}", conf().SHARDS) == 0][:3]
    first, second, third = scheduled(*keys)
    for task, seconds in ((first, 10), (second, 30), (third, 20)):
        ScheduleTask.objects.filter(id=task).update(due_at=row(task).due_at - timedelta(seconds=seconds))

    with transaction.atomic(), connection.cursor() as cursor:
        # The due index happens to have them in order; the statement must not count on that.
        cursor.execute("SET LOCAL enable_indexscan = off; SET LOCAL enable_bitmapscan = off")
        batches = claim([LaneShare(DEFAULT_LANE, 2, 10)], {TYPE: 10}, "test", anybodys())

    assert [sorted(batch_row(batch).ids) for batch in batches] == [[second, third]]
    assert state(first) == State("INIT", due=True)


def test_tasks_of_two_types_or_lanes_never_share_a_batch():
    quiet = scheduled("a", "b")
    plain = scheduled("a", "b", task_type="T_PLAIN")
    low = scheduled("c", lane="low")

    batches = [(batch.task_type, batch.lane, sorted(batch_row(batch).ids)) for batch in claim_due()]

    assert sorted(batches) == [("T_PLAIN", "default", plain), (TYPE, "default", quiet), (TYPE, "low", low)]


def test_a_row_of_the_future_another_lane_or_another_shard_is_not_claimed():
    scheduled("a", at=TUESDAY)
    scheduled("b", lane="low")
    [c] = scheduled("c")
    others = [shard for shard in anybodys() if shard != row(c).shard]

    assert claim([LaneShare(DEFAULT_LANE, 10, 10)], {}, "test", dict.fromkeys(others)) == []
    assert [batch_row(b).ids for b in claim([LaneShare(DEFAULT_LANE, 10, 10)], {}, "test", anybodys())] == [[c]]


def test_of_start_and_return_the_first_has_the_batch():
    number = claimed("a")

    batch, returned = overlap(lambda: start(number, "worker"), lambda: return_batches([str(number)]))

    assert (len(batch.tasks), returned) == (1, 0)
    assert settled(batch) == 1


def test_a_start_waits_for_a_return_and_then_finds_the_batch_finished():
    number = claimed("a")

    returned, batch = overlap(lambda: return_batches([str(number)]), lambda: start(number, "worker"))

    assert (returned, batch) == (1, None)
    assert len(claim_due()) == 1


def test_a_start_has_the_batch_if_its_return_rolled_back():
    number = claimed("a")

    _, batch = overlap(lambda: return_batches([str(number)]), lambda: start(number, "worker"), commit=False)

    assert settled(batch) == 1


def test_of_two_returns_of_a_batch_one_counts():
    number = claimed("a", "b")

    first, second = overlap(lambda: return_batches([str(number)]), lambda: return_batches([str(number)]))

    assert (first, second) == (2, 0)


def unstarted() -> int:
    return return_unstarted(["test"])


def test_what_is_started_while_its_beat_is_taken_over_stays_started():
    number = claimed("a")

    batch, returned = overlap_results(lambda: start(number, "worker"), unstarted)

    assert (returned.value, returned.waited) == (0, False)
    assert settled(batch.value) == 1


def test_a_start_waits_for_a_takeover_and_then_finds_the_batch_finished():
    number = claimed("a")

    returned, batch = overlap(unstarted, lambda: start(number, "worker"))

    assert (returned, batch) == (1, None)
    assert len(claim_due()) == 1


def test_of_two_takeovers_one_returns_what_was_not_started_and_the_other_does_not_wait():
    claimed("a", "b")

    first, second = overlap_results(unstarted, unstarted)

    assert (first.value, second.value, second.waited) == (2, 0, False)


def test_a_takeover_returns_what_one_beat_claimed_and_nothing_that_started_or_is_another_beats():
    running, other, lost = started("a"), str(claimed("b")), claimed("c")
    TaskBatch.objects.filter(batch_no=other).update(dispatcher="another beat")

    assert unstarted() == 1

    assert batch_row(str(lost)).finished_at is not None
    assert TaskBatch.objects.filter(finished_at=None).count() == 2
    assert settled(running) == 1
    assert start(UUID(other), "worker") is not None


def test_a_takeover_waits_for_nobody_and_leaves_a_batch_with_a_row_that_is_being_changed_to_its_lease():
    held, other = claimed("a", "b"), claimed("c")
    [a, _] = batch_row(str(held)).ids

    _, returned = overlap_results(lambda: ScheduleTask.objects.select_for_update().get(id=a), unstarted)

    assert (returned.value, returned.waited) == (1, False)
    assert batch_row(str(other)).finished_at is not None
    assert batch_row(str(held)).finished_at is None
    assert len(start(held, "worker").tasks) == 2


def test_a_takeover_beside_a_cancel_leaves_nothing_running_without_a_batch():
    number = claimed("a", "b")
    [a, b] = batch_row(str(number)).ids

    overlap(lambda: cancel(TYPE, "a"), unstarted)
    assert unstarted() == 1

    assert (state(a).status, state(b)) == ("CANCELLED", State("INIT", due=True))
    assert batch_row(str(number)).finished_at is not None


def test_a_batch_that_was_returned_stays_finished_when_it_was():
    number = str(claimed("a"))
    return_batches([number])
    finished = batch_row(number).finished_at

    assert return_batches([number]) == 0
    assert batch_row(number).finished_at == finished


def test_a_return_leaves_a_task_that_runs_under_another_batch():
    number, other = str(claimed("a")), str(claimed("b"))
    batch = batch_row(number)
    [b] = batch_row(other).ids
    batch.ids += [b]
    batch.save()

    assert return_batches([number]) == 1
    assert (state(b).status, str(row(b).batch_no)) == ("RUNNING", other)


def test_a_returned_task_is_due_when_it_was_and_keeps_its_failures():
    batch = started("a")
    [task] = [t.id for t in batch.tasks]
    settled(batch, Failure("BROKEN", "asked to fail", after=0))
    due = row(task).due_at
    [again] = claim_due()

    assert return_batches([again.batch_no]) == 1

    assert (state(task), row(task).due_at) == (State("FAIL", due=True, attempt=1, retry_count=1), due)
    assert (batch_row(again).reaped, batch_row(again).finished_at is None) == (False, False)


def test_a_retry_that_somebody_changes_is_not_waited_for_when_others_are_put_aside():
    a, b = scheduled("a", "b")
    settled(start(UUID(claim_due()[0].batch_no), "worker"), Failure("BROKEN", "asked to fail", after=3600))
    make_due(a, b)
    [batch] = claim_due()

    _, aside = overlap_results(lambda: cancel(TYPE, "a"), lambda: set_retries_aside([batch.batch_no]))

    assert (aside.waited, aside.value) == (False, {batch.batch_no: 1})
    assert (row(a).status, row(b).status) == ("CANCELLED", "FAIL")
