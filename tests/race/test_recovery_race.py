"""Two who recover from the same incident at the same time: one row, and no step is done by both."""

import pytest

from tasks_app.core.recovery import Step
from tasks_app.database import atomic
from tasks_app.engine.operations.recovery.course import recover
from tasks_app.engine.operations.recovery.steps import Course
from tasks_app.lifecycle.recovery import Begun, Overtaken, begin
from tasks_app.models import Campaign, DlqEntry, Recovery
from tests.support.marks import commits
from tests.support.moves import dead
from tests.support.operators import operator
from tests.support.overlap import overlap_results

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
