"""A backfill of a job that lets no two overlap gives way to what fires meanwhile: the table in docs/overlap.md."""

import pytest

from tasks_app.engine.beat.tenants import put_back
from tasks_app.engine.beat.turn_giver import give_due_turns
from tasks_app.engine.doctor.whole import assert_consistent
from tasks_app.engine.watch.why import why_task
from tasks_app.lifecycle import tenants
from tasks_app.models import AuditEntry, JobDefinition, Turn
from tests.support.backfill import backfilled, foreseen, hourly, hours
from tests.support.campaigns import carried_out
from tests.support.engine import row, run_due
from tests.support.jobs import make
from tests.support.moves import FINAL, RETRY, settled
from tests.support.operators import operator
from tests.support.turns import comes, ids, one_at_a_time, runs, statuses, turns, what_is_due

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


def test_so_does_one_that_was_put_aside_and_stands_in_line_as_before():
    job, [first, second, _] = first_of_a_backfill("queue_all")
    tenants.suspend("default", operator())
    comes(first)
    run_due()
    assert (statuses(first), row(first).due_at.year) == (["INIT"], 9000)

    comes(second)

    assert (statuses(first, second), turns(job)[first]) == (["BLOCKED", "INIT"], Turn.QUEUED)
    run_due()  # the other one is put aside, too
    tenants.resume("default", operator())
    put_back()
    settled(what_is_due())
    give_due_turns()
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


def dead_or_waiting(job: JobDefinition) -> list:
    return [row(task) for task in ids(job) if row(task).fire_time <= hours(1)[0]]
