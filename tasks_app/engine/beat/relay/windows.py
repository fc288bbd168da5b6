"""Keeps the windows few: old ones are put together, and those whose rows are gone go."""

from datetime import datetime

from tasks_app.sql import run

MERGE_AFTER_SECONDS = 600.0


def merge_windows() -> int:
    """One a minute is enough for those that nobody is reading any more; returns how many were made of several."""
    return len(run("merge_windows", {"older": MERGE_AFTER_SECONDS}))


def drop_windows(before: datetime) -> int:
    """Those that hold nothing younger."""
    return len(run("drop_windows", {"before": before}))
