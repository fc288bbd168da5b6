"""Service levels as plain Python: in which minutes the installation was available, and what is left of the budget.

A minute counts by what its canaries did, so it can be judged later, and whoever was away to look: without a beat no
canary comes back.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import pairwise
from math import ceil

from .lateness import percentile_ms

MINUTE = timedelta(minutes=1)
DELAY_SHARE = 0.95  # of the tasks start within the delay that is the goal


class State(StrEnum):
    """Of one minute."""

    UP = "UP"
    DOWN = "DOWN"
    IDLE = "IDLE"  # no lane was served, so nothing was promised: it counts for neither


@dataclass(frozen=True, slots=True)
class LaneFacts:
    """What is known of a lane when a minute is judged."""

    lane: str
    live: bool  # a live worker serves it
    known: bool  # one is known that does, or did until it died; one that said goodbye is not
    paused_at: datetime | None = None
    resumed_at: datetime | None = None  # when it last was
    canary_since: datetime | None = None
    every: timedelta = timedelta(seconds=10)  # how often its canary flies


@dataclass(frozen=True, slots=True)
class Judged:
    """One minute: the lanes that were served, and which of them were late or did not answer."""

    minute: datetime
    served: frozenset[str] = frozenset()
    down: frozenset[str] = frozenset()
    lost: frozenset[str] = frozenset()  # their last worker died, and none has come back
    paused: frozenset[str] = frozenset()  # they would be served if somebody had not paused them

    @property
    def state(self) -> State:
        if self.down:
            return State.DOWN
        return State.UP if self.served else State.IDLE


def judge(
    before: Judged,
    minutes: Sequence[datetime],
    lanes: Iterable[LaneFacts],
    returns: Mapping[str, Sequence[datetime]],
    answer: timedelta,
    *,
    latest: datetime,
) -> list[Judged]:
    """These minutes, one after the other. `returns` are the times at which the canary of each lane came back, in order
    and from one round before the first minute on; it may take `answer` longer than it is apart.

    Who is alive is known of the latest minute only: in those before, which nobody looked at in time, the lanes are
    served that had been.
    """
    known = {one.lane: one for one in lanes}
    found = []
    for minute in minutes:
        paused = {lane for lane, one in known.items() if _was_paused(one, minute, before)}
        if minute == latest:
            lost = frozenset(lane for lane, one in known.items() if _is_lost(one, before))
            wanted = _wanted(known.values(), minute, before, lost)
        else:
            lost, wanted = before.lost, (before.served | before.paused) & known.keys()
        # When a safeguard let a lane go is not known: somewhere in this minute, which counts for nothing.
        let_go = {lane for lane in wanted & before.paused - paused if _ended_unseen(known[lane], before)}
        served = frozenset(wanted - paused - let_go)
        down = frozenset(
            lane
            for lane in served
            if not _answers(known.get(lane), minute, returns.get(lane, ()), lane in before.served, answer)
        )
        before = Judged(minute, served, down, lost, frozenset(wanted & paused))
        found.append(before)
    return found


def _was_paused(one: LaneFacts, minute: datetime, before: Judged) -> bool:
    """For all of the minute, or a part of it. When a pause began that is over is known only from the minute before."""
    if one.paused_at is not None and one.paused_at < minute + MINUTE:
        return True
    if one.resumed_at is None or one.resumed_at < minute:
        return False
    return one.resumed_at < minute + MINUTE or one.lane in before.paused


def _ended_unseen(one: LaneFacts, before: Judged) -> bool:
    return one.resumed_at is None or one.resumed_at < before.minute


def _is_lost(one: LaneFacts, before: Judged) -> bool:
    """A node that died is forgotten after an hour; its lane stays lost."""
    return not one.live and (one.known or one.lane in before.lost)


def _wanted(lanes: Iterable[LaneFacts], minute: datetime, before: Judged, lost: frozenset[str]) -> frozenset[str]:
    """The lanes that somebody serves or should: with a canary, or served before, and not given up on purpose. A worker
    that says goodbye takes its lanes along, unless it was the last one of all."""
    lanes = list(lanes)
    anybody = any(one.live for one in lanes)
    return frozenset(
        one.lane
        for one in lanes
        if (one.live or one.lane in lost or not anybody)
        and (
            one.lane in before.served | before.paused
            or ((one.live or one.lane in lost) and one.canary_since is not None and one.canary_since <= minute)
        )
    )


def _answers(
    one: LaneFacts | None, minute: datetime, returns: Sequence[datetime], was_served: bool, answer: timedelta
) -> bool:
    """Whether its canary came back on time all the time: no two returns are further apart than a round and the answer,
    nor is the end of the minute from the last one."""
    if one is None:
        return False
    end, most = minute + MINUTE, one.every + answer
    earlier = [at for at in returns if at < minute]
    if was_served and not earlier:
        return False  # its last return lies too far back to be among them
    # A lane that was not served before begins with the minute.
    begins = earlier[-1] if was_served else minute
    moments = [begins, *(at for at in returns if minute <= at < end), end]
    return all(later - sooner <= most for sooner, later in pairwise(moments))


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over all minutes up to one: what lies between two of them is their difference."""

    up: int = 0
    down: int = 0
    ok: int = 0
    failed: int = 0
    lateness: tuple[int, ...] = ()

    def plus(self, state: State, ok: int = 0, failed: int = 0, lateness: Sequence[int] = ()) -> "Totals":
        longer, shorter = sorted((self.lateness, tuple(lateness)), key=len, reverse=True)
        added = [count + (shorter[place] if place < len(shorter) else 0) for place, count in enumerate(longer)]
        while added and not added[-1]:
            added.pop()
        return Totals(
            self.up + (state is State.UP),
            self.down + (state is State.DOWN),
            self.ok + ok,
            self.failed + failed,
            tuple(added),
        )

    def since(self, earlier: "Totals") -> "Totals":
        before = earlier.lateness
        return Totals(
            self.up - earlier.up,
            self.down - earlier.down,
            self.ok - earlier.ok,
            self.failed - earlier.failed,
            tuple(n - (before[place] if place < len(before) else 0) for place, n in enumerate(self.lateness)),
        )


