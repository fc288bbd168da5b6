"""Turns beside whatever else goes on: at no moment two instances of a job are under way, and none waits in vain."""

from uuid import UUID

import pytest

from django_punctual import cancel
from tasks_app.engine.beat.turn_giver import give_due_turns
from tasks_app.lifecycle import tenants
from tasks_app.lifecycle.dead_letter import replay
from tasks_app.lifecycle.held import put_back_held
from tasks_app.lifecycle.jobs import verbs
from tasks_app.lifecycle.start import start
from tasks_app.lifecycle.turns import Given, end_turns, give_turns, queue_again
from tasks_app.models import JobDefinition, ScheduleTask, Turn
from tasks_app.sql import array, run
from tests.support.backfill import backfilled, hourly, hours
from tests.support.campaigns import carried_out
from tests.support.contend import contend
from tests.support.engine import claim_due, row
from tests.support.jobs import by, instances, now
from tests.support.marks import commits
from tests.support.moves import FINAL, OK, claim_one, settled
from tests.support.operators import operator
from tests.support.overlap import overlap, overlap_results
from tests.support.turns import comes, ids, one_at_a_time, runs, statuses, turns, under_way

pytestmark = commits

both_ways = pytest.mark.parametrize("commit", [True, False], ids=["commit", "rollback"])


def time_comes(*task_ids: int) -> None:
    Turn.objects.filter(task__in=task_ids).update(at=now())


def give(job: JobDefinition) -> Given:
    return give_turns([job.id])


@both_ways
def test_two_that_decide_at_once_let_one_go(commit):
    job = one_at_a_time("queue_all")
    first, second, _ = ids(job)
    time_comes(first, second)

    one, two = overlap(lambda: give(job), lambda: give(job), commit=commit)

    assert (one.released, two.released, two.put_off) == (1, 0, {job.id})
    give_due_turns()
    assert under_way(job) == [first]


@both_ways
def test_a_decision_beside_the_settle_of_the_older_one_is_made_before_or_after_it(commit):
    job = one_at_a_time("queue_all")
    first, second, _ = ids(job)
    batch = runs(first)
    time_comes(second)

    _, given = overlap(lambda: settled(batch), lambda: give(job), commit=commit)

    assert (given.released, given.queued) == (0, 1)  # it was under way, as far as anybody could see
    give_due_turns()
    assert under_way(job) == ([second] if commit else [first])


@both_ways
def test_a_settle_beside_a_decision_is_written_and_the_next_look_lets_the_next_one_go(commit):
    job = one_at_a_time("queue_all")
    first, second, _ = ids(job)
    batch = runs(first)
    time_comes(second)

    _, moved = overlap(lambda: give(job), lambda: settled(batch), commit=commit)

    assert moved == 1
    give_due_turns()
    assert under_way(job) == [second]


@both_ways
def test_what_is_replaced_can_not_settle(commit):
    job = one_at_a_time("replace")
    first, second, _ = ids(job)
    batch = runs(first)
    time_comes(second)

    given, moved = overlap(lambda: give(job), lambda: settled(batch), commit=commit)

    assert (given.released, moved) == (1, 0 if commit else 1)
    give_due_turns()
    assert statuses(first, second) == ["CANCELLED" if commit else "SUCCESS", "INIT"]
    assert under_way(job) == [second]


@both_ways
def test_one_that_replaces_does_not_wait_for_the_settle_of_the_older_one(commit):
    job = one_at_a_time("replace")
    first, second, _ = ids(job)
    batch = runs(first)
    time_comes(second)

    _, given = overlap_results(lambda: settled(batch), lambda: give(job), commit=commit)

    assert (given.waited, given.value.put_off) == (False, {job.id})
    give_due_turns()
    assert statuses(first, second) == ["SUCCESS" if commit else "CANCELLED", "INIT"]


def test_a_job_that_is_put_off_keeps_no_other_waiting():
    locked, other = one_at_a_time("replace", "locked"), one_at_a_time("replace", "other")
    batch = runs(ids(locked)[0])
    time_comes(ids(locked)[1], ids(other)[0])

    _, report = overlap(lambda: settled(batch), give_due_turns)

    assert (report.released, report.put_off) == (1, True)
    assert under_way(other) == [ids(other)[0]]


