"""Days that have left the database for an archive in a folder."""

from pathlib import Path

from tasks_app.archive.leave import leave_all
from tasks_app.sql import execute
from tests.support.archive import days_ago, folder, past_day

COLD_IDS = (*range(1, 21), *range(101, 121))


def fill_archive(root: Path, tenant: str | None = None) -> None:
    """Two days of twenty tasks each: 25 days ago those with the ids 101 to 120, 30 days ago 1 to 20.

    The task N has the key `k<N>` in three digits, tenant `tenant-<N mod 3>` unless one is given, and type
    `TYPE_<N mod 2>`; the odd ones are cancelled.
    """
    execute("DELETE FROM punctual_leaving")
    for ago, first in ((30, 1), (25, 101)):
        past_day(days_ago(ago), range(first, first + 20))
    execute("UPDATE punctual_past SET tenant = coalesce(%(tenant)s::text, tenant)", {"tenant": tenant})
    leave_all(folder(root), "me")
    execute("SELECT setval(pg_get_serial_sequence('punctual_task', 'id'), 1000)")
