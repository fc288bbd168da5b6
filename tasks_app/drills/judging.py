"""The judge: from what was asked for and what happened, how long the service was away, what was lost, what was doubled.

Plain Python over plain evidence, so that a test can hand it a lost task and see it complain.

A task is late if its run began more than LATE_SECONDS after it was due. The service is back at the first moment from
which on nothing overdue waits and, for CALM_SECONDS, nothing gets late. That is stricter than "a task was on time": the
shards of a beat that lives are on time all the while, and those of a dead one are not. What was running when it came
has a figure of its own, since it waits for the lease of its worker; of some drills it counts with the rest.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from tasks_app.core.phrases import figure

LATE_SECONDS = 1.0
CALM_SECONDS = 3.0
MOSTLY = 0.5  # of the tasks of a lane are late, or more: then it was behind all the while


@dataclass(frozen=True, slots=True)
class Asked:
    """A task that somebody asked for, and was told that it is committed."""

    lane: str
    due: float  # epoch seconds, as all times here
    committed: float = 0.0  # when the caller knew


@dataclass(frozen=True, slots=True)
class Done:
    """A run whose effect was committed, as the worker wrote it down after the commit."""

    key: str
    began: float
    committed: float


@dataclass(frozen=True, slots=True)
class Evidence:
    mark: float  # the moment from which on the time counts: the kill, the return, the promotion
    ended: float  # what is due later is not judged
    asked: Mapping[str, Asked]
    done: Collection[Done]
    statuses: Mapping[str, str]  # of every task that is in the database at the end, by key
    effects: Mapping[str, int]  # rows that handlers left in the database, by key
    calls: Mapping[str, int] = field(default_factory=dict)  # of handlers, by key: a run that was cut off counts, too
    rest_lost: int = 0  # of the tasks that only lie there
    events_due: frozenset[str] = frozenset()  # that must have been told by now
    events_told: frozenset[str] = frozenset()  # to the subscriber
    events_kept: frozenset[str] = frozenset()  # in the outbox of the database at the end
    broken_rules: int = 0
    in_flight: frozenset[str] = frozenset()  # tasks that were running at the mark
    # What a restore brings with it: known before anything ran again.
    gone: frozenset[str] = frozenset()  # tasks that were committed, and are not in what was restored
    undone: frozenset[str] = frozenset()  # tasks that ran, and will run again
    rpo: float = 0.0  # how long before the damage the oldest of all that was committed


@dataclass(frozen=True, slots=True)
class Limits:
    rto: float
    rpo: float = 0.0
    in_flight: float | None = 45.0  # for what was running; None: it counts with the rest


@dataclass(frozen=True, slots=True)
class Figures:
    rto_s: float | None  # of the slowest lane; None: it never came back
    rto_by_lane: dict[str, float | None]
    in_flight_s: float | None  # until the last had begun of what was running, and had to begin again
    rpo_s: float
    lost: int
    events_lost: int  # kept and never told, or told and not kept; of a restore, only the former
    events_gone: int  # told, and not kept
    duplicates: int
    repeats: int  # calls of handlers beyond the first: their effects were rolled back with them
    late_afterwards: int  # tasks that were late after it had been back for a while
    listed: int  # tasks that ran after the restored moment, and ran again
    missed: list[str]  # a sentence for each limit that was missed

    @property
    def met(self) -> bool:
        return not self.missed


def back_at(mark: float, waits: Iterable[tuple[float, float]]) -> tuple[float, int]:
    """When the service was back, and how many were late after that; `waits` are (due, began) of what was late."""
    back, after = mark, 0
    for due, began in sorted(waits):
        if due > back + CALM_SECONDS:
            after += 1
        elif began > back:
            back = began
    return back, after


def late_ones(
    asked: Mapping[str, Asked], began: Mapping[str, float], now: float, ended: float
) -> dict[str, list[tuple[float, float]]]:
    """By lane, (due, began) of each task that was late; infinite for one that is overdue and has not run by now."""
    found: dict[str, list[tuple[float, float]]] = {}
    for key, one in asked.items():
        if one.due > ended:
            continue
        at = began.get(key, math.inf)
        if min(at, now) - one.due > LATE_SECONDS:
            found.setdefault(one.lane, []).append((one.due, at))
    return found


def first_runs(done: Iterable[Done]) -> dict[str, float]:
    """When the run of each task began that counts; of two, the earlier."""
    began: dict[str, float] = {}
    for one in done:
        began[one.key] = min(one.began, began.get(one.key, math.inf))
    return began


def runs_that_count(done: Iterable[Done], undone: Mapping[str, Done]) -> list[Done]:
    """Without those that a restore has taken back: each of these has to happen once more."""
    return [one for one in done if one.key not in undone or one.committed > undone[one.key].committed]


def is_back(mark: float, asked: Mapping[str, Asked], done: Iterable[Done], now: float) -> bool:
    """Whether it can be said by now that the service is back."""
    late = late_ones(asked, first_runs(done), now, math.inf)
    back, _ = back_at(mark, [wait for waits in late.values() for wait in waits])
    return back + CALM_SECONDS + LATE_SECONDS < now


def judge(evidence: Evidence, limits: Limits) -> Figures:
    began = first_runs(evidence.done)
    for key in evidence.effects:  # its worker died between the commit and the line
        began.setdefault(key, evidence.asked[key].due if key in evidence.asked else evidence.mark)
    expected = {key: one for key, one in evidence.asked.items() if key not in evidence.gone}
    aside = frozenset() if limits.in_flight is None else evidence.in_flight
    late = late_ones({k: one for k, one in expected.items() if k not in aside}, began, math.inf, evidence.ended)
    cut_off = late_ones({key: expected[key] for key in aside & expected.keys()}, began, math.inf, evidence.ended)
    last = max((at for waits in cut_off.values() for _, at in waits), default=evidence.mark)
    by_lane: dict[str, float | None] = {}
    for lane in sorted({one.lane for one in expected.values()}):
        back, _ = back_at(evidence.mark, late.get(lane, []))
        by_lane[lane] = None if back == math.inf else round(back - evidence.mark, 2)
    _, after = back_at(evidence.mark, [wait for waits in late.values() for wait in waits])
    times = list(by_lane.values())
    rto = None if not times or None in times else max(time for time in times if time is not None)
    lost = sum(_is_lost(key, one, evidence) for key, one in expected.items())
    lost += evidence.rest_lost + len(evidence.gone)
    lost += sum(not evidence.effects.get(one.key) for one in evidence.done if one.key not in evidence.undone)
    doubled = _doubled(evidence)
    untold, gone = evidence.events_due - evidence.events_told, evidence.events_told - evidence.events_kept
    figures = Figures(
        rto_s=rto,
        rto_by_lane=by_lane,
        in_flight_s=None if last == math.inf else round(max(0.0, last - evidence.mark), 2),
        rpo_s=round(evidence.rpo, 2),
        lost=lost,
        events_lost=len(untold) + (0 if limits.rpo else len(gone)),
        events_gone=len(gone),
        duplicates=sum(number for key, number in doubled.items() if key not in evidence.undone),
        repeats=sum(number - 1 for number in evidence.calls.values()),
        late_afterwards=after,
        listed=len(evidence.undone),
        missed=[],
    )
    figures.missed.extend(_missed(figures, evidence, limits))
    return figures


def _is_lost(key: str, one: Asked, evidence: Evidence) -> bool:
    status = evidence.statuses.get(key)
    if status is None:
        return True
    if status == "SUCCESS":
        return not evidence.effects.get(key)
    return one.due <= evidence.ended  # it was to have run by now


def _doubled(evidence: Evidence) -> Counter[str]:
    """Effects too many, by key: by the rows, or by what was written outside of the database."""
    lines = Counter(one.key for one in evidence.done)
    keys = lines.keys() | evidence.effects.keys()
    most = {key: max(lines[key], evidence.effects.get(key, 0)) for key in keys}
    return Counter({key: number - 1 for key, number in most.items() if number > 1})


def _behind(evidence: Evidence, lane: str, back: float) -> str:
    """Of a lane that was late all the while, how much came due and how much began: did the stack keep up at all?

    Empty if some tasks were late and others not: then it was no question of the load.
    """
    began, lanes = first_runs(evidence.done), {key: one.lane for key, one in evidence.asked.items()}
    due = {key: one for key, one in evidence.asked.items() if evidence.mark <= one.due <= back}
    of_lane = {key: one for key, one in due.items() if one.lane == lane}
    late = late_ones(of_lane, began, math.inf, back).get(lane, [])
    if len(late) < MOSTLY * len(of_lane):
        return ""
    begun = [key for key, at in began.items() if key in lanes and evidence.mark <= at <= back]
    own = sum(lanes[key] == lane for key in begun)

    def rate(count: int) -> str:
        return figure(count / (back - evidence.mark), 3)

    return (
        f"; {len(late):,} of its {len(of_lane):,} tasks were late until then. In a second {rate(len(of_lane))} of them "
        f"came due and {rate(own)} began, of all lanes {rate(len(due))} and {rate(len(begun))}"
    )


def _missed(figures: Figures, evidence: Evidence, limits: Limits) -> Iterable[str]:
    for lane, took in figures.rto_by_lane.items():
        if took is None:
            yield f"lane {lane} never came back"
        elif took > limits.rto:
            behind = _behind(evidence, lane, evidence.mark + took)
            yield f"lane {lane} was back after {took:g} s, and the limit is {limits.rto:g} s{behind}"
    if figures.rto_s is None and not figures.rto_by_lane:
        yield "no task was asked for, so nothing can be said"
    if limits.in_flight is not None:
        if figures.in_flight_s is None:
            yield "what was running never ran again"
        elif figures.in_flight_s > limits.in_flight:
            words = f"what was running began again after {figures.in_flight_s:g} s"
            yield f"{words}, and the limit is {limits.in_flight:g} s"
    if figures.rpo_s > limits.rpo:
        yield f"what was committed {figures.rpo_s:g} s before is lost, and the limit is {limits.rpo:g} s"
    elif not limits.rpo and (evidence.gone or evidence.undone):  # however short before, and rounded to 0
        gone, undone = len(evidence.gone), len(evidence.undone)
        yield f"nothing that was committed may be lost: {gone:,} tasks are gone, {undone:,} ran and ran again"
    if unexplained := figures.lost - len(evidence.gone):
        yield f"{unexplained:,} tasks or effects that were committed are lost"
    if figures.events_lost:
        yield f"{figures.events_lost:,} events are lost"
    if figures.duplicates:
        yield f"{figures.duplicates:,} effects happened twice"
    if evidence.broken_rules:
        yield f"{evidence.broken_rules:,} rows break a rule of `manage.py doctor`"
