"""Owns PostgreSQL's programs: where those of the server's version are, and how they reach the server."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tasks_app.conf import conf
from tasks_app.database import our_connection
from tasks_app.embedded import EmbeddedError, binaries
from tasks_app.embedded.account import Account

from .errors import BackupError

NEEDED = ("pg_basebackup", "pg_receivewal", "pg_verifybackup", "pg_waldump", "postgres")
APPLICATION = "punctual_backup"  # for synchronous_standby_names
DEBIAN = "/usr/lib/postgresql/{major}/bin"
# What libpq knows of what Django's connection is given, but for sslpassword: it would be seen in a list of processes.
# The rest is psycopg's and Django's own.
_PASSED = re.compile(
    "host|hostaddr|port|user|dbname|passfile|channel_binding|connect_timeout|keepalives.*|tcp_user_timeout"
    "|ssl(?!password).*"
    "|gss.*|krb.*|service|target_session_attrs|load_balance_hosts|require_auth|options"
)


@dataclass(frozen=True, slots=True)
class Programs:
    folder: Path
    major: int
    embedded: bool = False

    def path(self, name: str) -> str:
        return str(self.folder / name)

    def server_folder(self, account: Account) -> Path:
        """Where `postgres` is for an account that may not be ours."""
        return binaries.postgres_bin(account) if self.embedded else self.folder


@dataclass(frozen=True, slots=True)
class Link:
    """How a program reaches the server: what may be seen in a list of processes, and what may not."""

    conninfo: str
    environment: Mapping[str, str]


def programs_for(major: int) -> Programs:
    """Those of this version of PostgreSQL: a backup can be started only by the version that it was made of."""
    seen = []
    for folder, embedded in _candidates(major):
        found = _major_in(folder)
        if found == major:
            return Programs(folder, major, embedded)
        seen.append(f"{folder} has version {found}" if found else f"{folder} has not all of {', '.join(NEEDED)}")
        if conf().BACKUP_PROGRAMS:
            break
    told = f" ({'; '.join(seen)})" if seen else ""
    raise BackupError(
        f"The server is PostgreSQL {major}, and its programs are not here{told}. Install them (on Debian, "
        f'postgresql-{major}), or set PUNCTUAL["BACKUP_PROGRAMS"] to the folder that has them.'
    )


def _candidates(major: int) -> Iterator[tuple[Path, bool]]:
    if given := conf().BACKUP_PROGRAMS:
        yield Path(given), False
        return
    with suppress(EmbeddedError):  # the wheel isn't installed
        yield binaries.postgres_install() / "bin", True
    yield Path(DEBIAN.format(major=major)), False
    if found := shutil.which("pg_basebackup"):
        yield Path(found).resolve().parent, False


def _major_in(folder: Path) -> int | None:
    """None unless all that are needed are there."""
    if not all(os.access(folder / name, os.X_OK) for name in NEEDED):
        return None
    said = subprocess.run([str(folder / "pg_basebackup"), "--version"], capture_output=True, text=True, check=False)
    found = re.search(r"\) (\d+)", said.stdout)
    return int(found[1]) if found else None


def link() -> Link:
    """To the server whose backups are made."""
    url = conf().BACKUP_DATABASE_URL
    given = _parsed(url) if url else our_connection().get_connection_params()
    password = given.get("password")
    passed = {name: str(value) for name, value in given.items() if value is not None and _PASSED.fullmatch(name)}
    passed.pop("options", None)  # they are for sessions with statements
    # Only what says how programs run: a PGHOST of somebody's environment must not lead them elsewhere.
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PG") or name == "PGPASSFILE"}
    kept |= {"LC_ALL": "C", "PGAPPNAME": APPLICATION}
    return Link(make_conninfo(**passed), kept | ({"PGPASSWORD": str(password)} if password else {}))


def _parsed(url: str) -> Mapping[str, Any]:
    try:
        return conninfo_to_dict(url)
    except psycopg.ProgrammingError:  # it quotes parts of the URL, which may be of the password
        raise BackupError(
            'PUNCTUAL["BACKUP_DATABASE_URL"] can\'t be read. Write it as postgresql://user:password@host:5432/name, '
            "with %xx for signs such as @, / and % in the password."
        ) from None
