"""Keeps the partitions: those of the next days are there in good time, and those that are too old go."""

import logging
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import partial
from typing import NamedTuple

from django.db import OperationalError

from tasks_app.conf import conf
from tasks_app.core.retention import DEFAULT_CLASS, KEEP_MINUTES_DAYS
from tasks_app.lifecycle.audit_chain import trim
from tasks_app.sql import run
from tasks_app.storage.partitions import (
    EVER,
    MONTH,
    Partition,
    Span,
    coming,
    drop,
    empty_default,
    known_classes,
    make,
    partitions,
)

from .relay.windows import drop_windows

OUTBOX = "punctual_outbox"
AHEAD = 3  # partitions after the one of now
DAY = timedelta(days=1)
WEEK = 7 * DAY
STEPS = 20  # in which a default partition is emptied, in one run and at most

log = logging.getLogger(__name__)


class Family(NamedTuple):
    """A table in partitions by time. Those that are written directly have a default partition too, so that nobody who
    writes ever waits for us; the mover waits."""

    table: str
    span: Span
    keep: timedelta
    key: str | None = None  # the column that it is cut by, if it has a default partition
    fills: bool = True  # something may come to it
    archived: bool = False  # its partitions leave by way of the archive, where there is one: archiver.py


class Kept(NamedTuple):
    made: list[str]
    dropped: list[str]


def families() -> Iterator[Family]:
    span, classes = conf().partition_span, conf().retention_classes
    hot = classes[DEFAULT_CLASS].hot
    for name, table in known_classes().items():
        # One that was taken out of the settings empties by the times of the default.
        yield Family(table, span, classes.get(name, classes[DEFAULT_CLASS]).hot, fills=name in classes, archived=True)
    yield Family("punctual_past_batch", span, hot, archived=True)
    yield Family("punctual_attempt", span, hot, "finished_at", archived=True)
    yield Family("punctual_log", span, hot, "started_at", archived=True)
    yield Family(OUTBOX, span, conf().KEEP_OUTBOX_DAYS * DAY, "created_at")
    yield Family("punctual_minute_figures", WEEK, KEEP_MINUTES_DAYS * DAY, "minute")
    yield Family("punctual_audit_entry", MONTH, conf().KEEP_AUDIT_DAYS * DAY, "created_at")


def keep_partitions() -> Kept:
    """A lock that is not to be had at once is not waited for: what is not done now is done next time."""
    now: datetime = run("clock", {})[0][0]
    made, dropped = [], []
    for name in conf().retention_classes:
        run("make_class", {"retention": name})
    for family in families():
        made += _at_once(family, partial(_make, family, now))
        if not (family.archived and conf().ARCHIVE_URL):
            dropped += _drop(family.table, _before(family, now))
    _forget_windows()
    trim()
    return Kept(made, dropped)


def _forget_windows() -> None:
    """Those whose rows are gone."""
    there = partitions(OUTBOX)
    if there and there[0].since > EVER:
        drop_windows(there[0].since)


def _before(family: Family, now: datetime) -> datetime:
    """What is older may go. Of events, none that a subscriber has not got, up to the longest that any is kept."""
    before = now - family.keep
    if family.table != OUTBOX:
        return before
    needed: datetime | None = run("oldest_needed", {})[0][0]
    longest = now - conf().KEEP_OUTBOX_MOST_DAYS * DAY
    if needed is None or needed >= before:
        return before
    if needed < longest:
        log.warning("outbox.dropped_undelivered oldest=%s kept_days=%g", needed, conf().KEEP_OUTBOX_MOST_DAYS)
    return max(needed, longest)


def _make(family: Family, now: datetime) -> list[str]:
    made = make(family.table, coming(now, family.span, AHEAD), family.span) if family.fills else []
    return made + (empty_default(family.table, family.key, family.span, STEPS) if family.key else [])


def _drop(family: str, before: datetime) -> list[str]:
    """Those that hold nothing younger."""
    return [one.name for one in partitions(family) if one.until <= before and _dropped(one)]


def _dropped(partition: Partition) -> bool:
    def dropped() -> list[str]:
        drop(partition)
        return [partition.name]

    return _at_once(partition, dropped) != []


def _at_once(subject: Family | Partition, deed: Callable[[], list[str]]) -> list[str]:
    """What it did; nothing if somebody is in the way."""
    try:
        return deed()
    except OperationalError as error:
        name = subject.table if isinstance(subject, Family) else subject.name
        log.info("partition.in_use name=%s error=%r", name, str(error).strip())
        return []
