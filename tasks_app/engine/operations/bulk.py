"""Many tasks for one caller of the API, each with an answer of its own: what is refused does not spoil the rest.

Nothing is done here that `schedule` and an operator's order don't do: those are asked once, for all that is left.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from tasks_app.core.errors import NotAllowed, NotThere, PunctualError, ScheduleConflict
from tasks_app.core.states import Status
from tasks_app.database import atomic
from tasks_app.lifecycle import schedule
from tasks_app.lifecycle.anywhere import past_tasks, tasks_by_id
from tasks_app.lifecycle.audit import Operator
from tasks_app.lifecycle.decisions import Outcome
from tasks_app.lifecycle.operate import Answer
from tasks_app.lifecycle.past import past_units
from tasks_app.lifecycle.request import Request, build
from tasks_app.lifecycle.schedule import ROUNDS
from tasks_app.models import ScheduleTask
from tasks_app.models.schedule_task import TaskFields

from .callers import Caller
from .operate import cancel_tasks
from .owners import keep_units, own_of
from .scheduling import scheduled

Given = TypeVar("Given")
Made = TypeVar("Made")


class ScheduledOne(NamedTuple):
    outcome: Outcome  # CREATED or EXISTS
    task_id: int
    status: Status


class Target(NamedTuple):
    """A task by its id, or else the one that stands for a unit."""

    task_id: int | None
    task_type: str = ""
    key: str = ""

    def __str__(self) -> str:
        return f"task {self.task_id}" if self.task_id is not None else f"task of {self.task_type} {self.key!r}"


class CancelledOne(NamedTuple):
    task_id: int
    answer: Answer


class _Row(NamedTuple):
    id: int
    task_type: str
    key: str
    lane: str
    current: bool
    task: TaskFields


def schedule_each(
    wanted: Sequence[Mapping[str, Any] | PunctualError], asked: Caller
) -> list[ScheduledOne | PunctualError]:
    """Each of these for the caller's tenant; a mapping has `task_type`, `key` and any option of schedule()."""
    closed: dict[str, PunctualError | None] = {}

    def request_of(one: Mapping[str, Any]) -> Request:
        task_type = str(one["task_type"])
        if task_type not in closed:
            closed[task_type] = _refusal(asked.refuse_closed_type, task_type)
        if (error := closed[task_type]) is not None:
            raise error
        request = build(**one, tenant=asked.tenant)
        asked.refuse_closed_lane(request.lane)
        return request

    answers = [_tried(request_of, one) for one in wanted]
    requests = [one for one in answers if isinstance(one, Request)]
    done = list(_scheduled(requests)) if requests else []
    made = [one.unit for one, answer in zip(requests, done, strict=True) if answer.outcome is Outcome.CREATED]
    keep_units(asked, {(task_type, key) for _, task_type, key in made})
    left = iter(done)
    return [next(left) if isinstance(one, Request) else one for one in answers]


def cancel_each(
    wanted: Sequence[Target | PunctualError], asked: Caller, operator: Operator
) -> list[CancelledOne | PunctualError]:
    """Cancel what is live of these. A unit whose task was replaced meanwhile is looked up again."""
    targets = list(dict.fromkeys(one for one in wanted if isinstance(one, Target)))
    answers: dict[Target, CancelledOne | PunctualError] = {}
    with atomic(savepoint=False):
        left = targets
        for _ in range(ROUNDS):
            left = [target for target in targets if target not in answers]
            if not left:
                return [answers[one] if isinstance(one, Target) else one for one in wanted]
            answers |= _cancel_round(left, asked, operator)
        raise ScheduleConflict(f"{left[0]} was replaced again and again while it was being cancelled. Try again.")


def _refusal(check: Callable[[str], None], given: str) -> PunctualError | None:
    try:
        check(given)
    except PunctualError as error:
        return error
    return None


def _tried(verb: Callable[[Given], Made], one: Given | PunctualError) -> Made | PunctualError:
    if isinstance(one, PunctualError):
        return one
    try:
        return verb(one)
    except PunctualError as error:
        return error


def _scheduled(requests: Sequence[Request]) -> Iterable[ScheduledOne]:
    answers = scheduled(schedule.schedule, requests)
    there = [answer.task_id for answer in answers if answer.outcome is Outcome.EXISTS]
    rows = tasks_by_id(there)
    for answer in answers:
        row = rows.get(answer.task_id)
        yield ScheduledOne(answer.outcome, answer.task_id, Status.INIT if row is None else Status(row.status))


def _cancel_round(
    targets: Sequence[Target], asked: Caller, operator: Operator
) -> dict[Target, CancelledOne | PunctualError]:
    """What became of each target. One that is missing was replaced by another task: it has to be read again."""
    rows = _rows(targets, asked.tenant)
    own = own_of(asked.name, {row.task.id: row.task for row in rows.values()}.values()) if asked.owns_only else None

    def allowed(target: Target) -> _Row:
        row = rows.get(target)
        if row is None or not asked.may_see(row.task_type):
            raise NotThere(f"There is no {target}.")
        asked.refuse_closed_type(row.task_type)
        asked.refuse_closed_lane(row.lane)
        if own is not None and row.id not in own:
            raise NotAllowed(f"{target} belongs to somebody else, and you may change only your own.")
        return row

    found = {target: _tried(allowed, target) for target in targets}
    ids = sorted({row.id for row in found.values() if isinstance(row, _Row)})
    done = cancel_tasks(ids, operator).answers if ids else {}
    answers = {
        target: _answer(target, done.get(row.id), row) if isinstance(row, _Row) else row
        for target, row in found.items()
    }
    return {target: answer for target, answer in answers.items() if answer is not None}


def _answer(target: Target, answer: Answer | None, row: _Row) -> CancelledOne | PunctualError | None:
    if target.task_id is None and answer in (None, Answer.SUPERSEDED):
        return None
    return NotThere(f"There is no {target} any more.") if answer is None else CancelledOne(row.id, answer)


def _rows(targets: Sequence[Target], tenant: str) -> dict[Target, _Row]:
    """By a few statements, however many there are."""
    there = tasks_by_id([target.task_id for target in targets if target.task_id is not None])
    found = {Target(row.id): _row(row) for row in there.values() if row.tenant == tenant}
    units = {target for target in targets if target.task_id is None}
    if units:
        keys, types = {unit.key for unit in units}, {unit.task_type for unit in units}
        current = ScheduleTask.objects.filter(tenant=tenant, biz_key__in=keys, task_type__in=types, current=True)
        found |= {Target(None, row.task_type, row.biz_key): _row(row) for row in current}
        over = past_units([(tenant, unit.task_type, unit.key) for unit in units if unit not in found])
        found |= {Target(None, row.task_type, row.biz_key): _row(row) for row in past_tasks(over.values()).values()}
    return found


def _row(task: TaskFields) -> _Row:
    return _Row(task.id, task.task_type, task.biz_key, task.lane, task.current, task)
