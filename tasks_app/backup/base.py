"""Base backups: a copy of the whole server, taken while it works, written to all places at once and read back."""

from __future__ import annotations

import hashlib
import logging
import re
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo

from tasks_app.conf import conf
from tasks_app.core.wal import lsn_text, parse_lsn
from tasks_app.documentation import page
from tasks_app.embedded.processes import end_child
from tasks_app.sql import run

from .errors import BackupError
from .places import FAULTS, Store, packed
from .programs import Link, Programs, link
from .server import ServerFacts

logger = logging.getLogger(__name__)

FOLDER = "base"
TAR, ABOUT, PROVED = "base.tar.zst", "backup.json", "proved.json"
LAYOUT = 1
BLOCK = 8 << 20  # of what is packed into one frame
NICE = "10"  # who serves tasks goes first

Progress = Callable[[int, int], None]  # bytes so far, and about how many there will be


@dataclass(frozen=True, slots=True)
class Base:
    label: str
    system: str
    version: int
    timeline: int
    start: int  # positions of the log between which it is not consistent yet
    end: int
    segment_bytes: int
    began: datetime
    ended: datetime
    bytes: int
    stored_bytes: int
    sha256: str
    layout: int = LAYOUT
    user: str = ""  # as whom the installation was in which database; empty: a version before did not keep it
    database: str = ""

    @property
    def folder(self) -> str:
        return f"{FOLDER}/{self.label}"

    @property
    def tar(self) -> str:
        return f"{self.folder}/{TAR}"

    def to_json(self) -> dict[str, Any]:
        words = {"start": lsn_text(self.start), "end": lsn_text(self.end)}
        return asdict(self) | words | {"began": self.began.isoformat(), "ended": self.ended.isoformat()}

    @classmethod
    def from_json(cls, told: dict[str, Any]) -> Base:
        if told["layout"] > LAYOUT:
            raise OSError(f"it was written by a later version of Punctual (layout {told['layout']})")
        moments = {name: datetime.fromisoformat(told[name]) for name in ("began", "ended")}
        known = {field.name: told[field.name] for field in fields(cls) if field.name in told}
        return cls(**known | moments | {name: parse_lsn(told[name]) for name in ("start", "end")})


@dataclass(frozen=True, slots=True)
class Proof:
    """That a base was restored, and the server started."""

    label: str
    at: datetime


def bases_in(store: Store) -> list[Base]:
    """The complete ones of a place, the newest last. One that can't be read is only logged: it hides no other."""
    found, unreadable = read_bases(store)
    for label, error in unreadable.items():
        logger.warning("backup.base_unreadable place=%s label=%s error=%s", store.label, label, error)
    return found


def read_bases(store: Store) -> tuple[list[Base], dict[str, str]]:
    """The complete ones of a place, the newest last; and by label, what is wrong with those that can't be read."""
    found: list[Base] = []
    unreadable: dict[str, str] = {}
    for name in [name for name, _ in store.names(FOLDER) if name.endswith(f"/{ABOUT}")]:
        try:
            found.append(Base.from_json(store.get_json(f"{FOLDER}/{name}")))
        except (*FAULTS, KeyError, ValueError, TypeError) as error:
            unreadable[name.partition("/")[0]] = f"its {ABOUT} can't be read: {error}".rstrip(".")
    return sorted(found, key=lambda one: one.ended), unreadable


def proofs_in(store: Store) -> list[Proof]:
    """The newest last."""
    names = [name for name, _ in store.names(FOLDER) if name.endswith(f"/{PROVED}")]
    told = [(name.partition("/")[0], store.get_json(f"{FOLDER}/{name}")) for name in names]
    return sorted((Proof(label, datetime.fromisoformat(one["at"])) for label, one in told), key=lambda one: one.at)


def note_proof(store: Store, base: Base, at: datetime) -> None:
    store.put_json(f"{base.folder}/{PROVED}", {"at": at.isoformat()})


def take_base(
    facts: ServerFacts,
    programs: Programs,
    places: Sequence[Store],
    *,
    fast: bool = False,
    progress: Progress = lambda done, total: None,
) -> tuple[Base, dict[str, str]]:
    """A new base in every place that can be written to; and by place, what was wrong with the others."""
    began: datetime = run("clock", {})[0][0].astimezone(UTC)
    label = f"{began:%Y%m%dT%H%M%S}-{began.microsecond // 1000:03}Z"
    way, name = link(), f"{FOLDER}/{label}/{TAR}"
    with _log_kept(way, label), ExitStack() as stack:
        copies = _Copies(places, name, stack)
        said = _copy(programs, way, label, fast, copies, lambda done: progress(done, facts.bytes))
        copies.finish()
    ended: datetime = run("clock", {})[0][0].astimezone(UTC)
    base = Base(
        label,
        facts.system,
        facts.version,
        *_positions(said),
        facts.segment_bytes,
        began,
        ended,
        copies.bytes,
        copies.stored,
        copies.sha256,
        user=facts.user,
        database=facts.database,
    )
    for store in copies.whole():
        with copies.excused(store):
            store.put_json(f"{base.folder}/{ABOUT}", base.to_json())
    copies.refuse_none()
    logger.info("backup.base label=%s bytes=%d stored=%d", label, base.bytes, base.stored_bytes)
    return base, copies.errors