@both_ways
def test_skip_beside_the_cancellation_of_the_older_one(commit):
    job = one_at_a_time("skip")
    first, second, _ = ids(job)
    runs(first)
    time_comes(second)
    cancelled = row(first)

    overlap(lambda: cancel(cancelled.task_type, cancelled.biz_key), lambda: give(job), commit=commit)

    assert statuses(first, second) == ["CANCELLED" if commit else "RUNNING", "CANCELLED"]
    assert row(second).error_code == "OVERLAP"


@both_ways
def test_one_that_is_cancelled_while_it_is_decided_about_stays_cancelled(commit):
    job = one_at_a_time("queue_all")
    first, second, _ = ids(job)
    waiting = row(first)
    time_comes(first, second)

    _, given = overlap(lambda: cancel(waiting.task_type, waiting.biz_key), lambda: give(job), commit=commit)

    assert given.put_off == {job.id}
    give_due_turns()
    assert under_way(job) == ([second] if commit else [first])


@both_ways
def test_a_cancellation_beside_a_decision_cancels_whatever_was_decided(commit):
    job = one_at_a_time("queue_all")
    first, second, _ = ids(job)
    waiting = row(first)
    time_comes(first, second)

    overlap(lambda: give(job), lambda: cancel(waiting.task_type, waiting.biz_key), commit=commit)

    assert statuses(first) == ["CANCELLED"]
    give_due_turns()
    assert under_way(job) == [second]


CHANGES = {
    "edit": lambda job: verbs.edit(job.id, {"payload": {"rule": "new"}}, by()),
    "pause": lambda job: verbs.pause(job.id, by()),
    "delete": lambda job: verbs.delete(job.id, by()),
    "allow": lambda job: verbs.edit(job.id, {"overlap": "allow"}, by()),
}
every_change = pytest.mark.parametrize("change", CHANGES)


@every_change
@both_ways
def test_a_change_waits_for_a_decision_and_takes_it_back(change, commit):
    job = one_at_a_time("queue_all")
    first, _, _ = ids(job)
    time_comes(first)

    _, changed = overlap_results(lambda: give(job), lambda: CHANGES[change](job), commit=commit)

    assert (changed.waited, changed.error) == (True, None)
    assert first not in ids(job)
    if change in ("pause", "delete"):
        assert instances(job) == [] and turns(job) == {}
    give_due_turns()
    assert len([task for task in under_way(job) if row(task).due_at <= now()]) <= 1


@every_change
@both_ways
def test_a_decision_leaves_a_job_alone_that_is_being_changed(change, commit):
    job = one_at_a_time("queue_all")
    first, _, _ = ids(job)
    time_comes(first)

    _, given = overlap_results(lambda: CHANGES[change](job), lambda: give(job), commit=commit)

    assert (given.waited, given.value) == (False, Given(put_off=frozenset({job.id})))
    give_due_turns()
    if not commit:
        assert under_way(job) == [first]


@both_ways
def test_a_replay_waits_for_an_edit_that_forbids_overlap_and_goes_by_it(commit):
    job = one_at_a_time("skip")
    first, _, _ = ids(job)
    settled(runs(first), FINAL)
    verbs.edit(job.id, {"overlap": "allow"}, by())

    overlap(lambda: verbs.edit(job.id, {"overlap": "skip"}, by()), lambda: replay([first], "alice"), commit=commit)

    assert statuses(first) == ["BLOCKED" if commit else "INIT"]


@both_ways
def test_a_replay_beside_the_decision_that_finds_the_dead_one_over(commit):
    job = one_at_a_time("queue_all")
    first, second, _ = ids(job)
    settled(runs(first), FINAL)
    time_comes(second)

    overlap(lambda: give(job), lambda: replay([first], "alice"), commit=commit)
    give_due_turns()

    assert len(under_way(job)) == 1
    assert sorted(turns(job)[task] for task in (first, second)) == ["queued", "taken"]


