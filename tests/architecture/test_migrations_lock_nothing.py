"""A new migration locks no large table for long, and the version before goes on working beside it.

Those up to the first release made the tables; nobody had a large one then.
"""

import re

import pytest
from django.contrib.postgres.operations import AddConstraintNotValid, AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation

FIRST_THAT_COUNTS = 2
LARGE = {
    *("scheduletask", "taskbatch", "taskattempt", "outboxevent", "dlqentry", "unitrevision", "auditentry"),
    *("jobdefinition", "jobcursor", "idempotencyrecord"),
}
# In SQL by hand: what reads or writes a whole table under a lock. A trigger before an update is no update.
SLOW_SQL = re.compile(
    r"(?<!BEFORE )(?<!OR )(?<!DO )\bUPDATE\s|\bCREATE (UNIQUE )?INDEX (?!CONCURRENTLY)"
    r"|\bADD CONSTRAINT (?!.*NOT VALID)|\bSET NOT NULL\b"
)


def locks(migration: migrations.Migration) -> list[str]:
    """What keeps others waiting, or breaks them, and what to do instead."""
    return [
        f"{migration.name}: {problem}"
        for operation in migration.operations
        if (problem := _problem(operation, atomic=migration.atomic))
    ]


def _problem(operation: Operation, *, atomic: bool) -> str | None:
    match operation:
        case migrations.SeparateDatabaseAndState():
            found = (_problem(one, atomic=atomic) for one in operation.database_operations)
            return next(filter(None, found), None)
        case migrations.RunPython() if atomic:
            return "RunPython in one transaction. Set atomic = False and work in steps, each committed by itself."
        case migrations.RunSQL() if atomic and SLOW_SQL.search(_without_new_tables(str(operation.sql))):
            return "RunSQL goes through a whole table in one transaction. Set atomic = False and work in steps."
    if getattr(operation, "model_name_lower", None) in LARGE:
        return _on_large_table(operation)
    return None


def _without_new_tables(sql: str) -> str:
    """Less the indexes of tables that it makes itself: there is nothing in them yet."""
    for table in re.findall(r"\bCREATE TABLE (\w+)", sql):
        sql = re.sub(rf"CREATE INDEX \w+ ON {table} ", "", sql)
    return sql


def _on_large_table(operation: Operation) -> str | None:
    table = operation.model_name_lower
    match operation:
        case AddIndexConcurrently() | RemoveIndexConcurrently() | AddConstraintNotValid():
            return None
        case migrations.AddIndex() | migrations.RemoveIndex():
            how = type(operation).__name__
            return f"{how} on {table} keeps everybody waiting. Use {how}Concurrently with atomic = False."
        case migrations.AddConstraint():
            return f"AddConstraint reads all of {table}. Use AddConstraintNotValid, and ValidateConstraint later."
        case migrations.AlterField():
            return (
                f"AlterField may rewrite {table}. Add a field, fill it in steps, and drop the old one a version later."
            )
        case migrations.RemoveField() | migrations.RenameField():
            return (
                f"{table}.{operation.name or operation.old_name} is still used by the version before. Do it one later."
            )
        case migrations.AddField():
            return _new_field(operation.field, f"{table}.{operation.name}")
    return None


def _new_field(field: models.Field, name: str) -> str | None:
    if field.db_index or field.unique:
        return f"{name} makes an index. Add the field without, and the index with AddIndexConcurrently."
    if not field.null and not field.has_db_default():
        return f"{name} has no db_default: processes of the version before could not write a row. Give it one, or null."
    return None


def test_new_migrations_lock_no_large_table():
    disk = MigrationLoader(None).disk_migrations
    new = [one for (app, name), one in sorted(disk.items()) if app == "punctual" and int(name[:4]) >= FIRST_THAT_COUNTS]

    assert [problem for migration in new for problem in locks(migration)] == []


INDEX = models.Index(fields=["lane"], name="i")
RULE = models.CheckConstraint(condition=models.Q(attempt__gte=0), name="c")


@pytest.mark.parametrize(
    ("operation", "found"),
    [
        (migrations.AddIndex("ScheduleTask", INDEX), "AddIndexConcurrently"),
        (AddIndexConcurrently("ScheduleTask", INDEX), None),
        (migrations.AddIndex("Node", INDEX), None),
        (migrations.RemoveIndex("ScheduleTask", "i"), "RemoveIndexConcurrently"),
        (migrations.AddConstraint("ScheduleTask", RULE), "AddConstraintNotValid"),
        (AddConstraintNotValid("ScheduleTask", RULE), None),
        (migrations.AlterField("ScheduleTask", "lane", models.TextField()), "may rewrite"),
        (migrations.RemoveField("ScheduleTask", "lane"), "used by the version before"),
        (migrations.AddField("ScheduleTask", "x", models.TextField(default="")), "no db_default"),
        (migrations.AddField("ScheduleTask", "x", models.TextField(db_default="")), None),
        (migrations.AddField("ScheduleTask", "x", models.TextField(null=True)), None),
        (migrations.AddField("ScheduleTask", "x", models.TextField(null=True, db_index=True)), "makes an index"),
        (migrations.RunPython(migrations.RunPython.noop), "atomic = False"),
        (migrations.RunSQL("UPDATE punctual_task SET lane = 'low'"), "atomic = False"),
        (migrations.RunSQL("ALTER TABLE punctual_task SET (fillfactor = 70)"), None),
        (migrations.RunSQL("CREATE TABLE a (b int); CREATE INDEX i ON a (b)"), None),
        (migrations.RunSQL("CREATE TABLE a (b int); CREATE INDEX i ON punctual_task (lane)"), "atomic = False"),
    ],
    ids=lambda value: getattr(value, "__class__", type(value)).__name__ if isinstance(value, Operation) else str(value),
)
def test_what_locks_a_large_table_is_found(operation: Operation, found: str | None):
    migration = migrations.Migration("0022_x", "punctual")
    migration.operations = [operation]

    problems = locks(migration)

    assert (found in problems[0]) if found else problems == []
