"""An installation that has plain tables is carried over while the version before writes to them, and can go back."""

import threading
from collections.abc import Callable, Iterator
from importlib import import_module

import psycopg
import pytest
from django.db import connection

from tasks_app.sql import execute
from tasks_app.storage.isolation import set_up
from tasks_app.storage.partitions import EVER, partitions
from tests.support.marks import commits
from tests.support.partitions import DIRECT
from tests.support.wait import wait_until

pytestmark = commits
MIGRATION = import_module("tasks_app.migrations.0025_partitions")
EVENTS = import_module("tasks_app.migrations.0028_events")
CHAIN = import_module("tasks_app.migrations.0055_audit_chain")
# As the version before wrote them.
OLD_STATEMENTS = {
    "punctual_outbox": """
        INSERT INTO punctual_outbox (tenant, event, task_id)
        SELECT tenant, 'task.succeeded', id FROM (VALUES ('default', 1), ('default', 2)) AS moved(tenant, id)""",
    "punctual_attempt": """
        INSERT INTO punctual_attempt (
            task_id, attempt, batch_no, worker, started_at, finished_at, error_code, error_msg)
        SELECT 1, 1, gen_random_uuid(), 'w', clock_timestamp(), clock_timestamp(), 'E', ''
        FROM generate_series(1, 2)""",
    "punctual_minute_figures": """
        INSERT INTO punctual_minute_figures (minute, task_type, batches, ok, failed, run_us, lateness)
        SELECT date_trunc('minute', clock_timestamp()), gen_random_uuid()::text, 1, 1, 1, 1, '{}'
        FROM generate_series(1, 2) ON CONFLICT DO NOTHING RETURNING 1""",
    "punctual_audit_entry": """
        INSERT INTO punctual_audit_entry (
            operation, actor, verb, subject, task_id, outcome, reason, detail, tenant, task_type)
        SELECT gen_random_uuid(), 'olga', 'retry', given.subject, NULL, 'o', 'r', '{}', NULL, NULL
        FROM unnest(ARRAY['task 1', 'task 2']) AS given(subject)""",
}


def migrate() -> None:
    with connection.schema_editor(atomic=False) as editor:
        MIGRATION.cut(None, editor)
        MIGRATION.replace_functions(None, editor)
        EVENTS.build_index(None, editor)
    execute(CHAIN.WAITS)
    set_up()  # as `migrate` does at its end: the new tables have no rights yet


def migrate_back() -> None:
    with connection.schema_editor(atomic=False) as editor:
        MIGRATION.restore_functions(None, editor)
        MIGRATION.mend(None, editor)
    set_up()


@pytest.fixture
def plain_tables() -> Iterator[None]:
    migrate_back()
    yield
    migrate()


class Writer(threading.Thread):
    """Writes two rows at a time, one statement after the other, prepared once as our processes have it."""

    def __init__(self, table: str) -> None:
        super().__init__(daemon=True)
        self.table, self.written, self.failed = table, 0, []
        self._end = threading.Event()
        connection.ensure_connection()
        self._connection = psycopg.connect(connection.connection.info.dsn, autocommit=True, prepare_threshold=0)

    def run(self) -> None:
        with self._connection:
            while not self._end.is_set():
                try:
                    self._connection.execute(OLD_STATEMENTS[self.table])
                    self.written += 2
                except psycopg.Error as error:
                    self.failed.append(error)

    def end(self) -> None:
        self._end.set()
        self.join(20)


def count(table: str) -> int:
    return execute(f"SELECT count(*) FROM {table}")[0][0]


def while_it_writes(table: str, deed: Callable[[], None]) -> Writer:
    """The deed, with some statements before it, during it and after it."""
    writer = Writer(table)
    writer.start()
    try:
        for _ in (wait_until(lambda: writer.written > 20), deed()):
            seen = writer.written
        wait_until(lambda: writer.written > seen + 20 or writer.failed)
    finally:
        writer.end()
    return writer


