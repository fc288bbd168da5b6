"""Safeguards as plain Python: the rules that act, when one goes on and off, and what it changes while it is on."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, tzinfo
from enum import StrEnum
from typing import Any

from .errors import InvalidTask, shown
from .lanes import LANES
from .phrases import counted, figure, grammatical_number
from .said import said, said_of
from .scopes import EVERYTHING, scope_of
from .zones import zone_of

AGAIN_SECONDS = 1_800.0  # on again within this time of its end: then it stays on for twice as long before it ends
MOST_RELAPSES = 3
SLOWED = 0.25  # of what `low` did before, while it is slowed down
RETRIES_SLOWED = 0.5  # of what the retries of a type were
LEAST_RATE = 1.0  # tasks of a slowed lane a second, at least: nothing starves
LEAST_RETRY_RATE = 0.1
TRIALS = 3  # that succeed in a row: then more may run
HALF_OPEN_RATE, HALF_OPEN_RUNNING = 10.0, 10  # and that is so many
ONE_CAUSE = 0.8  # of the dead letters: more than that of one type, or for one host, and it is the cause
FIRES_ON = "critical"  # the lane that fires in degraded mode
SLOWED_LANE = "low"
MOST_DEAD = 20_000  # dead letters of the last minute that are counted
HOST = "host:"  # begins a subject that is a host


class Name(StrEnum):
    """The safeguards there are."""

    DELAY = "delay"
    FAILURES = "failures"
    RETRIES = "retries"
    DEAD_LETTERS = "dead_letters"
    BREAKER = "breaker"
    SLOW_HANDLER = "slow_handler"
    PROFILE = "profile"


class Mode(StrEnum):
    ACT = "act"
    TELL = "tell"
    OFF = "off"


class Order(StrEnum):
    """What an operator has decided for one."""

    NONE = ""
    FORCE = "force"
    FORBID = "forbid"
    END = "end"


class Kind(StrEnum):
    """What a curb is on."""

    LANE = "lane"
    TYPE = "type"
    RETRIES = "retries"
    HOST = "host"
    BACKFILLS = "backfills"
    TRIGGERS = "triggers"


@dataclass(frozen=True, slots=True)
class Policy:
    """When a safeguard goes on and off. All of it are settings."""

    limit: float
    sample: int  # of fewer, nothing is concluded
    on_seconds: float  # the limit has to be passed for so long
    off_seconds: float  # and all to be well for so long, for each stage
    mode: str = Mode.ACT
    trial_seconds: float = 5.0  # between two trials of a type whose breaker is open


POLICIES = {
    Name.DELAY: Policy(limit=2_000.0, sample=20, on_seconds=300.0, off_seconds=600.0),
    Name.FAILURES: Policy(limit=0.995, sample=200, on_seconds=30.0, off_seconds=600.0),
    Name.RETRIES: Policy(limit=200_000.0, sample=1, on_seconds=30.0, off_seconds=300.0),
    Name.DEAD_LETTERS: Policy(limit=1_000.0, sample=1, on_seconds=0.0, off_seconds=300.0),
    Name.BREAKER: Policy(limit=0.5, sample=20, on_seconds=0.0, off_seconds=30.0),
    Name.SLOW_HANDLER: Policy(limit=3.0, sample=20, on_seconds=60.0, off_seconds=300.0),
    Name.PROFILE: Policy(limit=0.0, sample=1, on_seconds=0.0, off_seconds=0.0),
}
WORDS = {
    Name.DELAY: said("tasks start late"),
    Name.FAILURES: said("too many tries fail"),
    Name.RETRIES: said("too many retries wait"),
    Name.DEAD_LETTERS: said("too many tasks give up"),
    Name.BREAKER: said("a type fails more often than not"),
    Name.SLOW_HANDLER: said("a handler takes much longer than before"),
    Name.PROFILE: said("the daily profile"),
}
# From which figure on, or which share in percent.
LIMITS = {
    Name.DELAY: "by more than {figure} ms",
    Name.FAILURES: "less than {share} succeed",
    Name.RETRIES: "more than {figure}",
    Name.DEAD_LETTERS: "more than {figure} a minute",
    Name.BREAKER: "more than {share} of its tries",
    Name.SLOW_HANDLER: "{figure} times as long",
}
STAGES = {Name.DELAY: 2, Name.BREAKER: 2}  # the others have one
FIRST_STAGE = {Name.BREAKER: 2}  # it begins with the strictest
NEEDS_SUBJECT = (Name.BREAKER, Name.SLOW_HANDLER)
PLANNED = (Name.PROFILE,)  # no incident: somebody wanted it so


def limit_of(name: str, limit: float) -> str:
    """The limit in words; empty for a profile, which has none."""
    share = f"{limit:.4%}".rstrip("%").rstrip("0").rstrip(".") + " %"
    return LIMITS.get(Name(name), "").format(figure=figure(limit), share=share)


def stages_of(name: str) -> int:
    return STAGES.get(Name(name), 1)


@dataclass(frozen=True, slots=True)
class State:
    """Where a safeguard is; moments are seconds of the database's clock."""

    stage: int = 0  # 0: off
    over_since: float | None = None
    calm_since: float | None = None
    stage_since: float | None = None
    ended_at: float | None = None
    relapses: int = 0

    @property
    def idle(self) -> bool:
        return self.stage == 0 and self.over_since is None


