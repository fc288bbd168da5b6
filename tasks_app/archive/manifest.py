"""What a day's folder says about itself: one manifest for each partition that was written there, put there last.

What no manifest names was never finished, or is replaced, and is not there for anybody who reads.
"""

import json
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, Self

from .columns import Column
from .place import Place, Stored
from .tally import Tally

VERSION = 1  # of the layout
SUFFIX = ".json"
LONGEST_SPAN = timedelta(days=32)  # of a partition, which lies in the folder of the day on which it begins


@dataclass(frozen=True, slots=True)
class Part:
    name: str  # of the file, below the archive's root
    rows: int
    bytes: int
    total: int  # see Tally
    squares: int
    since: datetime  # of the first and the last instant by which the rows are cut
    until: datetime  # included
    least: str | int  # the first value by which they are sorted
    most: str | int  # and the last

    @property
    def tally(self) -> Tally:
        return Tally(self.rows, self.total, self.squares)


@dataclass(frozen=True, slots=True)
class Manifest:
    kind: str
    retention: str
    partition: str
    since: datetime
    until: datetime  # not included
    mark: str
    fence: int
    columns: list[Column]
    parts: list[Part]
    replaces: list[str]  # files of others whose rows are in these parts, too
    version: int = VERSION

    def to_json(self) -> bytes:
        told = asdict(self) | {"rows": self.rows, "bytes": self.bytes, "columns": dict(self.columns)}
        return json.dumps(told, default=_iso, indent=1).encode()

    @classmethod
    def from_json(cls, data: bytes) -> Self:
        told = json.loads(data)
        if told["version"] > VERSION:
            raise OSError(f"the archive was written by a later version of Punctual (layout {told['version']})")
        parts = [Part(**one | _instants(one)) for one in told["parts"]]
        columns = [Column(*one) for one in told["columns"].items()]
        del told["rows"], told["bytes"]
        return cls(**told | _instants(told) | {"parts": parts, "columns": columns})

    @property
    def rows(self) -> int:
        return sum(part.rows for part in self.parts)

    @property
    def bytes(self) -> int:
        return sum(part.bytes for part in self.parts)


def folder_of(kind_folder: str, since: datetime) -> str:
    return f"{kind_folder}/{since.astimezone(UTC).date().isoformat()}"


def part_name(folder: str, mark: str, fence: int, number: int) -> str:
    return f"{folder}/part-{mark}-{fence}-{number:04}.parquet"


def manifest_name(folder: str, mark: str, fence: int) -> str:
    return f"{folder}/manifest-{mark}-{fence}{SUFFIX}"


def read_manifests(
    place: Place, stored: Iterable[Stored], since: datetime | None = None, until: datetime | None = None
) -> list[Manifest]:
    """The latest of each mark, of these files, the newest days first; of days that may have something of that time."""
    latest: dict[str, tuple[int, str]] = {}
    for name, _ in stored:
        if name.endswith(SUFFIX) and _in_time(name, since, until):
            mark, fence = mark_and_fence(name)
            latest[mark] = max(latest.get(mark, (0, "")), (fence, name))
    found = [Manifest.from_json(place.read(name)) for _, name in latest.values()]
    return sorted(found, key=lambda one: (one.since, one.mark), reverse=True)


def present(manifests: Collection[Manifest]) -> list[tuple[Manifest, Part]]:
    """The parts that count: those that no other manifest replaces."""
    replaced = {name for one in manifests for name in one.replaces}
    return [(one, part) for one in manifests for part in one.parts if part.name not in replaced]


def mark_and_fence(name: str) -> tuple[str, int]:
    """Of the name of any of our files; ("", 0) if it is another's."""
    words = name.rpartition("/")[2].partition(".")[0].split("-")
    return (words[1], int(words[2])) if len(words) >= 3 and words[2].isdecimal() else ("", 0)


def _in_time(name: str, since: datetime | None, until: datetime | None) -> bool:
    day = day_of(name.rpartition("/")[0])
    return (since is None or day + LONGEST_SPAN > since) and (until is None or day < until)


def day_of(folder: str) -> datetime:
    """When a day's folder begins; far away if it is none."""
    try:
        day = date.fromisoformat(folder.rpartition("/")[2])
    except ValueError:
        return datetime.max.replace(tzinfo=UTC) - LONGEST_SPAN
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


def _instants(told: dict[str, Any]) -> dict[str, datetime]:
    return {name: datetime.fromisoformat(told[name]) for name in ("since", "until")}


def _iso(value: object) -> str:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    raise TypeError(value)
