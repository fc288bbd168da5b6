"""examine: each check over a stretch of ids at a time, and once more over the stretches in which something was found.

So no statement takes long or keeps old row versions from being vacuumed, however much is live, but for the one check
whose rows may lie anywhere; and what only looked wrong between two transactions of one caller is not told.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tasks_app.conf import conf
from tasks_app.core.retention import DEFAULT_CLASS
from tasks_app.sql import run_on

from .checks import CHECKS, Check

STEP = 10_000  # ids in a stretch
END = 2**63 - 1
MOMENT = 1.0  # seconds after which what looked wrong is looked at again
MOST = 100_000  # rows of one check that are named; the count is exact whatever there is


class Broken(NamedTuple):
    """A row that breaks a rule."""

    id: int
    detail: str


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found."""

    check: Check
    rows: tuple[Broken, ...] = ()  # no more than MOST
    count: int = 0

    @property
    def ids(self) -> list[int]:
        return [row.id for row in self.rows]


Progress = Callable[[str, int], None]


class _Stretch(NamedTuple):
    table: str
    after: int
    last: int


def examine(
    checks: Sequence[Check] = CHECKS,
    *,
    past: bool = False,
    wait: Callable[[float], object] = time.sleep,
    progress: Progress | None = None,
    step: int = STEP,
) -> list[Finding]:
    """One finding for each check, in order. `past`: what is over is looked at too, which may be much."""
    suspected = {one.name: list(_suspects(one, past, step, progress)) for one in checks}
    if any(suspected.values()):
        wait(MOMENT)
    return [_confirmed(one, suspected[one.name], step) for one in checks]


def broken_among(check: Check, ids: Sequence[int]) -> list[int]:
    """Those of these few that break it now."""
    stretches = [_Stretch(table, id_ - 1, id_) for id_ in ids for table in check.over(past=True)]
    return sorted({row.id for stretch in stretches for row in _ask(check, stretch, 1)})


def params(after: int, last: int, step: int | None) -> dict[str, object]:
    hot = conf().retention_classes[DEFAULT_CLASS].hot.total_seconds()
    return {"after": after, "last": last, "step": step, "hot": hot}


def _suspects(check: Check, past: bool, step: int, progress: Progress | None) -> Iterator[tuple[_Stretch, set[int]]]:
    """The stretches in which something looks wrong, with the ids."""
    looked = 0
    for table in check.over(past=past):
        for stretch in _stretches(table, step) if check.walks else [_Stretch(table, 0, END)]:
            if rows := _ask(check, stretch, step):
                yield stretch, {row.id for row in rows}
            looked += 1
            if progress is not None:
                progress(check.name, looked)


def _stretches(table: str, step: int) -> Iterator[_Stretch]:
    """Up to the end of all ids: other tables may have rows about tasks that are gone."""
    after = 0
    while True:
        ((last,),) = run_on("next_stretch", table, {"after": after, "step": step})
        yield _Stretch(table, after, END if last is None else last)
        if last is None:
            return
        after = last


def _ask(check: Check, stretch: _Stretch, step: int) -> list[Broken]:
    # Twice as many, since rows may have come in between whose numbers were drawn long ago.
    asked = params(stretch.after, stretch.last, 2 * step)
    return [Broken(id_, str(detail)) for id_, detail in run_on(check.statement, stretch.table, asked)]


def _confirmed(check: Check, suspected: Sequence[tuple[_Stretch, set[int]]], step: int) -> Finding:
    rows: list[Broken] = []
    count = 0
    for stretch, ids in suspected:
        still = [row for row in _ask(check, stretch, step) if row.id in ids]
        count += len(still)
        rows += still[: MOST - len(rows)]
    return Finding(check, tuple(rows), count)
