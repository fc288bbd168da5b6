"""A recovery from its first step to its last; and what it would do."""

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import NamedTuple

from tasks_app.core.recovery import WORDS, Step
from tasks_app.database import atomic
from tasks_app.lifecycle import recovery as row_of
from tasks_app.models import Recovery
from tasks_app.sql import run

from . import steps
from .steps import Course, Done


class _Way(NamedTuple):
    """How a step is done."""

    do: Callable[[Course], Done]
    foresee: Callable[[Course], str]
    whole: bool = False  # in one transaction with the note that it is done


_WAYS = {
    Step.FREEZE: _Way(steps.freeze, steps.foresee_freeze, whole=True),
    Step.TAKEOVER: _Way(steps.take_over, steps.foresee_take_over),
    Step.RESUME: _Way(steps.resume, steps.foresee_resume),
    Step.REAP: _Way(steps.reap_all, steps.foresee_reap),
    Step.DOCTOR: _Way(steps.check_all, steps.foresee_check),
    Step.REPLAY: _Way(steps.replay, steps.foresee_replay, whole=True),
    Step.LETTERS: _Way(steps.replay_letters, steps.foresee_letters, whole=True),
    Step.COMPENSATE: _Way(steps.compensate_all, steps.foresee_compensate),
    Step.UNFREEZE: _Way(steps.unfreeze, steps.foresee_unfreeze, whole=True),
}


def recover(course: Course) -> Recovery:
    """Do all steps that are not done. StepFailed, Overtaken or a kill end it: run again, it goes on there."""
    recovery = course.recovery
    if row_of.left(recovery) != [Step.UNFREEZE]:  # to let go is right at any time
        steps.refuse_stopped()
    for step in row_of.left(recovery):
        course.say(f"{step}: {WORDS[step]} …")
        _do(course, step)
        course.say(f"  {recovery.steps[step]['words']}")
    row_of.finish(recovery, course.operator)
    return recovery


def foresee(course: Course, wanted: Iterable[Step]) -> dict[Step, str]:
    """What each of these steps would do now, in words; nothing is changed."""
    return {step: _WAYS[step].foresee(course) for step in wanted}


def _do(course: Course, step: Step) -> None:
    way, recovery = _WAYS[step], course.recovery
    begun = _now()
    if way.whole:
        with atomic():
            row_of.owned(recovery)
            _note(course, step, begun, way.do(course))
        return
    with atomic():
        row_of.note(recovery, step, {"begun_at": begun.isoformat()} | (recovery.steps.get(step) or {}))
    done = way.do(course)
    with atomic():
        _note(course, step, begun, done)


def _note(course: Course, step: Step, begun: datetime, done: Done) -> None:
    told = row_of.timed(course.recovery, step, begun, _now(), done.words) | done.figures
    row_of.note_done(course.recovery, step, told, course.operator, **done.sums)


def _now() -> datetime:
    now: datetime = run("clock", {})[0][0]
    return now
