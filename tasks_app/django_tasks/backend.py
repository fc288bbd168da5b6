"""The backend: Django's tasks are scheduled, found, moved and cancelled as Punctual's."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from os import urandom
from types import MappingProxyType
from typing import Any, NamedTuple, overload

from django.apps import apps
from django.core.checks import CheckMessage, Error
from django.utils import timezone

from tasks_app.client import scheduling
from tasks_app.core import errors
from tasks_app.core.confidential import Encrypted
from tasks_app.core.errors import nearest, shown
from tasks_app.engine.operations.operate import cancel_tasks
from tasks_app.lifecycle.audit import Operator
from tasks_app.lifecycle.confidential import open_row
from tasks_app.lifecycle.decisions import Outcome, Scheduled
from tasks_app.lifecycle.schedule import SYSTEM

from .declaring import declare
from .interface import (
    BaseTaskBackend,
    InvalidTask,
    Task,
    TaskResult,
    TaskResultStatus,
    normalize_json,
    task_backends,
    task_enqueued,
)
from .keys import key_of_call, names_of, refuse_unknown_key
from .options import options_from
from .payload import delayed, options_payload
from .results import PunctualResult, read_result, row_of
from .running import is_heard
from .task import Arguments, PunctualTask

_KEY_BYTES = 16
_NO_KWARGS: Mapping[str, Any] = MappingProxyType({})
_PLAIN = frozenset({int, str, bool, float, type(None)})


class PunctualBackend(BaseTaskBackend):
    task_class = PunctualTask
    supports_defer = True
    supports_async_task = True
    supports_get_result = True
    supports_priority = True

    def __init__(self, alias: str, params: dict[str, Any]) -> None:
        super().__init__(alias, params)
        self.punctual = options_from(alias, self.options, self.queues)
        self._last: _Ready | None = None  # most callers enqueue the same task again

    def validate_task(self, task: Task) -> None:
        if self.queues and task.queue_name not in self.queues:
            raise InvalidTask(
                f"Queue {task.queue_name!r} is not valid for backend. TASKS[{self.alias!r}]['QUEUES'] has "
                f"{', '.join(map(repr, sorted(self.queues)))}.{nearest(str(task.queue_name), self.queues)} "
                "Add it there, or name one of them."
            )
        if task.run_after is not None:
            _refuse_bad_run_after(task.run_after)
        super().validate_task(task)
        refuse_unknown_key(task)
        declare(task, self.punctual)
        self._last = self._made_ready(task)

    def enqueue(self, task: Task, args: Sequence[Any], kwargs: Mapping[str, Any]) -> TaskResult:
        """Schedule one run in the caller's transaction. If its unit has a live task, the result is that of this one."""
        _, path, names, options, own = self._ready(task)
        args, kwargs = _normalized(task, args, kwargs)
        key = key_of_call(task, names, args, kwargs) if names else urandom(_KEY_BYTES).hex()
        try:
            answer = scheduling.schedule(path, key, payload=_payload(args, kwargs, options), **own)
        except errors.InvalidTask as error:
            raise _of_django(task, error) from None
        if answer.outcome is not Outcome.CREATED:
            return read_result(answer.task_id)
        result = _new_result(task, answer, args, kwargs)
        if is_heard(task_enqueued, logging.DEBUG):
            task_enqueued.send(type(self), task_result=result)
        return result

    def enqueue_many(self, task: Task, calls: Iterable[Arguments]) -> Sequence[TaskResult]:
        """Schedule many in a few statements: all of them, or none if one is wrong."""
        ready = self._ready(task)
        given = [
            (call, _NO_KWARGS) if type(call) is tuple else _arguments(number, call) for number, call in enumerate(calls)
        ]
        try:
            answers = _scheduled(ready, given)
        except (InvalidTask, TypeError):  # one of them is no JSON as it is given
            given = [_normalized(task, args, kwargs, number) for number, (args, kwargs) in enumerate(given)]
            answers = _scheduled(ready, given)
        results = _Results(task, given, answers)
        if is_heard(task_enqueued, logging.DEBUG):
            for result, answer in zip(results, answers, strict=True):
                if answer.outcome is Outcome.CREATED:
                    task_enqueued.send(type(self), task_result=result)
        return results

    def get_result(self, result_id: str) -> TaskResult:
        return read_result(result_id)

    def reschedule(self, result: TaskResult, run_after: datetime) -> TaskResult:
        """Let it run at another time. One that runs is replaced by a new task, with a result of its own."""
        _refuse_bad_run_after(run_after)
        row = row_of(result.id)
        if not row.current or not row.live:
            raise InvalidTask(
                f"Task {result.id} of {row.task_type!r} is {row.status} and no longer live, so it can't be "
                "rescheduled. Enqueue it again."
            )
        declare(result.task, self.punctual)
        payload: Any = open_row(row).payload if isinstance(row.payload, Encrypted) else row.payload
        answer = scheduling.reschedule(
            row.task_type, row.biz_key, at=run_after, payload=delayed(payload), tenant=row.tenant
        )
        return read_result(answer.task_id)

    def cancel(self, result: TaskResult, *, reason: str = "cancelled by the application", by: str = SYSTEM) -> bool:
        """Whether it was live until now. A running attempt is not called back, but it can't settle any more."""
        number = row_of(result.id).id
        answer = cancel_tasks([number], Operator(by, reason)).answers.get(number)
        return answer is not None and answer.acted

    def check(self, **kwargs: Any) -> Iterable[CheckMessage]:
        if not apps.is_installed("tasks_app"):
            yield Error(
                f"TASKS[{self.alias!r}] uses Punctual, but INSTALLED_APPS does not have it.",
                hint="Add 'django_punctual' to INSTALLED_APPS, and run migrate.",
                id="punctual.E200",
            )

    def _ready(self, task: Task) -> "_Ready":
        ready = self._last
        if ready is None or ready.task is not task:
            self.validate_task(task)
            ready = self._made_ready(task)  # another thread may have validated another one since
        return ready

    def _made_ready(self, task: Task) -> "_Ready":
        own = {
            "at": task.run_after,
            "lane": self.punctual.lane(task.queue_name, task.priority),
            "tenant": self.punctual.tenants.get(task.queue_name),
        }
        return _Ready(task, task.module_path, names_of(task), options_payload(task), own)


