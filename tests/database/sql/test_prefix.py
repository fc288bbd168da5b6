"""An installation from before the tables had their prefix is carried over, whatever else lies in its database."""

from importlib import import_module

from django.db import connection

from tasks_app.client import schedule
from tests.support.marks import commits

pytestmark = commits
PREFIX = import_module("tasks_app.migrations.0011_prefix")
NAMES = """
SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace
UNION ALL SELECT conrelid::regclass || ' ' || conname FROM pg_constraint WHERE connamespace = 'public'::regnamespace
UNION ALL SELECT tgrelid::regclass || ' ' || tgname FROM pg_trigger WHERE NOT tgisinternal
UNION ALL SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace
"""


def names() -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute(NAMES)
        return {name for (name,) in cursor.fetchall()}


def migrate() -> None:
    with connection.schema_editor() as editor:
        PREFIX.rename(None, editor)


def as_before(cursor) -> None:
    for old, new in PREFIX.TABLES.items():
        cursor.execute(f"ALTER TABLE {new} RENAME TO {old}")
        cursor.execute(PREFIX.RENAME.format(old=new, new=old))
    cursor.execute("ALTER FUNCTION punctual_audit_entry_only_grows() RENAME TO audit_entry_only_grows")


def test_tables_indexes_constraints_sequences_and_triggers_get_their_new_names():
    task_id = schedule("T_QUIET", "a", delay=3600).task_id
    wanted = names()
    with connection.cursor() as cursor:
        as_before(cursor)
    try:
        assert {"schedule_task", "schedule_task_unit", "schedule_task_id_seq", "audit_entry_only_grows"} <= names()
    finally:
        migrate()

    assert names() == wanted
    assert schedule("T_QUIET", "a", delay=3600).task_id == task_id


def test_a_table_of_somebody_else_that_is_called_node_is_left_alone():
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE node (name text)")
        try:
            before = names()
            migrate()
            assert names() == before
        finally:
            cursor.execute("DROP TABLE node")
