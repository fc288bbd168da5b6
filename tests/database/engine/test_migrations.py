"""Migrations on a database that is in use: what was interrupted can be run again."""

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from tests.support.marks import commits

pytestmark = commits
INDEX = "0023_audit_tenant_index"  # the migration that builds one while the table is in use


@pytest.fixture
def _all_applied():
    """Afterwards, again."""
    yield
    call_command("migrate", "tasks_app", verbosity=0)


def indexes_of_audit() -> dict[str, bool]:
    """By name, whether it is complete."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.relname, i.indisvalid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid "
            "WHERE i.indrelid = 'punctual_audit_entry'::regclass"
        )
        return dict(cursor.fetchall())


@pytest.mark.usefixtures("_all_applied")
@pytest.mark.parametrize("half_built", [True, False])
def test_an_index_that_was_interrupted_is_built_again(half_built):
    """As PostgreSQL leaves it: committed so far, with an index that is not valid, or before there was one."""
    call_command("migrate", "tasks_app", INDEX, verbosity=0)
    with connection.cursor() as cursor:
        if half_built:
            cursor.execute(
                "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'punctual_audit_entry_tenant'::regclass"
            )
        else:
            cursor.execute("DROP INDEX punctual_audit_entry_tenant")
    MigrationRecorder(connection).record_unapplied("tasks_app", INDEX)

    call_command("migrate", "tasks_app", INDEX, verbosity=0)

    assert indexes_of_audit()["punctual_audit_entry_tenant"] is True
    assert ("tasks_app", INDEX) in MigrationRecorder(connection).applied_migrations()
