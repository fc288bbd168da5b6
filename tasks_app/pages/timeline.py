"""A life as a picture: its moments on a line, with what lies between them; and the same as a table.

Between two moments there may be days or milliseconds, so the line is logarithmic: a gap that is ten times as long is
longer by a step.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise

WIDTH, EDGE, LINE = 600.0, 12.0, 20.0
MOST = 40  # moments that are drawn; of more, the first and the last


@dataclass(frozen=True, slots=True)
class Moment:
    at: datetime
    words: str
    tone: str = "plain"  # the colour of its mark
    runs: bool = False  # from here to the next moment something ran
    url: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    number: int
    moment: Moment
    after: timedelta | None  # since the one before
    x: float
    width: float  # to the next one


@dataclass(frozen=True, slots=True)
class Timeline:
    marks: list[Mark]
    left_out: int

    @property
    def runs(self) -> list[Mark]:
        return [mark for mark in self.marks if mark.moment.runs and mark.width]


def timeline(moments: Iterable[Moment]) -> Timeline:
    """In order of time; of those at the same time, as they were given."""
    found = sorted(moments, key=lambda one: one.at)
    kept = found if len(found) <= MOST else [*found[: MOST // 2], *found[-MOST // 2 :]]
    gaps = [later.at - one.at for one, later in pairwise(kept)]
    # A hundredth of a second is one step, each ten times as much another.
    steps = [1.0 + math.log10(1.0 + gap.total_seconds() * 100) for gap in gaps]
    scale = (WIDTH - 2 * EDGE) / sum(steps) if steps else 0.0
    marks, x = [], EDGE
    for place, moment in enumerate(kept):
        width = steps[place] * scale if place < len(steps) else 0.0
        marks.append(Mark(place + 1, moment, gaps[place - 1] if place else None, round(x, 1), round(width, 1)))
        x += width
    return Timeline(marks, len(found) - len(kept))
