"""Tends tables that have partitions: settings for new ones, and an ANALYZE that autovacuum never does for the whole.

Neither reads more than a sample, and neither waits for a lock: what is not done now is done next time.
"""

import logging
from typing import NamedTuple

from django.db import OperationalError

from tasks_app.database import atomic
from tasks_app.sql import execute, run

log = logging.getLogger(__name__)


class Tended(NamedTuple):
    tuned: list[str]
    analyzed: list[str]


class Untended(NamedTuple):
    """A row of untended."""

    name: str
    has_partitions: bool


def tend() -> Tended:
    tuned, analyzed = [], []
    for one in [Untended(*row) for row in run("untended", {})]:
        done, how = (analyzed, "punctual_analyze") if one.has_partitions else (tuned, "punctual_tune_partition")
        if _done(how, one.name):
            done.append(one.name)
    return Tended(tuned, analyzed)


def _done(how: str, name: str) -> bool:
    try:
        with atomic():  # its locks are gone before the next
            # One that has just been dropped needs no care.
            execute(f"SELECT {how}(one) FROM to_regclass(%(name)s) AS one WHERE one IS NOT NULL", {"name": name})
    except OperationalError as error:  # somebody has it
        log.info("table.in_use name=%s error=%r", name, str(error).strip())
        return False
    return True