def advance(state: State, over: bool | None, now: float, policy: Policy, name: str) -> State:
    """The state after a look that found the limit passed, all well, or (None) neither.

    On after so long, a stage further after as long again; off after longer, stage by stage, and after longer still if
    it was on a short while ago.
    """
    if over is None:
        return replace(state, over_since=None, calm_since=None)
    if over:
        since = now if state.over_since is None else min(state.over_since, now)
        state = replace(state, over_since=since, calm_since=None)
        if now - max(since, state.stage_since or since) < policy.on_seconds or state.stage >= stages_of(name):
            return state
        return _begun(state, now, name) if state.stage == 0 else replace(state, stage=state.stage + 1, stage_since=now)
    since = now if state.calm_since is None else min(state.calm_since, now)
    state = replace(state, over_since=None, calm_since=since)
    if state.stage == 0 or now - since < policy.off_seconds * 2**state.relapses:
        return state
    stage = state.stage - 1
    return replace(state, stage=stage, stage_since=now, calm_since=now, ended_at=state.ended_at if stage else now)


def _begun(state: State, now: float, name: str) -> State:
    again = state.ended_at is not None and now - state.ended_at < AGAIN_SECONDS
    relapses = min(state.relapses + 1, MOST_RELAPSES) if again else 0
    return replace(state, stage=FIRST_STAGE.get(Name(name), 1), stage_since=now, relapses=relapses)


def ended(state: State, now: float) -> State:
    """Off, whatever was found; it is looked at anew from now on."""
    return replace(State(), ended_at=now if state.stage else state.ended_at, relapses=state.relapses)


def forced(state: State, stage: int, now: float) -> State:
    since = state.stage_since if state.stage == stage else now
    return replace(state, stage=stage, stage_since=since, over_since=None, calm_since=None)


@dataclass(frozen=True, slots=True)
class Curb:
    """One thing that is held back: a lane, a type, its retries, a host, backfills or triggers."""

    kind: str
    target: str
    rate: float | None = None  # tasks a second; 0: none
    max_running: int | None = None
    of_tenant: str = ""  # whose tasks; empty: all

    @property
    def words(self) -> str:
        return (
            said("for tenant {tenant}: {what}", tenant=self.of_tenant, what=self._what)
            if self.of_tenant
            else self._what
        )

    @property
    def _what(self) -> str:
        rate = self.rate or 0.0
        match self.kind:
            case Kind.LANE if not rate:
                return said("lane {target} is paused", target=self.target)
            case Kind.LANE:
                return said_of(
                    "lane {target} is slowed to {rate} task a second",
                    "lane {target} is slowed to {rate} tasks a second",
                    grammatical_number(rate),
                    target=self.target,
                    rate=figure(rate, 3),
                )
            case Kind.TYPE if self.target == EVERYTHING:
                return said("all tasks are held, except in lane {lane}", lane=FIRES_ON)
            case Kind.TYPE if self.max_running == 0:
                return said("type {target} is held", target=self.target)
            case Kind.TYPE if self.max_running == 1:
                return said("type {target} runs one task at a time, to try it", target=self.target)
            case Kind.TYPE:
                return said_of(
                    "type {target} is slowed to {rate} task a second",
                    "type {target} is slowed to {rate} tasks a second",
                    grammatical_number(rate),
                    target=self.target,
                    rate=figure(rate, 3),
                )
            case Kind.RETRIES:
                slow = figure(rate, 3)
                return said("retries of {target} are slowed to {rate} a second", target=self.target, rate=slow)
            case Kind.HOST:
                return said("calls of {target} wait", target=self.target)
            case Kind.BACKFILLS if self.target == EVERYTHING:
                return said("backfills are paused, and new ones refused")
            case Kind.BACKFILLS:
                return said("backfills of {target} are paused, and new ones refused", target=self.target)
            case _:
                return said("only work in lane {lane} can be triggered", lane=FIRES_ON)


