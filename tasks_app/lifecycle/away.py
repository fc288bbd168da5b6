"""complete, fail, lose: how a task comes back that somebody else has, by a report or by silence.

The run is the fence: a report names the run that it is about, and counts only while the task is away in that run.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from tasks_app.conf import conf
from tasks_app.database import atomic
from tasks_app.sql import array, run

from .next_try import delays, timers, wait_for

COMPLETE, FAIL = "complete", "fail"


class Completed(NamedTuple):
    """What whoever had the task says: it is done."""

    result: object = None  # small JSON, checked; None: nothing


class Failed(NamedTuple):
    """Or it could not be done."""

    code: str
    message: str
    final: bool = False
    after: float | None = None  # seconds until the next try, instead of the back-off
    tags: tuple[str, ...] = ()


class Home(NamedTuple):
    """A task that came back."""

    id: int
    status: str
    task_type: str
    due: datetime | None
    rolls: bool  # by its interval: its type may have a timer to wait for
    waited_for: bool  # it is over, and others wait for that


def complete(run_no: UUID, done: Sequence[tuple[int, Completed]]) -> list[Home]:
    """These tasks have succeeded, if they are away in this run; returns those."""
    params = {
        "ids": array(task for task, _ in done),
        "runs": [run_no] * len(done),
        "results": json.dumps([one.result for _, one in done]),
        "kept": conf().kept_kinds,
    }
    return _come_home("complete", params)


def fail(run_no: UUID, failed: Sequence[tuple[int, Failed]]) -> list[Home]:
    """These tasks have failed, if they are away in this run; returns those."""
    given = [one._asdict() | {"id": task, "run": str(run_no)} for task, one in failed]
    return _come_home("fail_away", {"given": json.dumps(given), "kept": conf().kept_kinds} | delays())


def lose(limit: int = 100) -> list[Home]:
    """Tasks of which nothing was heard within their lease have failed."""
    run("prune_away", {"step": limit})
    return _come_home("lose", {"limit": limit, "kept": conf().kept_kinds} | delays())


def settle_early(batch_no: UUID, ids: Sequence[int]) -> None:
    """Tasks that this transaction has just handed over come back at once if their outcome is known already."""
    early = run("take_reports", {"ids": array(ids), "batch_no": batch_no})
    done = [(task, Completed(**body)) for task, outcome, body in early if outcome == COMPLETE]
    failed = [(task, Failed(**body)) for task, outcome, body in early if outcome == FAIL]
    if done:
        complete(batch_no, sorted(done, key=lambda one: one[0]))
    if failed:
        fail(batch_no, sorted(failed, key=lambda one: one[0]))


def _come_home(statement: str, params: Mapping[str, object]) -> list[Home]:
    waiting = timers()
    with atomic(savepoint=False) if waiting else nullcontext():
        home = [Home(*row) for row in run(statement, params)]
        for one in home:
            if one.rolls and one.due is not None and one.task_type in waiting:
                wait_for(waiting[one.task_type], [(one.id, one.due)])
    return home
