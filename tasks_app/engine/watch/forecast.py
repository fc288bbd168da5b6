"""When many tasks that are released slowly will be done: at their pace, and beside what ran within the last day.

A guess, from figures that are there: how long a task of each type took on average, and how many of the slots that serve
the lane were busy on average. What was free is what the tasks get; while nothing is free, their lane gets its weight's
part. A retry, a burst, or a worker that leaves is not foreseen.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import NamedTuple

from tasks_app.core.lanes import WEIGHTS
from tasks_app.core.phrases import span
from tasks_app.sql import run

from .alive import slots_of

DAY_SECONDS = 86_400
SHORTEST_SECONDS = 0.2  # between the end of a task and the next that is released in its place: campaigns look so often


class Load(NamedTuple):
    """What the last day was like."""

    slots: int  # that serve the lane now
    busy: float  # of all slots, so many on average
    seconds: Mapping[str, float]  # that a task took, by type


class Forecast(NamedTuple):
    per_second: float | None  # None: nobody can say
    seconds: float | None
    done_at: datetime | None
    words: str


def read_load(lane: str) -> Load:
    rows = run("day_load", {})
    took = {task_type: ran / tasks for task_type, tasks, ran in rows}
    return Load(slots_of(lane), sum(ran for *_, ran in rows) / DAY_SECONDS, took)


def forecast(
    tasks: Mapping[str, int],
    load: Load,
    lane: str,
    now: datetime,
    *,
    rate: float | None = None,
    most_running: int | None = None,
    along: Mapping[str, int] = MappingProxyType({}),
) -> Forecast:
    """For so many tasks of each type. `now` is the database's time. `along`: others that they bring along, and that
    neither the rate nor `most_running` is about."""
    if not load.slots:
        return Forecast(None, None, None, f"When it is done can't be said: no worker serves lane {lane!r} now.")
    total = sum(tasks.values())
    unknown = sorted(task_type for task_type in {**tasks, **along} if task_type not in load.seconds)
    bounds = {f"at the rate of {rate:g} a second": rate} if rate else {}
    if not unknown:
        each = _seconds(tasks, load) / max(total, 1)
        work = each + _seconds(along, load) / max(total, 1)
        share = WEIGHTS.get(lane, 1) / sum(WEIGHTS.values())
        free = max(load.slots - load.busy, load.slots * share)
        took = f"a task takes {span(timedelta(seconds=each))}"
        took_all = f"a firing takes {span(timedelta(seconds=work))} with what comes along" if along else took
        bounds |= {
            f"since {took_all} and {free:.1f} of {load.slots} slots are free on a day like today": free
            / max(work, 1e-6)
        }
        if most_running:
            words = f"since {took} and {most_running:,} may be under way"
            bounds |= {words: most_running / max(each, SHORTEST_SECONDS)}
    if not bounds:
        why = f"no task of type {unknown[0]} ran within the last day, and there is no rate"
        return Forecast(None, None, None, f"When it is done can't be said: {why}.")
    reason, per_second = min(bounds.items(), key=lambda one: one[1])
    seconds = total / per_second
    done_at = now + timedelta(seconds=seconds)
    caveat = " If that is more than the workers manage, later." if unknown else ""
    about = f"About {span(timedelta(seconds=seconds))}" if seconds >= 1 else "Less than a second"
    words = f"{about}, until {done_at:%a %d %b %H:%M} UTC, {reason}.{caveat}"
    return Forecast(per_second, seconds, done_at, words)


def _seconds(tasks: Mapping[str, int], load: Load) -> float:
    """That all of them take together."""
    return sum(count * load.seconds[task_type] for task_type, count in tasks.items())
