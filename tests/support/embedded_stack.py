"""Owns what the tests of the embedded services share: homes that are cleaned up, and stacks in other processes."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
import redis

from tasks_app.embedded import processes

CHECKOUT = Path(__file__).resolve().parents[2]
AS_ROOT = os.geteuid() == 0
NOBODY = pwd.getpwnam("nobody")


class Holder:
    """A stack held by another process."""

    def __init__(self, home: Path, *flags: str, **options: Any) -> None:
        self.home = home
        self._process = subprocess.Popen(
            [sys.executable, "-B", "-m", "tests.support.embedded_holder", str(home), *flags],
            cwd=CHECKOUT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            **options,
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    def answer(self) -> dict[str, Any]:
        """What it printed when its stack answered or failed."""
        return json.loads(self._process.stdout.readline())

    def kill(self) -> None:
        self._process.kill()
        self.close()

    def close(self) -> int:
        self._process.stdin.close()
        self._process.stdout.close()
        return self._process.wait()


@contextmanager
def held_stack(home: Path, *flags: str, **options: Any) -> Iterator[Holder]:
    holder = Holder(home, *flags, **options)
    try:
        yield holder
    finally:
        holder.close()


@contextmanager
def open_directory() -> Iterator[Path]:
    """One that every user may pass through, so that also as root the data of a home in it stays there: in memory, if
    that is where temporary files go. Elsewhere an initdb takes nearly twice the processor time."""
    path = Path(tempfile.mkdtemp(prefix="punctual-test-"))
    path.chmod(0o755)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def remove_home(home: Path) -> None:
    """Leave nothing of a home, here or elsewhere, and no server of it alive."""
    servers = (home / "servers").resolve()
    for program, marker in (("postgres", f"-D {servers}/postgres"), ("valkey-server", f"--dir {servers}/valkey")):
        for pid in processes.find(program, marker):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    shutil.rmtree(servers, ignore_errors=True)
    shutil.rmtree(home, ignore_errors=True)


def write_row(database_url: str, text: str) -> None:
    with psycopg.connect(database_url) as connection:
        connection.execute("DROP TABLE IF EXISTS kept")
        connection.execute("CREATE TABLE kept (text text)")
        connection.execute("INSERT INTO kept VALUES (%s)", [text])


def read_rows(database_url: str) -> list[str]:
    with psycopg.connect(database_url) as connection:
        return [text for (text,) in connection.execute("SELECT text FROM kept ORDER BY text")]


def setting(database_url: str, name: str) -> str:
    with psycopg.connect(database_url) as connection:
        return connection.execute("SELECT current_setting(%s)", [name]).fetchone()[0]


def ping(redis_url: str) -> bool:
    with closing(redis.Redis.from_url(redis_url)) as client:
        return client.ping()


def modes(*paths: Path) -> dict[str, tuple[int, int, int]]:
    """Mode and owner of each path and of every directory above it."""
    every = {above for path in paths for above in (path, *path.parents)}
    found = {str(path): path.stat() for path in every}
    return {path: (stat.st_mode, stat.st_uid, stat.st_gid) for path, stat in sorted(found.items())}


def alive(pid: int) -> bool:
    """Whether a process with this pid runs, a zombie not counted."""
    if sys.platform == "linux":
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2]
        except (FileNotFoundError, ProcessLookupError):
            return False
    else:
        state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True).stdout
    return state.strip()[:1] not in ("", "Z", "X")
