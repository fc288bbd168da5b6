"""Sieves: who looks for a unit in the past looks only into those partitions that may hold it.

A key may have been used on any day, and lies in another place of each day's index: fourteen days of a large past meant
fourteen reads from a disk. A sieve has two bytes for each unit and each idempotency key of a partition, and so can stay
in memory. It says of one in a hundred others that they may be there, and of none that is there that it is not.
"""

import logging
from datetime import timedelta
from typing import NamedTuple

from django.db import DatabaseError, OperationalError

from tasks_app.database import atomic
from tasks_app.sql import execute, run

from .partitions import EVER, known_classes, partitions

PRINTS = 500  # in a bucket: a sixteenth of a page
ROW_BYTES = 420  # of a finished task with its indexes, where PostgreSQL has not counted yet

log = logging.getLogger(__name__)


class Sieveless(NamedTuple):
    """A partition that needs a sieve, and how many buckets that should have."""

    name: str
    buckets: int


def sieveless(closed: float) -> list[Sieveless]:
    """Partitions that need a sieve and whose time was over so many seconds ago, the newest first."""
    over = run("clock", {})[0][0] - timedelta(seconds=closed)
    made = {name for (name,) in run("made_sieves", {"prints": PRINTS})}
    old = [
        one for table in known_classes().values() for one in partitions(table) if one.since > EVER and one.until < over
    ]
    return [
        Sieveless(one.name, 1 + int(max(one.rows, one.bytes / ROW_BYTES) / PRINTS))
        for one in sorted(old, key=lambda one: one.until, reverse=True)
        if one.name not in made
    ]


def make_sieve(partition: Sieveless) -> bool:
    """False: somebody has the partition, makes its sieve or has dropped it, and it is left for another time."""
    try:
        with atomic():
            ((sieve,),) = execute("SELECT punctual_begin_sieve(%s, %s)", [partition.name, partition.buckets])
        if sieve is None:
            return False
        with atomic():
            execute("SELECT punctual_fill_sieve(%s)", [sieve], long=True)
            execute("UPDATE punctual_sieve SET ready = TRUE WHERE id = %s", [sieve])
    except DatabaseError as error:
        level = logging.INFO if isinstance(error, OperationalError) else logging.WARNING
        log.log(level, "sieve.not_made partition=%s error=%r", partition.name, str(error).strip())
        return False
    return True


def forget_sieves() -> None:
    """Those of partitions that are gone."""
    run("forget_sieves", {})
