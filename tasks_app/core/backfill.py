"""Backfill: which firings of the past are made up for, in which order, and how their instances are told apart."""

import time
from array import array
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from .errors import InvalidTask
from .firings import INSTANT
from .schedule import Schedule

KIND = "backfill"  # of a campaign
MOST_FIRINGS = 1_000_000  # of one job that are looked at, whether they are chosen or not
PAGE = 5_000  # of them at a time
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Which(StrEnum):
    """Of the firings within a range, those that are run."""

    MISSING = "missing"  # that have no instance; it gets the scheduled identity
    FAILED = "failed"  # whose instance is dead; that is replayed
    ALL = "all"  # each of them, whatever ran before; with identities of their own


def firings_within(
    schedule: Schedule, since: datetime, until: datetime, deadline: float, most: int = MOST_FIRINGS
) -> Iterator["array[int]"]:
    """The firings from the first instant up to the second, both included, in pages of microseconds since 1970.

    One page is in memory at a time. Raises InvalidTask after `most` of them, or at the deadline of the monotonic clock.
    """
    page = array("q")
    for count, at in enumerate(schedule.after(since - INSTANT)):
        if at > until:
            break
        if count == most:
            raise InvalidTask(
                f"there are more than {most:,} firings from {since.isoformat()} to {until.isoformat()}; "
                "one backfill looks at no more. Give a shorter range."
            )
        page.append(microseconds(at))
        if len(page) == PAGE:
            yield page
            page = array("q")
            if time.monotonic() > deadline:
                raise InvalidTask(
                    f"looking for the firings from {since.isoformat()} to {until.isoformat()} took too long; "
                    f"it got as far as {at.isoformat()}. Give a shorter range."
                )
    if page:
        yield page


def microseconds(at: datetime) -> int:
    return (at - _EPOCH) // INSTANT


def instant_of(number: int) -> datetime:
    return _EPOCH + timedelta(microseconds=number)