def curbs_of(
    name: str, subject: str, stage: int, figures: Mapping[str, Any], policy: Policy | None = None
) -> list[Curb]:
    """What is held back while a safeguard is in this stage; by the usual policy unless another is given."""
    if not stage:
        return []
    scope = scope_of(subject)
    curbs = _curbs_on(name, scope.target if scope else subject, stage, figures, policy or POLICIES[Name(name)])
    if scope is None:
        return curbs
    return [replace(one, of_tenant=scope.tenant) for one in curbs if one.kind in _OF_A_TENANT]


_OF_A_TENANT = (Kind.TYPE, Kind.RETRIES, Kind.HOST, Kind.BACKFILLS)


def _curbs_on(name: str, target: str, stage: int, figures: Mapping[str, Any], policy: Policy) -> list[Curb]:
    """What is held back of a type, of calls to a host, or of everything."""
    match name:
        case Name.DELAY:
            low = max(LEAST_RATE, SLOWED * float(figures.get("low_rate") or 0.0))
            return [Curb(Kind.LANE, SLOWED_LANE, rate=low if stage == 1 else 0.0)]
        case Name.FAILURES:
            rates = _rates(figures) or ({target: 0.0} if target not in ("", EVERYTHING) else {})
            slowed = {one: max(LEAST_RETRY_RATE, RETRIES_SLOWED * rate) for one, rate in rates.items()}
            held = [Curb(Kind.RETRIES, one, rate=rate) for one, rate in slowed.items()]
            return held if target.startswith(HOST) else [*held, Curb(Kind.BACKFILLS, target or EVERYTHING)]
        case Name.RETRIES:
            return [Curb(Kind.RETRIES, one, rate=max(LEAST_RETRY_RATE, rate)) for one, rate in _rates(figures).items()]
        case Name.DEAD_LETTERS if target.startswith(HOST):
            return [Curb(Kind.HOST, target.removeprefix(HOST))]
        case Name.DEAD_LETTERS if target:
            return [Curb(Kind.TYPE, target, max_running=0)]
        case Name.DEAD_LETTERS:
            lanes = [Curb(Kind.LANE, lane, rate=0.0) for lane in LANES if lane != FIRES_ON]
            return [*lanes, Curb(Kind.TRIGGERS, EVERYTHING)]
        case Name.BREAKER if stage == 1:
            return [Curb(Kind.TYPE, target, rate=HALF_OPEN_RATE, max_running=HALF_OPEN_RUNNING)]
        case Name.BREAKER:
            return [Curb(Kind.TYPE, target, rate=1 / policy.trial_seconds, max_running=1)]
        case Name.PROFILE:
            return [Curb(Kind.LANE, lane, rate=float(rate)) for lane, rate in dict(figures.get("lanes") or {}).items()]
    return []


def _rates(figures: Mapping[str, Any]) -> dict[str, float]:
    return {str(one): float(rate) for one, rate in dict(figures.get("rates") or {}).items()}


# Retries by how long their handlers take: each bucket has its share of the workers' time, the short ones the most.
BUCKETS = ((0.1, 6.0), (1.0, 3.0), (float("inf"), 1.0))  # a mean of up to so many seconds, and its share
RETRIES_OF_ALL = 0.5  # of the workers' time, all retries together: the rest is for what comes for the first time


def retry_rates(waiting: Mapping[str, int], means: Mapping[str, float], slots: int) -> dict[str, float]:
    """Retries a second of each type that has some waiting; `means` are seconds that one takes.

    What a bucket without retries would have is the others'.
    """
    bucket = {one: _bucket(means.get(one, 0.0)) for one in waiting}
    total = sum(BUCKETS[place][1] for place in set(bucket.values()))
    rates = {}
    for one, place in bucket.items():
        alike = sum(other == place for other in bucket.values())
        share = RETRIES_OF_ALL * max(slots, 1) * BUCKETS[place][1] / total / alike
        rates[one] = share / max(means.get(one, 0.0), 0.001)
    return rates


def _bucket(mean_seconds: float) -> int:
    return next(place for place, (most, _) in enumerate(BUCKETS) if mean_seconds <= most)


