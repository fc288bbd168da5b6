"""A server made of a base and the log, in a folder of its own and on a socket that nobody else can reach.

WORK/data       what becomes the data directory
WORK/feed       the log, on its way to it
WORK/sockets    ours and the server's account's alone
WORK/server     who may come in, its settings and its log; nothing of it is left in the data
"""

from __future__ import annotations

import hashlib
import io
import os
import pwd
import re
import shutil
import signal
import tarfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote

import psycopg
import pyarrow as pa

from tasks_app.database import our_connection
from tasks_app.embedded.account import Account
from tasks_app.embedded.places import close_sockets, open_private, open_sockets
from tasks_app.embedded.server import Server

from .base import Base, Progress
from .errors import BackupError
from .feeding import Feeder
from .places import CHUNK, FAULTS, Store
from .programs import Programs
from .sources import Sources

PORT = "5432"  # only part of the socket's name
LOOK_SECONDS = 0.1
# None of what the original had: its archive_command, its listen_addresses and its libraries are none of this server's
# business. Without hot_standby its own limits, such as max_connections, need not be those of the original.
SETTINGS = {
    "listen_addresses": "",
    "port": PORT,
    "hot_standby": "off",
    "archive_mode": "off",
    "max_connections": "20",
    "max_wal_size": "4GB",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "default_transaction_read_only": "off",
    "logging_collector": "off",
    "unix_socket_permissions": "0700",
}

RECOVERING = {"recovery_target_timeline": "current", "recovery_target_action": "promote", "autovacuum": "off"}
# Whoever the original's commits waited for is not there.
SERVING = {"max_connections": "200", "wal_level": "replica", "synchronous_standby_names": ""}

# What a server says that will let us in later; it speaks English, since its environment has LC_ALL=C.
NOT_YET = ("the database system is", "too many clients", "remaining connection slots")

# How much tarfile has in its hands. It copies what is left of that whenever it reads a header or a small file, so the
# more there is, the longer it takes.
TAR_BYTES = 64 << 10

_WAITS = re.compile(r"\s*+synchronous_standby_names\s*+=?\s*+(?:'((?:[^']|'')*)'|([\w.-]+))", re.IGNORECASE)

Answer = TypeVar("Answer")


def extract(store: Store, base: Base, data: Path, account: Account, progress: Progress) -> None:
    """Unpack a base; an OSError if it is not what was written."""
    owner = (account.uid, account.gid) if account.borrowed else None
    with store.open(base.tar) as file:
        hashed = _Hashed(file)
        unpacked = io.BufferedReader(_Plain(pa.CompressedInputStream(pa.PythonFile(hashed, mode="r"), "zstd")), CHUNK)
        try:
            with tarfile.open(fileobj=unpacked, mode="r|", bufsize=TAR_BYTES) as tar:
                done = 0
                for member in tar:
                    _put(tar, member, data, owner)
                    done += member.size
                    progress(done, base.bytes)
            while unpacked.read(CHUNK):
                pass
        except (*FAULTS, tarfile.TarError, EOFError) as error:
            raise OSError(f"{base.tar} in {store.label} is damaged, or can't be unpacked here: {error}") from error
    if hashed.digest.hexdigest() != base.sha256:
        raise OSError(f"{base.tar} in {store.label} is damaged: its checksum is not the one that it was written with")


def _put(tar: tarfile.TarFile, member: tarfile.TarInfo, data: Path, owner: tuple[int, int] | None) -> None:
    """One file, for the server's account alone. Nothing that could lead out of the folder."""
    target = data / member.name
    if ".." in Path(member.name).parts or not target.is_relative_to(data):
        raise OSError(f"the backup has a file {member.name!r}, which would lie outside of its folder")
    if member.isdir():
        target.mkdir(mode=0o700, exist_ok=True)
    elif member.isreg():
        content = tar.extractfile(member)
        assert content is not None
        with open(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600), "wb") as file:
            while chunk := content.read(CHUNK):
                file.write(chunk)
    else:
        raise OSError(f"the backup has {member.name!r}, which is neither a file nor a folder")
    if owner:
        os.chown(target, *owner, follow_symlinks=False)


class _Hashed(io.RawIOBase):
    """What is read from a place, with its checksum."""

    def __init__(self, file: pa.NativeFile) -> None:
        self._file, self.digest = file, hashlib.sha256()

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data: bytes = self._file.read(size if size >= 0 else None)
        self.digest.update(data)
        return data


