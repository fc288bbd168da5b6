"""An installation of the version before, with finished tasks in its live table: migrated in use, then moved in use."""

import os
import threading
import time
from datetime import timedelta

import psycopg
import pytest
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from tasks_app.client import schedule_many
from tasks_app.models import AnyTask, ScheduleTask
from tests.support.fleet import percentile
from tests.support.stack import url_of_test_database
from tests.support.wait import wait_until

BEFORE = "0023_audit_tenant_index"  # the last migration without a past
FULL = os.environ.get("PUNCTUAL_SCALE") == "full"
LOT, EVERY, LEAD = 20, 0.2, timedelta(seconds=1)  # so many tasks, so often, so long before they are due
LONGEST_WAIT = 1.0  # seconds that a statement of somebody else may have to wait for the migration

# Finished within the last ten days, in batches of a thousand; one in ten was cancelled before it ran. The columns of
# that time.
OLD_TASKS = """
INSERT INTO punctual_task (tenant, task_type, biz_key, status, execute_time, lane, shard, max_retry, start_time,
                           finish_time, payload, created_at, updated_at)
SELECT 'default', 'T_QUIET', 'old-' || md5(n::text) || n, CASE WHEN n %% 10 = 0 THEN 'CANCELLED' ELSE 'SUCCESS' END,
       ended - interval '1 second', 'default', n %% 16, 5, ended, ended, jsonb_build_object('n', n), ended, ended
FROM generate_series(1, %(rows)s) AS n
CROSS JOIN LATERAL (SELECT now() - interval '1 hour' - n / 1000 * interval '10000 days' / %(rows)s AS ended) AS moment
"""
# They were kept for a day, so nearly all tasks have none.
OLD_BATCHES = """
INSERT INTO punctual_batch (batch_no, task_type, lane, ids, dispatcher, claimed_at, lease_until, worker, started_at,
                            finished_at, ok)
SELECT gen_random_uuid(), 'T_QUIET', 'default', array_agg(id), 'beat', ended, ended, 'worker', ended, ended, count(*)
FROM (SELECT id, updated_at AS ended FROM punctual_task WHERE status = 'SUCCESS') AS t
WHERE ended > now() - interval '1 day'
GROUP BY ended
"""


def query(statement: str, params: object = None) -> tuple:
    with connection.cursor() as cursor:
        cursor.execute(statement, params)
        return cursor.fetchone()


@pytest.fixture
def installation_before(transactional_db):
    """The database as the version before left it; afterwards it is as it was."""
    call_command("migrate", "tasks_app", BEFORE, verbosity=0)
    yield
    call_command("migrate", "tasks_app", verbosity=0)


class OldVersion(threading.Thread):
    """Schedules, claims and settles as the version before does, all the time, and knows how long it had to wait."""

    STATEMENTS = (
        "INSERT INTO punctual_task (tenant, task_type, biz_key, status, execute_time, due_at, lane, shard, max_retry)"
        " VALUES ('default', 'T_QUIET', 'during-' || %(number)s, 'INIT', now(), now(), 'default', 0, 5)",
        "INSERT INTO punctual_batch (batch_no, task_type, lane, ids, dispatcher, claimed_at, lease_until)"
        " SELECT gen_random_uuid(), 'T_QUIET', 'default', array_agg(id), 'beat', now(), now() FROM punctual_task"
        " WHERE biz_key = 'during-' || %(number)s",
        "UPDATE punctual_task SET status = 'RUNNING', due_at = NULL, batch_no = (SELECT batch_no FROM punctual_batch"
        " WHERE finished_at IS NULL LIMIT 1) WHERE biz_key = 'during-' || %(number)s AND status = 'INIT'",
        "UPDATE punctual_task SET status = 'SUCCESS', batch_no = NULL, start_time = now(), finish_time = now(),"
        " updated_at = now() WHERE biz_key = 'during-' || %(number)s AND status = 'RUNNING'",
        "UPDATE punctual_batch SET finished_at = now(), started_at = now(), ok = 1 WHERE finished_at IS NULL",
    )

    def __init__(self) -> None:
        super().__init__()
        self.done, self.longest = 0, 0.0
        self.error: Exception | None = None
        self._over = threading.Event()

    def run(self) -> None:
        try:
            with psycopg.connect(url_of_test_database(), autocommit=True) as session:
                while not self._over.is_set():
                    for statement in self.STATEMENTS:
                        begun = time.monotonic()
                        session.execute(statement, {"number": self.done})
                        self.longest = max(self.longest, time.monotonic() - begun)
                    self.done += 1
        except Exception as error:
            self.error = error

    def stop(self) -> None:
        self._over.set()
        self.join(60)


