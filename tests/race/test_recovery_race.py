"""Two who recover from the same incident at the same time: one row, and no step is done by both."""

import pytest

from tasks_app.core.recovery import Step
from tasks_app.database import atomic
from tasks_app.engine.operations.recovery.course import recover
from tasks_app.engine.operations.recovery.steps import Course
from tasks_app.lifecycle.recovery import Begun, Overtaken, begin, let_go_abandoned, note
from tasks_app.models import Campaign, Curb, DlqEntry, Recovery
from tests.support.marks import commits
from tests.support.moves import dead
from tests.support.operators import operator
from tests.support.overlap import overlap_results
from tests.support.recovery import no_step_for

pytestmark = commits


def a_begin() -> Begun:
    return begin("INC-1", operator(), from_step=Step.LETTERS)


@pytest.mark.parametrize("commit", [True, False])
def test_a_recovery_is_begun_by_one(commit):
    _, second = overlap_results(a_begin, lambda: begin("INC-1", operator()), commit=commit)

    assert second.waited
    assert isinstance(second.error, Overtaken) if commit else not second.value.goes_on
    assert Recovery.objects.get().runs == 1


@pytest.mark.parametrize("commit", [True, False])
def test_a_step_that_waits_for_a_later_run_does_nothing(commit):
    DlqEntry.objects.filter(task_id__in=dead("a")).update(tags=["transient_error"])
    course = Course(a_begin().row, operator(), wait=lambda seconds: None)

    _, old = overlap_results(lambda: begin("INC-1", operator()), lambda: recover(course), commit=commit)

    assert isinstance(old.error, Overtaken) if commit else old.value.finished_at is not None
    assert Campaign.objects.count() == (0 if commit else 1)


@pytest.mark.parametrize("commit", [True, False])
def test_a_later_run_does_not_repeat_a_step_that_it_had_to_wait_for(commit):
    DlqEntry.objects.filter(task_id__in=dead("a")).update(tags=["transient_error"])
    course = Course(a_begin().row, operator(), wait=lambda seconds: None)

    def first_step() -> None:
        with atomic():
            recover(course)

    def later_run() -> Recovery:
        begun = begin("INC-1", operator(), from_step=None)
        return recover(Course(begun.row, operator(), wait=lambda seconds: None))

    _, later = overlap_results(first_step, later_run, commit=commit)

    assert later.waited
    assert "was recovered from at" in str(later.error) if commit else later.value.runs == 2
    assert Campaign.objects.count() == 1


def frozen() -> Recovery:
    """One that holds something, and has done no step for longer than it may."""
    course = Course(begin("INC-1", operator(), grade="P2").row, operator(), wait=lambda seconds: None)
    course.say = lambda words: 1 / 0 if words.startswith("reap") else None
    with pytest.raises(ZeroDivisionError):
        recover(course)
    no_step_for(61)
    return Recovery.objects.get()


def reaping(row: Recovery) -> None:
    with atomic():
        note(row, Step.REAP, {"tasks": 7})


@pytest.mark.parametrize("commit", [True, False])
def test_what_is_held_is_not_let_go_of_a_recovery_that_is_just_doing_a_step(commit):
    row = frozen()

    _, beat = overlap_results(lambda: reaping(row), let_go_abandoned, commit=commit)

    assert beat.waited
    assert beat.value == ([] if commit else ["INC-1"])
    assert Curb.objects.exists() == commit


@pytest.mark.parametrize("commit", [True, False])
def test_a_step_that_waits_for_what_is_held_to_be_let_go_is_noted_all_the_same(commit):
    row = frozen()

    gone, step = overlap_results(let_go_abandoned, lambda: reaping(row), commit=commit)

    assert step.waited
    steps = Recovery.objects.get().steps
    assert "reap" in steps
    assert ("let_go_at" in steps["freeze"], Curb.objects.exists()) == (commit, not commit)
    assert gone.value == ["INC-1"]
