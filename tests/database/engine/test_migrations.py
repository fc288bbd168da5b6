"""Migrations on a database that is in use: what was interrupted can be run again."""

from importlib import import_module

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder

from tasks_app.lifecycle.installation import read_installation
from tasks_app.models import OutboxEvent
from tasks_app.sql import execute
from tests.support.events import told
from tests.support.marks import commits
from tests.support.quarantine import noted

pytestmark = commits
INDEX = "0023_audit_tenant_index"  # the migration that builds one while the table is in use


@pytest.fixture(scope="module", autouse=True)
def _all_applied(django_db_setup, django_db_blocker):
    """Afterwards, again. In between each test begins where the one before has ended: all the way takes seconds."""
    yield
    with django_db_blocker.unblock():
        call_command("migrate", "tasks_app", verbosity=0)


def indexes_of_audit() -> dict[str, bool]:
    """By name, whether it is complete."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.relname, i.indisvalid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid "
            "WHERE i.indrelid = 'punctual_audit_entry'::regclass"
        )
        return dict(cursor.fetchall())


def views() -> set[str]:
    return {name for (name,) in execute("SELECT viewname::text FROM pg_views WHERE schemaname = 'public'")}


def test_the_views_for_reports_come_and_go_with_their_migration():
    before = views()
    call_command("migrate", "tasks_app", "0098_recovery_trouble", verbosity=0)
    try:
        assert before - views() == {
            "punctual_job_definition",
            "punctual_job_instance",
            "punctual_retry_entry",
            "punctual_dlq_entry",
        }
    finally:
        call_command("migrate", "tasks_app", "0099_data_model", verbosity=0)

    assert views() == before


SIGNS = "0054_standbys"
PATIENCE = 60  # seconds, for migrations on a busy machine


def test_signs_of_life_go_to_a_table_of_their_own_and_back():
    call_command("migrate", "tasks_app", SIGNS, verbosity=0)
    noted(silent=50.0, standbys={"10.0.0.6": 90.0, "": 70.0})
    kept = "SELECT seen_at, standbys FROM punctual_installation"
    executor = MigrationExecutor(connection)
    [before] = [name for _, name in executor.loader.graph.node_map[("tasks_app", SIGNS)].parents]

    call_command("migrate", "tasks_app", before, verbosity=0)
    [(seen_at, standbys)] = execute(kept)
    assert {address: round(seen_at.timestamp() - at) for address, at in standbys.items()} == {"10.0.0.6": 40, "": 20}
    execute("UPDATE punctual_installation SET seen_at = seen_at - interval '30 s'")  # by a beat of the version before
    call_command("migrate", "tasks_app", SIGNS, verbosity=0)

    row = read_installation()
    assert row.standbys["10.0.0.6"] - row.standbys[""] == pytest.approx(20, abs=0.1)
    assert 69 < row.standbys[""] < 69 + PATIENCE and 79 < row.silent_seconds < 79 + PATIENCE
    execute("UPDATE punctual_installation SET seen_at = clock_timestamp()")  # it goes on
    assert read_installation().silent_seconds < PATIENCE


def test_an_index_that_was_interrupted_is_built_again():
    """As PostgreSQL leaves it: committed so far, with an index that is not valid, or before there was one."""
    call_command("migrate", "tasks_app", INDEX, verbosity=0)
    for left in (
        "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'punctual_audit_entry_tenant'::regclass",
        "DROP INDEX punctual_audit_entry_tenant",
    ):
        execute(left)
        MigrationRecorder(connection).record_unapplied("tasks_app", INDEX)

        call_command("migrate", "tasks_app", INDEX, verbosity=0)

        assert indexes_of_audit()["punctual_audit_entry_tenant"] is True, left
        assert ("tasks_app", INDEX) in MigrationRecorder(connection).applied_migrations()


EVENTS, BEFORE_EVENTS = "0028_events", "0027_archive"
OLD_EVENT = "INSERT INTO punctual_outbox (tenant, event, task_id) VALUES ('default', 'task.failed', 5)"


def outbox_files() -> set[int]:
    """Where the partitions of the outbox lie: a table that was rewritten lies elsewhere."""
    parts = "SELECT inhrelid FROM pg_inherits WHERE inhparent = 'punctual_outbox'::regclass"
    return {file for (file,) in execute(f"SELECT pg_relation_filenode(inhrelid)::bigint FROM ({parts}) AS part")}


def parts_without_index() -> list[str]:
    with connection.cursor() as cursor:
        return import_module(f"tasks_app.migrations.{EVENTS}")._without_index(cursor)


def test_the_outbox_gets_its_columns_without_a_row_being_written_and_can_go_back():
    call_command("migrate", "tasks_app", BEFORE_EVENTS, verbosity=0)
    execute(OLD_EVENT)
    before = outbox_files()

    call_command("migrate", "tasks_app", EVENTS, verbosity=0)
    execute(OLD_EVENT)  # by a process that was not restarted yet

    assert outbox_files() == before
    assert [one.xid is None for one in OutboxEvent.objects.order_by("id")] == [True, False]
    assert [(event.task, event.state) for event in told()] == [(5, "FAIL")] * 2
    assert parts_without_index() == []
    call_command("migrate", "tasks_app", BEFORE_EVENTS, verbosity=0)
    assert execute("SELECT count(*), min(task_id) FROM punctual_outbox") == [(2, 5)]


def test_the_index_of_the_outbox_that_was_interrupted_is_built_again():
    call_command("migrate", "tasks_app", EVENTS, verbosity=0)
    for left in ("an index that is not valid", "a partition without one", "columns only"):
        MigrationRecorder(connection).record_unapplied("tasks_app", EVENTS)
        execute("DROP INDEX punctual_outbox_xid")
        if left != "columns only":
            execute("CREATE INDEX punctual_outbox_xid ON ONLY punctual_outbox (xid)")
        if left == "an index that is not valid":
            execute("CREATE INDEX punctual_outbox_default_xid ON punctual_outbox_default (xid)")
            execute("UPDATE pg_index SET indisvalid = FALSE WHERE indexrelid = 'punctual_outbox_default_xid'::regclass")

        call_command("migrate", "tasks_app", EVENTS, verbosity=0)

        assert parts_without_index() == [], left
        valid = "SELECT indisvalid FROM pg_index WHERE indexrelid = 'punctual_outbox_xid'::regclass"
        assert execute(valid) == [(True,)], left
        assert execute(
            "SELECT bool_and(indisvalid) FROM pg_index JOIN pg_inherits ON inhrelid = indexrelid"
            " WHERE inhparent = 'punctual_outbox_xid'::regclass"
        ) == [(True,)], left
