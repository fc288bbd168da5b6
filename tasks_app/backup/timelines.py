"""Which timeline a restore follows. After a restore or a failover two servers may have gone on from the same point, and
the places have the log of both; what was committed when is read from it."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from tasks_app.core.wal import Segment, lsn_text, parse_lsn

from .base import Base
from .errors import BackupError
from .places import FAULTS
from .programs import Programs
from .sources import Sources

DUMP_SECONDS = 120.0  # of a segment, on a slow machine
_ENDED = re.compile(
    r"^(?>.*? lsn: )([0-9A-F]+/[0-9A-F]+),(?>.*? desc: )(?:COMMIT|ABORT)(?:_PREPARED)? .*?"
    r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?) UTC",
    re.MULTILINE,
)


class Ended(NamedTuple):
    """A transaction in the log."""

    at: datetime
    position: int


@dataclass(frozen=True, slots=True)
class Timeline:
    """One that lies in the places, and when something was committed on it alone."""

    number: int
    parent: int | None = None  # None: it is the first, or its history is lost
    left_at: int = 0  # the position at which it left that
    first: Ended | None = None
    last: Ended | None = None
    readable: bool = True  # else it is not known when it was written

    def __str__(self) -> str:
        origin = "" if self.parent is None else f", which left timeline {self.parent} at {lsn_text(self.left_at)}"
        if not self.readable:
            return f"timeline {self.number}{origin}; when it was written can't be read"
        if self.first is None or self.last is None:
            return f"timeline {self.number}{origin}; nothing was committed on it yet"
        return f"timeline {self.number}{origin}; written from {_moment(self.first.at)} to {_moment(self.last.at)}"

    def lived(self, at: datetime) -> bool:
        """Whether it may have been written at that moment. How early the first one begins is for the bases to say."""
        if not self.readable:
            return True
        if self.first is None or self.last is None:
            return False
        return (self.parent is None or self.first.at <= at) and at <= self.last.at


@dataclass(slots=True)
class Timelines:
    sources: Sources
    programs: Programs
    _known: dict[int, Timeline] = field(default_factory=dict)

    def choose(
        self, to: datetime | None = None, label: str | None = None, wanted: int | None = None
    ) -> tuple[Base, int]:
        """The base to begin with, and the timeline to follow from it. An error if that is for somebody to say."""
        there = self.sources.timelines()
        if wanted is not None:
            if wanted not in there:
                raise BackupError(f"There is no timeline {wanted} in the places; there is {_and(map(str, there))}.")
            return self.sources.base_for(to, label, wanted), wanted
        if label is not None:
            base = self.sources.base_for(to, label)
            there = [number for number in there if self.sources.leads(base, number)]
        else:
            bases = [copies[0][1] for copies in self.sources.bases.values()]
            there = [number for number in there if any(self.sources.leads(base, number) for base in bases)]
        if len(there) < 2:
            base = self.sources.base_for(to, label)
            return base, base.timeline if not there else there[0]
        found = [self.look(number) for number in there]
        chosen = written_last(found) if to is None else written_at(to, found)
        return self.sources.base_for(to, label, chosen.number), chosen.number

    def look(self, number: int) -> Timeline:
        if number not in self._known:
            self._known[number] = self._look(number)
        return self._known[number]

    def _look(self, number: int) -> Timeline:
        origin = self.sources.left_at(number)
        parent, left_at = origin or (None, 0)
        segments = [one for one in self.sources.log_of(number) if one.end > left_at]
        try:
            with tempfile.TemporaryDirectory(prefix="punctual-log-") as folder:
                first = next(self._ended(segments, Path(folder), left_at), None)
                backwards = self._ended(reversed(segments), Path(folder), left_at, last=True)
                return Timeline(number, parent, left_at, first, first and next(backwards, first))
        except (*FAULTS, subprocess.SubprocessError):
            return Timeline(number, parent, left_at, readable=False)

    def _ended(self, segments: Iterable[Segment], folder: Path, since: int, *, last: bool = False) -> Iterator[Ended]:
        """Of each segment, the first or last transaction that ended in it."""
        for segment in segments:
            file = folder / segment.name
            file.write_bytes(self.sources.read(segment.name))
            found = [one for one in self._dumped(file) if one.position >= since]
            file.unlink()
            if found:
                yield found[-1 if last else 0]

    def _dumped(self, file: Path) -> list[Ended]:
        """pg_waldump ends with an error at the end of what is written, or at a record that goes on in the next segment;
        what it has told by then counts."""
        done = subprocess.run(
            [self.programs.path("pg_waldump"), "--rmgr=Transaction", str(file)],
            env=os.environ | {"TZ": "UTC", "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=DUMP_SECONDS,
            check=False,
        )
        return [
            Ended(datetime.fromisoformat(one[2]).replace(tzinfo=UTC), parse_lsn(one[1]))
            for one in _ENDED.finditer(done.stdout)
        ]


def written_last(found: list[Timeline]) -> Timeline:
    """The one that was written last; if that can't be told, the newest, as PostgreSQL would."""
    if not all(one.readable for one in found):
        return found[-1]
    return max(found, key=lambda one: (one.last.at.timestamp() if one.last else 0.0, one.number))


def written_at(to: datetime, found: list[Timeline]) -> Timeline:
    """The one on which that moment is. Two that were written at once both have it."""
    lived = [one for one in found if one.lived(to)]
    if len(lived) == 1:
        return lived[0]
    if lived:
        raise BackupError(
            f"{to.isoformat()} is on {len(lived)} timelines, which are two histories of the same data: "
            f"{_listed(lived)}. Say which one with --timeline."
        )
    begun = [(one.first.at, one) for one in found if one.first is not None and one.first.at > to]
    if not begun:
        return written_last(found)  # the log ends before, which the restored server will say
    _, later = min(begun, key=lambda pair: pair[0])
    before = next((one for one in found if one.number == later.parent), None)
    if before is None or before.last is None or before.last.position < later.left_at:
        return later  # nothing was lost between the two: it is how things were when the one before ended
    raise BackupError(
        f"Nothing was committed at {to.isoformat()}: {_listed([before, later])}. Name a moment that one of them has; "
        f"for the last of timeline {before.number}, say --timeline {before.number} and leave --to out."
    )


def _listed(found: Iterable[Timeline]) -> str:
    return "; and ".join(map(str, found))


def _and(words: Iterable[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def _moment(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="milliseconds")
