"""The retry budgets in this process: what it settles flows in, and what it puts back to be retried takes out.

Each worker process keeps its own account, of what it runs itself: a share that holds in each holds in all of them
together. A row in the database that knew all of them would be locked by every failing batch of a type until its commit,
in just the moment in which everything fails.
"""

import time
from collections.abc import Sequence
from typing import NamedTuple

from tasks_app.conf import conf
from tasks_app.core.retry_budget import ALL, TENANTS, TYPES, Bucket, RetryBudget
from tasks_app.core.task import Task


class Held(NamedTuple):
    """A retry that has to wait, beside its back-off."""

    seconds: float
    by: str  # whose budget it is, for people


def note_attempts(tasks: Sequence[Task]) -> None:
    """These have run, and their outcomes are about to be written."""
    now = time.monotonic()
    for name, count in _counted(tasks).items():
        if (bucket := _bucket(name, now)) is not None:
            bucket.attempts(count, now)


def hold(task: Task) -> Held | None:
    """A retry of this task is about to be written: None if all budgets that it falls under allow it right away."""
    if not conf().retry_budgets:
        return None
    now, longest = time.monotonic(), None
    for name in _names(task):
        bucket = _bucket(name, now)
        seconds = 0.0 if bucket is None else bucket.take(now)
        if seconds and (longest is None or seconds > longest.seconds):
            longest = Held(seconds, _words(name))
    return longest


def forget() -> None:
    """Begin with full buckets."""
    _buckets.clear()


_Name = tuple[str, str]
_buckets: dict[_Name, Bucket] = {}


def _names(task: Task) -> tuple[_Name, _Name, _Name]:
    return (TYPES, task.type), (TENANTS, task.tenant), (ALL, "")


def _counted(tasks: Sequence[Task]) -> dict[_Name, int]:
    """A batch has one type, and nearly always one tenant."""
    counts: dict[_Name, int] = {(ALL, ""): len(tasks)}
    by_tenant = any(kind == TENANTS for kind, _ in conf().retry_budgets)
    if tasks:
        counts[TYPES, tasks[0].type] = len(tasks)
    if by_tenant:
        for task in tasks:
            counts[TENANTS, task.tenant] = counts.get((TENANTS, task.tenant), 0) + 1
    return counts


def _bucket(name: _Name, now: float) -> Bucket | None:
    budget: RetryBudget | None = conf().retry_budgets.get(name)
    if budget is None:
        return None
    found = _buckets.get(name)
    if found is None or found.budget != budget:
        found = _buckets[name] = Bucket(budget, now)
    return found


def _words(name: _Name) -> str:
    kind, of = name
    return {TYPES: f"type {of}", TENANTS: f"tenant {of}", ALL: "the installation"}[kind]
