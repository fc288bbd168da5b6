"""Partitions that are past their hot days leave: written to the archive, read back, and only then dropped.

At any point somebody may stop, be killed, or be overtaken: the partition is there until exactly its rows are in the
archive, and the archive has them once. The next try finds them whole, or begins anew under other names.
"""

import logging
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db import DatabaseError, OperationalError
from psycopg.errors import DeadlockDetected, LockNotAvailable

from tasks_app.core.phrases import first_line
from tasks_app.sql import run
from tasks_app.storage.partitions import Partition, partitions

from .kinds import Kind, kinds
from .leaving import Leaving, Overtaken
from .manifest import (
    Manifest,
    Part,
    day_of,
    folder_of,
    manifest_name,
    mark_and_fence,
    part_name,
    present,
    read_manifests,
)
from .place import FAULTS, Place, Stored
from .tally import Tally, tally_of_partition
from .write import Pulse, read_back, source_of, write_parts

log = logging.getLogger(__name__)

ENOUGH = 3  # failures, and the rest waits for the next time: most likely the archive can't be reached


class Locked(Exception):
    """Somebody reads the partition, and drops wait for nobody."""


NOT_NOW = (Locked, Overtaken)


class Stopped(Exception):
    """Whoever runs this wants it to end."""


class Due(NamedTuple):
    """A partition that is past its hot days."""

    kind: Kind
    partition: Partition
    write: bool  # else it is older than the archive keeps things


class Done(NamedTuple):
    written: list[str]  # partitions that are in the archive now, and dropped
    dropped: list[str]  # that were there already, or had nothing to keep
    waiting: dict[str, str]  # with what went wrong
    deleted: list[str]  # folders of the archive that were too old


def leave_all(place: Place, holder: str, pulse: Pulse = lambda: None) -> Done:
    """All that is due, the oldest first. One that fails waits, and so do the others if the archive can't be reached."""
    now: datetime = run("clock", {})[0][0]
    done = Done([], [], {}, [])
    for one in due(now):
        try:
            leave(place, one, holder, pulse, done)
        except NOT_NOW as error:  # somebody reads it just now, or has it
            log.info("archive.not_now partition=%s error=%r", one.partition.name, str(error).strip())
        except (*FAULTS, DatabaseError) as error:
            _tell(done, one.partition.name, error)
            if len(done.waiting) >= ENOUGH:
                break
    done.deleted.extend(_forget(place, now, done))
    return done


def due(now: datetime) -> Iterator[Due]:
    for kind in kinds():
        for partition in partitions(kind.family):
            if partition.until <= now - kind.hot:
                yield Due(kind, partition, write=kind.cold > kind.hot and partition.until > now - kind.cold)


def leave(place: Place, one: Due, holder: str, pulse: Pulse, done: Done) -> None:
    kind, partition, write = one
    leaving = Leaving.take(partition.name, holder)
    if leaving is None:
        return

    def beat() -> None:
        pulse()
        leaving.hold()

    error = ""
    try:
        if write:
            tally, new = _keep(place, kind, partition, leaving, beat)
        else:
            tally, new = tally_of_partition(partition.name, kind.key), False
        if _drop(kind, partition, leaving, tally):
            log.info("archive.left partition=%s rows=%d written=%s", partition.name, tally.rows, new)
            (done.written if new else done.dropped).append(partition.name)
        else:
            # A row came late. The next try writes all of it again, in place of what is there now.
            log.info("archive.changed partition=%s", partition.name)
            done.waiting[partition.name] = "rows were added while it was written; it is written again"
    except (*FAULTS, DatabaseError) as fault:
        error = _words(fault)
        raise
    finally:
        leaving.release(error)


def _keep(place: Place, kind: Kind, partition: Partition, leaving: Leaving, pulse: Pulse) -> tuple[Tally, bool]:
    """See to it that the archive has the partition's rows; what is there, and whether it was written just now."""
    folder = folder_of(kind.folder, partition.since)
    stored = place.files(folder)
    manifests = read_manifests(place, stored)
    if (tally := _kept_already(place, kind, partition, leaving, manifests, pulse)) is not None:
        return tally, False
    parts = write_parts(
        place,
        source := source_of(kind, partition),
        lambda number: part_name(folder, leaving.mark, leaving.fence, number),
        pulse,
    )
    pulse()
    manifest = Manifest(
        kind.name,
        kind.retention,
        partition.name,
        partition.since,
        partition.until,
        leaving.mark,
        leaving.fence,
        source.columns,
        parts,
        sorted(leaving.restored),
    )
    if parts or any(one.mark == leaving.mark for one in manifests) or manifest.replaces:
        place.write(manifest_name(folder, leaving.mark, leaving.fence), manifest.to_json())
    _tidy(place, folder, manifest, leaving)
    return _sum(parts), bool(parts)


