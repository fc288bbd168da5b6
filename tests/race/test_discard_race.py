"""discard against replay, another discard and whatever schedules the unit again: the dead are dealt with once."""

import pytest

from django_punctual import Outcome, ensure, reschedule, schedule
from tasks_app.lifecycle.dead_letter import Replayed, discard, replay
from tasks_app.models import DlqEntry
from tests.support.marks import commits
from tests.support.moves import TUESDAY, TYPE, State, dead, events, state
from tests.support.overlap import overlap

pytestmark = commits
DISCARDED = State("CANCELLED", attempt=1, retry_count=1)
VERBS = pytest.mark.parametrize("verb", [schedule, reschedule, ensure], ids=lambda verb: verb.__name__)
either_way = pytest.mark.parametrize("commit", [True, False])


def letters():
    return list(DlqEntry.objects.order_by("id").values_list("replay_status", "closed_by"))


def drop(task: int, by: str = "dee"):
    return lambda: discard([task], "not needed", by)


@either_way
def test_a_discard_waits_for_a_replay_and_leaves_what_it_brought_back(commit):
    [task] = dead("a")

    replayed, discarded = overlap(lambda: replay([task], by="rae"), drop(task), commit=commit)

    assert (replayed, discarded) == (Replayed([task], []), [] if commit else [task])
    assert state(task) == (State("INIT", due=True, retry_count=1) if commit else DISCARDED)
    assert letters() == [("REPLAYED", "rae") if commit else ("CLOSED", "dee")]


@either_way
def test_a_replay_waits_for_a_discard_and_finds_nothing_dead(commit):
    [task] = dead("a")

    discarded, replayed = overlap(drop(task), lambda: replay([task], by="rae"), commit=commit)

    assert discarded == [task]
    assert replayed == (Replayed([], [task]) if commit else Replayed([task], []))
    assert state(task) == (DISCARDED if commit else State("INIT", due=True, retry_count=1))


@either_way
def test_of_two_discards_one_counts_and_is_told_once(commit):
    [task] = dead("a")

    _, second = overlap(drop(task, "dee"), drop(task, "dan"), commit=commit)

    assert second == ([] if commit else [task])
    assert letters() == [("CLOSED", "dee" if commit else "dan")]
    assert events(task).count("task.cancelled") == 1


@VERBS
@either_way
def test_a_discard_waits_for_the_row_that_takes_over_and_leaves_the_old_one(verb, commit):
    [task] = dead("a")

    scheduled, discarded = overlap(lambda: verb(TYPE, "a", at=TUESDAY), drop(task), commit=commit)

    assert discarded == ([] if commit else [task])
    assert state(task) == (State("DEAD", attempt=1, retry_count=1, current=False) if commit else DISCARDED)
    if commit:
        assert state(scheduled.task_id) == State("INIT", due=True)


@VERBS
@either_way
def test_a_new_schedule_waits_for_a_discard_and_takes_over(verb, commit):
    [task] = dead("a")

    _, scheduled = overlap(drop(task), lambda: verb(TYPE, "a", at=TUESDAY), commit=commit)

    assert scheduled.outcome == Outcome.CREATED
    assert state(scheduled.task_id) == State("INIT", due=True)
    assert state(task)._replace(current=True) == (DISCARDED if commit else State("DEAD", attempt=1, retry_count=1))
