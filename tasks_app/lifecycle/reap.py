"""reap: what a dead worker, a lost message or a lost lease left behind is due again."""

import json
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from tasks_app.conf import conf
from tasks_app.core import retry
from tasks_app.core.handlers import REGISTRY
from tasks_app.database import atomic
from tasks_app.sql import run

from .settle import wait_for

STRETCH = 10_000  # ids that one step of a rescue looks at


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
    params = {
        "limit": limit,
        "delays": json.dumps(_own_delays()),
        "usual": json.dumps(retry.DEFAULT_BACKOFF.steps()),
        "kept": conf().kept_kinds,
    }
    timers = {handler.name: handler.timer for handler in REGISTRY if handler.timer is not None}
    with atomic(savepoint=False) if timers else nullcontext():
        rows = [_Reaped(*row) for row in run("reap", params)]
        for row in rows:
            if row.task_type in timers:
                wait_for(timers[row.task_type], [(row.task_id, row.due)])
    return [ReapedBatch(row.batch_no, row.started, row.worker, row.tasks) for row in rows]


class Rescued(NamedTuple):
    last: int | None  # where the stretch ended; None: there are no more ids
    ids: list[int]


def rescue_stranded(after: int = 0) -> Rescued:
    """RUNNING rows among the next ids that no unfinished batch holds. There should be none; who finds one says so."""
    return Rescued(*run("rescue_stranded", {"after": after, "step": STRETCH})[0])


def _own_delays() -> dict[str, list[float]]:
    """The back-off of handlers that brought their own, as the statement can use it."""
    return {handler.name: handler.policy.steps() for handler in REGISTRY if handler.policy != retry.DEFAULT_BACKOFF}
