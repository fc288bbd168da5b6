"""Is the database well? How large it is, what keeps it from being cleaned, and when the disk is full. Reads only.

PostgreSQL's own statistics and catalogue are all that is asked: no table is read, and no extension is needed.
"""

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from tasks_app.conf import conf
from tasks_app.core.retention import DEFAULT_CLASS, KEEP_MINUTES_DAYS
from tasks_app.sql import run

MOVING_BOUND = 1_000  # batches that wait to be moved and are counted
HELD_SHOWN = 20
HELD_TRANSACTIONS = 5_000_000  # held back for so many, if nobody knows for how long: as long as too long
DAY = timedelta(days=1)
PAST = "punctual_past_"  # and the name of a class


@dataclass(frozen=True, slots=True)
class Held:
    """What keeps vacuum from removing dead rows, or the log of changes from being removed."""

    kind: str  # transaction, idle transaction, prepared transaction, replication slot, standby
    name: str
    detail: str
    seconds: float | None  # None: PostgreSQL doesn't know
    transactions: int | None  # that came since; None: it keeps no rows, but disk
    wal_bytes: int | None  # of the log of changes, that a slot keeps

    @property
    def too_long(self) -> bool:
        if self.seconds is not None:
            return self.seconds > conf().VACUUM_HELD_SECONDS
        return (self.transactions or 0) > HELD_TRANSACTIONS


@dataclass(frozen=True, slots=True)
class Moving:
    """What should be in the past, and is still among what is live."""

    batches: int
    tasks: int
    exact: bool  # else there are more
    oldest_seconds: float | None  # since the first should have gone


@dataclass(frozen=True, slots=True)
class Partitioned:
    family: str
    partitions: int
    oldest_ended_seconds: float  # ago
    reaches_seconds: float  # from now on there are partitions for so long

    @property
    def keep(self) -> timedelta | None:
        return keep_of(self.family)


@dataclass(frozen=True, slots=True)
class StorageStatus:
    """What every look at the scheduler asks."""

    held: list[Held]
    moving: Moving
    partitioned: list[Partitioned]


@dataclass(frozen=True, slots=True)
class Table:
    """One table, or one partition."""

    name: str
    family: str  # the table of which it is a partition, or itself
    part_of: str | None  # the one right above it
    bytes: int
    heap_bytes: int
    index_bytes: int
    rows: int
    dead_rows: int
    expected_bytes: int | None  # that its rows should take; None: it was never analysed
    vacuumed_at: datetime | None
    analyzed_at: datetime | None
    frozen_age: int
    since: datetime | None
    until: datetime | None

    @property
    def bloat_bytes(self) -> int | None:
        return None if self.expected_bytes is None else max(0, self.heap_bytes - self.expected_bytes)


@dataclass(frozen=True, slots=True)
class Family:
    """A table with all its partitions."""

    name: str
    partitions: int  # 0: it has none
    bytes: int
    index_bytes: int
    rows: int
    dead_rows: int
    bloat_bytes: int | None
    vacuumed_at: datetime | None  # the one whose last time is longest ago
    analyzed_at: datetime | None


@dataclass(frozen=True, slots=True)
class Growth:
    """What partitions by time tell: how much a day brings, and for how many days more they come without one going."""

    family: str
    bytes_a_day: float
    days_left: float | None  # until as much is dropped as comes; None: it is never dropped


@dataclass(frozen=True, slots=True)
class Storage:
    database: str
    bytes: int
    frozen_age: int  # transactions since the oldest number that is still in use
    freeze_at: int  # at this age PostgreSQL cleans by force
    now: datetime
    hidden_sessions: int  # that this role may not see
    data_directory: str | None
    tables: list[Table]
    families: list[Family]
    growth: list[Growth]
    held: list[Held]
    moving: Moving
    disk_free: int | None

    @property
    def bytes_a_day(self) -> float:
        """At present."""
        return sum(one.bytes_a_day for one in self.growth if one.days_left is None or one.days_left > 0)

    @property
    def still_to_come(self) -> float | None:
        """Bytes until as much is dropped as comes; None: there is no end to it."""
        return grown(self.growth, None)

    @property
    def full_in_days(self) -> float | None:
        """None: not as far as one can see, or nobody knows how much room there is."""
        return None if self.disk_free is None else days_until(self.growth, self.disk_free)


def read_storage_status() -> StorageStatus:
    return StorageStatus(held_back(), moving(), [Partitioned(*row) for row in run("status_partitions", {})])


def held_back() -> list[Held]:
    return [Held(*row) for row in run("held_back", {"most": HELD_SHOWN})]


def moving() -> Moving:
    given = {"keep": conf().KEEP_LIVE_SECONDS, "bound": MOVING_BOUND}
    [(batches, tasks, oldest)] = run("status_moving", given)
    return Moving(min(batches, MOVING_BOUND), tasks, batches <= MOVING_BOUND, oldest)


