"""The retry budgets: what is settled flows in, and what is put back to be retried takes out.

Workers share one account of each budget, which is none of the database's: a row that knew all of them would be locked
by every failing batch of a type until its commit, in just the moment in which everything fails. Who keeps it is told by
`use_account`; while it gives no answer, each process has an account of its own.
"""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from tasks_app.conf import conf
from tasks_app.core.retry_budget import ALL, TENANTS, TYPES, Bucket, Level, RetryBudget
from tasks_app.core.task import Task

from .tenant_defaults import defaults_of

Name = tuple[str, str]  # of a budget, as in conf().retry_budgets


class Charge(NamedTuple):
    """What some tasks bring to one budget, and what they take out of it."""

    budget: RetryBudget
    attempts: int
    retries: int


Account = Callable[[Mapping[Name, Charge]], Mapping[Name, Level] | None]  # None: it doesn't answer


class Held(NamedTuple):
    """A retry that has to wait, beside its back-off."""

    seconds: float
    by: str  # whose budget it is, for people


def charge(ran: Sequence[Task], retries: Sequence[Task]) -> list[Held | None]:
    """These have run and their outcomes are about to be written; some of them are to be retried.

    Returns for each retry how long it waits; None if all budgets that it falls under allow it right away.
    """
    budgets = _budgets(ran)
    came, again = _counted(ran, budgets), _counted(retries, budgets)
    charges = {name: Charge(budget, came[name], again[name]) for name, budget in budgets.items() if came[name]}
    if not charges:
        return [None] * len(retries)
    levels = _account(charges)
    if levels is None:
        levels = _own_account(charges)
    taken: Counter[Name] = Counter()
    held = []
    for task in retries:
        names = [name for name in _names(task) if name in levels]
        taken.update(names)
        waits = [Held(seconds, _words(name)) for name in names if (seconds := levels[name].wait(taken[name]))]
        held.append(max(waits, key=lambda one: one.seconds, default=None))
    return held


def use_account(account: Account) -> None:
    """Have the budgets kept there."""
    global _account
    _account = account


def forget() -> None:
    """Begin with full buckets, as a new process does."""
    _buckets.clear()


_buckets: dict[Name, Bucket] = {}


def _own_account(charges: Mapping[Name, Charge]) -> dict[Name, Level]:
    now, levels = time.monotonic(), {}
    for name, one in charges.items():
        bucket = _buckets.get(name)
        if bucket is None or bucket.budget != one.budget:
            bucket = _buckets[name] = Bucket(one.budget, now)
        levels[name] = bucket.charge(one.attempts, one.retries, now)
    return levels


_account: Account = _own_account


def _names(task: Task) -> tuple[Name, Name, Name]:
    return (TYPES, task.type), (TENANTS, task.tenant), (ALL, "")


def _budgets(tasks: Sequence[Task]) -> Mapping[Name, RetryBudget]:
    """What the row of a tenant says comes before the settings."""
    own = defaults_of({task.tenant for task in tasks})
    found = {(TENANTS, name): one.retry_budget for name, one in own.items() if one.retry_budget is not None}
    return conf().retry_budgets | found if found else conf().retry_budgets


def _counted(tasks: Sequence[Task], budgets: Mapping[Name, RetryBudget]) -> Counter[Name]:
    """A batch has one type; its tenants are counted only if one of them has a budget."""
    counts: Counter[Name] = Counter()
    if tasks:
        counts[ALL, ""] = counts[TYPES, tasks[0].type] = len(tasks)
    if any(kind == TENANTS for kind, _ in budgets):
        counts.update((TENANTS, task.tenant) for task in tasks)
    return counts


def _words(name: Name) -> str:
    kind, of = name
    return {TYPES: f"type {of}", TENANTS: f"tenant {of}", ALL: "the installation"}[kind]
