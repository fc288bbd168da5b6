"""replay against replay and against whatever re-schedules the unit: the dead come back once, or stay superseded."""

import pytest

from django_punctual import Outcome, ensure, reschedule, schedule
from tasks_app.lifecycle.dead_letter import Replayed, replay
from tasks_app.models import DlqEntry
from tests.support.engine import claim_due
from tests.support.marks import commits
from tests.support.moves import TUESDAY, TYPE, State, dead, rows_of, state
from tests.support.overlap import overlap

pytestmark = commits


def letters():
    return list(DlqEntry.objects.order_by("id").values_list("replay_status", "closed_by"))


VERBS = pytest.mark.parametrize("verb", [schedule, reschedule, ensure], ids=lambda verb: verb.__name__)


@VERBS
def test_a_replay_waits_for_the_row_that_takes_over_and_is_superseded(verb):
    [task] = dead("a")

    scheduled, replayed = overlap(lambda: verb(TYPE, "a", at=TUESDAY), lambda: replay([task], by="rae"))

    assert (scheduled.outcome, replayed) == (Outcome.CREATED, Replayed([], [task]))
    assert state(task) == State("DEAD", attempt=1, retry_count=1, current=False)
    assert state(scheduled.task_id) == State("INIT", due=True)
    assert letters() == [("CLOSED", "system")]


@VERBS
def test_a_replay_has_the_row_if_the_one_that_took_over_rolled_back(verb):
    [task] = dead("a")

    _, replayed = overlap(lambda: verb(TYPE, "a", at=TUESDAY), lambda: replay([task], by="rae"), commit=False)

    assert replayed == Replayed([task], [])
    assert state(task) == State("INIT", due=True, retry_count=1)
    assert letters() == [("REPLAYED", "rae")]


@pytest.mark.parametrize(
    ("verb", "outcome"), [(schedule, Outcome.EXISTS), (reschedule, Outcome.UPDATED), (ensure, Outcome.UPDATED)]
)
def test_a_new_schedule_waits_for_a_replay_and_finds_the_unit_live(verb, outcome):
    [task] = dead("a")

    replayed, scheduled = overlap(lambda: replay([task], by="rae"), lambda: verb(TYPE, "a", at=TUESDAY))

    assert (replayed, scheduled.outcome, scheduled.task_id) == (Replayed([task], []), outcome, task)
    assert state(task) == State("INIT", due=True, retry_count=1)
    assert len(claim_due()) == (1 if verb is schedule else 0)


@VERBS
def test_a_new_schedule_takes_over_if_the_replay_rolled_back(verb):
    [task] = dead("a")

    _, scheduled = overlap(lambda: replay([task], by="rae"), lambda: verb(TYPE, "a", at=TUESDAY), commit=False)

    assert scheduled.outcome == Outcome.CREATED
    assert [(r.id, r.status, r.current) for r in rows_of("a")] == [
        (task, "DEAD", False),
        (scheduled.task_id, "INIT", True),
    ]
    assert letters() == [("CLOSED", "system")]


@pytest.mark.parametrize("commit", [True, False])
def test_of_two_replays_one_counts(commit):
    a, b = dead("a", "b")

    first, second = overlap(lambda: replay([a, b], by="rae"), lambda: replay([b, a], by="rob"), commit=commit)

    assert (sorted(first.replayed), sorted(second.replayed)) == ([a, b], [] if commit else [a, b])
    assert second.superseded == ([b, a] if commit else [])
    assert letters() == [("REPLAYED", "rae" if commit else "rob")] * 2