class _Plain(io.RawIOBase):
    """Arrow's stream as one of Python's."""

    def __init__(self, stream: pa.NativeFile) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


class Login(NamedTuple):
    """As whom we come into which database: by name, since `all` means everybody in pg_ident.conf only from
    PostgreSQL 16 on."""

    user: str
    database: str

    @classmethod
    def of(cls, base: Base) -> Login:
        """What the original had, which the backup knows; one that a version before has made doesn't."""
        given = our_connection().settings_dict
        user = base.user or given["USER"] or os.environ.get("PGUSER") or pwd.getpwuid(os.geteuid()).pw_name
        return cls(user, base.database or given["NAME"])


class RestoredServer(Server):
    """The PostgreSQL of a restore. It ends with us, at whatever moment."""

    title = "The restored PostgreSQL"
    program = "postgres"
    death_signal = signal.SIGQUIT
    stop_signals = ((signal.SIGINT, 600.0), (signal.SIGQUIT, 10.0), (signal.SIGKILL, 10.0))

    def __init__(
        self,
        account: Account,
        programs: Programs,
        work: Path,
        data: Path,
        settings: dict[str, str],
        login: Login,
    ) -> None:
        self.login = login
        folder = work / "server"
        folder.mkdir(mode=0o755, exist_ok=True)
        folder.chmod(0o755)
        super().__init__(account, folder / "postgres.log")
        self.data = data
        self._work, self.sockets = work, open_sockets(work, account)
        self._program = programs.server_folder(account) / self.program
        names = sorted({pwd.getpwuid(uid).pw_name for uid in {os.geteuid(), 0}})
        files = {
            "hba_file": ("pg_hba.conf", "local all,replication all peer map=ours\n"),
            "ident_file": ("pg_ident.conf", "".join(f"ours {_quoted(name)} {_quoted(login.user)}\n" for name in names)),
            "config_file": ("postgresql.conf", ""),
        }
        for name, text in files.values():
            (folder / name).write_text(text)
            (folder / name).chmod(0o644)
        paths = {setting: str(folder / name) for setting, (name, _) in files.items()}
        self.settings = SETTINGS | paths | {"unix_socket_directories": f'"{self.sockets}"'} | settings

    def command(self) -> list[str]:
        options = [part for name, value in self.settings.items() for part in ("-c", f"{name}={value}")]
        return [str(self._program), *self.marker().split(" ", 1), *options]

    def marker(self) -> str:
        return f"-D {self.data}"

    @property
    def url(self) -> str:
        user, database = quote(self.login.user, safe=""), quote(self.login.database, safe="")
        return f"postgresql://{user}@/{database}?host={quote(str(self.sockets), safe='')}&port={PORT}"

    def stop(self) -> None:
        super().stop()
        close_sockets(self.sockets, self._work)

    def answers(self) -> bool:
        user, database = self.login
        try:
            with psycopg.connect(host=str(self.sockets), port=PORT, user=user, dbname=database, connect_timeout=5):
                return True
        except psycopg.OperationalError as error:
            self.refusal = str(error).strip()
            return False

    @property
    def refuses(self) -> bool:
        """It has recovered, and doesn't let us in: to wait is of no use."""
        return "FATAL:" in self.refusal and not any(words in self.refusal for words in NOT_YET)

    def ask(self, call: Callable[[], Answer]) -> Answer:
        """What the call answers while our database is this one: in a thread of its own, whose connection leads here."""
        answer: list[Answer] = []
        failure: list[BaseException] = []

        def asking() -> None:
            connection = our_connection()
            given = connection.settings_dict
            kept = {name: value for name, value in given["OPTIONS"].items() if name in ("options", "prepare_threshold")}
            here = {"HOST": str(self.sockets), "PORT": PORT, "PASSWORD": "", "OPTIONS": kept, "CONN_MAX_AGE": 0}
            connection.settings_dict = given | here | {"USER": self.login.user, "NAME": self.login.database}
            try:
                answer.append(call())
            except BaseException as error:
                failure.append(error)
            finally:
                connection.close()

        thread = threading.Thread(target=asking)
        thread.start()
        thread.join()
        if failure:
            raise failure[0]
        return answer[0]


