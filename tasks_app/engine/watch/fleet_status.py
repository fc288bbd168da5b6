"""What an operator asks of the fleet: which beat holds which shard, who took over from whom, which limits are in force.

For `scheduler_status` and for pages; reads only.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.db.models import F
from django.db.models.functions import Now

from tasks_app.conf import conf
from tasks_app.core.lanes import LANES
from tasks_app.core.phrases import figure, grammatical_number
from tasks_app.core.recovery import CURB as RECOVERY
from tasks_app.core.safeguards import PLANNED, WORDS, Kind, Name
from tasks_app.core.said import said, said_of
from tasks_app.engine.intervals import INTERVALS
from tasks_app.lifecycle.recovery import all_curbs
from tasks_app.models import Curb, LanePause, MaintenanceEntry
from tasks_app.scope import all_tenants
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
    permits: float | None  # tasks that could start now
    claimed: int  # in batches that no worker has started
    started: int
    oldest_seconds: float | None  # how long the first of those that are due has been
    due: int
    due_exact: bool  # else there are more

    @property
    def running(self) -> int:
        """What counts as running by the limit: claimed ones too."""
        return self.claimed + self.started


@dataclass(frozen=True, slots=True)
class ChoreView:
    name: str
    every_seconds: float
    waiting_seconds: float  # since it was due, and a beat was there that could have taken it; less than 0: not yet
    done_seconds_ago: float | None
    begun_seconds: float  # it was taken again for so long after it was last done, and has neither ended nor failed
    failures: int  # in a row, since it was last done
    failing_seconds: float | None
    error: str  # the first line of the last one


@dataclass(frozen=True, slots=True)
class ArchiveView:
    waiting: int  # partitions past their hot days that could not be archived, and stay until they can
    waiting_seconds: float | None  # since the first of them was tried
    error: str  # that it met
    writing: bool = False  # somebody is at it right now


@dataclass(frozen=True, slots=True)
class Pause:
    reason: str
    by: str
    seconds_ago: float
    safeguard: str = ""  # which one holds the lane, if nobody else does
    rate: float = 0.0  # tasks a second that it still starts

    @property
    def words(self) -> str:
        if not self.rate:
            return said("paused")
        return said_of(
            "slowed to {rate} task a second",
            "slowed to {rate} tasks a second",
            grammatical_number(self.rate),
            rate=figure(self.rate, 3),
        )


@dataclass(frozen=True, slots=True)
class Takeover:
    """Shards that one beat got from another at the same time."""

    seconds_ago: float
    shards: list[int]
    holder: str
    how: str
    from_whom: str


class _LimitRow(NamedTuple):
    """A row of status_limits."""

    task_type: str
    declared: bool
    rate: float | None
    burst: float | None
    max_running: int | None
    permits: float | None
    claimed: int
    started: int
    oldest_seconds: float | None
    due: int

    def view(self, bound: int) -> LimitView:
        """With the due tasks counted up to the bound."""
        return LimitView(*self[:9], min(self.due, bound), self.due <= bound)


def shards() -> list[ShardView]:
    return [ShardView(*row) for row in run("status_shards", {})]


@all_tenants()
def limits(types: list[str], bound: int) -> list[LimitView]:
    """Those in force, and those of the given types; due tasks of a type and lane are counted up to the bound."""
    rows = run("status_limits", {"types": types, "bound": bound, "lanes": list(LANES)})
    return [_LimitRow(*row).view(bound) for row in rows]


def planning_behind(shards: list[int]) -> float | None:
    """How many seconds ago the earliest firing came that no planner has planned; None: all that have passed are."""
    behind: float | None = run("planning_behind", {"shards": array(shards)})[0][0]
    return behind


def turns_behind(shards: list[int]) -> float | None:
    """How many seconds ago the earliest instance wanted its turn that no beat has decided about; None: none did."""
    behind: float | None = run("turns_behind", {"shards": array(shards)})[0][0]
    return behind


def archive() -> ArchiveView:
    if not conf().ARCHIVE_URL:
        return ArchiveView(0, None, "")
    waiting, seconds, error, writing = run("status_archive", {})[0]
    return ArchiveView(waiting, seconds, error or "", writing)


def pauses(curbs: Iterable[Curb] | None = None) -> dict[str, Pause]:
    """By lane: those that somebody has paused, and those that a safeguard has paused or slowed down. `curbs`: all that
    there are, if the caller has read them."""
    held: dict[str, Pause] = {}
    lanes = [row for row in (all_curbs() if curbs is None else curbs) if row.kind == Kind.LANE]
    for row in sorted(lanes, key=lambda row: row.rate or 0.0, reverse=True):  # of several, the strictest is told
        age = (row.now - row.since).total_seconds()
        if row.name == RECOVERY:
            held[row.target] = Pause(f"incident {row.subject}", RECOVERY, age, RECOVERY)
            continue
        by = Name(row.name)
        words = "it is a peak of the daily profile" if by in PLANNED else WORDS[by]
        held[row.target] = Pause(words, f"safeguard {row.name}", age, row.name, row.rate or 0.0)
    rows = LanePause.objects.annotate(age=Now() - F("paused_at"))
    return held | {row.lane: Pause(row.reason, row.paused_by, row.age.total_seconds()) for row in rows}


def chores(beat_up_seconds: float | None) -> list[ChoreView]:
    """Those that beats do, and for how long each has been waiting for one, of which one has been up for so long."""
    rows = {row.name: row for row in MaintenanceEntry.objects.annotate(now=Now())}
    wanted = [(rows[name], every()) for name, every in INTERVALS.items() if every() > 0 and name in rows]
    return [_chore(row, every, 0.0 if beat_up_seconds is None else beat_up_seconds) for row, every in wanted]


def _chore(row: MaintenanceEntry, every: float, beat_up_seconds: float) -> ChoreView:
    def ago(moment: datetime | None) -> float | None:
        return None if moment is None else (row.now - moment).total_seconds()

    done, taken = ago(row.done_at), ago(row.ran_at)
    since = beat_up_seconds if done is None else min(done, beat_up_seconds)
    return ChoreView(
        row.name,
        every,
        waiting_seconds=min((row.now - row.next_at).total_seconds(), beat_up_seconds),
        done_seconds_ago=done,
        begun_seconds=0.0 if row.failures or taken is None else since - taken,
        failures=row.failures,
        failing_seconds=ago(row.failing_since),
        error=row.error,
    )


def last_takeovers(views: list[ShardView], most: int = 5) -> list[Takeover]:
    """The latest first; what was taken within the same second by the same beat is one."""
    found: dict[tuple[str, str, str, int], Takeover] = {}
    for view in sorted(views, key=lambda view: view.taken_seconds_ago or 0.0):
        if view.taken_seconds_ago is None or view.holder is None:
            continue
        key = (view.holder, view.taken_how, view.taken_from, round(view.taken_seconds_ago))
        if key in found:
            found[key].shards.append(view.shard)
        else:
            found[key] = Takeover(view.taken_seconds_ago, [view.shard], view.holder, view.taken_how, view.taken_from)
    return list(found.values())[:most]
