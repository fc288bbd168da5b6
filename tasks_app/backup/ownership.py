"""Whether this database may write among the backups of its server.

A copy has the same system identifier: its log and bases would lie among the original's, which would go for them.
"""

from tasks_app.conf import conf
from tasks_app.core.installation import Finding, Limits, compare
from tasks_app.lifecycle.installation import read_facts, read_installation, stranger

from .errors import BackupError

WORDS = (
    "this database may be a copy, and the backups are the original's, so nothing is written there until somebody says "
    "what it is: `manage.py quarantine show`"
)


def not_ours() -> str:
    """Why nothing may be written; empty: it is the installation's own, even one that was put into quarantine."""
    row = read_installation()
    if row is None:
        return ""  # no beat has ever been here, so there is nothing to tell it by
    if other := stranger(row):
        return f"{other} So its backups are no business of this process"
    found = compare(row.known, read_facts(), Limits(conf().FAILOVER_SECONDS, conf().database_addresses)).finding
    # A restore has put it into quarantine itself, also where it looks like a standby that was promoted.
    doubtful = found is Finding.COPY or (row.quarantined and found is not Finding.SAME)
    return WORDS if doubtful or row.rehearsing else ""


def refuse_copy() -> None:
    if why := not_ours():
        raise BackupError(f"{why[0].upper()}{why[1:]}.")