class Load:
    """Tasks that are scheduled a little ahead, all the time; to be called often."""

    def __init__(self) -> None:
        self.scheduled, self._next = 0, 0.0

    def go_on(self) -> bool:
        """Whether there was one to schedule."""
        if time.monotonic() < self._next:
            return False
        self._next = time.monotonic() + EVERY
        keys = range(self.scheduled, self.scheduled + LOT)
        schedule_many("T_QUIET", [{"key": f"new-{key}", "at": timezone.now() + LEAD} for key in keys])
        self.scheduled += LOT
        return True


def contents(table: str, columns: str) -> tuple:
    """How many old rows there are, and what is in them."""
    return query(
        f"SELECT count(*), sum(hashtextextended(ROW({columns})::text, 0)::numeric) FROM {table}"
        " WHERE biz_key LIKE 'old-%%'"
    )


def migrate_in_use() -> OldVersion:
    old = OldVersion()
    old.start()
    wait_until(lambda: old.done > 3 or old.error, describe="the version before to be at work")
    call_command("migrate", "tasks_app", verbosity=0)
    enough = old.done + 3
    wait_until(lambda: old.done > enough or old.error, describe="the version before to go on after the migration")
    old.stop()
    return old


def upgrade(stack, rows: int, *, timeout: float) -> list[float]:
    """From the version before to a past that has everything; how late the tasks were that came meanwhile, in s."""
    with connection.cursor() as cursor:
        cursor.execute(OLD_TASKS, {"rows": rows})
        cursor.execute(OLD_BATCHES)
        cursor.execute("ANALYZE punctual_task, punctual_batch")
    (columns,) = query(
        "SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute"
        " WHERE attrelid = 'punctual_task'::regclass AND attnum > 0 AND NOT attisdropped"
    )
    before = contents("punctual_task", columns)
    assert before[0] == rows

    old = migrate_in_use()

    assert old.error is None
    assert old.longest < LONGEST_WAIT, f"a statement had to wait {old.longest:.2f} s for the migration"
    stack.beat()
    stack.worker()
    load = Load()
    # By the index of the units, so that asking disturbs nobody.
    moved = "SELECT NOT EXISTS (SELECT FROM punctual_task WHERE biz_key >= 'old-' AND biz_key < 'old.' AND current)"
    wait_until(lambda: load.go_on() and query(moved)[0] and load.scheduled >= 200, timeout, describe=stack.logs)
    new = ScheduleTask.objects.filter(biz_key__startswith="new-")
    wait_until(lambda: new.filter(status="SUCCESS").count() == load.scheduled, 30, describe=stack.logs)
    assert contents("punctual_past", columns) == before
    assert AnyTask.objects.filter(biz_key__startswith="during-", status="SUCCESS").count() == old.done
    return sorted((row.start_time - row.execute_time).total_seconds() for row in new)


@pytest.mark.scale
@pytest.mark.usefixtures("installation_before")
def test_an_installation_of_the_version_before_goes_on_while_it_is_migrated_and_loses_nothing(stack):
    upgrade(stack, 3_000, timeout=60)


@pytest.mark.scale
@pytest.mark.usefixtures("installation_before")
def test_five_million_tasks_are_moved_while_others_run_in_time(stack):
    if not FULL:
        pytest.skip("minutes long: run with PUNCTUAL_SCALE=full -m scale")
    stack.settings_module = "tests.fleet_settings"

    late = upgrade(stack, 5_000_000, timeout=1_000)

    assert percentile(late, 0.99) < 1.0
