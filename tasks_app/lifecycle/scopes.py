"""Scopes at run time: workers record tries by scope, and safeguards limit how many of a tenant's tasks start.

A batch whose type has not failed lately pays only for counting its outcomes.
"""

import time
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from tasks_app.core.hosts import until_well
from tasks_app.core.lanes import BACKFILL_LANE, URGENT_LANE
from tasks_app.core.safeguards import Kind
from tasks_app.core.scopes import EVERYTHING, HELD_BACK, Scope
from tasks_app.core.task import Failure, Returned, Succeeded, Task
from tasks_app.database import atomic
from tasks_app.sql import run

from .settle import Settled
from .waiting import release

ASK_SECONDS = 30.0  # a task that is held back is due again after this long at most
SAMPLE = 100  # of a batch without failures, about so many tasks are counted by tenant
WORDS = "A safeguard holds back"
REMEMBER_SECONDS = 300.0  # as far back as a breaker reads


class Successes:
    """About how many tasks have succeeded in this process in scopes without a failure.

    They are written with the first failure of their scope: one failure among a thousand successes must not count like
    one failure of one try.
    """

    def __init__(self) -> None:
        self._counts: Counter[Scope] = Counter()
        self._since = time.monotonic()

    def add(self, counts: Mapping[Scope, int]) -> None:
        if time.monotonic() - self._since > REMEMBER_SECONDS:
            self._counts.clear()
            self._since = time.monotonic()
        self._counts.update(counts)

    def take(self, scope: Scope) -> int:
        return self._counts.pop(scope, 0)


SUCCESSES = Successes()
FAILING: dict[Scope, float] = {}  # endpoints, and when a call of this process failed there last


def note_settled(written: Sequence[Settled], *, watched: bool) -> None:
    """Record the outcomes of these tasks of one type and lane, if one has failed or their type is `watched`."""
    kinds = {type(one.outcome) for one in written}
    if Failure not in kinds and not watched:
        if not kinds.isdisjoint(_OK):
            SUCCESSES.add(_about(written))
        return
    ok, failed = _counted(written, _OK), _counted(written, (Failure,))
    note({one: (ok[one] + SUCCESSES.take(one), failed[one]) for one in ok | failed}, written[0].task.lane)


def note_calls(tried: Mapping[Scope, tuple[int, int]], lane: str) -> None:
    """Record how many calls of endpoints were answered, and how many failed, where one has failed lately."""
    for one, (ok, failed) in tried.items():
        if failed:
            FAILING[one] = time.monotonic()
        elif time.monotonic() - FAILING.get(one, -REMEMBER_SECONDS) > REMEMBER_SECONDS:
            FAILING.pop(one, None)
            SUCCESSES.add({one: ok})
    note({one: (ok + SUCCESSES.take(one), failed) for one, (ok, failed) in tried.items() if one in FAILING}, lane)


_OK = (type(None), Succeeded)


def _about(written: Sequence[Settled]) -> Counter[Scope]:
    """Estimated from every n-th task, because all batches without failures pay for this."""
    every = max(1, len(written) // SAMPLE)
    return Counter({one: count * every for one, count in _counted(written[::every], _OK).items()})


def _counted(written: Iterable[Settled], kinds: Collection[type]) -> Counter[Scope]:
    return Counter(Scope(one.task.tenant, one.task.type) for one in written if type(one.outcome) in kinds)


def note(tried: Mapping[Scope, tuple[int, int]], lane: str) -> None:
    """Record how many tries of each scope succeeded, and how many failed."""
    if tried:
        params = {
            "tenants": [one.tenant for one in tried],
            "targets": [one.target for one in tried],
            "backfills": [lane == BACKFILL_LANE] * len(tried),
            "oks": [ok for ok, _ in tried.values()],
            "faileds": [failed for _, failed in tried.values()],
        }
        run("note_scopes", params)


@dataclass(frozen=True, slots=True)
class Room:
    """What one curb lets through now."""

    curb: int
    kind: str
    scope: Scope
    rate: float | None
    places: int | None  # None: any number
    permits: float | None  # None: any number
    waiting: int  # tasks that were sent back lately

    @property
    def tasks(self) -> float:
        return min(float("inf") if one is None else max(0.0, one) for one in (self.places, self.permits))

    def holds(self, task: Task, target: str) -> bool:
        same = self.scope.tenant == task.tenant and self.scope.target in (target, EVERYTHING)
        return same and (self.kind == Kind.TYPE or task.attempt > 1)


def held_back(
    batch_no: UUID, tasks: Mapping[str, Sequence[Task]], *, all_types: bool = False
) -> list[tuple[Task, Returned]]:
    """Which tasks of a batch, grouped by type or endpoint host, must wait for a safeguard. `all_types`: also for one
    that holds all types of their tenant, which work in lane critical passes.

    The others have taken their places and permits.
    """
    every = [task for group in tasks.values() for task in group]
    asked: dict[str, object] = {"tenants": sorted({task.tenant for task in every}), "targets": sorted(tasks)}
    asked["all_types"] = all_types and every[0].lane != URGENT_LANE
    with atomic():
        curbs = [curb for (curb,) in run("lock_curbs", asked)]
        if not curbs:
            return []
        rows = run("curb_room", {"curbs": curbs, "batch_no": batch_no})
        rooms = [
            Room(curb, kind, Scope(tenant, target), rate, places, permits, waiting)
            for curb, kind, target, tenant, rate, places, permits, waiting in rows
        ]
        taken: Counter[int] = Counter()
        returned: Counter[int] = Counter()
        held = []
        for target, group in tasks.items():
            for task in group:
                mine = [one for one in rooms if one.holds(task, target)]
                full = next((one for one in mine if one.tasks < taken[one.curb] + 1), None)
                if full is None:
                    taken.update(one.curb for one in mine)
                else:
                    held.append((task, _returned(full, returned[full.curb])))
                    returned[full.curb] += 1
        params = {
            "batch_no": batch_no,
            "curbs": [one.curb for one in rooms],
            "permits": [None if one.permits is None else one.permits - taken[one.curb] for one in rooms],
            "tasks": [taken[one.curb] if one.places is not None else 0 for one in rooms],
            "returned": [returned[one.curb] for one in rooms],
        }
        run("take_curb_room", params)
    return held


def _returned(room: Room, place: int) -> Returned:
    """Due again about when a permit is free for it, and spread out, so that not all return together."""
    least = ASK_SECONDS if not room.rate else min(ASK_SECONDS, (place + 1) / room.rate)
    what = "retries" if room.kind == Kind.RETRIES else "tasks"
    of = "all types" if room.scope.target == EVERYTHING else room.scope.target
    reason = f"{WORDS} {what} of {of} of tenant {room.scope.tenant}"
    return Returned(HELD_BACK, reason, delay=until_well(least, place, room.waiting))


def release_held_back(scope: Scope) -> dict[int, float]:
    """Make tasks due that were sent back, since nothing holds them now. Returns the first due time in each shard."""
    return release(scope.target, scope.tenant, HELD_BACK, WORDS)
