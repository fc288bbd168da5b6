"""A partition becomes Parquet: streamed out of PostgreSQL in slices, sorted, in bounded memory; then read back.

PostgreSQL prints CSV, which Arrow parses several times faster than Python could make objects of the rows. One thread
takes the lines from the connection, another parses, compresses and writes what came before; each holds one row group.
"""

import math
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from typing import Any, NamedTuple

import psycopg
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq
from django.db.backends.base.base import BaseDatabaseWrapper

from tasks_app.database import our_connection
from tasks_app.libraries.django import errors_translated
from tasks_app.sql import execute
from tasks_app.storage.partitions import Partition

from .columns import INSTANT, Column, columns_of
from .kinds import Kind
from .manifest import Part
from .place import TEMPORARY, Place
from .tally import Tally, tally_of

GROUP_ROWS = 16_384
GROUP_BYTES = 8 << 20  # of CSV
SLICE_BYTES = 1 << 30  # of a table that go into one file: a transaction is short, whatever the table's size
SORT_MEMORY = "64MB"

_SESSION = f"""
SET LOCAL TimeZone = 'UTC'; SET LOCAL DateStyle = 'ISO'; SET LOCAL client_encoding = 'UTF8';
SET LOCAL bytea_output = 'hex'; SET LOCAL work_mem = '{SORT_MEMORY}'; SET LOCAL statement_timeout = 0;
SET LOCAL idle_in_transaction_session_timeout = 0
"""

Pulse = Callable[[], None]  # called between row groups; whoever wants it to stop raises


class Source(NamedTuple):
    kind: Kind
    relation: str  # the table, or the partition
    columns: list[Column]


def source_of(kind: Kind, partition: Partition) -> Source:
    return Source(kind, partition.name, columns_of(partition.name))


def write_parts(place: Place, source: Source, name_of: Callable[[int], str], pulse: Pulse) -> list[Part]:
    """All rows of a partition, read back and counted; a slice without rows has no part."""
    parts: list[Part] = []
    for condition in slices(source.relation):
        if (part := write_part(place, source, [condition], name_of(len(parts)), pulse)) is not None:
            parts.append(part)
    return parts


def write_part(place: Place, source: Source, conditions: Iterable[str], name: str, pulse: Pulse) -> Part | None:
    """One file of the rows for which one of these is true, in their order; read back and counted. None: there are no
    such rows, and so no file."""
    with closing(our_connection().copy()) as connection:
        groups = (group for condition in conditions for group in _groups(connection, source, condition))
        written = _write(place, name, groups, source, pulse)
    if written is None:
        return None
    read_back(place, name + TEMPORARY, written.tally, source.kind.key, pulse)
    size = place.size(name + TEMPORARY)
    place.finish(name)
    return Part(name, *written.tally[:1], size or 0, *written.tally[1:], *written.bounds)


def read_back(place: Place, name: str, expected: Tally, key: str, pulse: Pulse) -> None:
    """Read all of a file, and compare what is in it with what should be; an OSError says what is wrong."""
    found = Tally()
    with place.open(name) as file:
        # The checksum of every page is looked at, and every column decoded: who reads it later can, too.
        with pq.ParquetFile(file, page_checksum_verification=True) as parquet:
            for group in range(parquet.num_row_groups):
                pulse()
                found = found.plus(tally_of(parquet.read_row_group(group)[key]))
    if found != expected:
        raise OSError(f"{name} was read back and has {found.rows:,} rows {found}, but should have {expected}")


class _Written(NamedTuple):
    tally: Tally
    bounds: tuple[Any, Any, Any, Any]  # since, until, least, most, as Arrow has them


def slices(name: str) -> Iterator[str]:
    """Conditions that cut a table into stretches of pages; the last one has no end, since rows may still be added."""
    [(pages, page_bytes)] = execute(
        "SELECT pg_relation_size(%(name)s::regclass) / current_setting('block_size')::int,"
        " current_setting('block_size')::int",
        {"name": name},
    )
    step = SLICE_BYTES // page_bytes
    number = max(1, math.ceil(pages / step))
    for one in range(number):
        begin = f"ctid >= '({one * step},0)'::tid"
        yield begin if one == number - 1 else f"{begin} AND ctid < '({(one + 1) * step},0)'::tid"


def _groups(connection: BaseDatabaseWrapper, source: Source, condition: str) -> Iterator[bytes]:
    """The rows as CSV, in pieces that become a row group each; every message of COPY is a whole row."""
    statement = (
        f"COPY (SELECT {', '.join(column.expression for column in source.columns)}"
        f' FROM "{source.relation}" WHERE {condition} ORDER BY {", ".join(source.kind.order)}'
        ") TO STDOUT (FORMAT csv)"
    )
    connection.ensure_connection()
    with errors_translated(connection), psycopg.Cursor(connection.connection) as cursor:
        with connection.connection.transaction():
            for line in _SESSION.split(";"):
                cursor.execute(line)
            with cursor.copy(statement) as copy:
                pieces, rows, size = [], 0, 0
                for number, piece in _arrivals(connection.connection.pgconn, copy):
                    pieces.append(piece)
                    rows += number
                    size += len(piece)
                    if rows >= GROUP_ROWS or size >= GROUP_BYTES:
                        yield b"".join(pieces)
                        pieces, rows, size = [], 0, 0
                if pieces:
                    yield b"".join(pieces)


