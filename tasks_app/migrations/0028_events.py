"""A row of the outbox tells what a statement did for a tenant, and says which transaction wrote it.

Columns are added, none is rewritten: rows of before have no transaction, and processes of the version before go on
writing one row for each event. The index on the transaction is built partition by partition, while others write.
"""

from importlib import import_module

import django.contrib.postgres.fields
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.backends.utils import CursorWrapper
from django.db.migrations.state import StateApps

import tasks_app.models.outbox_event as outbox

_PARTITIONS = import_module("tasks_app.migrations.0025_partitions")
COLUMNS = {
    "xid": "xid8",
    "task_type": "varchar(100)",
    "worker": "varchar(200)",
    "batch_no": "uuid",
    "count": "integer NOT NULL DEFAULT 1",
    "task_ids": "bigint[]",
    "keys": "text[]",
    "jobs": "bigint[]",
    "fire_times": "timestamptz[]",
    "idem_keys": "text[]",
    "attempts": "integer[]",
    "states": "text[]",
    "payloads": "jsonb",
}
INDEX = "punctual_outbox_xid"
# Those that have no part of the index yet.
_WITHOUT_INDEX = """
SELECT i.inhrelid::regclass::text FROM pg_inherits i
WHERE i.inhparent = 'punctual_outbox'::regclass AND NOT EXISTS (
    SELECT FROM pg_inherits p JOIN pg_index x ON x.indexrelid = p.inhrelid
    WHERE p.inhparent = to_regclass(%s) AND x.indrelid = i.inhrelid)
"""


LISTS = [name for name, kind in COLUMNS.items() if kind.endswith("[]")] + ["payloads"]


def add_columns(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    added = ", ".join(f"ADD COLUMN IF NOT EXISTS {name} {kind}" for name, kind in COLUMNS.items())
    # Long lists are not compressed: that would take longer than all the rest of telling.
    stored = ", ".join(f"ALTER COLUMN {name} SET STORAGE EXTERNAL" for name in LISTS)
    # First the column, then its default: the other way round every row there is would be written anew.
    with schema_editor.connection.cursor() as cursor:
        _PARTITIONS._briefly(
            cursor,
            lambda: cursor.execute(
                f"ALTER TABLE punctual_outbox {added};"
                f"ALTER TABLE punctual_outbox {stored}, ALTER COLUMN xid SET DEFAULT pg_current_xact_id()"
            ),
        )


def drop_columns(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    dropped = ", ".join(f"DROP COLUMN IF EXISTS {name}" for name in COLUMNS)
    with schema_editor.connection.cursor() as cursor:
        _PARTITIONS._briefly(cursor, lambda: cursor.execute(f"ALTER TABLE punctual_outbox {dropped}"))


def build_index(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    with schema_editor.connection.cursor() as cursor:
        _PARTITIONS._briefly(
            cursor, lambda: cursor.execute(f"CREATE INDEX IF NOT EXISTS {INDEX} ON ONLY punctual_outbox (xid)")
        )
        while parts := _without_index(cursor):  # a beat may make a partition meanwhile
            for part in parts:
                _PARTITIONS._index(cursor, part, f"{part}_xid", "(xid)")
                attach = f"ALTER INDEX {INDEX} ATTACH PARTITION {part}_xid"
                _PARTITIONS._briefly(cursor, lambda attach=attach: cursor.execute(attach))


def _without_index(cursor: CursorWrapper) -> list[str]:
    cursor.execute(_WITHOUT_INDEX, [INDEX])
    return [part for (part,) in cursor.fetchall()]


def drop_index(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    with schema_editor.connection.cursor() as cursor:
        _PARTITIONS._briefly(cursor, lambda: cursor.execute(f"DROP INDEX IF EXISTS {INDEX}"))


def _array(field: models.Field) -> models.Field:
    return django.contrib.postgres.fields.ArrayField(base_field=field, null=True, size=None)


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("tasks_app", "0027_archive")]

    operations = [
        migrations.SeparateDatabaseAndState(
            [migrations.RunPython(add_columns, drop_columns)],
            [
                migrations.AddField(
                    "outboxevent",
                    "xid",
                    outbox.TransactionIdField(
                        null=True,
                        db_default=outbox.CurrentTransaction(),
                        help_text="Of the transaction that wrote it.",
                    ),
                ),
                migrations.AddField("outboxevent", "task_type", models.CharField(max_length=100, null=True)),
                migrations.AddField("outboxevent", "worker", models.CharField(max_length=200, null=True)),
                migrations.AddField("outboxevent", "batch_no", models.UUIDField(null=True)),
                migrations.AddField(
                    "outboxevent", "count", models.IntegerField(db_default=1, help_text="How many events it is.")
                ),
                migrations.AddField("outboxevent", "task_ids", _array(models.BigIntegerField())),
                migrations.AddField("outboxevent", "keys", _array(models.TextField())),
                migrations.AddField("outboxevent", "jobs", _array(models.BigIntegerField(null=True))),
                migrations.AddField("outboxevent", "fire_times", _array(models.DateTimeField(null=True))),
                migrations.AddField("outboxevent", "idem_keys", _array(models.TextField(null=True))),
                migrations.AddField("outboxevent", "attempts", _array(models.IntegerField(null=True))),
                migrations.AddField("outboxevent", "states", _array(models.TextField(null=True))),
                migrations.AddField(
                    "outboxevent",
                    "payloads",
                    models.JSONField(null=True, help_text="A list: what each event carries."),
                ),
                migrations.AlterField(
                    "outboxevent",
                    "task_id",
                    models.BigIntegerField(
                        null=True, help_text="Written by versions before 0028 only, as is `payload`."
                    ),
                ),
                migrations.AlterField("outboxevent", "payload", models.JSONField(null=True)),
            ],
        ),
        migrations.SeparateDatabaseAndState(
            [migrations.RunPython(build_index, drop_index)],
            [migrations.AddIndex("outboxevent", models.Index(fields=["xid"], name=INDEX))],
        ),
    ]