class _Copies:
    """One file in several places; one that fails is left out, and the others go on."""

    def __init__(self, places: Sequence[Store], name: str, stack: ExitStack) -> None:
        self.errors: dict[str, str] = {}
        self.bytes = self.stored = 0
        self._name = name
        self._digest = hashlib.sha256()
        self._files: dict[Store, Any] = {}
        for store in places:
            with self.excused(store):
                file = self._files[store] = store.create(name)
                stack.callback(_close, file)
        self.refuse_none()

    @property
    def sha256(self) -> str:
        return self._digest.hexdigest()

    def whole(self) -> list[Store]:
        return [store for store in self._files if store.label not in self.errors]

    def write(self, data: bytes) -> None:
        frame = packed(data)
        self._digest.update(frame)
        self.bytes += len(data)
        self.stored += len(frame)
        for store in self.whole():
            with self.excused(store):
                self._files[store].write(frame)
        self.refuse_none()

    def finish(self) -> None:
        for store in self.whole():
            with self.excused(store):
                self._files[store].close()
                store.finish(self._name, self.sha256)
        self.refuse_none()

    def refuse_none(self) -> None:
        if not self.whole():
            told = "; ".join(f"{label}: {error}" for label, error in self.errors.items())
            raise BackupError(f"No place could be written to, so there is no backup. {told}.")

    @contextmanager
    def excused(self, store: Store) -> Iterator[None]:
        try:
            yield
        except FAULTS as error:
            self.errors[store.label] = str(error).rstrip(".")
            logger.warning("backup.place_away place=%s error=%s", store.label, error)


def _close(file: Any) -> None:
    with suppress(*FAULTS):  # told before, or it is all written
        file.close()


def _copy(
    programs: Programs, way: Link, label: str, fast: bool, copies: _Copies, progress: Callable[[int], None]
) -> str:
    """Everything that pg_basebackup sends goes to the copies; the answer is what it said."""
    command = [
        *("nice", "-n", NICE, programs.path("pg_basebackup"), "--pgdata=-", "--format=tar", "--wal-method=fetch"),
        *(f"--checkpoint={'fast' if fast else 'spread'}", f"--label=punctual {label}", "--manifest-checksums=SHA256"),
        *("--no-password", "--verbose", "--dbname", way.conninfo),
        *([f"--max-rate={rate * 1000:.0f}k"] if (rate := conf().BACKUP_MB_A_SECOND) else []),
    ]
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=way.environment,
        bufsize=BLOCK,
    )
    output, errors = process.stdout, process.stderr
    assert output is not None and errors is not None  # both are pipes
    said: list[bytes] = []
    reader = threading.Thread(target=lambda: said.append(errors.read()), daemon=True)
    reader.start()
    try:
        while data := output.read(BLOCK):
            copies.write(data)
            progress(copies.bytes)
        process.wait()
    finally:
        end_child(process)
        reader.join(5.0)
        for pipe in (output, errors):
            pipe.close()
    text = b"".join(said).decode(errors="replace").strip()
    if process.returncode != 0:
        raise BackupError(f"pg_basebackup failed with exit status {process.returncode}: {_refusal(text)}")
    return text


def _refusal(text: str) -> str:
    lines = [line for line in text.splitlines() if "error" in line or "fatal" in line.lower()] or text.splitlines()
    told = " ".join(lines[-2:]) or "it said nothing"
    if "no pg_hba.conf entry" in told or "must be superuser or replication role" in told or "permission denied" in told:
        return (
            f"{told}. The user needs REPLICATION and a line `host replication …` in pg_hba.conf; see {page('backup')}."
        )
    if "single tablespace" in told:
        return f"{told}. A server with tablespaces of its own needs another tool; {page('backup')} names some."
    return told


def _positions(said: str) -> tuple[int, int, int]:
    """The timeline, and where the log begins and ends that makes the copy consistent."""
    start = re.search(r"log start point: ([0-9A-F]+/[0-9A-F]+) on timeline (\d+)", said)
    end = re.search(r"log end point: ([0-9A-F]+/[0-9A-F]+)", said)
    if not start or not end:
        raise BackupError(f"pg_basebackup didn't say which log its backup needs: {said}")
    return int(start[2]), parse_lsn(start[1]), parse_lsn(end[1])


@contextmanager
def _log_kept(way: Link, label: str) -> Iterator[None]:
    """Until the copy is complete, the server keeps the log that it needs; a slot that goes with this connection."""
    slot = "punctual_base_" + re.sub(r"\W", "_", label.lower())
    database = {} if "dbname=" in way.conninfo else {"dbname": "postgres"}
    password = way.environment.get("PGPASSWORD")
    info = make_conninfo(way.conninfo, **database, **({"password": password} if password else {}))
    try:
        with psycopg.connect(info, autocommit=True) as connection:
            connection.execute("SELECT pg_create_physical_replication_slot(%s, true, true)", [slot])
            yield
    except psycopg.Error as error:
        raise BackupError(
            f"The server can't keep its log for a backup: {str(error).strip()}. The user needs REPLICATION, wal_level "
            "must be replica or logical, and max_replication_slots and max_wal_senders must leave room for two more."
        ) from error


def newest(places: Sequence[Store]) -> Base | None:
    """Of all places that answer; a BackupError if none was found and no place could be read without a fault."""
    found: list[Base] = []
    faults: list[str] = []
    for store in places:
        try:
            bases, unreadable = read_bases(store)
        except FAULTS as error:
            bases, unreadable = [], {"all": str(error).rstrip(".")}
        found += bases
        if unreadable:
            faults.append(f"{store.label}: {'; '.join(unreadable.values())}")
            logger.warning("backup.place_unreadable place=%s error=%s", store.label, faults[-1])
    if not found and len(faults) == len(places):
        # Not None, for which a base would be made, again and again.
        raise BackupError(f"Whether there is a base backup can't be told. {'. '.join(faults)}.")
    return max(found, key=lambda one: one.ended, default=None)
