"""The partitions of one table: read from PostgreSQL's catalogue, made ahead of time, dropped when they are too old.

Nobody needs to own a table for it: functions of the migrations do it, for our tables only, and wait for no lock.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from tasks_app.sql import execute

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Partition:
    family: str  # the table it is a part of
    name: str
    since: datetime
    until: datetime  # not included
    bytes: int
    rows: float  # PostgreSQL's own estimate; -1: never looked

    def covers(self, moment: datetime) -> bool:
        return self.since <= moment < self.until


_PARTITIONS = """
SELECT c.relname, (regexp_match(bound, $$FROM \\('([^']+)'\\)$$))[1]::timestamptz,
       (regexp_match(bound, $$TO \\('([^']+)'\\)$$))[1]::timestamptz, pg_total_relation_size(c.oid), c.reltuples
FROM pg_inherits i
JOIN pg_class c ON c.oid = i.inhrelid
CROSS JOIN LATERAL pg_get_expr(c.relpartbound, c.oid) AS bound
WHERE i.inhparent = to_regclass(%(family)s) AND bound LIKE 'FOR VALUES FROM%%'
ORDER BY 2
"""


def partitions(family: str) -> list[Partition]:
    """Those with bounds, the oldest first; a default partition is not among them."""
    return [Partition(family, *row) for row in execute(_PARTITIONS, {"family": family})]


def known_classes() -> dict[str, str]:
    """The retention classes that have a table, and its name."""
    tables = execute("SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'punctual_past'::regclass")
    return {table.removeprefix("punctual_past_"): table for (table,) in tables}


def make(family: str, moments: Iterable[datetime], span: timedelta) -> list[str]:
    """Have a partition for each of these moments; returns the names of those that were missing."""
    there, made = partitions(family), []
    for moment in sorted(moments):
        if any(one.covers(moment) for one in there):
            continue
        since, until = _free(there, moment, span)
        name = f"{family}_{_label(since, span)}"
        execute(
            "SELECT punctual_make_partition(%(family)s::regclass, %(name)s, %(since)s, %(until)s)",
            {"family": family, "name": name, "since": since, "until": until},
        )
        there.append(Partition(family, name, since, until, 0, -1))
        made.append(name)
    return made


def drop(partition: Partition) -> None:
    execute(
        "SELECT punctual_drop_partition(%(family)s::regclass, %(name)s)",
        {"family": partition.family, "name": partition.name},
    )


def coming(now: datetime, span: timedelta, ahead: int) -> Iterator[datetime]:
    """A moment in the partition of now, and in each of the next ones."""
    return (now + number * span for number in range(ahead + 1))


def _free(there: Iterable[Partition], moment: datetime, span: timedelta) -> tuple[datetime, datetime]:
    """The stretch around a moment that a partition of this span should cover, less what others do: the span may have
    been another once."""
    since = EPOCH + (moment - EPOCH) // span * span
    until = since + span
    for one in there:
        if one.until <= moment:
            since = max(since, one.until)
        elif one.since > moment:
            until = min(until, one.since)
    return since, until


def _label(since: datetime, span: timedelta) -> str:
    since = since.astimezone(UTC)
    whole_days = span >= timedelta(days=1) and since.time() == EPOCH.time()
    return f"{since:%Y%m%d}" if whole_days else f"{since:%Y%m%dt%H%M%S}"