class Recovery:
    """A base in WORK/data, brought to the last moment of the log, or to a time."""

    def __init__(self, programs: Programs, account: Account, work: Path, sources: Sources, base: Base) -> None:
        self.programs, self.account, self.work = programs, account, work
        self.sources, self.base = sources, base
        self.data = open_private(work / "data", account)
        self.feeder: Feeder | None = None
        self.server: RestoredServer | None = None
        self.taken_from: Store | None = None

    def unpack(self, progress: Progress) -> None:
        """From the first place whose copy is sound."""
        problems = []
        for store, _ in self.sources.bases[self.base.label]:
            try:
                extract(store, self.base, self.data, self.account, progress)
            except FAULTS as error:
                problems.append(str(error))
                _empty(self.data)
                continue
            self.taken_from = store
            return
        raise BackupError(f"Base backup {self.base.label} can't be read: {'; '.join(problems)}.")

    def replay(
        self,
        *,
        to: datetime | None = None,
        timeline: int | None = None,
        until_consistent: bool = False,
        progress: Progress = lambda done, total: None,
    ) -> RestoredServer:
        """Start the server on it, and return when it has recovered and answers; along a timeline, the base's own if not
        given."""
        names = [] if until_consistent else self.sources.segments_since(self.base, timeline)
        feed = open_private(self.work / "feed", self.account)
        self.feeder = feeder = Feeder(
            self.sources, feed, [*([] if until_consistent else self.sources.histories()), *names]
        )
        settings = RECOVERING | {"restore_command": feeder.command(self.data)}
        # By its number only if it must be: then its history has to be there, too.
        if timeline not in (None, self.base.timeline):
            settings["recovery_target_timeline"] = str(timeline)
        if until_consistent:
            settings["recovery_target"] = "immediate"
        elif to is not None:
            settings["recovery_target_time"] = to.astimezone(UTC).isoformat(sep=" ")
        _signal(self.data, self.account)
        login = Login.of(self.base)
        self.server = server = RestoredServer(self.account, self.programs, self.work, self.data, settings, login)
        feeder.start()
        try:
            server.spawn()
            while not server.answers():
                progress(feeder.asked() + 1, max(1, feeder.total))
                if not server.alive:
                    raise BackupError(self._why_not(to))
                if server.refuses:
                    raise BackupError(
                        f"The restored server has recovered, but refuses us: {server.refusal}. Set DATABASE_URL to the "
                        "user and the database that the original had; its host and password don't matter."
                    )
                time.sleep(LOOK_SECONDS)
        except BaseException:
            self.close()
            raise
        finally:
            feeder.stop()
        return server

    def close(self) -> None:
        if self.feeder:
            self.feeder.stop()
        if self.server:
            self.server.stop()

    def _why_not(self, to: datetime | None) -> str:
        assert self.server is not None
        tail = self.server.log_tail(30)
        if "recovery ended before configured recovery target was reached" in tail:
            return (
                f"The log ends before {to.isoformat() if to else 'that moment'}. Restore to an earlier time, or to the "
                "last moment: leave --to out."
            )
        return f"The restored server ended with status {self.server.exit_status}. Its log ends with:\n{tail}"


def _quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def _signal(data: Path, account: Account) -> None:
    """The file that makes it a recovery; and none of the settings that somebody gave the original with ALTER SYSTEM."""
    for name in ("standby.signal", "postmaster.pid"):
        (data / name).unlink(missing_ok=True)
    (data / "recovery.signal").touch(mode=0o600)
    if account.borrowed:
        os.chown(data / "recovery.signal", account.uid, account.gid)
    # Set aside while it recovers: an archive_command in it would count for more than ours.
    own = data / "postgresql.auto.conf"
    if own.exists():
        own.rename(data.parent / "postgresql.auto.conf")


def settings_back(data: Path) -> None:
    """What ALTER SYSTEM had set in the original is in the data again."""
    aside = data.parent / "postgresql.auto.conf"
    if aside.exists():
        aside.rename(data / "postgresql.auto.conf")


def waits_for(data: Path) -> str:
    """Whom each commit waits for by the settings in the data, as synchronous_standby_names says it."""
    found = ""
    for name in ("postgresql.conf", "postgresql.auto.conf"):  # the later ones count
        with suppress(OSError):
            for line in (data / name).read_text(errors="replace").splitlines():
                if given := _WAITS.match(line):
                    found = given[1] if given[1] is not None else given[2]
    return found


def _empty(folder: Path) -> None:
    for path in folder.iterdir():
        with suppress(FileNotFoundError):
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