def reschedule(result: TaskResult, run_after: datetime) -> TaskResult:
    """Let an enqueued task run at another time; returns its result from now on."""
    found: TaskResult = task_backends[result.backend].reschedule(result, run_after)
    return found


def cancel(result: TaskResult, *, reason: str = "cancelled by the application", by: str = SYSTEM) -> bool:
    """Cancel an enqueued task; False if it was not live any more."""
    done: bool = task_backends[result.backend].cancel(result, reason=reason, by=by)
    return done


class _Ready(NamedTuple):
    """A task that was validated, with what all its calls have in common."""

    task: Task
    path: str
    names: tuple[str, ...]  # parameters that make up the key
    options: Mapping[str, Any]  # in the payload
    own: Mapping[str, Any]  # time, lane and tenant


class _Results(Sequence[TaskResult]):
    """The results of many calls, each made when it is read."""

    def __init__(
        self, task: Task, given: Sequence[tuple[Sequence[Any], Mapping[str, Any]]], answers: Sequence[Scheduled]
    ) -> None:
        self._task, self._given, self._answers = task, given, answers

    def __len__(self) -> int:
        return len(self._answers)

    @overload
    def __getitem__(self, place: int) -> TaskResult: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[TaskResult]: ...
    def __getitem__(self, place: int | slice) -> TaskResult | Sequence[TaskResult]:
        if isinstance(place, slice):
            return _Results(self._task, self._given[place], self._answers[place])
        answer = self._answers[place]
        if answer.outcome is not Outcome.CREATED:
            return read_result(answer.task_id)
        return _new_result(self._task, answer, *_normalized(self._task, *self._given[place]))


