"""The columns of our tables in Parquet: what COPY is asked for, what Arrow makes of it, and the way back."""

import json
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, NamedTuple
from uuid import UUID

import pyarrow as pa
import pyarrow.compute as pc

from tasks_app.core.confidential import as_json, as_text
from tasks_app.sql import execute

INSTANT = "timestamp with time zone"
INTERVAL = "interval"  # as microseconds
_ARROW = {
    "bigint": pa.int64(),
    "integer": pa.int32(),
    "smallint": pa.int16(),
    "boolean": pa.bool_(),
    INSTANT: pa.timestamp("us", "UTC"),
    INTERVAL: pa.int64(),
}
# Everything else is kept as PostgreSQL writes it. Python gets what Django would give it.
_PYTHON: dict[str, Callable[[Any], object]] = {
    "uuid": UUID,
    "jsonb": lambda text: as_json(json.loads(text)),
    "text": as_text,
    "bytea": lambda text: bytes.fromhex(text.removeprefix("\\x")),
    "bigint[]": lambda text: [int(one) for one in text.strip("{}").split(",") if one],
    INTERVAL: lambda microseconds: timedelta(microseconds=microseconds),
}
# Nearly every row has another value: a dictionary of them would only take time.
_DISTINCT = {"id", "biz_key", "idem_key", "token", "payload", "payload_bytes", "result", "deferred", "ids"}
_DISTINCT |= {"lateness", "lines"}

_COLUMNS = """
SELECT attname, format_type(atttypid, NULL) FROM pg_attribute
WHERE attrelid = %(family)s::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum
"""


class Column(NamedTuple):
    name: str
    kind: str  # PostgreSQL's name of its type

    @property
    def arrow(self) -> pa.DataType:
        return _ARROW.get(self.kind, pa.string())

    @property
    def expression(self) -> str:
        """What is asked for in its place."""
        return f'(extract(epoch FROM "{self.name}") * 1000000)::bigint' if self.kind == INTERVAL else f'"{self.name}"'

    @property
    def repeats(self) -> bool:
        return self.arrow == pa.string() and self.name not in _DISTINCT

    def to_python(self, value: object) -> object:
        convert = _PYTHON.get(self.kind)
        return value if convert is None or value is None else convert(value)


def columns_of(family: str) -> list[Column]:
    return [Column(*row) for row in execute(_COLUMNS, {"family": family})]


def for_copy(rows: pa.Table, columns: Sequence[Column]) -> pa.Table:
    """These columns as PostgreSQL reads them."""
    spans = {column.name for column in columns if column.kind == INTERVAL}
    return pa.table(
        {
            column.name: pc.binary_join_element_wise(rows[column.name].cast(pa.string()), "microseconds", " ")
            if column.name in spans
            else rows[column.name]
            for column in columns
        }
    )