@dataclass(frozen=True, slots=True)
class Outage:
    """Minutes in a row in which a lane was down."""

    since: datetime
    minutes: int
    lanes: tuple[str, ...]

    @property
    def until(self) -> datetime:
        return self.since + self.minutes * MINUTE


def outages_of(down: Iterable[tuple[datetime, Iterable[str]]]) -> list[Outage]:
    """From the minutes that were down and their lanes, the newest first: the same in stretches."""
    found: list[Outage] = []
    for minute, lanes in down:
        if found and found[-1].since == minute + MINUTE:
            last = found.pop()
            found.append(Outage(minute, last.minutes + 1, tuple(sorted({*last.lanes, *lanes}))))
        else:
            found.append(Outage(minute, 1, tuple(sorted(lanes))))
    return found


@dataclass(frozen=True, slots=True)
class Goals:
    availability: float
    delay_ms: float
    success: float


def _enough(goal: float) -> int:
    """Of fewer, a single one that is bad misses the goal, so nothing is concluded."""
    return 1 if goal >= 1 else ceil(round(1 / (1 - goal), 6))


def _kept(share: float | None, goal: float, measured: int, needed: int) -> bool | None:
    return None if share is None or measured < needed else share >= goal


@dataclass(frozen=True, slots=True)
class ServiceLevels:
    """What was promised of a window, and what was kept."""

    days: int
    goals: Goals
    since: datetime | None  # the end of the minute before the first; None: nothing has been measured yet
    until: datetime | None
    totals: Totals = field(default_factory=Totals)
    unwatched: int = 0  # minutes until now that no beat has looked at: they count as down
    outages: tuple[Outage, ...] = ()

    @property
    def down(self) -> int:
        return self.totals.down + self.unwatched

    @property
    def availability(self) -> float | None:
        """None: no lane was served in any minute."""
        return self.totals.up / self.minutes if self.minutes else None

    @property
    def budget(self) -> float:
        """Minutes of the whole window that may be down, however few of them have passed."""
        return (1 - self.goals.availability) * self.days * 1_440

    @property
    def budget_left(self) -> float:
        return self.budget - self.down

    @property
    def budget_told(self) -> str:
        """In words."""
        if self.budget_left >= 0:
            return f"{self.budget_left:,.1f} of the {self.budget:,.1f} minutes are left that may be down"
        return f"{-self.budget_left:,.1f} more than the {self.budget:,.1f} minutes that may be"

    @property
    def minutes(self) -> int:
        """That count."""
        return self.totals.up + self.down

    @property
    def minutes_needed(self) -> int:
        """No window has more than its minutes."""
        return min(_enough(self.goals.availability), self.days * 1_440)

    @property
    def available(self) -> bool | None:
        """None: too little was measured. With its budget spent, the whole window misses its goal, whatever comes."""
        if self.availability is not None and self.budget_left < 0:
            return False
        return _kept(self.availability, self.goals.availability, self.minutes, self.minutes_needed)

    @property
    def started(self) -> int:
        return sum(self.totals.lateness)

    @property
    def p95_ms(self) -> float | None:
        return percentile_ms(self.totals.lateness, DELAY_SHARE)

    @property
    def started_needed(self) -> int:
        return _enough(DELAY_SHARE)

    @property
    def punctual(self) -> bool | None:
        if self.p95_ms is None or self.started < self.started_needed:
            return None
        return self.p95_ms <= self.goals.delay_ms

    @property
    def runs(self) -> int:
        return self.totals.ok + self.totals.failed

    @property
    def runs_needed(self) -> int:
        return _enough(self.goals.success)

    @property
    def success(self) -> float | None:
        return self.totals.ok / self.runs if self.runs else None

    @property
    def successful(self) -> bool | None:
        return _kept(self.success, self.goals.success, self.runs, self.runs_needed)

    @property
    def missed(self) -> list[str]:
        """The goals that were not kept."""
        kept = {"availability": self.available, "trigger delay": self.punctual, "success rate": self.successful}
        return [name for name, held in kept.items() if held is False]
