"""Owns the question whose account the servers run under; who may own which directory is decided in places."""

from __future__ import annotations

import os
import pwd
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import EmbeddedError

# PostgreSQL refuses to run as root, so root lends its servers an account that owns nothing of value.
UNPRIVILEGED = ("nobody", "daemon")


@dataclass(frozen=True)
class Account:
    """The user of the server processes; ``borrowed`` when it isn't the user we run as."""

    name: str
    uid: int
    gid: int
    borrowed: bool

    def popen_options(self) -> dict[str, Any]:
        """What subprocess needs to start a program under this account."""
        if not self.borrowed:
            return {}
        return {"user": self.uid, "group": self.gid, "extra_groups": []}

    def can_enter(self, directory: Path) -> bool:
        return self._succeeds(["/bin/sh", "-c", 'cd "$1"', "sh", str(directory)])

    def can_run(self, program: Path, *, reading: Path) -> bool:
        """Whether this account can execute the program and read a file that the program will need."""
        return self._succeeds(
            ["/bin/sh", "-c", 'test -r "$2" && exec "$1" --version', "sh", str(program), str(reading)]
        )

    def _succeeds(self, command: list[str]) -> bool:
        # Asking the kernel as that user is the only answer that also knows about ACLs and odd filesystems.
        try:
            done = subprocess.run(
                command,
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                **self.popen_options(),
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise EmbeddedError(
                f"Can't start a process as user {self.name!r} (uid {self.uid}): {error}. PostgreSQL doesn't "
                "run as root; start this as an ordinary user, or set DATABASE_URL and REDIS_URL to servers "
                "of your own."
            ) from error
        return done.returncode == 0


def server_account() -> Account:
    """The account for PostgreSQL and Valkey: our own, or an unprivileged one when we are root."""
    if os.geteuid() != 0:
        return Account(_own_name(), os.geteuid(), os.getegid(), borrowed=False)
    for name in UNPRIVILEGED:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(name, entry.pw_uid, entry.pw_gid, borrowed=True)
    raise EmbeddedError(
        f"PostgreSQL doesn't run as root, and none of the users {', '.join(UNPRIVILEGED)} exists to run it. "
        "Start this as an ordinary user, or set DATABASE_URL to a server of your own."
    )


def _own_name() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return f"uid {os.geteuid()}"
