"""The partitions of one table: read from PostgreSQL's catalogue, made ahead of time, dropped when they are too old.

Nobody needs to own a table for it: functions of the migrations do it, for our tables only, and wait for no lock.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from tasks_app.sql import execute

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
EVER = datetime.min.replace(tzinfo=UTC)  # since when the partition holds that was a whole table once
MOVED_AT_ONCE = 5_000  # rows of a default partition, in one transaction


class Month(NamedTuple):
    """A span that is a month of the calendar, UTC."""


MONTH = Month()
Span = timedelta | Month


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
ORDER BY 2 NULLS FIRST
"""


def partitions(family: str) -> list[Partition]:
    """Those with bounds, the oldest first; a default partition is not among them."""
    rows = execute(_PARTITIONS, {"family": family})
    return [Partition(family, name, since or EVER, *rest) for name, since, *rest in rows]


def known_classes() -> dict[str, str]:
    """The retention classes that have a table, and its name."""
    tables = execute("SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'punctual_past'::regclass")
    return {table.removeprefix("punctual_past_"): table for (table,) in tables}


def make(family: str, moments: Iterable[datetime], span: Span) -> list[str]:
    """Have a partition for each of these moments; returns the names of those that were missing."""
    there, made = partitions(family), []
    for moment in sorted(moments):
        if any(one.covers(moment) for one in there):
            continue
        one = _made(family, *_free(there, moment, span))
        there.append(one)
        made.append(one.name)
    return made


def empty_default(family: str, key: str, span: Span, steps: int) -> list[str]:
    """Have partitions for what has landed in the default one, since there was none for it: in steps of a bounded number
    of rows each, so that they may be parts of a span. Returns their names."""
    made: list[str] = []
    default = f"{family}_default"
    for _ in range(steps):
        ((first,),) = execute(f"SELECT min({key}) FROM {default}")
        if first is None:
            break
        since, until = _free(partitions(family), first, span)
        beyond = execute(
            f"SELECT {key} FROM {default} WHERE {key} < %(until)s ORDER BY {key} OFFSET %(most)s LIMIT 1",
            {"until": until, "most": MOVED_AT_ONCE},
        )
        if beyond:  # what has the same moment stays together, however much it is
            until = beyond[0][0] if beyond[0][0] > first else first + timedelta(microseconds=1)
        made.append(_made(family, since, until).name)
    return made


def _made(family: str, since: datetime, until: datetime) -> Partition:
    name = f"{family}_{_label(since)}"
    execute(
        "SELECT punctual_make_partition(%(family)s::regclass, %(name)s, %(since)s, %(until)s)",
        {"family": family, "name": name, "since": since, "until": until},
    )
    return Partition(family, name, since, until, 0, -1)


def drop(partition: Partition) -> None:
    execute(
        "SELECT punctual_drop_partition(%(family)s::regclass, %(name)s)",
        {"family": partition.family, "name": partition.name},
    )


def coming(now: datetime, span: Span, ahead: int) -> Iterator[datetime]:
    """A moment in the partition of now, and in each of the next ones."""
    moment = now
    for _ in range(ahead + 1):
        yield moment
        moment = _around(moment, span)[1]


def _around(moment: datetime, span: Span) -> tuple[datetime, datetime]:
    if isinstance(span, Month):
        since = moment.astimezone(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
        return since, (since + timedelta(days=31)).replace(day=1)
    since = EPOCH + (moment - EPOCH) // span * span
    return since, since + span


def _free(there: Iterable[Partition], moment: datetime, span: Span) -> tuple[datetime, datetime]:
    """The stretch around a moment that a partition of this span should cover, less what others do: the span may have
    been another once."""
    since, until = _around(moment, span)
    for one in there:
        if one.until <= moment:
            since = max(since, one.until)
        elif one.since > moment:
            until = min(until, one.since)
    return since, until


def _label(since: datetime) -> str:
    """As short as it can be."""
    since = since.astimezone(UTC)
    if since.time() == EPOCH.time():
        return f"{since:%Y%m%d}"
    return f"{since:%Y%m%dt%H%M%S}" + (f"{since:%f}" if since.microsecond else "")
