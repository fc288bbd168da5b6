"""Tends tables that have partitions: settings for new ones, an ANALYZE that autovacuum never does for the whole, and a
sieve for what is long over.

None waits for a lock for more than a moment: what is not done now is done next time.
"""

import logging
from typing import NamedTuple

from django.db import OperationalError

from tasks_app.conf import conf
from tasks_app.database import atomic
from tasks_app.sql import execute, run
from tasks_app.storage.sieves import forget_sieves, make_sieve, sieveless

log = logging.getLogger(__name__)


class Tended(NamedTuple):
    tuned: list[str]
    analyzed: list[str]
    sieved: list[str]


class Untended(NamedTuple):
    """A row of untended."""

    name: str
    has_partitions: bool


def tend() -> Tended:
    tuned: list[str] = []
    analyzed: list[str] = []
    for one in [Untended(*row) for row in run("untended", {})]:
        done, how = (analyzed, "punctual_analyze") if one.has_partitions else (tuned, "punctual_tune_partition")
        if _done(how, one.name):
            done.append(one.name)
    forget_sieves()
    return Tended(tuned, analyzed, [one.name for one in sieveless(_closed_after()) if make_sieve(one)])


def _closed_after() -> float:
    """Seconds after a partition's time from which on hardly anything comes to it: when what was over by then has been
    moved, and of a day an hour later."""
    return conf().KEEP_LIVE_SECONDS + conf().partition_span.total_seconds() / 24


def _done(how: str, name: str) -> bool:
    try:
        with atomic():  # its locks are gone before the next
            # One that has just been dropped needs no care.
            execute(f"SELECT {how}(one) FROM to_regclass(%(name)s) AS one WHERE one IS NOT NULL", {"name": name})
    except OperationalError as error:  # somebody has it
        log.info("table.in_use name=%s error=%r", name, str(error).strip())
        return False
    return True