def _kept_already(
    place: Place, kind: Kind, partition: Partition, leaving: Leaving, manifests: list[Manifest], pulse: Pulse
) -> Tally | None:
    """The tally of the partition if the archive has exactly its rows: written by a try that did not come to the drop,
    restored from there, or written before this database was restored from a copy. Else None."""
    counting = {part.name: part for _, part in present(manifests)}
    ways = [leaving.restored, *([part.name for part in one.parts] for one in manifests)]
    ways = [names for names in ways if names and counting.keys() >= {*names}]
    if not ways:
        return None
    there = tally_of_partition(partition.name, kind.key)
    for names in ways:
        parts = [counting[name] for name in names]
        if _sum(parts) == there and _whole(place, kind, parts, pulse):
            return there
    return None


def _whole(place: Place, kind: Kind, parts: list[Part], pulse: Pulse) -> bool:
    """Whether the files are what their manifest says; one that is not is as good as none while its rows are here."""
    for part in parts:
        if place.size(part.name) != part.bytes:
            return False
        try:
            read_back(place, part.name, part.tally, kind.key, pulse)
        except FAULTS as error:
            log.warning("archive.broken file=%s error=%r", part.name, str(error))
            return False
    return True


def _sum(parts: list[Part]) -> Tally:
    tally = Tally()
    for part in parts:
        tally = tally.plus(part.tally)
    return tally


def _drop(kind: Kind, partition: Partition, leaving: Leaving, tally: Tally) -> bool:
    """Drop it if it holds exactly that; nobody can add to it meanwhile."""
    asked = {"family": kind.family, "name": partition.name, "key": kind.key} | tally._asdict()
    try:
        with leaving.closing():
            if not run("drop_archived", asked)[0][0]:
                raise _Changed
    except _Changed:
        return False
    except OperationalError as error:
        if isinstance(error.__cause__, LockNotAvailable | DeadlockDetected):
            raise Locked(str(error)) from error
        raise
    return True


class _Changed(Exception):
    """The partition has other rows than the archive."""


def _tidy(place: Place, folder: str, manifest: Manifest, leaving: Leaving) -> None:
    """Delete what earlier tries left behind, and what is replaced. Only now: until here it could still be needed."""
    replaced = set(manifest.replaces)
    for name, _ in place.files(folder):
        mark, fence = mark_and_fence(name)
        if name in replaced or (mark == leaving.mark and fence < leaving.fence):
            place.delete(name)


def _forget(place: Place, now: datetime, done: Done) -> Iterator[str]:
    """Delete the days that are older than the archive keeps them."""
    for kind in kinds():
        try:
            for folder in old_folders(place, kind, now):
                place.delete_folder(folder)
                log.info("archive.deleted folder=%s", folder)
                yield folder
        except FAULTS as error:
            _tell(done, kind.folder, error)


def old_folders(place: Place, kind: Kind, now: datetime) -> list[str]:
    """A folder goes when the last that is in it is old enough; one in which nothing was finished, by its name."""
    folders: dict[str, list[Stored]] = {}
    for one in place.files(kind.folder):
        folders.setdefault(one.name.rpartition("/")[0], []).append(one)
    before = now - kind.cold
    # The manifests of days that begin later need not be read.
    likely = {folder: stored for folder, stored in folders.items() if day_of(folder) <= before}
    return [folder for folder, stored in likely.items() if _until(place, folder, stored) <= before]


def _until(place: Place, folder: str, stored: list[Stored]) -> datetime:
    ends = [one.until for one in read_manifests(place, stored)]
    return max(ends, default=day_of(folder) + timedelta(days=1))


def _tell(done: Done, name: str, error: Exception) -> None:
    log.error("archive.failed subject=%s error=%r", name, _words(error))
    done.waiting[name] = _words(error)


def _words(error: Exception) -> str:
    words = first_line(str(error).strip()) or type(error).__name__
    return "".join(character for character in words if character.isprintable())
