"""Workers that an operator drains and takes back during a run, and what each of them started meanwhile.

A drained worker finishes what it has. A moment after it has heard of it, it must start nothing until it is taken back;
after that it must start something again.
"""

import time
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from django.db import connection

# It hears of it with its next report, and may then have a batch on its way to a slot.
HEARS_SECONDS = 3.0


class Drained(NamedTuple):
    """A worker, and the seconds since the epoch in which it was drained; it still is if it has no end."""

    worker: str
    begin: float
    end: float | None = None


class Started(NamedTuple):
    """A batch that the worker started then."""

    worker: str
    at: float


def drain(pid: int) -> Drained:
    from tasks_app.engine.operations import workers

    connection.close()  # ours may have been cut with the others
    name = _name(pid)
    workers.drain(name, reason="to see what becomes of it", by="chaos")
    return Drained(name, time.time())


def resume(one: Drained) -> Drained:
    from tasks_app.engine.operations import workers

    connection.close()
    end = time.time()  # before: it may start something at once
    workers.resume(one.worker, reason="it has been long enough", by="chaos")
    return one._replace(end=end)


def _name(pid: int) -> str:
    from tasks_app.models import Node

    return Node.objects.get(kind=Node.WORKER, name__endswith=f":{pid}").name


def wrong_drains(drains: Iterable[Drained], starts: Iterable[Started]) -> Iterator[str]:
    drains, starts = list(drains), list(starts)
    if not drains:
        yield "no worker was ever drained"
    for one in drains:
        if one.end is None:
            yield f"{one.worker} was not taken back"
            continue
        own = [start.at for start in starts if start.worker == one.worker]
        meanwhile = sum(one.begin + HEARS_SECONDS < at < one.end for at in own)
        if meanwhile:
            yield f"{meanwhile} batches were started by {one.worker} while it was drained"
        if not any(at > one.end for at in own):
            yield f"{one.worker} started nothing after it was taken back"
