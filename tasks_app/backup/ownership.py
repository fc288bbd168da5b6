"""Whether this database may write among the backups of its server. A copy has the same system identifier: its log and
its bases would lie among the original's, and those would be dropped for them."""

from __future__ import annotations

from typing import NamedTuple

from tasks_app.conf import conf
from tasks_app.core.installation import Finding, Limits, compare
from tasks_app.lifecycle.installation import Row, read_facts, read_installation, stranger

from .errors import BackupError

RULE = (
    "A copy has the same backups as its original, so nothing is written to them, and none of them goes, until somebody "
    "says what this database is: `manage.py quarantine show`"
)
ELSEWHERE = (
    'Its backups are no business of this process, so nothing is done. Set DATABASE_URL or PUNCTUAL["ENVIRONMENT"] to '
    "what belongs together"
)


class Hold(NamedTuple):
    """Why nothing may be written to the places."""

    why: str  # a sentence or two, without the last stop
    stranger: bool  # nor to the database: it belongs to another environment


def held() -> Hold | None:
    """None: the database is the installation's own. Nothing is concluded or noted here: a beat that reaches the server
    by another address may know it for a standby of ours."""
    row = read_installation()
    if row is None:
        return None  # nobody has ever looked, so there is nothing to tell it by
    if other := stranger(row):
        return Hold(f"{other} {ELSEWHERE}", True)
    what = _doubt(row)
    return Hold(f"{what} {RULE}", False) if what else None


def refuse_copy() -> None:
    if hold := held():
        raise BackupError(f"{hold.why}.")


def _doubt(row: Row) -> str:
    """What speaks against it. A clone of a whole machine looks like its original, so any quarantine counts."""
    if row.quarantined:
        return f"This database is in quarantine{f' ({why})' if (why := row.reason.rstrip('.')) else ''}."
    if row.rehearsing:
        return "This database is used for a rehearsal."
    found = compare(row.known, read_facts(), Limits(conf().FAILOVER_SECONDS, conf().database_addresses))
    return found.reason if found.finding is Finding.COPY else ""
