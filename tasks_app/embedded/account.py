"""Owns the question of whose account the servers run under; who may own which directory is decided in places."""

from __future__ import annotations

import hashlib
import os
import pwd
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import EmbeddedError

# PostgreSQL refuses to run as root, so root's servers get a user id that nothing else on the machine has: an account
# that others share, such as nobody, would make each of its processes their master. No system hands these out
# (https://systemd.io/UIDS-GIDS/).
OWN_UIDS = range(60706, 61184)
# initdb looks its user up by name, so it alone runs as one of these, in a group of our own.
NAMED = ("nobody", "daemon")


@dataclass(frozen=True)
class Account:
    """The user of the server processes; ``borrowed`` when it isn't the user we run as."""

    name: str
    uid: int
    gid: int
    borrowed: bool

    @property
    def description(self) -> str:
        return f"user {self.name!r} (uid {self.uid})" if self.name else f"uid {self.uid}"

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
                f"Can't start a process as {self.description}: {error}. PostgreSQL doesn't "
                "run as root; start this as an ordinary user, or set DATABASE_URL and REDIS_URL to servers "
                "of your own."
            ) from error
        return done.returncode == 0


def server_account(home: Path) -> Account:
    """The account for PostgreSQL and Valkey: ours, or, when we are root, an id that only this home's servers have."""
    if os.geteuid() != 0:
        return Account(_name_of(os.geteuid()), os.geteuid(), os.getegid(), borrowed=False)
    first = int.from_bytes(hashlib.sha256(os.fsencode(home)).digest()[:8], "big") % len(OWN_UIDS)
    for uid in (*OWN_UIDS[first:], *OWN_UIDS[:first]):
        if not _name_of(uid):
            return Account("", uid, uid, borrowed=True)
    raise EmbeddedError(
        f"PostgreSQL doesn't run as root, and every user id from {OWN_UIDS[0]} to {OWN_UIDS[-1]} is somebody's. "
        "Start this as an ordinary user, or set DATABASE_URL to a server of your own."
    )


def named_account(servers: Account) -> Account:
    """Who runs initdb: the servers' account if it has a name, else one that has, in the servers' group."""
    if not servers.borrowed:
        return servers
    for name in NAMED:
        with suppress(KeyError):
            return Account(name, pwd.getpwnam(name).pw_uid, servers.gid, borrowed=True)
    raise EmbeddedError(
        f"initdb doesn't run as root, and none of the users {', '.join(NAMED)} exists to run it. "
        "Start this as an ordinary user, or set DATABASE_URL to a server of your own."
    )


def earlier_uids() -> set[int]:
    """Who may own what an earlier start of ours left behind: servers ran as nobody once, and a home may be moved."""
    found = set(OWN_UIDS)
    for name in NAMED:
        with suppress(KeyError):
            found.add(pwd.getpwnam(name).pw_uid)
    return found


def _name_of(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return ""
