"""Owns somebody who should not get in: `python -m tests.support.intruder UID GID DATABASE_URL REDIS_URL HOME`.

Started as root it becomes the user with that id for good, tries every door, and prints one line of JSON: what each try
came to, "in" where a door was open.
"""

from __future__ import annotations

import encodings.idna  # noqa: F401  (while we may still read it)
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import psycopg
import redis


def main(uid: str, gid: str, database_url: str, redis_url: str, home: str) -> None:
    servers = (Path(home) / "servers").resolve()
    pid = int((servers / "postgres/postmaster.pid").read_text().split()[0])
    os.setgroups([])
    os.setgid(int(gid))
    os.setuid(int(uid))
    doors: dict[str, Callable[[], object]] = {
        "database": lambda: psycopg.connect(database_url, connect_timeout=5).execute("SELECT current_user").fetchone(),
        "redis": lambda: redis.Redis.from_url(redis_url).ping(),
        "data": lambda: (servers / "postgres/pg_hba.conf").read_text(),
        "rules": lambda: (servers / "pg_hba.conf").open("a"),
        "announcement": lambda: (Path(home) / "stack.json").read_text(),
        "listing": lambda: os.listdir(home),
        "signal": lambda: os.kill(pid, signal.SIGCONT),
    }
    sys.stdout.write(json.dumps({name: attempt(door) for name, door in doors.items()}) + "\n")


def attempt(door: Callable[[], object]) -> str:
    try:
        door()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "in"


if __name__ == "__main__":
    main(*sys.argv[1:])
