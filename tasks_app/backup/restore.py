"""The way back: a new server from a base and the log, in a new folder, in quarantine; and the proof that it works.

All is made in FOLDER.unfinished and gets its name when it is done: a folder of that name is whole. A restore that was
killed is begun again by the same command.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO

from django.db.utils import Error as DatabaseError

from tasks_app.conf import conf
from tasks_app.embedded.account import Account, server_account
from tasks_app.embedded.places import open_private
from tasks_app.engine.doctor.examine import examine
from tasks_app.lifecycle.installation import quarantine
from tasks_app.sql import run

from .aftermath import Aftermath, aftermath
from .base import Base, Progress, note_proof
from .errors import BackupError
from .manifest import differs
from .places import FAULTS, Store, all_systems, vacant
from .programs import programs_for
from .recovery import SERVING, Login, Recovery, RestoredServer, settings_back, waits_for
from .sources import Sources
from .timelines import Timelines

UNFINISHED = ".unfinished"
REPORT = ".after.json"  # beside the folder: what the original did after the restored moment
LARGE = ("data", "feed")  # of what is in FOLDER.unfinished
MARGIN = timedelta(seconds=60)  # the clocks of transactions that overlap
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Restored:
    folder: Path
    base: str
    place: str  # from which the base came
    reached: datetime | None  # the last transaction that is in it
    timeline: int
    seconds: float
    quarantined: bool
    after: Aftermath
    lost: dict[str, str] = field(default_factory=dict)  # segments that nobody could give
    major: int = 0  # of PostgreSQL
    login: Login | None = None
    waits_for: str = ""  # its synchronous_standby_names: who must be there before anything can be committed
    followed: int = 0  # the timeline of the log; that of the new server is `timeline`
    others: list[str] = field(default_factory=list)  # timelines that there are beside it


@dataclass(frozen=True, slots=True)
class Planned:
    """What a restore would do."""

    folder: Path
    base: str
    base_ended: datetime
    places: list[str]  # that have the base
    bytes: int  # of the base, unpacked
    free_bytes: int  # on the disk of the folder
    segments: int  # of the log, that it would replay
    log_bytes: int
    spool: bool  # and what lies in the spool is among it
    missing: dict[str, str]  # segments that nobody has, though somebody has later ones
    away: dict[str, str]  # places that can't be read
    timeline: int  # that it would follow
    timelines: list[str]  # all that there are, if there is more than one

    @property
    def has_room(self) -> bool:
        return self.bytes < self.free_bytes


@dataclass(frozen=True, slots=True)
class Verified:
    base: str
    place: str
    reached: datetime | None
    seconds: float
    problems: list[str]


def the_system(urls: Sequence[str] | None, system: str | None) -> tuple[str, list[Store]]:
    """Whose backups there are in these places, and the places that have some; an error if it is not clear whose."""
    found = list(all_systems(urls))
    systems = sorted({store.root for store in found})
    if system is not None:
        systems = [one for one in systems if one == system]
    if not systems:
        places = "; ".join(f"{place}: {why}" for place, why in vacant(urls, system).items())
        raise BackupError(f"There is no backup to restore from. {places}. Name a place that has one with --from.")
    if len(systems) > 1:
        raise BackupError(
            f"There are backups of {len(systems)} servers: {', '.join(systems)}. Say which with --system; "
            "`pg_controldata` of a server, and `backup list`, tell them apart."
        )
    return systems[0], [store for store in found if store.root == systems[0]]


def plan(
    folder: Path,
    *,
    to: datetime | None = None,
    urls: Sequence[str] | None = None,
    system: str | None = None,
    label: str | None = None,
    timeline: int | None = None,
) -> Planned:
    """What `restore` would do with the same words; refused as that would be, and nothing is changed."""
    folder = folder.resolve()
    base, way, lines = _chosen(folder, to, urls, system, label, timeline)
    sources = lines.sources
    segments = sources.segments_since(base, way)
    there = next(one for one in (folder, *folder.parents) if one.is_dir())
    return Planned(
        folder,
        base.label,
        base.ended,
        [store.label for store, _ in sources.bases[base.label]],
        base.bytes,
        shutil.disk_usage(there).free,
        len(segments),
        len(segments) * base.segment_bytes,
        bool(sources.spool and sources.spool.is_dir()),
        sources.missing(base, way),
        dict(sources.away),
        way,
        _all_of(lines),
    )


def _chosen(
    folder: Path,
    to: datetime | None,
    urls: Sequence[str] | None,
    system: str | None,
    label: str | None,
    timeline: int | None,
) -> tuple[Base, int, Timelines]:
    """The base, the timeline to follow from it, and what there is beside."""
    _refuse_taken(folder)
    whose, places = the_system(urls, system)
    lines = _timelines(Sources(places, _spool(whose) if urls is None else None).look())
    return *lines.choose(to, label, timeline), lines


def _timelines(sources: Sources) -> Timelines:
    any_base = sources.base_for(None)
    return Timelines(sources, programs_for(any_base.version // 10_000))


def _all_of(lines: Timelines, but: int | None = None) -> list[str]:
    """Every timeline, if there are several."""
    numbers = lines.sources.timelines()
    return [] if len(numbers) < 2 else [str(lines.look(one)) for one in numbers if one != but]


def restore(
    folder: Path,
    *,
    to: datetime | None = None,
    urls: Sequence[str] | None = None,
    system: str | None = None,
    label: str | None = None,
    timeline: int | None = None,
    by: str = "",
    say: Say = lambda line: None,
    progress: Progress = lambda done, total: None,
) -> Restored:
    """A server in a new folder, stopped and in quarantine, at the last moment of the log or at a time."""
    begun = time.monotonic()
    folder = folder.resolve()
    base, way, lines = _chosen(folder, to, urls, system, label, timeline)
    sources, others = lines.sources, _all_of(lines, but=way)
    programs = programs_for(base.version // 10_000)
    with _work(folder, say) as (work, account):
        recovery = Recovery(programs, account, work, sources, base)
        say(f"Unpacking base backup {base.label} ({base.bytes / 1e6:,.0f} MB)")
        recovery.unpack(progress)
        say(f"Replaying the log of timeline {way}" if others else "Replaying the log")
        server = recovery.replay(to=to, timeline=way, progress=progress)
        try:
            reached, new_timeline, _, last_task = server.ask(lambda: run("reached", {}))[0]
            reached = reached or base.ended
            place = recovery.taken_from.label if recovery.taken_from else ""
            reason = f"restored from {place}, base {base.label}, to {reached.astimezone(UTC).isoformat()}"
            say(f"Reached {reached.astimezone(UTC).isoformat()}; putting it into quarantine")
            quarantined = _quarantine(server, reason, by)
            after = aftermath(reached - MARGIN, last_task, server.ask, base.system)
        finally:
            recovery.close()
        settings_back(recovery.data)
        # To a moment, PostgreSQL itself refuses to end before it.
        lost = _lost(recovery) | (sources.missing(base, way) if to is None else {})
        if not lost:
            _prove(recovery)
        if after.known:
            after.write(folder.with_name(folder.name + REPORT))
        _give_name(recovery.data, folder)
    return Restored(
        folder,
        base.label,
        place,
        reached,
        new_timeline,
        time.monotonic() - begun,
        quarantined,
        after,
        lost,
        programs.major,
        server.login,
        waits_for(folder),
        way,
        others,
    )


@contextmanager
def served(restored: Restored) -> Iterator[RestoredServer]:
    """The restored server, on a socket that only we can reach, until the end of the block."""
    work = restored.folder.with_name(restored.folder.name + ".server")
    work.mkdir(mode=0o700, exist_ok=True)
    account = _opened(work)
    open_private(restored.folder, account)
    assert restored.login is not None
    server = RestoredServer(account, programs_for(restored.major), work, restored.folder, SERVING, restored.login)
    try:
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(work, ignore_errors=True)


def verify(
    *,
    urls: Sequence[str] | None = None,
    system: str | None = None,
    label: str | None = None,
    base_only: bool = False,
    scratch: Path | None = None,
    say: Say = lambda line: None,
    progress: Progress = lambda done, total: None,
) -> list[Verified]:
    """The newest base of each place, restored from that place alone in a temporary folder, and started."""
    whose, places = the_system(urls, system)
    done = [_verify(whose, store, label, base_only, scratch, say, progress) for store in places]
    return done + [Verified("", place, None, 0.0, [why]) for place, why in vacant(urls, whose).items()]


def _verify(
    whose: str, store: Store, label: str | None, base_only: bool, scratch: Path | None, say: Say, progress: Progress
) -> Verified:
    begun = time.monotonic()
    sources = Sources([store], None).look()
    try:
        # The newest one, and what leads on from it.
        base, way = _timelines(sources).choose(label=label or sources.base_for(None).label)
    except BackupError as error:  # the other places may have one
        return Verified("", store.label, None, 0.0, [str(error)])
    programs = programs_for(base.version // 10_000)
    problems: list[str] = []
    reached: datetime | None = None
    with _scratch(scratch) as (work, account):
        recovery = Recovery(programs, account, work, sources, base)
        try:
            say(f"Unpacking base backup {base.label} of {store.label}")
            recovery.unpack(progress)
            say("Comparing it with PostgreSQL's manifest")
            if wrong := differs(programs, recovery.data):
                raise BackupError(f"it is not what the server sent: {wrong}")
            say("Starting it")
            server = recovery.replay(timeline=None if base_only else way, until_consistent=base_only, progress=progress)
            reached = server.ask(lambda: run("reached", {}))[0][0]
            problems += server.ask(_broken)
        except (BackupError, *FAULTS, DatabaseError) as error:
            problems.append(str(error).strip())
        finally:
            recovery.close()
        lost = _lost(recovery) | ({} if base_only else sources.missing(base, way))
        problems += [f"segment {name}: {why}" for name, why in lost.items()]
        if not problems:
            _prove(recovery)
    return Verified(base.label, store.label, reached or base.ended, time.monotonic() - begun, problems)


def _broken() -> list[str]:
    """Rules that the restored database breaks."""
    found = examine(wait=lambda seconds: None)  # nobody changes anything meanwhile
    return [f"task {row.id} breaks a rule: {one.check.rule}" for one in found for row in one.rows[:1]]


def _quarantine(server: RestoredServer, reason: str, by: str) -> bool:
    try:
        server.ask(lambda: quarantine(reason, **({"by": by} if by else {})))
    except DatabaseError as error:
        raise BackupError(
            f"The restored database can't be put into quarantine: {str(error).strip().splitlines()[0]}. If its backup "
            "is older than the tables for that, restore it with the version of Punctual that it ran then, or to a "
            "later moment."
        ) from error
    return True


def _lost(recovery: Recovery) -> dict[str, str]:
    return dict(recovery.feeder.lost) if recovery.feeder else {}


def _prove(recovery: Recovery) -> None:
    """It was restored and has started; a place that can only be read isn't told."""
    if recovery.taken_from is not None:
        try:
            note_proof(recovery.taken_from, recovery.base, datetime.now(UTC))
        except FAULTS:
            return


