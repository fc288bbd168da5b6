"""A backfill of a job that lets no two overlap gives way to what fires meanwhile: the table in docs/overlap.md."""

from uuid import UUID

import pytest

from tasks_app.engine.beat.turn_giver import give_due_turns
from tasks_app.engine.doctor.whole import assert_consistent
from tasks_app.engine.watch.why import why_task
from tasks_app.lifecycle import tenants
from tasks_app.lifecycle.held import put_back_held
from tasks_app.lifecycle.jobs import verbs
from tasks_app.lifecycle.shards import all_shards
from tasks_app.lifecycle.start import StartedBatch, start
from tasks_app.lifecycle.turns import PATIENCE, give_turns, queue_behind, to_decide
from tasks_app.models import AuditEntry, JobDefinition, ScheduleTask, Turn
from tests.support.backfill import backfilled, foreseen, hourly, hours
from tests.support.campaigns import carried_out
from tests.support.engine import claim_due, row
from tests.support.jobs import by, make, now
from tests.support.moves import FINAL, RETRY, claim_one, settled
from tests.support.operators import operator
from tests.support.turns import comes, ids, one_at_a_time, runs, statuses, turns, under_way, what_is_due

pytestmark = pytest.mark.django_db
every_policy = pytest.mark.parametrize("overlap", ["skip", "queue_one", "queue_all", "replace"])


@pytest.fixture(autouse=True)
def _rules_hold():
    yield
    assert_consistent()


def made_by_a_backfill(*tasks: int) -> None:
    Turn.objects.filter(task__in=tasks).update(policy=Turn.BACKFILL)


def first_of_a_backfill(overlap: str) -> tuple[JobDefinition, list[int]]:
    """A job and its next three instances, the first of which a backfill has made."""
    job = one_at_a_time(overlap)
    made_by_a_backfill(ids(job)[0])
    return job, ids(job)


def test_what_comes_goes_before_what_a_backfill_has_in_line():
    job = one_at_a_time("queue_all")
    first, second, third = ids(job)
    made_by_a_backfill(second)
    batch = runs(first)
    comes(second, third)
    assert "1 other instance waits before it" in why_task(row(second)).words
    assert "wait" not in why_task(row(third)).words.partition("overlap.")[2]

    settled(batch)
    give_due_turns()

    assert statuses(second, third) == ["BLOCKED", "INIT"]
    settled(what_is_due())
    give_due_turns()
    assert statuses(second, third) == ["INIT", "SUCCESS"]
    assert turns(job) == {second: Turn.TAKEN}


def test_what_a_backfill_has_in_line_takes_no_place():
    first, second, third = ids(one_at_a_time("queue_one"))
    made_by_a_backfill(second)
    runs(first)

    comes(second, third)

    assert statuses(second, third) == ["BLOCKED", "BLOCKED"]


@every_policy
def test_one_that_has_the_turn_and_is_not_begun_gives_it_back(overlap):
    job, [first, second, _] = first_of_a_backfill(overlap)
    comes(first)
    assert statuses(first) == ["INIT"]

    comes(second)

    assert statuses(first, second) == ["BLOCKED", "INIT"]
    assert (turns(job)[first], turns(job)[second]) == (Turn.QUEUED, Turn.TAKEN)
    settled(what_is_due())
    give_due_turns()
    assert statuses(first, second) == ["INIT", "SUCCESS"]


def test_but_not_to_another_of_a_backfill():
    _, [first, second, _] = first_of_a_backfill("queue_all")
    made_by_a_backfill(second)
    comes(first)

    comes(second)

    assert statuses(first, second) == ["INIT", "BLOCKED"]
    assert to_decide(all_shards()).jobs == []


@every_policy
def test_so_does_one_that_waits_for_a_retry_and_comes_again_when_that_is_due(overlap):
    _, [first, second, _] = first_of_a_backfill(overlap)
    settled(runs(first), RETRY)
    due = row(first).due_at

    comes(second)

    assert statuses(first, second) == ["BLOCKED", "INIT"]
    turn = Turn.objects.get(task=first)
    assert (turn.state, turn.at, row(first).attempt) == (Turn.NEW, due, 1)
    settled(what_is_due())
    comes(first)
    assert statuses(first, second) == ["INIT", "SUCCESS"]