def _new_result(task: Task, answer: Scheduled, args: Sequence[Any], kwargs: Mapping[str, Any]) -> PunctualResult:
    known = {"task": task, "id": str(answer.task_id), "status": TaskResultStatus.READY}
    return PunctualResult.partly(known, partial(_new_fields, task, answer, args, kwargs))


def _new_fields(task: Task, answer: Scheduled, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    if task.run_after is None and answer.due is not None:
        enqueued_at = datetime.fromtimestamp(answer.due, UTC)
    else:
        enqueued_at = row_of(answer.task_id).created_at
    return {
        "enqueued_at": enqueued_at,
        "started_at": None,
        "finished_at": None,
        "last_attempted_at": None,
        "args": args,
        "kwargs": kwargs,
        "backend": task.backend,
        "errors": [],
        "worker_ids": [],
        "_return_value": None,
    }


def _scheduled(ready: _Ready, given: Sequence[tuple[Sequence[Any], Mapping[str, Any]]]) -> list[Scheduled]:
    task, path, names, options, own = ready
    prefix = urandom(_KEY_BYTES).hex()
    many: list[dict[str, object]] = [
        {
            "key": key_of_call(task, names, args, kwargs) if names else f"{prefix}-{number}",
            "payload": {"args": args} if args and not kwargs and not options else _payload(args, kwargs, options),
        }
        for number, (args, kwargs) in enumerate(given)
    ]
    try:
        return scheduling.schedule_many(path, many, **own)
    except errors.InvalidTask as error:
        raise _of_django(task, error) from None


def _payload(args: Sequence[Any], kwargs: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Only what there is: most tasks have the one or the other."""
    payload: dict[str, Any] = {}
    if args:
        payload["args"] = args
    if kwargs:
        payload["kwargs"] = kwargs
    return {**payload, **options} if options else payload


def _arguments(number: int, call: object) -> tuple[Sequence[Any], Mapping[str, Any]]:
    if isinstance(call, tuple | list):
        return call, _NO_KWARGS
    if isinstance(call, Mapping):
        return (), call
    raise TypeError(
        f"call number {number} is {shown(call)}; give its arguments by position as a tuple, such as (5,), or by name "
        "as a dict."
    )


def _normalized(
    task: Task, args: Sequence[Any], kwargs: Mapping[str, Any], number: int | None = None
) -> tuple[list[Any], dict[str, Any]]:
    """The arguments as JSON has them; TypeError, as in Django's backends, if one of them is no JSON."""
    if not kwargs and _PLAIN.issuperset(map(type, args)):
        return list(args), {}
    made: tuple[list[Any], dict[str, Any]] = ([], {})
    name, value = "", None
    try:
        for place, value in enumerate(args):
            name = f"args[{place}]"
            made[0].append(normalize_json(value))
        for name, value in kwargs.items():
            made[1][name] = normalize_json(value)
    except (TypeError, ValueError, RecursionError) as error:
        which = "" if number is None else f"call number {number}: "
        raise TypeError(
            f"{error}. {which}Task {task.module_path!r} got {name}={shown(value)}. Arguments are stored as JSON: give "
            "numbers, strings, booleans, None, lists and dicts; the id of an object, and isoformat() of a date."
        ) from None
    return made


def _refuse_bad_run_after(run_after: object) -> None:
    if not isinstance(run_after, datetime) or not timezone.is_aware(run_after):
        raise InvalidTask(
            f"run_after must be an aware datetime. {shown(run_after)} is none, so it is unclear which instant it "
            "means. Use django.utils.timezone.now() + timedelta(…), or give it a time zone."
        )


def _of_django(task: Task, error: errors.InvalidTask) -> InvalidTask:
    return InvalidTask(f"Task {task.module_path!r}: {error}")