def policies_of(given: Mapping[str, Mapping[str, Any]]) -> dict[str, Policy]:
    """PUNCTUAL["SAFEGUARDS"], checked before, over the defaults."""
    return {name: replace(usual, **given.get(name, {})) for name, usual in POLICIES.items()}


@dataclass(frozen=True, slots=True)
class Peak:
    """A time of day at which some lanes are slowed."""

    begin: time
    end: time
    rate: float  # tasks a second
    lanes: tuple[str, ...] = (SLOWED_LANE,)
    days: tuple[str, ...] = ()
    zone: tzinfo = UTC

    def covers(self, at: datetime) -> bool:
        local = at.astimezone(self.zone)
        inside = self.begin <= local.time() < self.end
        return inside and (not self.days or DAYS[local.weekday()] in self.days)


DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_PEAK = ("from", "to", "rate", "lanes", "days", "zone")
MOST_PEAKS = 50


def peaks_of(given: Mapping[str, Any]) -> list[Peak]:
    """PUNCTUAL["DAILY_PROFILE"], checked before."""
    return [
        Peak(
            time.fromisoformat(one["from"]),
            _end(one["to"]),
            float(one["rate"]),
            tuple(one.get("lanes", (SLOWED_LANE,))),
            tuple(one.get("days", ())),
            zone_of(one.get("zone", "UTC")),
        )
        for one in given.get("peaks", ())
    ]


def _end(text: str) -> time:
    return time.max if text == "24:00" else time.fromisoformat(text)


def slowed_at(peaks: list[Peak], at: datetime) -> dict[str, float]:
    """Lanes, and how many tasks a second they may start then: the strictest peak counts."""
    rates: dict[str, float] = {}
    for peak in peaks:
        if peak.covers(at):
            for lane in peak.lanes:
                rates[lane] = min(peak.rate, rates.get(lane, peak.rate))
    return rates


def wrong_peaks(given: Mapping[Any, object]) -> Iterator[str]:
    """A sentence for each thing that is wrong with PUNCTUAL["DAILY_PROFILE"]."""
    where = 'PUNCTUAL["DAILY_PROFILE"]'
    example = '{"peaks": [{"from": "09:00", "to": "18:00", "rate": 20}]}'
    if given and set(given) != {"peaks"}:
        yield f"{where} is {shown(given)}; it must be like {example}."
        return
    peaks = given.get("peaks", ())
    if not isinstance(peaks, list | tuple) or len(peaks) > MOST_PEAKS:
        yield f'{where}["peaks"] is {shown(peaks)}; it must be a list of at most {counted(MOST_PEAKS, "peak")}.'
        return
    for number, one in enumerate(peaks):
        yield from _wrong_peak(f'{where}["peaks"][{number}]', one)


def _wrong_peak(where: str, one: object) -> Iterator[str]:
    if not isinstance(one, Mapping) or not {"from", "to", "rate"} <= set(one) <= set(_PEAK):
        yield f'{where} is {shown(one)}; it needs "from", "to" and "rate", and may have "lanes", "days" and "zone".'
        return
    try:
        begin, end = time.fromisoformat(one["from"]), _end(one["to"])
    except (TypeError, ValueError):
        yield f"{where} is from {shown(one['from'])} to {shown(one['to'])}; write times of day like 09:00."
        return
    if begin.tzinfo or end.tzinfo:
        yield (
            f"{where} is from {one['from']} to {one['to']}, with an offset from UTC, which changes with the seasons. "
            'Write times of day like 09:00, and where they are, such as "zone": "Europe/Berlin".'
        )
    elif end <= begin:
        yield (
            f"{where} is from {one['from']} to {one['to']}, which ends before it begins. Give two: one up to 24:00, "
            "one from 00:00."
        )
    rate = one["rate"]
    if isinstance(rate, bool) or not isinstance(rate, int | float) or not 0 <= rate <= 1e6:
        yield f'{where}["rate"] is {shown(rate)}; it must be tasks a second, from 0 to 1,000,000.'
    for option, known in (("lanes", LANES), ("days", DAYS)):
        given = one.get(option, ())
        if not isinstance(given, list | tuple) or not set(map(str, given)) <= set(known):
            yield f'{where}["{option}"] is {shown(given)}; it must be a list of {", ".join(known)}.'
    try:
        zone_of(one.get("zone", "UTC"))
    except InvalidTask as error:
        yield f'{where}["zone"]: {error}'
