"""What a backup has to know of the server: which one it is, its version, and how large it is."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.utils import Error as DatabaseError

from tasks_app.core.wal import PAGE
from tasks_app.sql import run

from .errors import BackupError


@dataclass(frozen=True, slots=True)
class ServerFacts:
    system: str  # its system identifier: all that is restored from its backups has the same one
    version: int  # such as 180003
    segment_bytes: int
    bytes: int  # of all databases
    user: str  # as whom this installation is there
    database: str

    @property
    def major(self) -> int:
        return self.version // 10_000


def ask_server() -> ServerFacts:
    try:
        [(system, version, segment, page, size, standby, user, database)] = run("backup_facts", {})
    except DatabaseError as error:
        raise BackupError(
            f"The database can't be asked: {str(error).strip()}. A backup is made of a server that runs."
        ) from error
    if standby:
        raise BackupError(
            'The database is a standby, which has no slot for a backup. Set PUNCTUAL["BACKUP_DATABASE_URL"] and '
            "DATABASE_URL to the primary, or to all hosts with target_session_attrs=read-write."
        )
    if page != PAGE:
        raise BackupError(f"The server has a wal_block_size of {page}; only {PAGE} is supported. Use pgBackRest.")
    return ServerFacts(str(system), version, segment, size, user, database)