@both_ways
def test_a_decision_beside_a_replay_does_not_forget_that_it_waits(commit):
    job = one_at_a_time("queue_all")
    first, second, _ = ids(job)
    settled(runs(first), FINAL)
    time_comes(second)

    overlap(lambda: replay([first], "alice"), lambda: give(job), commit=commit)
    give_due_turns()

    assert under_way(job) == [second]
    assert statuses(first) == ["BLOCKED" if commit else "DEAD"]
    assert not commit or turns(job)[first] == "queued"


def test_whoever_is_killed_between_the_lock_and_the_decision_has_changed_nothing():
    job = one_at_a_time("queue_all")
    first, _, _ = ids(job)
    time_comes(first)

    overlap(lambda: run("lock_turns", {"jobs": array([job.id])}), lambda: give(job), commit=False)

    assert statuses(first) == ["BLOCKED"]
    give_due_turns()
    assert under_way(job) == [first]


def test_whoever_is_killed_between_a_settle_and_the_next_turn_is_made_up_for_by_any_beat():
    job = one_at_a_time("queue_all")
    first, second, _ = ids(job)
    batch = runs(first)
    comes(second)

    assert settled(batch, OK) == 1  # and nobody gave the turn after it
    assert statuses(second) == ["BLOCKED"]

    assert give_due_turns().released == 1
    assert under_way(job) == [second]


@both_ways
def test_a_backfill_gives_its_turn_back_before_it_is_claimed_or_not_at_all(commit):
    job = one_at_a_time("skip")
    first, second, _ = ids(job)
    Turn.objects.filter(task=first).update(policy=Turn.BACKFILL)
    comes(first)
    time_comes(second)

    _, given = overlap(claim_one, lambda: give(job), commit=commit)

    assert (given.released, given.put_off) == (0, {job.id})
    give_due_turns()
    assert statuses(first, second) == (["RUNNING", "BLOCKED"] if commit else ["BLOCKED", "INIT"])


@both_ways
def test_a_claim_beside_that_finds_nothing_but_what_was_decided(commit):
    job = one_at_a_time("skip")
    first, second, _ = ids(job)
    Turn.objects.filter(task=first).update(policy=Turn.BACKFILL)
    comes(first)
    time_comes(second)

    _, claimed = overlap(lambda: give(job), claim_due, commit=commit)

    assert claimed == []
    assert statuses(first, second) == (["BLOCKED", "INIT"] if commit else ["INIT", "BLOCKED"])


# What is put aside beside a decision.


def due_of_a_backfill() -> tuple[JobDefinition, int, int, UUID]:
    """One that a backfill has made was claimed, its tenant is suspended, and the time of the next one has come."""
    job = one_at_a_time("skip")
    first, second, _ = ids(job)
    Turn.objects.filter(task=first).update(policy=Turn.BACKFILL)
    comes(first)
    batch = claim_one()
    tenants.suspend("default", operator())
    time_comes(second)
    return job, first, second, batch


def both_run_after_all(job: JobDefinition, first: int, second: int) -> None:
    tenants.resume("default", operator())
    put_back_held("default", 10)
    for _ in (first, second):
        give_due_turns()
        settled(start(claim_one(), "worker"))
    assert statuses(first, second) == ["SUCCESS", "SUCCESS"]


@both_ways
def test_what_is_being_put_aside_keeps_its_turn(commit):
    job, first, second, batch = due_of_a_backfill()

    overlap(lambda: start(batch, "worker"), lambda: give(job), commit=commit)
    give_due_turns()

    assert statuses(first, second) == ["INIT" if commit else "RUNNING", "BLOCKED"]
    assert turns(job)[first] == "taken"
    if not commit:
        start(batch, "worker")
    both_run_after_all(job, first, second)


@both_ways
def test_a_decision_beside_that_leaves_it_its_turn(commit):
    job, first, second, batch = due_of_a_backfill()

    overlap(lambda: give(job), lambda: start(batch, "worker"), commit=commit)
    give_due_turns()

    assert statuses(first, second) == ["INIT", "BLOCKED"]
    assert turns(job)[first] == "taken"
    both_run_after_all(job, first, second)


@both_ways
def test_what_is_put_back_gives_way_then(commit):
    job, first, second, batch = due_of_a_backfill()
    start(batch, "worker")
    give_due_turns()
    tenants.resume("default", operator())

    _, given = overlap(lambda: put_back_held("default", 10), lambda: give(job), commit=commit)

    assert given.released == 0  # it lay aside, as far as anybody could see
    both_run_after_all(job, first, second)


