"""Compensation scans: compare an app's own rows with what is scheduled for them, and repair what differs."""

from tasks_app.core.scans import SCANS, Finding, Found, Scan, Walked
from tasks_app.lifecycle.look import Compared, Difference, compare_keys, differing, differing_rows, waiting_keys

__all__ = [
    "Compared",
    "Difference",
    "Finding",
    "Found",
    "Walked",
    "compare_keys",
    "differing",
    "differing_rows",
    "register_scan",
    "waiting_keys",
]


def register_scan(name: str, scan: Scan) -> None:
    """Have the beats run this compensation scan every minute, and `manage.py compensate` when asked.

    Put it in a module named `compensation` of an installed app. `scan(dry_run)` yields a Found for each row that is not
    as it should be, and a Walked now and then. It repairs what it can, unless `dry_run`.
    """
    SCANS.add(name, scan)