def _spool(whose: str) -> Path | None:
    return Path(conf().BACKUP_SPOOL) / whose if conf().BACKUP_SPOOL else None


def _refuse_taken(folder: Path) -> None:
    if folder.is_mount():  # it can't be replaced, and what is restored would be made beside it, on another disk
        raise BackupError(f"{folder} is the top folder of a disk. Name a new folder in it: {folder / 'postgres'}, say.")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BackupError(f"{folder} is there already and not empty; nothing is restored over it. Name a new folder.")


@contextmanager
def _work(folder: Path, say: Say) -> Iterator[tuple[Path, Account]]:
    """FOLDER.unfinished, ours alone; what a killed restore left there is cleared away. Of one that fails the log of its
    server is left, and nothing large."""
    work = folder.with_name(folder.name + UNFINISHED)
    try:
        work.mkdir(parents=True, mode=0o700, exist_ok=True)
    except OSError as error:
        raise BackupError(f"{work} can't be made: {error.strerror}. Name another folder.") from error
    with _held(work / "lock", work):
        leftover = [path for path in work.iterdir() if path.name != "lock"]
        if leftover:
            say(f"Clearing away what an earlier restore left in {work}")
            for path in leftover:
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        try:
            yield work, _opened(work)
        except Exception:
            for name in LARGE:
                shutil.rmtree(work / name, ignore_errors=True)
            raise
        shutil.rmtree(work)


@contextmanager
def _scratch(given: Path | None) -> Iterator[tuple[Path, Account]]:
    work = Path(tempfile.mkdtemp(prefix="punctual-verify-", dir=given))
    try:
        yield work, _opened(work)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _opened(work: Path) -> Account:
    """The account of the server, which may have to pass through."""
    account = server_account(work)
    if account.borrowed:
        work.chmod(0o711)
        if not account.can_enter(work):
            raise BackupError(
                f"PostgreSQL doesn't run as root but as {account.description}, which can't enter {work}. Name a folder "
                "that others may pass through to, or run this as an ordinary user."
            )
    return account


@contextmanager
def _held(path: Path, work: Path) -> Iterator[IO[str]]:
    with open(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise BackupError(f"Somebody else is restoring into {work} right now.") from error
        yield file


def _give_name(data: Path, folder: Path) -> None:
    if folder.exists():
        folder.rmdir()  # empty, or it would have been refused
    data.rename(folder)
