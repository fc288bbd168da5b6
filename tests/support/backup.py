"""Two places and a spool, and a stream to them from the server that the tests run on: real base backups, a real log."""

import os
import shutil
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg

from django_punctual import schedule
from tasks_app.backup.base import Base, newest
from tasks_app.backup.places import Store, stores
from tasks_app.backup.programs import link
from tasks_app.backup.receiver import slot_name
from tasks_app.backup.server import ask_server
from tasks_app.backup.stream import Stream
from tasks_app.core.wal import LEAST_RECORD, parse_lsn
from tasks_app.database import atomic
from tasks_app.engine.watch.backup_status import read_backups
from tasks_app.sql import execute, run
from tests.support.wait import wait_until

SECONDS = 120.0  # of a slow machine


class Ground:
    """A folder that the restored server's account can pass through, whoever runs the tests."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="punctual-backup-"))
        self.folder.chmod(0o711)
        self.a, self.b, self.spool = (self.folder / name for name in ("a", "b", "spool"))
        for place in (self.a, self.b):
            place.mkdir()
        self.base: Base | None = None
        self.forked: Any = None  # what a test file has made of it

    def settings(self) -> dict[str, object]:
        places = {"BACKUP_URLS": [str(self.a), str(self.b)], "BACKUP_SPOOL": str(self.spool)}
        return places | {"BACKUP_EVERY_HOURS": 24.0, "BACKUP_MB_A_SECOND": 0.0}

    def stores(self) -> list[Store]:
        return stores(ask_server().system)

    def discard(self) -> None:
        drop_slot()
        shutil.rmtree(self.folder, ignore_errors=True)


@contextmanager
def streaming(*, synchronous: bool = False) -> Iterator[Stream]:
    stream = Stream(synchronous=synchronous)
    try:
        yield stream
    finally:
        stream.close()


def begun() -> Base:
    """The base that a stream makes by itself when there is none, as `backup stream` runs it; it has ended again."""
    stream, stopped = Stream(), threading.Event()
    running = threading.Thread(target=stream.run, args=[stopped])
    running.start()
    try:
        wait_until(
            lambda: all(one.base and not one.late and not one.error for one in read_backups()),
            SECONDS,
            describe=lambda: read_backups(),
        )
    finally:
        stopped.set()
        running.join()
    base = newest(stream.places)
    assert base is not None
    return base


def ship(stream: Stream) -> None:
    """All that is committed by now is in every place that answers."""
    [(lsn,)] = execute("SELECT pg_current_wal_flush_lsn()::text")

    def there() -> bool:
        stream.run_once()
        reached = [one.position or 0 for one in stream.shippers if not one.error]
        return bool(reached) and min(reached) > parse_lsn(lsn) - LEAST_RECORD

    wait_until(there, SECONDS, describe=lambda: [stream.receiver.error, *(one.error for one in stream.shippers)])


def commit_task(key: str) -> int:
    """A task that is on the disk when this returns: the tests' server takes its time otherwise."""
    with atomic():
        execute("SET LOCAL synchronous_commit = on")
        schedule("T_PLAIN", key, delay=3600)
    [(number,)] = execute("SELECT max(id) FROM punctual_task")
    return number


def now():
    return run("clock", {})[0][0]


def drop_slot() -> None:
    """Or the server would keep its log for as long as the tests run."""
    way = link()
    with psycopg.connect(way.conninfo, autocommit=True) as connection, suppress(psycopg.Error):
        wait_until(
            lambda: (
                not connection.execute(
                    "SELECT FROM pg_replication_slots WHERE slot_name = %s AND active", [slot_name()]
                ).fetchone()
            ),
            SECONDS,
        )
        connection.execute("SELECT pg_drop_replication_slot(%s)", [slot_name()])


def damage(file: Path) -> None:
    """One byte in the middle."""
    with open(file, "rb+") as handle:
        handle.seek(os.path.getsize(file) // 2)
        byte = handle.read(1)
        handle.seek(-1, os.SEEK_CUR)
        handle.write(bytes([byte[0] ^ 0xFF]))
