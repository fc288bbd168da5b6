"""reap: what a dead worker, a lost message or a lost lease left behind is due again."""

from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from tasks_app.conf import conf
from tasks_app.database import atomic
from tasks_app.sql import run

from .next_try import delays, timers, wait_for

STRETCH = 40_000  # ids that one step of a rescue looks at


@dataclass(frozen=True, slots=True)
class ReapedBatch:
    batch_no: str
    started: bool
    worker: str
    tasks: int


class _Reaped(NamedTuple):
    """A row of reap: a batch, once for each task of it that rolls; else once."""

    batch_no: str
    started: bool
    worker: str
    tasks: int
    task_type: str | None
    task_id: int | None
    due: datetime | None


def reap(limit: int = 100) -> list[ReapedBatch]:
    """Finish batches whose lease ran out and make their tasks due again; decided and written in one statement."""
    params = {"limit": limit, "kept": conf().kept_kinds} | delays()
    waiting = timers()
    with atomic(savepoint=False) if waiting else nullcontext():
        rows = [_Reaped(*row) for row in run("reap", params)]
        for row in rows:
            if row.task_type in waiting and row.task_id is not None and row.due is not None:
                wait_for(waiting[row.task_type], [(row.task_id, row.due)])
    return [ReapedBatch(row.batch_no, row.started, row.worker, row.tasks) for row in rows]


class Rescued(NamedTuple):
    last: int | None  # where the stretch ended; None: there are no more ids
    ids: list[int]


def rescue_stranded(after: int = 0, step: int = STRETCH) -> Rescued:
    """Rows among the next ids that are RUNNING though no unfinished batch holds them, or AWAY without a lease. There
    should be none; who finds one says so."""
    return Rescued(*run("rescue_stranded", {"after": after, "step": step}, long=True)[0])
