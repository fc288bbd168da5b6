"""Tasks as tables for others: CSV for spreadsheets and scripts, Parquet for analysis; streamed."""

import csv
import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import islice
from types import ModuleType
from typing import BinaryIO

from tasks_app.core.errors import InvalidTask
from tasks_app.lifecycle.tries import error_of, tries_of
from tasks_app.models import AnyTask

GROUP = 10_000  # rows of a Parquet file that are in memory
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # how a cell begins that a spreadsheet would compute

_TEXT, _NUMBER, _FLAG, _INSTANT = "string", "int64", "bool", "instant"
# What a task leaves behind: whose it was, when it was asked for, due, let through, started and over, and how it ended.
COLUMNS = {
    "id": _NUMBER,
    "tenant": _TEXT,
    "task_type": _TEXT,
    "key": _TEXT,
    "status": _TEXT,
    "current": _FLAG,
    "lane": _TEXT,
    "job": _NUMBER,
    "fire_time": _INSTANT,
    "execute_time": _INSTANT,
    "due_at": _INSTANT,
    "claimed_due": _INSTANT,
    "allowed_at": _INSTANT,
    "start_time": _INSTANT,
    "finish_time": _INSTANT,
    "attempts": _NUMBER,
    "worker": _TEXT,
    "batch": _TEXT,
    "error_code": _TEXT,
    "error_msg": _TEXT,
    "asked_by": _TEXT,
    "cancelled_by": _TEXT,
    "payload": _TEXT,
    "result": _TEXT,
    "token": _TEXT,
    "idem_key": _TEXT,
    "replaces": _NUMBER,
    "deferred_from": _NUMBER,
    "retention": _TEXT,
    "created_at": _INSTANT,
    "updated_at": _INSTANT,
}


def as_row(task: AnyTask) -> dict[str, object]:
    """By the names of COLUMNS; JSON as text."""
    error = error_of(task)
    told = {name: getattr(task, name) for name in COLUMNS if hasattr(task, name)}
    return (
        dict.fromkeys(COLUMNS)
        | told
        | {
            "key": task.biz_key,
            "attempts": tries_of(task),
            "worker": task.worker or getattr(task, "last_worker", None),
            "batch": task.ran_in and str(task.ran_in),
            "error_code": error.code,
            "error_msg": error.message,
            "payload": json.dumps(task.payload, ensure_ascii=False),
            "result": None if task.result is None else json.dumps(task.result, ensure_ascii=False),
            "token": str(task.token),
        }
    )


def as_json(task: AnyTask) -> str:
    row = as_row(task) | {"payload": task.payload, "result": task.result}
    return json.dumps({name: _told(value) for name, value in row.items()}, ensure_ascii=False)


def csv_lines(tasks: Iterable[AnyTask]) -> Iterator[str]:
    """With a line of names first. Others have written the cells: no spreadsheet may take one for a formula."""
    line = _Line()
    table = csv.writer(line)
    table.writerow(COLUMNS)
    yield line.text
    for task in tasks:
        table.writerow([_cell(value) for value in as_row(task).values()])
        yield line.text


def write_parquet(tasks: Iterable[AnyTask], file: BinaryIO) -> int:
    """How many were written; GROUP of them are in memory at a time."""
    pa, pq = _arrow()
    kinds = {_INSTANT: pa.timestamp("us", "UTC"), _TEXT: pa.string(), _NUMBER: pa.int64(), _FLAG: pa.bool_()}
    schema = pa.schema([(name, kinds[kind]) for name, kind in COLUMNS.items()])
    rows, count = (as_row(task) for task in tasks), 0
    with pq.ParquetWriter(file, schema, compression="zstd") as table:
        while group := list(islice(rows, GROUP)):
            table.write_table(pa.Table.from_pylist(group, schema))
            count += len(group)
    return count


def refuse_parquet() -> None:
    """Raises InvalidTask if it can't be written here."""
    _arrow()


def _arrow() -> tuple[ModuleType, ModuleType]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        words = "Parquet can't be written: pyarrow is missing. pip install 'django-punctual[archive]'."
        raise InvalidTask(words) from None
    return pyarrow, pyarrow.parquet


class _Line:
    """The file that a csv.writer thinks it writes to."""

    text = ""

    def write(self, text: str) -> None:
        self.text = text


def _cell(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


def _told(value: object) -> object:
    return value.isoformat() if isinstance(value, datetime) else value
