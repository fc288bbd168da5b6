"""Whether something has changed since one looked last, without looking at it."""

from typing import NamedTuple

from tasks_app.sql import run


class Marks(NamedTuple):
    """By what pages show. Another mark means that something has changed; which it is means nothing."""

    tasks: str  # and all that runs them
    letters: str
    campaigns: str
    orders: str  # what people and deployments did: jobs, lanes, tenants


def read_marks() -> Marks:
    return Marks(*run("changes", {})[0])


def changed(before: Marks, now: Marks) -> set[str]:
    return {name for name, old, new in zip(Marks._fields, before, now, strict=True) if old != new}
