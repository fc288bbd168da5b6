"""What an operator asks of the fleet: which beat holds which shard, who took over from whom, which limits are in force.

For `scheduler_status` and for pages; reads only.
"""

from dataclasses import dataclass

from tasks_app.models import LanePause
from tasks_app.sql import run


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
    rate: float | None
    burst: float | None
    max_running: int | None
    tokens: float | None  # tasks that could start now
    running: int
    due: int


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


def limits() -> list[LimitView]:
    return [LimitView(*row) for row in run("status_limits", {})]


def pauses() -> dict[str, LanePause]:
    return {pause.lane: pause for pause in LanePause.objects.all()}


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
