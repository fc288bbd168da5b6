"""What a person asks of the archive: what is there, what waits and since when, and whether a day is whole."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime

from tasks_app.models import LeavingPartition
from tasks_app.sql import run

from .kinds import kinds
from .leave import due, old_folders
from .manifest import present, read_manifests
from .place import FAULTS, Place
from .write import read_back


@dataclass(frozen=True, slots=True)
class FolderView:
    folder: str
    days: int
    first: str | None
    last: str | None
    rows: int
    bytes: int


@dataclass(frozen=True, slots=True)
class WaitingView:
    partition: str
    bytes: int
    written: bool  # else it is only dropped: it is older than the archive keeps things
    since: datetime | None  # when it was first tried; None: not yet
    held_by: str
    kept_until: datetime | None  # it was restored
    error: str


@dataclass(frozen=True, slots=True)
class Plan:
    leaving: list[WaitingView]
    deleting: list[str]


@dataclass(frozen=True, slots=True)
class Verified:
    file: str
    rows: int
    bytes: int
    problem: str


def folders(place: Place) -> Iterator[FolderView]:
    for kind in kinds():
        found = present(read_manifests(place, place.files(kind.folder)))
        days = sorted({manifest.since.date().isoformat() for manifest, _ in found})
        first, last = (days[0], days[-1]) if days else (None, None)
        rows, size = sum(part.rows for _, part in found), sum(part.bytes for _, part in found)
        yield FolderView(kind.folder, len(days), first, last, rows, size)


def waiting() -> list[WaitingView]:
    """What is past its hot days, and still here."""
    now: datetime = run("clock", {})[0][0]
    notes = {note.name: note for note in LeavingPartition.objects.all()}
    views = []
    for one in due(now):
        note = notes.get(one.partition.name, LeavingPartition(holder="", error=""))
        held = note.holder if note.held_until is not None and note.held_until > now else ""
        kept = note.kept_until if note.kept_until is not None and note.kept_until > now else None
        name, size = one.partition.name, one.partition.bytes
        views.append(WaitingView(name, size, one.write, note.waiting_since, held, kept, note.error))
    return views


def plan(place: Place) -> Plan:
    """What a run would do now."""
    now: datetime = run("clock", {})[0][0]
    leaving = [one for one in waiting() if one.kept_until is None]
    return Plan(leaving, [folder for kind in kinds() for folder in old_folders(place, kind, now)])


def verify(place: Place, day: date) -> Iterator[Verified]:
    """Read all that the archive has of a day, and compare it with what the manifests say."""
    for kind in kinds():
        for _, part in present(read_manifests(place, place.files(f"{kind.folder}/{day.isoformat()}"))):
            problem = ""
            try:
                read_back(place, part.name, part.tally, kind.key, lambda: None)
            except FAULTS as error:
                problem = str(error)
            yield Verified(part.name, part.rows, part.bytes, problem)
