"""prune against whatever schedules a finished unit again: the unit has a row afterwards, and nobody fails."""

import pytest

from tasks_app.client import Outcome, ensure, reschedule, schedule
from tasks_app.sql import run
from tests.support.marks import commits
from tests.support.moves import FINAL, SKIP, TUESDAY, TYPE, ids_of, rows_of, settled, started
from tests.support.overlap import overlap, overlap_results

pytestmark = commits

VERBS = pytest.mark.parametrize("verb", [schedule, reschedule, ensure], ids=lambda verb: verb.__name__)


def prune_all():
    """Whatever is finished, however short ago; how many rows."""
    return run("prune_tasks", {"after": 0, "keep": 0, "step": 100})[0][1]


def finished():
    """The id of a row that was skipped, which every verb schedules anew."""
    batch = started("a")
    settled(batch, SKIP)
    return ids_of(batch)[0]


@pytest.mark.parametrize("commit", [True, False])
@VERBS
def test_a_new_schedule_waits_for_a_prune_and_needs_no_old_row(verb, commit):
    old = finished()

    pruned, scheduled = overlap(prune_all, lambda: verb(TYPE, "a", at=TUESDAY), commit=commit)

    assert (pruned, scheduled.outcome) == (1, Outcome.CREATED)
    *before, new = rows_of("a")
    assert ([r.id for r in before], new.id, new.due_at) == ([] if commit else [old], scheduled.task_id, TUESDAY)
    assert new.replaces == (None if commit else old)


@VERBS
def test_a_prune_passes_over_a_row_that_is_being_taken_over_from(verb):
    old = finished()

    scheduled, pruned = overlap_results(lambda: verb(TYPE, "a", at=TUESDAY), prune_all)

    assert (pruned.value, pruned.waited) == (0, False)
    assert [(r.id, r.current) for r in rows_of("a")] == [(old, False), (scheduled.value.task_id, True)]


def test_a_prune_leaves_what_is_live_or_dead():
    settled(started("dead"), FINAL)
    started("running")
    settled(started("rolling", repeat_after=3600))
    schedule(TYPE, "scheduled", at=TUESDAY)

    assert prune_all() == 0
