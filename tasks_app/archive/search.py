"""Reads the archive: tasks by tenant, type, key, job, time and outcome, the newest day first, in bounded memory.

What lies in the hot store, since its partition was restored or not dropped yet, is left out: a search of both finds
every task once. Within a day tasks come in the order of their keys. A filter with a key reads one row group of each
file; one with neither key nor time reads everything from the bookmark on until the page is full.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Self

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tasks_app.core.errors import InvalidTask, shown
from tasks_app.sql import run

from .columns import Column
from .kinds import TASKS, kinds
from .manifest import Manifest, Part, present, read_manifests
from .place import Place

PAGE = 100

Compare = Callable[[pa.ChunkedArray, object], pa.ChunkedArray]  # where it holds


@dataclass(frozen=True, slots=True)
class ColdFilter:
    """All that is given must hold."""

    tenant: str | None = None
    task_type: str | None = None
    key: str | None = None
    job: int | None = None
    status: str | None = None  # SUCCESS, DEAD or CANCELLED
    since: datetime | None = None  # when it was over, or last written to: updated_at
    until: datetime | None = None  # not included

    def equal(self) -> dict[str, object]:
        """The columns that must have a certain value."""
        asked = {
            "biz_key": self.key,
            "task_type": self.task_type,
            "tenant": self.tenant,
            "job": self.job,
            "status": self.status,
        }
        return {name: value for name, value in asked.items() if value is not None}


class ColdBookmark(NamedTuple):
    """Where a search goes on: in the file, at this row of this row group."""

    since: datetime
    file: str
    group: int
    row: int

    def __str__(self) -> str:
        return f"{self.since.isoformat()}|{self.file}|{self.group}|{self.row}"

    @classmethod
    def read(cls, text: str) -> Self:
        try:
            since, file, group, row = text.split("|")
            moment = datetime.fromisoformat(since)
            if moment.tzinfo is None:
                raise ValueError(since)
            return cls(moment, file, int(group), int(row))
        except ValueError:
            words = f"{shown(text[:40])} is not a position in the archive; start from the beginning."
            raise InvalidTask(words) from None


class Page(NamedTuple):
    rows: list[dict[str, object]]  # with the columns of AnyTask, as Django would give them
    next: ColdBookmark | None  # None: there is nothing more


def search(place: Place, wanted: ColdFilter, after: ColdBookmark | None = None, limit: int = PAGE) -> Page:
    """One page. Raises OSError if the archive can't be reached, or read."""
    rows: list[dict[str, object]] = []
    for at, row in walk(place, wanted, after):
        if len(rows) == limit:
            return Page(rows, at)
        rows.append(row)
    return Page(rows, None)


def walk(
    place: Place, wanted: ColdFilter, after: ColdBookmark | None = None
) -> Iterator[tuple[ColdBookmark, dict[str, object]]]:
    """All that match, each with the bookmark of its own place; for exports."""
    for manifest, part in _files(place, wanted, after):
        begin = (after.group, after.row) if after is not None and part.name == after.file else (0, 0)
        for group, row, found in _matches(place, manifest, part, wanted, begin):
            yield ColdBookmark(manifest.since, part.name, group, row), found


def _files(place: Place, wanted: ColdFilter, after: ColdBookmark | None) -> list[tuple[Manifest, Part]]:
    """Those that may hold something, in order, from the bookmark on."""
    folders = sorted({kind.folder for kind in kinds() if kind.name == TASKS})
    manifests = [
        one for folder in folders for one in read_manifests(place, place.files(folder), wanted.since, wanted.until)
    ]
    hot_marks, hot_files = _in_hot_store()
    found = [
        (manifest, part)
        for manifest, part in present(manifests)
        if manifest.mark not in hot_marks and part.name not in hot_files and _may_hold(part, wanted)
    ]
    found.sort(key=lambda one: _place_of(one[0].since, one[1].name))
    if after is not None:
        found = [one for one in found if _place_of(one[0].since, one[1].name) >= _place_of(after.since, after.file)]
    return found


def _place_of(since: datetime, name: str) -> tuple[float, str]:
    return -since.timestamp(), name


def _in_hot_store() -> tuple[set[str], set[str]]:
    """The marks and the files whose rows lie in a partition."""
    rows = run("in_hot_store", {})
    return {mark.hex[:12] for mark, _ in rows}, {file for _, files in rows for file in files}


def _may_hold(part: Part, wanted: ColdFilter) -> bool:
    least, most = str(part.least), str(part.most)  # keys, by which tasks are sorted
    return (
        (wanted.key is None or least <= wanted.key <= most)
        and (wanted.since is None or part.until >= wanted.since)
        and (wanted.until is None or part.since < wanted.until)
    )


def _matches(
    place: Place, manifest: Manifest, part: Part, wanted: ColdFilter, begin: tuple[int, int]
) -> Iterator[tuple[int, int, dict[str, object]]]:
    with place.open(part.name) as file, pq.ParquetFile(file) as parquet:
        names = parquet.schema_arrow.names
        for group in range(begin[0], parquet.num_row_groups):
            if not _group_may_hold(parquet.metadata.row_group(group), names, wanted):
                continue
            places = _rows_of(parquet, group, wanted)
            if group == begin[0]:
                places = [row for row in places if row >= begin[1]]
            if places:
                columns = [column for column in manifest.columns if column.name in names]
                rows = parquet.read_row_group(group, columns=[column.name for column in columns])
                for start in range(0, len(places), PAGE):
                    yield from _told(rows, group, places[start : start + PAGE], columns)


def _group_may_hold(group: pq.RowGroupMetaData, names: list[str], wanted: ColdFilter) -> bool:
    bounds = {name: (value, value) for name, value in wanted.equal().items()}
    if wanted.since is not None or wanted.until is not None:
        bounds["updated_at"] = (wanted.since, wanted.until)
    for name, (least, most) in bounds.items():
        if name not in names:
            return False
        told = group.column(names.index(name)).statistics
        if told is None:
            continue
        if told.null_count == group.num_rows:
            return False
        if told.has_min_max and ((least is not None and told.max < least) or (most is not None and told.min > most)):
            return False
    return True


def _rows_of(parquet: pq.ParquetFile, group: int, wanted: ColdFilter) -> list[int]:
    """The rows of a group that match; of its columns only those are read that are asked for, the key first."""
    rows: pa.Array | None = None
    for name, compare, value in _tests(wanted):
        values = parquet.read_row_group(group, columns=[name]).column(0)
        if rows is not None:
            values = values.take(rows)
        hits = pc.indices_nonzero(pc.fill_null(compare(values, value), False))
        rows = hits if rows is None else rows.take(hits)
        if not len(rows):
            break
    if rows is None:
        return list(range(parquet.metadata.row_group(group).num_rows))
    found: list[int] = rows.to_pylist()
    return found


def _tests(wanted: ColdFilter) -> Iterator[tuple[str, Compare, object]]:
    for name, value in wanted.equal().items():
        yield name, pc.equal, value
    if wanted.since is not None:
        yield "updated_at", pc.greater_equal, wanted.since
    if wanted.until is not None:
        yield "updated_at", pc.less, wanted.until


def _told(
    rows: pa.Table, group: int, places: list[int], columns: list[Column]
) -> Iterator[tuple[int, int, dict[str, object]]]:
    """A few rows at a time: what Python makes of them is far larger than what Arrow has."""
    chosen = rows.take(places)
    lists = {column.name: chosen[column.name].to_pylist() for column in columns}
    for number, place in enumerate(places):
        yield group, place, {column.name: column.to_python(lists[column.name][number]) for column in columns}