@pytest.mark.parametrize(
    ("overlap", "meanwhile", "next_one"),
    [
        ("skip", ["BLOCKED", "CANCELLED"], 0),
        ("queue_one", ["BLOCKED", "CANCELLED"], 0),
        ("queue_all", ["BLOCKED", "BLOCKED"], 0),
        ("replace", ["CANCELLED", "BLOCKED"], 1),
    ],
)
def test_behind_one_that_runs_what_comes_waits_and_goes_next(overlap, meanwhile, next_one):
    _, [first, *others] = first_of_a_backfill(overlap)
    batch = runs(first)
    for one in others:
        comes(one)
    assert statuses(first, *others) == ["RUNNING", *meanwhile]

    assert settled(batch) == 1
    give_due_turns()

    assert statuses(others[next_one]) == ["INIT"]


def test_of_several_that_replace_and_come_at_once_the_newest_waits_for_what_runs():
    _, [first, second, third] = first_of_a_backfill("replace")
    runs(first)

    comes(second, third)

    assert statuses(first, second, third) == ["RUNNING", "CANCELLED", "BLOCKED"]
    assert row(second).error_msg == f"a newer instance of its job took its turn: {third}"


def test_what_waits_for_one_that_runs_goes_as_soon_as_that_has_to_be_tried_again():
    _, [first, second, _] = first_of_a_backfill("skip")
    batch = runs(first)
    comes(second)

    settled(batch, RETRY)
    give_due_turns()

    assert statuses(first, second) == ["BLOCKED", "INIT"]


def test_a_backfill_says_that_it_gives_way():
    job, plain, times = hourly(overlap="skip"), make("plain"), hours(2)

    said = foreseen(times, job).words
    campaign = carried_out(backfilled(times, job))

    assert said.endswith("; those one at a time, and behind whatever fires meanwhile (overlap: skip)")
    assert AuditEntry.objects.get(verb="campaign").detail["selection"] == campaign.selection == said
    assert " of 'report' one at a time" in foreseen(times, job, plain).words
    assert "overlap" not in foreseen(times, plain).words


def test_what_it_replays_gives_way_too():
    job = hourly(overlap="replace")
    carried_out(backfilled(hours(1), job))
    give_due_turns()
    settled(what_is_due(), FINAL)

    carried_out(backfilled(hours(1), job, which="failed"))

    assert Turn.objects.get(task__in=[one.id for one in dead_or_waiting(job)]).policy == Turn.BACKFILL


def test_what_it_replays_of_a_job_that_allows_overlap_keeps_the_turn_that_somebody_asked_for():
    job = hourly()
    triggered = verbs.trigger(job.id, "now", by(), overlap="skip").task_id
    give_turns([job.id])
    settled(what_is_due(), FINAL)
    assert turns(job) == {triggered: Turn.TAKEN}

    queue_behind([triggered])

    assert Turn.objects.get().policy == "skip"


def dead_or_waiting(job: JobDefinition) -> list:
    return [row(task) for task in ids(job) if row(task).fire_time <= hours(1)[0]]


# What lies aside.


def put_aside(task_id: int) -> None:
    """Its tenant is suspended, so a worker that started it puts it aside."""
    tenants.suspend("default", operator())
    assert start(claim_one(), "worker").tasks == []
    assert row(task_id).due_at.year == 9000


@every_policy
def test_one_that_lies_aside_keeps_its_turn_and_its_time(overlap):
    job, [first, second, _] = first_of_a_backfill(overlap)
    comes(first)
    due = row(first).due_at
    put_aside(first)

    comes(second)
    give_due_turns()

    assert statuses(first, second) == ["INIT", "BLOCKED"]
    assert turns(job)[first] == Turn.TAKEN
    assert to_decide(all_shards()).jobs == []  # nobody looks at it again and again
    tenants.resume("default", operator())
    put_back_held("default", 10)
    assert row(first).due_at == due
    give_due_turns()
    assert statuses(first, second) == ["BLOCKED", "INIT"]
    settled(what_is_due())
    give_due_turns()
    settled(what_is_due())
    assert statuses(first, second) == ["SUCCESS", "SUCCESS"]


# What a backfill has made while its job allowed overlap.


def beside_a_backfill(running: int = 1) -> tuple[JobDefinition, list[int], StartedBatch]:
    """A job that allows overlap, of which a backfill has made three; the first of them run."""
    job = hourly()
    carried_out(backfilled(hours(3), job))
    made = [one.id for one in made_of(job)]
    batch = start(UUID(claim_due(running, batches=1)[0].batch_no), "worker")
    assert [task.id for task in batch.tasks] == made[:running]
    return job, made, batch


def made_of(job: JobDefinition) -> list:
    return sorted((row(task) for task in ids(job) if row(task).fire_time <= hours(1)[0]), key=lambda one: one.fire_time)


