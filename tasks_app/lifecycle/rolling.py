"""Rolling tasks of one type as a whole: what is to come, how to be next, and another interval for many."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from tasks_app.conf import conf
from tasks_app.core.errors import InvalidTask
from tasks_app.core.handlers import REGISTRY
from tasks_app.core.lanes import LANES
from tasks_app.core.states import NEVER
from tasks_app.core.timer import Timer
from tasks_app.database import atomic
from tasks_app.sql import array, run, text_array

from .next_try import wait_for
from .outbox import STEP
from .request import Key, checked_seconds, checked_text, key_of
from .settle import ERROR_CODE_LENGTH


@dataclass(frozen=True, slots=True)
class Outlook:
    """What waits of a rolling type: due already, in each step from now on, and later; and the failures among it."""

    due: int
    steps: list[int]
    later: int
    failing: dict[str, int] = field(default_factory=dict)  # error code -> tasks whose last try failed so

    @property
    def waiting(self) -> int:
        return self.due + sum(self.steps) + self.later


def outlook(task_type: str, step: timedelta, steps: int, *, tenant: str | None = None) -> Outlook:
    """When the rolling tasks of a type come due, in so many steps of that length; if the type has a limit, all of its
    tasks. One statement."""
    seconds = checked_seconds("step", step)
    given = {
        "task_type": task_type,
        "tenant": REGISTRY.tenant_of(task_type, tenant),
        "step": seconds,
        "steps": steps,
        "lanes": list(LANES),
    }
    counts = [0] * (steps + 2)
    failing: dict[str, int] = {}
    for place, code, count in run("outlook", given):
        if place is not None:  # else it failed, and is counted by its time as well
            counts[place] += count
        if code:
            failing[code] = failing.get(code, 0) + count
    return Outlook(counts[0], counts[1:-1], counts[-1], dict(sorted(failing.items(), key=lambda one: -one[1])))


def failing_keys(task_type: str, code: str | None = None, *, most: int, tenant: str | None = None) -> list[str]:
    """The keys of units that wait after a failed try: with this error code, or any; so many of them at most."""
    code = None if code is None else checked_text("code", code, ERROR_CODE_LENGTH)
    given = {"task_type": task_type, "tenant": REGISTRY.tenant_of(task_type, tenant), "code": code, "most": most}
    return [key for (key,) in run("failing_keys", given)]


def front_of_line(task_type: str) -> datetime:
    """The `at` for a task of a limited type that is to run before everything that waits of it."""
    if REGISTRY.require(task_type).limit is None:
        raise InvalidTask(f"task type {task_type!r} has no limit, so nothing of it waits in line. Use delay=0.")
    moment: datetime
    [(moment,)] = run("front_of_line", {"task_type": task_type, "lanes": list(LANES)})
    return moment


def timer_of(task_type: str) -> Timer | None:
    """The timer for which rolls of this type wait, if it has one."""
    return REGISTRY.require(task_type).timer


def change_interval(
    task_type: str, keys: Iterable[Key], repeat_after: timedelta | float, *, tenant: str | None = None
) -> int:
    """Let these units roll by another interval, and what waits of them wait in proportion; returns how many changed.

    What has moved then waits for the next moment of the type's timer, if it has one, and is told.
    """
    timer = timer_of(task_type)
    params = {
        "task_type": task_type,
        "tenant": REGISTRY.tenant_of(task_type, tenant),
        "keys": text_array([key_of(key) for key in keys]),
        "repeat_after": checked_seconds("repeat_after", repeat_after),
        "never": NEVER,
    }
    with atomic(savepoint=False):
        rows = run("change_interval", params)
        moved = [(task_id, was, due) for task_id, was, due in rows if due is not None]
        if timer and moved:
            wait_for(timer, [(task_id, due) for task_id, _, due in moved])
        _tell_moved([(task_id, was) for task_id, was, _ in moved])
    return len(rows)


def _tell_moved(moved: Sequence[tuple[int, datetime]]) -> None:
    """Only now: a timer may have moved them once more."""
    if "task.updated" not in conf().kept_events:
        return
    for first in range(0, len(moved), STEP):
        ids, was = zip(*moved[first : first + STEP], strict=True)
        run("tell_moved", {"ids": array(ids), "was": list(was), "kept": conf().kept_kinds})
