"""What beats and workers write down of their own steps while `bench tail` watches: each step with its beginning and its
end, a line of JSON in a file that all share. Only in processes that BENCH_TRAIL names a file to."""

import gc
import json
import os
import threading
import time
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import NamedTuple

from .peers.programs import work

FILE = "BENCH_TRAIL"  # the environment variable that names the file
LONG_COLLECTION_SECONDS = 0.001

# What the records know the tasks of a type by (handlers.py).
_NUMBERS = {
    "BENCH_STAMP": lambda task: work.number_of(task.key),
    "BENCH_DUE": lambda task: round(task.execute_time.timestamp() * 1_000_000),
}

_file: int | None = None


class Step(NamedTuple):
    """Something that a process did, by the machine's clock."""

    name: str
    begun: float
    ended: float
    process: int
    thread: str
    about: list  # batch numbers; of a start, that of its batch and then its tasks

    @property
    def took(self) -> float:
        return self.ended - self.begun


def note(name: str, begun: float, ended: float, about: list = ()) -> None:
    global _file
    if _file is None:
        _file = os.open(os.environ[FILE], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    line = json.dumps([name, begun, ended, os.getpid(), threading.current_thread().name, list(about)])
    os.write(_file, line.encode() + b"\n")


def steps() -> list[Step]:
    return [Step(*json.loads(line)) for line in Path(os.environ[FILE]).read_text().splitlines()]


def install() -> None:
    """Around the steps that lead to a handler, and around what the same processes do besides."""
    from django.db.backends.postgresql.base import DatabaseWrapper

    from tasks_app import sql
    from tasks_app.engine.beat import batch_size, chores, crowds, dispatcher, job_planner, leases, process
    from tasks_app.engine.worker import batch_run, executor, moments, transport

    _wrap(process, "publish", about=lambda batches, answer: [batch.batch_no for batch in batches])
    _wrap(dispatcher, "claim", about=lambda *given, answer: [batch.batch_no for batch in answer])
    _wrap(crowds, "claim_in_order", name="claim", about=lambda *given, answer: [one.batch_no for one in answer.batches])
    _wrap(crowds, "claim_chosen", name="claim", about=lambda *given, answer: [one.batch_no for one, _ in answer])
    _wrap(crowds, "read_due")
    _wrap(dispatcher, "peek")
    _wrap(dispatcher.Dispatcher, "run_once", name="look")
    _wrap(batch_size.BatchSizes, "refresh", name="pace")
    _wrap(leases.Leases, "run_once", name="leases")
    _wrap(chores, "do", name=lambda chore: f"chore {chore.name}")
    _wrap(chores.Chores, "run_once", name="chores")
    _wrap(job_planner, "plan_once", name="planner")
    _wrap(transport._OurChannel, "_deliver_ours", name="receive", about=_batch_of)
    _wrap(executor, "start", about=_tasks_of)
    _wrap(moments, "ready", about=lambda batch_no, ids, answer: [str(batch_no)])
    _wrap(batch_run, "settle", about=lambda batch_no, *rest, answer: [str(batch_no)])
    _wrap(DatabaseWrapper, "get_new_connection", name="connect")
    _wrap(sql, "_replan", name="replan")
    gc.callbacks.append(_Collections())


def _wrap(owner: object, attribute: str, *, name: str | Callable | None = None, about: Callable | None = None) -> None:
    call = getattr(owner, attribute)

    @wraps(call)
    def noted(*given, **named):
        begun = time.time()
        answer = call(*given, **named)
        ended = time.time()
        called = name(*given) if callable(name) else name or attribute
        note(called, begun, ended, about(*given, answer=answer) if about else ())
        return answer

    setattr(owner, attribute, noted)


def _batch_of(channel, item: bytes, lane: str, answer: object) -> list[str]:
    from tasks_app.engine.envelope import read

    return [read(item, lane)["headers"]["id"]]


def _tasks_of(batch_no, *rest, answer) -> list:
    if answer is None or answer.task_type not in _NUMBERS:
        return [str(batch_no)]
    return [str(batch_no), *map(_NUMBERS[answer.task_type], answer.tasks)]


class _Collections:
    """Tells of Python's garbage collections that somebody could notice."""

    def __init__(self) -> None:
        self._begun = 0.0

    def __call__(self, phase: str, info: dict) -> None:
        if phase == "start":
            self._begun = time.time()
        elif time.time() - self._begun > LONG_COLLECTION_SECONDS:
            note("collection", self._begun, time.time())