# What a backfill has made of a job that is about to forbid overlap.


@both_ways
def test_an_edit_waits_for_a_claim_and_what_was_claimed_has_the_turn(commit):
    job = hourly()
    carried_out(backfilled(hours(2), job))
    first, second = ids(job)[:2]

    _, edited = overlap_results(
        lambda: claim_due(1, batches=1), lambda: verbs.edit(job.id, {"overlap": "skip"}, by()), commit=commit
    )

    assert (edited.waited, edited.error) == (True, None)
    assert statuses(first, second) == ["RUNNING" if commit else "BLOCKED", "BLOCKED"]
    assert [turns(job)[one] for one in (first, second)] == ["taken" if commit else "queued", "queued"]


@both_ways
def test_a_claim_beside_such_an_edit_finds_what_was_in_line_not_due(commit):
    job = hourly()
    carried_out(backfilled(hours(2), job))

    _, claimed = overlap(lambda: verbs.edit(job.id, {"overlap": "skip"}, by()), claim_due, commit=commit)

    assert claimed == []
    assert len(claim_due()) == (0 if commit else 1)


# Turns of what is over.


def over(job: JobDefinition, task: int) -> list[int]:
    return end_turns([(task, job.id)])


@both_ways
def test_a_replay_beside_the_end_of_a_turn_waits_for_its_own(commit):
    job = one_at_a_time("queue_all")
    first, *_ = ids(job)
    settled(runs(first), FINAL)

    overlap(lambda: replay([first], "alice"), lambda: over(job, first), commit=commit)

    assert turns(job).get(first) == ("new" if commit else "taken")
    assert over(job, first) == []
    assert turns(job).get(first) == ("new" if commit else None)


@both_ways
def test_the_end_of_a_turn_beside_a_replay_ends_the_turn_from_before(commit):
    job = one_at_a_time("queue_all")
    first, *_ = ids(job)
    settled(runs(first), FINAL)

    overlap(lambda: over(job, first), lambda: replay([first], "alice"), commit=commit)

    assert turns(job)[first] == "new"


@both_ways
def test_a_turn_ends_beside_a_decision_and_the_next_one_goes(commit):
    job = one_at_a_time("queue_all")
    first, second, _ = ids(job)
    settled(runs(first))
    time_comes(second)

    overlap(lambda: over(job, first), lambda: give(job), commit=commit)
    give_due_turns()

    assert under_way(job) == [second]
    assert first not in turns(job) or not commit


def test_a_decision_that_has_read_the_line_does_not_forget_what_got_into_it_since():
    """It found one in line that was cancelled. Before it can clear that away, somebody has it run again."""
    job = one_at_a_time("queue_all")
    first, second, third = ids(job)
    runs(first)
    comes(second)
    ScheduleTask.objects.filter(id=second).update(status="CANCELLED")
    time_comes(third)

    def again() -> None:
        Turn.objects.select_for_update().get(task=third)  # so that the decision waits after it has read
        ScheduleTask.objects.filter(id=second).update(status="INIT", due_at=now())
        queue_again([(second, job.id)])

    _, given = overlap_results(again, lambda: give(job))

    assert (given.waited, given.error) == (True, None)
    assert statuses(second) == ["BLOCKED"]
    assert turns(job)[second] == "new"


def test_decisions_and_edits_of_many_jobs_meet_in_no_deadlock():
    made = [one_at_a_time("replace", f"job {n}") for n in range(4)]
    for job in made:
        runs(ids(job)[0])
    time_comes(*(ids(job)[1] for job in made))
    jobs = [job.id for job in made]

    results = contend(
        lambda: ScheduleTask.objects.select_for_update().get(id=ids(made[1])[0]),
        lambda: give_turns(jobs),
        lambda: verbs.edit(jobs[0], {"payload": 1}, by()),
        lambda: give_turns(reversed(jobs)),
    )

    assert [result.error for result in results] == [None] * 3
    give_due_turns()
    # What the edit found decided and not claimed is planned anew.
    assert [len(under_way(job)) for job in made] == [0, 1, 1, 1]
