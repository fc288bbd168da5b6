"""What was scheduled, and what a test says about it."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from tasks_app.core.errors import InvalidTask
from tasks_app.core.handlers import REGISTRY
from tasks_app.lifecycle.request import Key, key_of
from tasks_app.lifecycle.view import TaskInfo, current_tasks

from .calling import AnyType, name_of
from .refusing import refuse_real_database

_MOST_SHOWN = 5


def scheduled(what: AnyType, *, tenant: str | None = None) -> list[TaskInfo]:
    """The tasks of this type that wait to run, the first one due first."""
    refuse_real_database()
    waiting = current_tasks(name_of(what), tenant=tenant)
    return sorted((one for one in waiting if one.due_at is not None), key=lambda one: (one.due_at, one.id))


def assert_scheduled(
    what: AnyType,
    key: Key | None = None,
    *,
    at: datetime | None = None,
    within: timedelta = timedelta(seconds=1),
    payload: object = None,
    tenant: str | None = None,
    **arguments: object,
) -> TaskInfo:
    """A task of this type waits to run: with this key, at this time, with this payload, with these arguments, as far as
    they are given. Returns it; if several fit, the first one due.

        assert_scheduled(send, order_id=5, at=tomorrow)
    """
    wanted = _Wanted(what, key, at, within, payload, arguments)
    waiting = scheduled(what, tenant=tenant)
    fitting = next((one for one in waiting if not wanted.differences(one)), None)
    if fitting is None:
        raise AssertionError(_nothing_fits(wanted, waiting, tenant))
    return fitting


def assert_not_scheduled(
    what: AnyType,
    key: Key | None = None,
    *,
    at: datetime | None = None,
    within: timedelta = timedelta(seconds=1),
    payload: object = None,
    tenant: str | None = None,
    **arguments: object,
) -> None:
    """No task of this type waits to run, or none with this key, time, payload and arguments."""
    wanted = _Wanted(what, key, at, within, payload, arguments)
    fitting = [one for one in scheduled(what, tenant=tenant) if not wanted.differences(one)]
    if fitting:
        raise AssertionError(f"{wanted} is scheduled:{_listed(fitting)}")


class _Wanted:
    def __init__(
        self,
        what: AnyType,
        key: Key | None,
        at: datetime | None,
        within: timedelta,
        payload: object,
        arguments: Mapping[str, object],
    ) -> None:
        self.name = name_of(what)
        self._key = None if key is None else key_of(key)
        self._at = at
        self._within = within
        self._payload = payload
        self._arguments = _stored(self.name, arguments)

    def differences(self, task: TaskInfo) -> list[str]:
        """What is not as it should be, as lines of a diff."""
        found: list[str] = []
        if self._key is not None and task.key != self._key:
            found += [f"- key = {self._key!r}", f"+ key = {task.key!r}"]
        if self._at is not None and (task.due_at is None or abs(task.due_at - self._at) > self._within):
            due = "None" if task.due_at is None else task.due_at.isoformat()
            found += [f"- at = {self._at.isoformat()}", f"+ at = {due}"]
        if self._payload is not None and task.payload != self._payload:
            found += [f"- payload = {self._payload!r}", f"+ payload = {task.payload!r}"]
        stored = task.payload if isinstance(task.payload, Mapping) else {}
        for name, value in self._arguments.items():
            if name not in stored:
                found += [f"- {name} = {value!r}", f"+ {name} is not given"]
            elif stored[name] != value:
                found += [f"- {name} = {value!r}", f"+ {name} = {stored[name]!r}"]
        return found

    def __str__(self) -> str:
        said = [] if self._key is None else [f"key={self._key!r}"]
        said += [] if self._at is None else [f"at={self._at.isoformat()}"]
        said += [] if self._payload is None else [f"payload={self._payload!r}"]
        said += [f"{name}={value!r}" for name, value in self._arguments.items()]
        return f"{self.name} with {', '.join(said)}" if said else self.name


def _stored(name: str, arguments: Mapping[str, object]) -> dict[str, Any]:
    """The arguments as they are stored: a Decimal is a string there."""
    parameters = REGISTRY.require(name).parameters
    if parameters is None:
        if arguments:
            raise InvalidTask(
                f"{name} takes the task, and no {', '.join(arguments)}. Say what was scheduled with key= and payload=."
            )
        return {}
    return parameters.part(arguments)


def _nothing_fits(wanted: _Wanted, waiting: list[TaskInfo], tenant: str | None) -> str:
    if waiting:
        count = "1 task waits" if len(waiting) == 1 else f"{len(waiting)} tasks wait"
        shown = "".join(_with_differences(wanted, one) for one in waiting[:_MOST_SHOWN])
        return f"{wanted} is not scheduled. {count} to run (- wanted, + there):{shown}"
    others = current_tasks(wanted.name, tenant=tenant)[:_MOST_SHOWN]
    if others:
        return f"{wanted} is not scheduled: nothing of {wanted.name} waits to run. There is:{_listed(others)}"
    return f"{wanted} is not scheduled: there was never a task of {wanted.name}. There is: {_of_other_types(tenant)}"


def _with_differences(wanted: _Wanted, task: TaskInfo) -> str:
    return _listed([task]) + "".join(f"\n      {line}" for line in wanted.differences(task))


def _listed(tasks: list[TaskInfo]) -> str:
    lines = []
    for one in tasks[:_MOST_SHOWN]:
        when = f"due {one.due_at.isoformat()}" if one.due_at else f"{one.status} {one.error_msg.partition(chr(10))[0]}"
        lines.append(f"\n  {one.type} {one.key!r}, {when.rstrip()}")
    return "".join(lines)


def _of_other_types(tenant: str | None) -> str:
    others = current_tasks(None, tenant=tenant)[:_MOST_SHOWN]
    return ", ".join(f"{one.type} {one.key!r} ({one.status})" for one in others) or "nothing"