def read_storage(disk_free: int | None = None) -> Storage:
    """All of it. Without `disk_free`, the room where the files lie counts, if that is on this machine."""
    [(database, size, age, freeze_at, now, hidden, folder)] = run("storage_database", {})
    tables = [Table(*row) for row in run("storage_tables", {})]
    return Storage(
        database,
        size,
        age,
        freeze_at,
        now,
        hidden,
        folder,
        tables,
        families_of(tables),
        list(growth_of(tables, now)),
        held_back(),
        moving(),
        room_in(folder) if disk_free is None else disk_free,
    )


def room_in(folder: str | None) -> int | None:
    try:
        return None if folder is None else shutil.disk_usage(folder).free
    except OSError:  # on another machine, or not ours to see
        return None


def families_of(tables: Sequence[Table]) -> list[Family]:
    """The largest first."""
    by_family: dict[str, list[Table]] = {}
    for table in tables:
        by_family.setdefault(table.family, []).append(table)
    found = [_family(name, parts) for name, parts in by_family.items()]
    return sorted(found, key=lambda family: -family.bytes)


def _family(name: str, parts: Sequence[Table]) -> Family:
    bloat = [part.bloat_bytes for part in parts if part.bloat_bytes is not None]
    in_use = [part for part in parts if part.rows or part.dead_rows]
    return Family(
        name,
        0 if [part.name for part in parts] == [name] else len(parts),
        sum(part.bytes for part in parts),
        sum(part.index_bytes for part in parts),
        sum(part.rows for part in parts),
        sum(part.dead_rows for part in parts),
        sum(bloat) if bloat else None,
        _longest_ago([part.vacuumed_at for part in in_use]),
        _longest_ago([part.analyzed_at for part in in_use]),
    )


def _longest_ago(moments: Sequence[datetime | None]) -> datetime | None:
    known = [at for at in moments if at is not None]
    return min(known, default=None) if len(known) == len(moments) else None


def keep_of(family: str) -> timedelta | None:
    """How long a partition of this table is kept; None: nobody says."""
    classes = conf().retention_classes
    hot = classes[DEFAULT_CLASS].hot
    known = {
        "punctual_past_batch": hot,
        "punctual_attempt": hot,
        "punctual_log": hot,
        "punctual_outbox": conf().KEEP_OUTBOX_DAYS * DAY,
        "punctual_audit_entry": conf().KEEP_AUDIT_DAYS * DAY,
        "punctual_minute_figures": KEEP_MINUTES_DAYS * DAY,
    }
    if family not in known and family.startswith(PAST):
        one = classes.get(family.removeprefix(PAST))
        return hot if one is None else one.hot  # a class that was taken out of the settings goes by the default
    return known.get(family)


class _Part(NamedTuple):
    """A partition by time."""

    since: datetime
    until: datetime
    table: Table


def growth_of(tables: Iterable[Table], now: datetime) -> Iterable[Growth]:
    """By the last partition that is complete; else by the one of now, if it is old enough to tell."""
    by_parent: dict[str, list[_Part]] = {}
    for table in tables:
        if table.part_of is None or table.since is None or table.until is None or table.since > now:
            continue
        by_parent.setdefault(table.part_of, []).append(_Part(table.since, table.until, table))
    for parent, parts in sorted(by_parent.items()):
        last = max((one for one in parts if one.until <= now), key=lambda one: one.until, default=parts[-1])
        length = min(last.until, now) - last.since
        if length < timedelta(hours=1):
            continue
        keep, covered = keep_of(parent), now - min(one.since for one in parts if one.table.rows or one is last)
        left = None if keep is None else max(0.0, (keep - covered) / DAY)
        yield Growth(parent, last.table.bytes / (length / DAY), left)


def grown(growth: Sequence[Growth], days: float | None) -> float | None:
    """Bytes that come until then, beyond what goes; None: without end."""
    total = 0.0
    for one in growth:
        ends = [limit for limit in (days, one.days_left) if limit is not None]
        if ends:
            total += one.bytes_a_day * min(ends)
        elif one.bytes_a_day:
            return None
    return total


def days_until(growth: Sequence[Growth], room: float) -> float | None:
    """When so much has come; None: never."""
    grown_before = at = 0.0
    for end in [*sorted({one.days_left for one in growth if one.days_left is not None}), None]:
        pace = sum(one.bytes_a_day for one in growth if one.days_left is None or one.days_left > at)
        if pace and (end is None or grown_before + pace * (end - at) >= room):
            return at + max(0.0, room - grown_before) / pace
        if end is not None:
            grown_before, at = grown_before + pace * (end - at), end
    return None
