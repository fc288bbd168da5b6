"""What an operator asks of the fleet: which beat holds which shard, who took over from whom, which limits are in force.

For `scheduler_status` and for pages; reads only.
"""

from dataclasses import dataclass

from django.db.models import F
from django.db.models.functions import Now

from tasks_app.core.lanes import LANES
from tasks_app.lifecycle.shards import all_shards
from tasks_app.models import LanePause
from tasks_app.sql import array, run


@dataclass(frozen=True, slots=True)
class ShardView:
    shard: int
    holder: str | None  # None: nobody, or its lease has run out
    fence: int
    lease_seconds: float  # left; less than 0: run out so long ago
    taken_seconds_ago: float | None
    taken_how: str  # FREE, EXPIRED or SHARED
    taken_from: str


@dataclass(frozen=True, slots=True)
class LimitView:
    task_type: str
    declared: bool  # by a beat; else nobody claims its tasks
    rate: float | None
    burst: float | None
    max_running: int | None
    tokens: float | None  # tasks that could start now
    running: int
    oldest_seconds: float | None  # how long the first of them has been due
    due: int
    due_exact: bool  # else there are more


@dataclass(frozen=True, slots=True)
class Pause:
    reason: str
    by: str
    seconds_ago: float


@dataclass(frozen=True, slots=True)
class Takeover:
    """Shards that one beat got from another at the same time."""

    seconds_ago: float
    shards: list[int]
    holder: str
    how: str
    from_whom: str


def shards() -> list[ShardView]:
    return [ShardView(*row) for row in run("status_shards", {})]


def limits(types: list[str], bound: int) -> list[LimitView]:
    """Those in force, and those of the given types; due tasks of a type and lane are counted up to the bound."""
    return [
        LimitView(*figures, due=min(due, bound), due_exact=due <= bound)
        for *figures, due in run("status_limits", {"types": types, "bound": bound, "lanes": list(LANES)})
    ]


def planning_behind() -> float | None:
    """How many seconds ago the earliest firing came that no planner has planned; None: all that have passed are."""
    return run("planning_behind", {"shards": array(all_shards())})[0][0]


def pauses() -> dict[str, Pause]:
    """By lane."""
    rows = LanePause.objects.annotate(age=Now() - F("paused_at"))
    return {row.lane: Pause(row.reason, row.paused_by, row.age.total_seconds()) for row in rows}


def last_takeovers(views: list[ShardView], most: int = 5) -> list[Takeover]:
    """The latest first; what was taken within the same second by the same beat is one."""
    found: dict[tuple, Takeover] = {}
    for view in sorted(views, key=lambda view: view.taken_seconds_ago or 0.0):
        if view.taken_seconds_ago is None or view.holder is None:
            continue
        key = (view.holder, view.taken_how, view.taken_from, round(view.taken_seconds_ago))
        if key in found:
            found[key].shards.append(view.shard)
        else:
            found[key] = Takeover(view.taken_seconds_ago, [view.shard], view.holder, view.taken_how, view.taken_from)
    return list(found.values())[:most]
