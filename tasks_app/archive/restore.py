"""A day comes back from the archive into the hot store, file by file, and stays for KEEP_RESTORED_DAYS.

Each file comes in one transaction with the note that it came. Whoever is killed goes on where it was.
"""

from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import date, datetime
from io import BytesIO
from typing import NamedTuple

import psycopg
import pyarrow.csv
import pyarrow.parquet as pq
from psycopg import sql

from tasks_app.conf import conf
from tasks_app.core.errors import InvalidTask
from tasks_app.database import atomic, our_connection
from tasks_app.libraries.django import errors_translated
from tasks_app.storage.partitions import Partition, make, partitions

from .columns import Column, columns_of, for_copy
from .kinds import Kind, kinds
from .leaving import Leaving
from .manifest import Manifest, Part, present, read_manifests
from .place import Place
from .write import GROUP_ROWS


class Restored(NamedTuple):
    folder: str
    rows: int  # that came now
    there: int  # that had come before
    partitions: list[str]


def restore_day(
    place: Place,
    day: date,
    retention: str | None = None,
    *,
    dry_run: bool = False,
    progress: Callable[[str, int], None] | None = None,
) -> list[Restored]:
    """All that the archive has of a day, of one class or of all; nothing if it has nothing."""
    found = []
    for kind in kinds():
        if retention is not None and kind.retention != retention:
            continue
        folder = f"{kind.folder}/{day.isoformat()}"
        manifests = read_manifests(place, place.files(folder))
        if present(manifests):
            found.append(_restore(place, kind, folder, manifests, dry_run, progress))
    return found


def _restore(
    place: Place,
    kind: Kind,
    folder: str,
    manifests: list[Manifest],
    dry_run: bool,
    progress: Callable[[str, int], None] | None,
) -> Restored:
    came = there = 0
    names = []
    for span, parts in _by_span(manifests):
        leaving = None if dry_run else _make_room(kind, *span)
        for mark, part in parts:
            if leaving is None:
                came += part.rows
            elif mark == leaving.mark or not _bring(place, kind, leaving, part):
                there += part.rows
            else:
                came += part.rows
                if progress is not None:
                    progress(part.name, part.rows)
        if leaving is not None:
            names.append(leaving.name)
    return Restored(folder, came, there, names)


def _by_span(manifests: list[Manifest]) -> Iterator[tuple[tuple[datetime, datetime], list[tuple[str, Part]]]]:
    """A folder may hold several partitions of a few hours each."""
    spans: dict[tuple[datetime, datetime], list[tuple[str, Part]]] = {}
    for manifest, part in present(manifests):
        spans.setdefault((manifest.since, manifest.until), []).append((manifest.mark, part))
    yield from sorted(spans.items())


def _make_room(kind: Kind, since: datetime, until: datetime) -> Leaving:
    """The partition for this stretch of time, which from now on stays for a while."""
    with atomic():
        make(kind.family, [since], until - since)
        partition = _covering(kind, since, until)
        leaving = Leaving.restore(partition.name, conf().KEEP_RESTORED_DAYS * 86_400)
    if leaving is None:
        raise InvalidTask(f"{partition.name} is being written to the archive right now; try again in a few minutes.")
    return leaving


def _covering(kind: Kind, since: datetime, until: datetime) -> Partition:
    for one in partitions(kind.family):
        if one.covers(since) and one.until >= until:
            return one
    raise InvalidTask(
        f"{since:%Y-%m-%d %H:%M} to {until:%Y-%m-%d %H:%M} can't come back as one partition of {kind.family}: others "
        "lie in that time, since PARTITION_HOURS was another. Try again when they have left."
    )


def _bring(place: Place, kind: Kind, leaving: Leaving, part: Part) -> bool:
    """The rows of one file, in one transaction. False: they were there already."""
    with place.open(part.name) as file, pq.ParquetFile(file, page_checksum_verification=True) as parquet:
        with atomic():
            if not leaving.note_restored(part.name):
                return False
            known = [column for column in columns_of(kind.family) if column.name in parquet.schema_arrow.names]
            if (rows := _copy_in(parquet, kind.family, known)) != part.rows:
                raise OSError(
                    f"{part.name} has {rows:,} rows, but its manifest says {part.rows:,}; nothing was restored"
                )
    return True


def _copy_in(parquet: pq.ParquetFile, family: str, columns: list[Column]) -> int:
    names = sql.SQL(", ").join(sql.Identifier(column.name) for column in columns)
    aside, target = sql.Identifier("punctual_restored"), sql.Identifier(family)
    make = sql.SQL("CREATE TEMPORARY TABLE {} AS SELECT {} FROM {} WITH NO DATA")
    statement = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT csv)").format(aside, names)
    move = sql.SQL("INSERT INTO {0} ({1}) SELECT {1} FROM {2}").format(target, names, aside)
    header = pyarrow.csv.WriteOptions(include_header=False, batch_size=GROUP_ROWS)
    connection, rows = our_connection(), 0
    with errors_translated(connection), closing(psycopg.Cursor(connection.connection)) as cursor:
        # PostgreSQL copies into no table that has row-level security.
        cursor.execute(make.format(aside, names, target))
        with cursor.copy(statement) as copy:
            for group in range(parquet.num_row_groups):
                table = parquet.read_row_group(group, columns=[column.name for column in columns])
                text = BytesIO()
                pyarrow.csv.write_csv(for_copy(table, columns), text, header)
                copy.write(text.getvalue())
                rows += table.num_rows
        cursor.execute(move)
        cursor.execute(sql.SQL("DROP TABLE {}").format(aside))
    return rows
