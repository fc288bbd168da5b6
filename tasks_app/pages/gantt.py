"""A run as a picture: a bar for each of its parts, from when it could start to its end; and the same as a table."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from .spans import axis

MOST_BARS = 100  # of more parts: those that are marked, those that run, and those that took longest
NAMES, WIDE, EDGE = 190, 640, 8  # the column of names, the plot beside it
HIGH, ROW, HEAD = 14, 24, 22
LETTERS = 24  # of a name that fit into its column
LEAST = 1.5  # of a bar, so that it is seen
MOST_TICKS = 6
# Between two lines across, in ms.
STEPS_MS = [step * unit for unit in (1, 10, 100, 1_000, 10_000) for step in (1, 2, 5) if step * unit <= 10_000] + [
    step * 1_000 for step in (30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 18_000, 36_000, 86_400, 172_800, 604_800)
]


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a run, as whoever shows it describes it."""

    name: str
    state: str
    allowed: datetime | None  # when it could start; None: not yet
    began: datetime | None
    ended: datetime | None  # None: it is not over
    critical: bool = False
    url: str = ""


@dataclass(frozen=True, slots=True)
class Bar:
    part: Part
    waited: timedelta | None
    ran: timedelta | None
    y: int
    x: float
    wait_width: float
    run_x: float
    run_width: float

    @property
    def short(self) -> str:
        name = self.part.name
        return name if len(name) <= LETTERS else f"{name[: LETTERS - 1]}…"

    @property
    def text_y(self) -> int:
        return self.y + HIGH - 3


@dataclass(frozen=True, slots=True)
class Gantt:
    bars: list[Bar]
    ticks: list[tuple[float, str]]  # x, and the time since the begin
    begin: datetime
    end: datetime
    parts: int  # that could start
    high: int = HIGH
    wide: int = NAMES + WIDE + 2 * EDGE

    @property
    def height(self) -> int:
        return HEAD + len(self.bars) * ROW + EDGE

    @property
    def left_out(self) -> int:
        return self.parts - len(self.bars)


class _Known(NamedTuple):
    """A part that could start."""

    part: Part
    allowed: datetime
    end: datetime


def gantt(parts: Sequence[Part], now: datetime) -> Gantt | None:
    """In the order in which they could start; None: nothing could yet."""
    known = [_Known(part, part.allowed, _end(part, part.allowed, now)) for part in parts if part.allowed is not None]
    if not known:
        return None
    kept = sorted(_most_telling(known), key=lambda one: (one.allowed, one.end))
    begin, end = kept[0].allowed, max(one.end for one in kept)
    whole = max(end - begin, timedelta(milliseconds=1))
    bars = [_bar(one, place, begin, whole) for place, one in enumerate(kept)]
    return Gantt(bars, _ticks(whole), begin, end, len(known))


def _most_telling(known: Sequence[_Known]) -> Sequence[_Known]:
    def weight(one: _Known) -> tuple[bool, bool, timedelta]:
        return one.part.critical, one.part.ended is None, one.end - one.allowed

    return known if len(known) <= MOST_BARS else sorted(known, key=weight, reverse=True)[:MOST_BARS]


def _end(part: Part, allowed: datetime, now: datetime) -> datetime:
    return max(part.ended or now, part.began or allowed, allowed)


def _bar(known: _Known, place: int, begin: datetime, whole: timedelta) -> Bar:
    part, allowed, end = known
    began = part.began
    waited = (began or end) - allowed
    ran = end - began if began is not None else None

    def across(span: timedelta) -> float:
        return round(span / whole * WIDE, 1)

    left = NAMES + EDGE
    x = left + across(allowed - begin)
    run_x = left + across((began or end) - begin)
    run_width = max(across(ran), LEAST) if ran is not None else 0.0
    return Bar(part, waited, ran, HEAD + place * ROW, x, across(waited), run_x, run_width)


def _ticks(whole: timedelta) -> list[tuple[float, str]]:
    length = whole / timedelta(milliseconds=1)
    step = next((step for step in STEPS_MS if length / step <= MOST_TICKS), length)
    return [
        (round(NAMES + EDGE + n * step / length * WIDE, 1), axis(n * step) if n else "0")
        for n in range(int(length / step) + 1)
    ]
