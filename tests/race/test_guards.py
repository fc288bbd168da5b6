"""Every write repeats its precondition: a decision that has gone stale moves nothing, lock or no lock."""

import pytest

from django_punctual import reschedule
from tasks_app.core.states import Status
from tasks_app.models import ScheduleTask
from tasks_app.sql import run
from tests.support.marks import commits
from tests.support.moves import (
    AWAY,
    FINAL,
    MONDAY,
    OK,
    RETRY,
    TUESDAY,
    TYPE,
    claimed,
    ids_of,
    rows_of,
    scheduled,
    settled,
    started,
    state,
)

pytestmark = commits


def move(task: int) -> list[tuple]:
    given = {"ids": [task], "ats": [TUESDAY], "delays": [None], "payloads": [None], "payload_bytes": "{}"}
    return run("move", given | {"kept": "{}"})


def retire(task: int, status: str) -> list[tuple]:
    return run("retire", {"ids": [task], "statuses": [status], "hand_on": [False], "by": "tess", "kept": "{}"})


def finished_as(outcome, **options) -> int:
    batch = started("a", **options)
    settled(batch, outcome)
    return ids_of(batch)[0]


def left_behind() -> int:
    """A row that is no longer its unit's current one."""
    claimed("a")
    reschedule(TYPE, "a", at=MONDAY)
    return rows_of("a")[0].id


def blocked() -> int:
    [task] = scheduled("a", at=MONDAY)
    ScheduleTask.objects.filter(id=task).update(status=Status.BLOCKED, due_at=None)
    return task


NOT_TO_BE_MOVED = {
    "running": lambda: ids_of(started("a"))[0],
    "away": lambda: finished_as(AWAY),
    "succeeded": lambda: finished_as(OK),
    "dead": lambda: finished_as(FINAL),
    "left behind": left_behind,
}


@pytest.mark.parametrize("bring", NOT_TO_BE_MOVED.values(), ids=NOT_TO_BE_MOVED)
def test_a_row_that_has_left_its_state_is_not_moved(bring):
    task = bring()
    before = state(task)

    assert (move(task), state(task)) == ([], before)


NOT_TO_BE_RETIRED = {
    "scheduled": (lambda: scheduled("a", at=MONDAY)[0], "INIT"),
    "blocked": (blocked, "BLOCKED"),
    "to be tried again": (lambda: finished_as(RETRY), "FAIL"),
    "rolling": (lambda: finished_as(OK, repeat_after=3600), "SUCCESS"),
    "left behind": (left_behind, "CANCELLED"),
    "running, thought dead": (lambda: ids_of(started("a"))[0], "DEAD"),
    "dead, thought running": (lambda: finished_as(FINAL), "RUNNING"),
    "away, thought running": (lambda: finished_as(AWAY), "RUNNING"),
}


@pytest.mark.parametrize(("bring", "status"), NOT_TO_BE_RETIRED.values(), ids=NOT_TO_BE_RETIRED)
def test_a_row_that_is_live_or_not_as_it_was_seen_is_not_retired(bring, status):
    task = bring()
    before = state(task)

    assert (retire(task, status), state(task)) == ([], before)