@pytest.mark.parametrize("table", DIRECT)
def test_the_version_before_writes_during_the_change_and_after_it_and_nothing_is_lost(table, plain_tables):
    writer = while_it_writes(table, migrate)

    assert writer.failed == []
    assert count(table) == writer.written
    assert execute(f"SELECT count(*) FROM {table}_before") == [(writer.written,)]
    if table != "punctual_minute_figures":
        assert execute(f"SELECT count(DISTINCT id) FROM {table}") == [(writer.written,)]


@pytest.mark.parametrize("table", DIRECT)
def test_it_can_be_taken_back_with_all_rows(table):
    try:
        writer = while_it_writes(table, migrate_back)
    finally:
        migrate()

    assert writer.failed == []
    assert count(table) == writer.written
    assert partitions(table)[0].since == EVER


@pytest.mark.parametrize("left", ["check", "index", "both"])
def test_what_an_interrupted_run_left_behind_is_used_or_made_anew(left, plain_tables):
    table = "punctual_attempt"
    if left != "index":
        execute(f"ALTER TABLE {table} ADD CONSTRAINT {table}_before_check CHECK (finished_at < '2199-01-01') NOT VALID")
    if left != "check":
        execute(f"CREATE INDEX {table}_before_task ON {table} (task_id, id)")
        execute(f"UPDATE pg_index SET indisvalid = FALSE WHERE indexrelid = '{table}_before_task'::regclass")
    execute(OLD_STATEMENTS[table])

    migrate()

    assert count(table) == 2
    first = partitions(table)[0]
    assert (first.until.year == 2199) == (left != "index")
    assert execute(f"SELECT bool_and(indisvalid) FROM pg_index WHERE indrelid = '{table}_before'::regclass") == [
        (True,)
    ]
    assert execute("SELECT count(*) FROM pg_constraint WHERE conname LIKE '%%_before_check'") == [(0,)]


def test_a_check_that_would_soon_refuse_rows_is_made_anew(plain_tables):
    table = "punctual_attempt"
    soon = execute("SELECT clock_timestamp() + interval '1 hour'")[0][0]
    execute(f"ALTER TABLE {table} ADD CONSTRAINT {table}_before_check CHECK (finished_at < '{soon}') NOT VALID")

    migrate()

    assert partitions(table)[0].until > soon


def test_a_row_ahead_of_its_time_is_in_the_first_partition_too(plain_tables):
    execute(
        "INSERT INTO punctual_outbox (tenant, event, created_at) VALUES ('default', 'x', now() + interval '40 days')"
    )

    migrate()

    assert execute("SELECT count(*) FROM punctual_outbox_before") == [(1,)]


def test_one_that_fails_leaves_no_check_behind(plain_tables):
    """Whatever goes wrong: nobody may be refused a row for it some days later."""
    execute("CREATE TABLE punctual_outbox_default (id int)")
    try:
        with pytest.raises(Exception, match="punctual_outbox_default"):
            migrate()
        assert execute("SELECT count(*) FROM pg_constraint WHERE conname LIKE '%%_before_check'") == [(0,)]
        assert execute("SELECT relkind FROM pg_class WHERE relname = 'punctual_outbox' AND relkind = 'r'") != []
    finally:
        execute("DROP TABLE punctual_outbox_default")


def test_rights_go_over_to_the_new_table(plain_tables):
    execute("CREATE ROLE punctual_writer")
    try:
        execute("GRANT SELECT, INSERT ON punctual_outbox TO punctual_writer")
        migrate()
        execute("SET ROLE punctual_writer")
        execute(OLD_STATEMENTS["punctual_outbox"])
        execute(
            "SELECT punctual_make_partition('punctual_outbox', 'punctual_outbox_20310101', '2031-01-01', '2031-01-02')"
        )
        execute("SELECT punctual_drop_partition('punctual_outbox', 'punctual_outbox_20310101')")
        assert count("punctual_outbox") == 2
    finally:
        execute("RESET ROLE")
        execute("DROP OWNED BY punctual_writer")
        execute("DROP ROLE punctual_writer")