def _arrivals(pgconn: psycopg.pq.abc.PGconn, copy: psycopg.Copy) -> Iterator[tuple[int, bytes]]:
    """What has arrived: how many rows, and their lines. To iterate over the Copy would wait for every single row, and
    rows that are kept one by one until there are enough have left the processor's cache when they are put together."""
    size, take = 0, pgconn.get_copy_data
    while size == 0 and (row := copy.read()):
        rows = [row]
        keep = rows.append
        while (arrived := take(1))[0] > 0:
            if len(rows) == GROUP_ROWS:
                yield GROUP_ROWS, b"".join(rows)
                rows.clear()
            keep(arrived[1])
        size = arrived[0]
        yield len(rows), b"".join(rows)
    if size < 0:  # the end came right behind a row, so it is not left for `copy` to see
        results = list(iter(pgconn.get_result, None))
        if any(result.status != psycopg.pq.ExecStatus.COMMAND_OK for result in results) or not results:
            raise psycopg.OperationalError(pgconn.get_error_message())


def _write(
    place: Place, name: str, groups: Generator[bytes, None, None], source: Source, pulse: Pulse
) -> _Written | None:
    """One file under its temporary name; None if there are no rows, and then no file."""
    file = _File(place, name, source)
    with closing(groups), ThreadPoolExecutor(1, thread_name_prefix="punctual-archive") as aside:
        pending: Future[None] | None = None
        try:
            for group in groups:
                if pending is not None:
                    pending.result()
                pulse()
                pending = aside.submit(file.add, group)
            if pending is not None:
                pending.result()
            aside.submit(file.close).result()
        except BaseException:
            aside.submit(file.abandon).result()
            raise
    return file.written()


class _File:
    """What the second thread works on."""

    def __init__(self, place: Place, name: str, source: Source) -> None:
        self._place, self._name, self._source = place, name, source
        self._schema = pa.schema([(column.name, column.arrow) for column in source.columns])
        self._sink: pa.NativeFile | None = None
        self._writer: pq.ParquetWriter | None = None
        self._tally = Tally()
        self._since = self._until = None
        self._least = self._most = ""

    def add(self, csv: bytes) -> None:
        rows = _parsed(csv, self._schema)
        if self._writer is None:
            self._sink = self._place.create(self._name + TEMPORARY)
            self._writer = _writer(self._sink, self._schema, self._source.columns)
        self._writer.write_table(rows, row_group_size=rows.num_rows)
        self._note(rows)

    def close(self) -> None:
        if self._writer is not None and self._sink is not None:
            self._writer.close()
            self._sink.close()

    def abandon(self) -> None:
        """What was begun is left where it is; nobody will read it."""
        for one in (self._writer, self._sink):
            try:
                if one is not None:
                    one.close()
            except (OSError, pa.ArrowException):
                pass  # the error that ended it is the one to tell

    def written(self) -> _Written | None:
        if self._writer is None:
            return None
        return _Written(self._tally, (self._since, self._until, self._least, self._most))

    def _note(self, rows: pa.Table) -> None:
        kind = self._source.kind
        self._tally = self._tally.plus(tally_of(rows[kind.key]))
        if not kind.moment:
            return
        span = pc.min_max(rows[kind.moment]).as_py()
        self._since = span["min"] if self._since is None else min(self._since, span["min"])
        self._until = span["max"] if self._until is None else max(self._until, span["max"])
        by = rows[kind.order[0]]
        self._least, self._most = self._least or by[0].as_py(), by[-1].as_py()


def _parsed(csv: bytes, schema: pa.Schema) -> pa.Table:
    return pyarrow.csv.read_csv(
        pa.BufferReader(csv),
        read_options=pyarrow.csv.ReadOptions(column_names=schema.names, block_size=len(csv) + 1),
        parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types=schema,
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,  # COPY quotes what is empty, and leaves out what is null
            true_values=["t"],
            false_values=["f"],
        ),
    )


def _writer(sink: pa.NativeFile, schema: pa.Schema, columns: Sequence[Column]) -> pq.ParquetWriter:
    numbers = [column.name for column in columns if column.kind in (INSTANT, "bigint")]
    return pq.ParquetWriter(
        sink,
        schema,
        compression="zstd",
        compression_level=1,
        use_dictionary=[column.name for column in columns if column.repeats],
        column_encoding=dict.fromkeys(numbers, "DELTA_BINARY_PACKED"),
        write_page_checksum=True,
        store_decimal_as_integer=False,
    )