def test_a_trigger_that_replaces_cancels_nothing_of_it_and_does_not_wait_for_what_nobody_runs():
    job, made, batch = beside_a_backfill()

    triggered = verbs.trigger(job.id, "now", by(), overlap="replace").task_id
    give_turns([job.id])

    assert statuses(*made, triggered) == ["RUNNING", "INIT", "INIT", "BLOCKED"]
    settled(batch)
    give_due_turns()
    assert statuses(*made, triggered) == ["SUCCESS", "INIT", "INIT", "INIT"]


@every_policy
def test_an_edit_that_forbids_overlap_puts_it_in_line(overlap):
    job, made, batch = beside_a_backfill()
    settled(batch, RETRY)
    due = row(made[0]).due_at
    batch = start(UUID(claim_due(1, batches=1)[0].batch_no), "worker")

    verbs.edit(job.id, {"overlap": overlap}, by())

    assert statuses(*made) == ["BLOCKED", "RUNNING", "BLOCKED"]
    assert [turns(job)[one] for one in made] == [Turn.NEW, Turn.TAKEN, Turn.QUEUED]
    assert Turn.objects.get(task=made[0]).at == due
    assert set(Turn.objects.filter(task__in=made).values_list("policy", flat=True)) == {Turn.BACKFILL}
    triggered = verbs.trigger(job.id, "now", by()).task_id
    give_turns([job.id])
    assert statuses(made[1], triggered) == ["RUNNING", "BLOCKED"]
    settled(batch)
    give_due_turns()
    assert statuses(triggered, made[2]) == ["INIT", "BLOCKED"]


def test_what_lies_aside_then_has_a_turn_that_it_keeps():
    job = hourly()
    carried_out(backfilled(hours(1), job))
    [made] = [one.id for one in made_of(job)]
    put_aside(made)

    verbs.edit(job.id, {"overlap": "skip"}, by())

    assert (turns(job)[made], row(made).status, row(made).due_at.year) == (Turn.TAKEN, "INIT", 9000)


def test_an_edit_that_allows_overlap_again_keeps_the_time_of_a_retry():
    job, [first, *_], batch = beside_a_backfill()
    settled(batch, RETRY)
    due = row(first).due_at
    verbs.edit(job.id, {"overlap": "skip"}, by())
    assert statuses(first) == ["BLOCKED"]

    verbs.edit(job.id, {"overlap": "allow"}, by())

    assert (row(first).status, row(first).due_at) == ("INIT", due)


def test_of_one_that_runs_beside_one_of_its_backfill_neither_is_cancelled_by_one_that_replaces():
    job = one_at_a_time("replace")
    first, second, third = ids(job)
    runs(first)
    Turn.objects.filter(task=second).update(policy=Turn.BACKFILL, state=Turn.TAKEN)
    ScheduleTask.objects.filter(id=second).update(status="INIT", due_at=now())
    start(claim_one(), "worker")

    comes(third)

    assert statuses(first, second, third) == ["RUNNING", "RUNNING", "BLOCKED"]
    Turn.objects.filter(task=second).delete()  # two that have it are none of a sound one


# Nobody waits for ever.


@pytest.mark.parametrize("overlap", ["queue_one", "queue_all"])
def test_after_so_many_that_waited_what_a_backfill_has_first_in_line_goes(overlap):
    job = one_at_a_time(overlap)
    first, second, third = ids(job)
    made_by_a_backfill(first, second)
    batch = runs(third)
    comes(first, second)
    went = []
    for turn in range(PATIENCE + 2):
        triggered = verbs.trigger(job.id, f"turn {turn}", by()).task_id
        give_turns([job.id])
        settled(batch)
        give_due_turns()
        [task] = under_way(job)
        went.append(task)
        batch = what_is_due()
        assert task in (triggered, first) or turn == PATIENCE + 1

    assert went.index(first) == PATIENCE
    assert row(second).status == "BLOCKED"
    assert Turn.objects.get(task=second).passed == 1


@pytest.mark.parametrize(("overlap", "fate"), [("skip", "BLOCKED"), ("queue_one", "BLOCKED"), ("queue_all", "BLOCKED")])
def test_a_firing_that_comes_as_it_goes_waits_until_it_has_run_and_is_not_cancelled(overlap, fate):
    job = one_at_a_time(overlap)
    first, second, third = ids(job)
    made_by_a_backfill(second)
    batch = runs(first)
    comes(second)
    Turn.objects.filter(task=second).update(passed=PATIENCE)
    settled(batch)

    comes(third)

    give_due_turns()
    assert statuses(second, third) == ["INIT", fate]
    assert to_decide(all_shards()).jobs == []
    settled(what_is_due(), RETRY)
    give_due_turns()
    assert statuses(second, third) == ["BLOCKED", "INIT"]
    assert Turn.objects.get(task=second).passed == 0
