"""Sieves: who looks for a unit in the past looks only into those partitions that may hold it.

A key may have been used on any day, and lies in another place of each day's index: fourteen days of a large past meant
fourteen reads from a disk. A sieve has two bytes for each unit and each idempotency key of a partition, and so can stay
in memory. It says of one in a hundred others that they may be there, and of none that is there that it is not.
"""

import logging
from typing import NamedTuple

from django.db import DatabaseError, OperationalError

from tasks_app.database import atomic
from tasks_app.sql import execute, run

PRINTS = 500  # in a bucket: a sixteenth of a page
ROW_BYTES = 350  # of a finished task, where PostgreSQL has not counted yet

log = logging.getLogger(__name__)


class Sieveless(NamedTuple):
    """A row of sieveless."""

    name: str
    buckets: int


def sieveless(closed: float) -> list[Sieveless]:
    """Partitions that need a sieve and whose time was over so many seconds ago, the newest first."""
    return [Sieveless(*row) for row in run("sieveless", {"closed": closed, "prints": PRINTS, "row_bytes": ROW_BYTES})]


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
