"""All tables, and what Django has no operation for: the files in tasks_app/models/sql.

A file belongs to this migration and does not change any more. A later migration brings its own SQL.
"""

import uuid
from pathlib import Path

import django.contrib.postgres.fields
import django.contrib.postgres.functions
import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models

import tasks_app.models.outbox_event
from tasks_app.storage.leaving import drop_partitions


_SQL = Path(__file__).resolve().parent.parent / "models" / "sql"

# Functions keep the schema of our tables as their search_path, whatever that of the session is.
OUR_SCHEMA = """
SELECT set_config('punctual.path', current_setting('search_path'), TRUE),
       set_config('search_path', relnamespace::regnamespace || ', pg_temp', TRUE)
FROM pg_class WHERE oid = 'punctual_task'::regclass
"""
THEIR_SCHEMA = "SELECT set_config('search_path', current_setting('punctual.path'), TRUE)"


def sql(name: str, *dropped: str) -> migrations.RunSQL:
    """A file, and what is dropped on the way back: a function can go once no trigger calls it."""
    return migrations.RunSQL((_SQL / f"{name}.sql").read_text(), "; ".join(f"DROP {one}" for one in dropped))


class Migration(migrations.Migration):
    initial = True

    dependencies: list[tuple[str, str]] = []

    operations = [
        migrations.CreateModel(
            name="AnyBatch",
            fields=[
                ("batch_no", models.UUIDField(primary_key=True, serialize=False)),
                ("task_type", models.CharField(db_collation="C", max_length=100)),
                ("lane", models.CharField(db_collation="C", max_length=8)),
                ("ids", django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), size=None)),
                ("dispatcher", models.CharField(max_length=200)),
                ("claimed_at", models.DateTimeField()),
                (
                    "allowed_at",
                    models.DateTimeField(
                        help_text="From when on its type's limit and its lane let it start; empty: all the time.",
                        null=True,
                    ),
                ),
                (
                    "lease_until",
                    models.DateTimeField(help_text="The dispatch lease, and from the start on the run lease."),
                ),
                ("worker", models.CharField(db_default="", max_length=200)),
                (
                    "ticket",
                    models.UUIDField(help_text="Of the start: who has it may ask for its answer again.", null=True),
                ),
                ("started_at", models.DateTimeField(null=True)),
                (
                    "finished_at",
                    models.DateTimeField(help_text="The fence: nothing of this batch counts after it.", null=True),
                ),
                ("reaped", models.BooleanField(db_default=False)),
                ("ok", models.IntegerField(db_default=0)),
                ("failed", models.IntegerField(db_default=0)),
                (
                    "run_us",
                    models.BigIntegerField(db_default=0, help_text="Wall time of the run, for the next batch's size."),
                ),
                (
                    "lateness",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.IntegerField(),
                        help_text="Histogram, see core/lateness.py.",
                        null=True,
                        size=None,
                    ),
                ),
            ],
            options={
                "db_table": "punctual_any_batch",
                "managed": False,
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="AnyTask",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("tenant", models.CharField(db_collation="C", db_default="default", max_length=63)),
                ("task_type", models.CharField(db_collation="C", max_length=100)),
                ("biz_key", models.CharField(db_collation="C", max_length=200)),
                ("current", models.BooleanField(db_default=True)),
                (
                    "replaces",
                    models.BigIntegerField(help_text="The row of the same unit this one took over from.", null=True),
                ),
                ("idem_key", models.CharField(db_collation="C", max_length=200, null=True)),
                (
                    "token",
                    models.UUIDField(
                        db_default=django.contrib.postgres.functions.RandomUUID(),
                        help_text="Stays the same over retries and replacement; for other systems.",
                    ),
                ),
                ("job", models.BigIntegerField(null=True)),
                ("fire_time", models.DateTimeField(null=True)),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("BLOCKED", "BLOCKED"),
                            ("INIT", "INIT"),
                            ("RUNNING", "RUNNING"),
                            ("AWAY", "AWAY"),
                            ("SUCCESS", "SUCCESS"),
                            ("FAIL", "FAIL"),
                            ("DEAD", "DEAD"),
                            ("CANCELLED", "CANCELLED"),
                        ],
                        max_length=9,
                    ),
                ),
                ("execute_time", models.DateTimeField(help_text="What the user asked for.")),
                (
                    "due_at",
                    models.DateTimeField(help_text="May be claimed from this moment on; empty: never.", null=True),
                ),
                ("claimed_due", models.DateTimeField(help_text="What due_at was when it was last claimed.", null=True)),
                (
                    "allowed_at",
                    models.DateTimeField(
                        help_text="Late from here, if this is later: planned for the past, or held by a limit or a paused lane.",
                        null=True,
                    ),
                ),
                ("lane", models.CharField(db_collation="C", db_default="default", max_length=8)),
                ("shard", models.SmallIntegerField()),
                (
                    "solo",
                    models.BooleanField(db_default=False, help_text="Tried alone, since a batch it was in was lost."),
                ),
                ("batch_no", models.UUIDField(null=True)),
                (
                    "limited",
                    models.BooleanField(
                        db_default=False, help_text="Its type has a limit: claimed by type, apart from what has none."
                    ),
                ),
                (
                    "attempt",
                    models.IntegerField(db_default=0, help_text="Failures since the last success, roll or replay."),
                ),
                ("retry_count", models.IntegerField(db_default=0, help_text="Failures over the row's whole life.")),
                ("max_retry", models.SmallIntegerField()),
                (
                    "repeat_after",
                    models.DurationField(help_text="Rolling: again so long after it finished.", null=True),
                ),
                (
                    "expires_after",
                    models.DurationField(help_text="Later than this past execute_time: not run.", null=True),
                ),
                ("ran_in", models.UUIDField(help_text="The batch of the last run that ended.", null=True)),
                ("start_time", models.DateTimeField(null=True)),
                ("finish_time", models.DateTimeField(null=True)),
                ("error_code", models.CharField(db_default="", max_length=50)),
                ("error_msg", models.TextField(db_default="")),
                ("cancelled_by", models.CharField(db_default="", max_length=150)),
                (
                    "cancelled_from",
                    models.CharField(
                        db_collation="C",
                        help_text="The tenant of the token that cancelled it; empty: a person, or the scheduler.",
                        max_length=63,
                        null=True,
                    ),
                ),
                ("payload", models.JSONField(db_default={})),
                (
                    "payload_bytes",
                    models.BinaryField(help_text="An encrypted payload; the other field names its key.", null=True),
                ),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("updated_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("result", models.JSONField(help_text="What the handler returned, if that is small JSON.", null=True)),
                (
                    "asked_by",
                    models.CharField(
                        help_text="The person or API token that scheduled it; empty: code, or the schedule of its job.",
                        max_length=150,
                        null=True,
                    ),
                ),
                ("deferred_from", models.BigIntegerField(help_text="The task that handed this effect on.", null=True)),
                (
                    "deferred",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(),
                        help_text="The tasks that its effects were handed on to.",
                        null=True,
                        size=None,
                    ),
                ),
                (
                    "retry_for",
                    models.DurationField(
                        help_text="Retried until so long past execute_time, however often; empty: max_retry times.",
                        null=True,
                    ),
                ),
                (
                    "retention",
                    models.CharField(db_collation="C", help_text="The class in which it is kept.", max_length=20),
                ),
                ("worker", models.CharField(help_text="Who ran it last.", max_length=200, null=True)),
            ],
            options={
                "db_table": "punctual_any_task",
                "managed": False,
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="AnchorPlace",
            fields=[
                (
                    "place",
                    models.TextField(help_text="Its URL, as it may be shown.", primary_key=True, serialize=False),
                ),
                ("sent_no", models.BigIntegerField(db_default=0)),
                ("sent_at", models.DateTimeField(null=True)),
                ("tried_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("failing_since", models.DateTimeField(null=True)),
                ("error", models.TextField(db_default="")),
            ],
            options={
                "db_table": "punctual_audit_place",
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="ApiToken",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(help_text="Who uses it; this is who the audit names.", max_length=100)),
                ("tenant", models.CharField(db_collation="C", max_length=63)),
                ("digest", models.CharField(db_collation="C", max_length=64, unique=True)),
                ("hint", models.CharField(help_text="How it begins, to tell one from another.", max_length=12)),
                (
                    "can_write",
                    models.BooleanField(
                        db_default=False, help_text="It may operate, to web processes that know no rights."
                    ),
                ),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("expires_at", models.DateTimeField(null=True)),
                ("revoked_at", models.DateTimeField(null=True)),
                ("last_used_at", models.DateTimeField(help_text="To the minute.", null=True)),
                (
                    "lanes",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=8),
                        help_text="That it may use; empty: all.",
                        null=True,
                        size=None,
                    ),
                ),
                (
                    "types",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=100),
                        help_text="All it may see and use; empty: all open to its tenant.",
                        null=True,
                        size=None,
                    ),
                ),
                (
                    "metrics",
                    models.BooleanField(
                        db_default=False,
                        help_text="It reads /metrics, which has figures of all tenants, and nothing else.",
                    ),
                ),
                (
                    "right",
                    models.CharField(
                        db_collation="C",
                        help_text="The highest it has; empty: issued before rights had names, and can_write says it.",
                        max_length=10,
                        null=True,
                    ),
                ),
                (
                    "can_decrypt",
                    models.BooleanField(
                        db_default=False, help_text="It may see what is encrypted of the tasks that it may use."
                    ),
                ),
            ],
            options={
                "verbose_name": "API token",
                "db_table": "punctual_api_token",
                "permissions": [("operate_apitoken", "Can issue and revoke tokens of the REST API")],
                "default_permissions": ("view",),
            },
        ),
        migrations.CreateModel(
            name="AuditAnchor",
            fields=[
                ("no", models.BigIntegerField(primary_key=True, serialize=False)),
                ("at", models.DateTimeField()),
                (
                    "key",
                    models.CharField(
                        db_collation="C", help_text="The id of the key that has signed it.", max_length=16
                    ),
                ),
                ("body", models.TextField(help_text="As it was signed and sent: a line of JSON.")),
                ("hash", models.BinaryField(help_text="SHA-256 of the body; the next one names it.")),
            ],
            options={
                "db_table": "punctual_audit_anchor",
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="AuditTrail",
            fields=[
                ("tenant", models.CharField(db_collation="C", max_length=63, primary_key=True, serialize=False)),
                ("place", models.BigIntegerField(help_text="The last that was given.")),
                ("hash", models.BinaryField(help_text="Of that place.")),
                (
                    "floor_place",
                    models.BigIntegerField(
                        db_default=0, help_text="The last whose entry was kept long enough and is gone."
                    ),
                ),
                ("floor_hash", models.BinaryField(help_text="Of that place; the oldest that is kept follows from it.")),
                (
                    "anchored_place",
                    models.BigIntegerField(db_default=0, help_text="What the last anchor that names it says."),
                ),
                ("anchored_floor", models.BigIntegerField(db_default=0, help_text="The same, of the floor.")),
            ],
            options={
                "db_table": "punctual_audit_trail",
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="BackupPlace",
            fields=[
                ("place", models.TextField(help_text="Its URL, without options.", primary_key=True, serialize=False)),
                ("number", models.SmallIntegerField(help_text="In the settings, from 1.")),
                (
                    "seen_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(),
                        help_text="When this row was last written.",
                    ),
                ),
                (
                    "covered_until",
                    models.DateTimeField(help_text="All that was committed before then is there.", null=True),
                ),
                (
                    "behind_bytes",
                    models.BigIntegerField(help_text="Of the log, that were not there when it was written.", null=True),
                ),
                ("base", models.TextField(help_text="The label of the newest base backup.", null=True)),
                ("base_at", models.DateTimeField(help_text="When it was complete.", null=True)),
                ("base_bytes", models.BigIntegerField(null=True)),
                ("bases", models.IntegerField(help_text="How many there are.", null=True)),
                (
                    "restored",
                    models.TextField(help_text="The label of the base that was last restored and started.", null=True),
                ),
                ("restored_at", models.DateTimeField(null=True)),
                ("error", models.TextField(db_default="", help_text="Why it can't be written to, if it can't.")),
                ("error_since", models.DateTimeField(null=True)),
            ],
            options={
                "db_table": "punctual_backup_place",
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="Count",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "name", "labels", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("name", models.CharField(db_collation="C", max_length=60)),
                ("labels", models.TextField(db_collation="C", help_text="The values of its labels, as a JSON list.")),
                ("value", models.FloatField(help_text="The count; of a histogram, the sum of what was observed.")),
                (
                    "buckets",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(),
                        help_text="How many were in each bucket; empty: it is no histogram.",
                        null=True,
                        size=None,
                    ),
                ),
            ],
            options={
                "db_table": "punctual_count",
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="Host",
            fields=[
                ("host", models.CharField(db_collation="C", max_length=260, primary_key=True, serialize=False)),
                (
                    "max_running",
                    models.IntegerField(
                        help_text="Calls at the same time, over all workers; empty: no limit.", null=True
                    ),
                ),
                ("rate", models.FloatField(help_text="Calls a second; empty: no limit.", null=True)),
                ("burst", models.FloatField(help_text="Calls that may begin at once after a pause.", null=True)),
                ("permits", models.FloatField(db_default=0.0, help_text="Calls that could begin at filled_at.")),
                ("filled_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("created_by", models.CharField(db_default="", max_length=150)),
                ("updated_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "db_table": "punctual_host",
                "permissions": [("operate_host", "Can limit hosts, and have one that is unwell tried at once")],
                "default_permissions": ("view",),
            },
        ),
        migrations.CreateModel(
            name="HourFigures",
            fields=[
                ("hour", models.DateTimeField(primary_key=True, serialize=False)),
                ("batches", models.BigIntegerField()),
                ("returned", models.BigIntegerField(help_text="Of the outcomes: of tasks that were away.")),
                ("ok", models.BigIntegerField()),
                ("failed", models.BigIntegerField()),
                (
                    "lateness",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(), help_text="Histogram, see core/lateness.py.", size=None
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "hour figures",
                "db_table": "punctual_hour_figures",
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="LanePause",
            fields=[
                ("lane", models.CharField(db_collation="C", max_length=8, primary_key=True, serialize=False)),
                ("reason", models.TextField()),
                ("paused_by", models.CharField(max_length=150)),
                ("paused_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "db_table": "punctual_lane_pause",
            },
        ),
        migrations.CreateModel(
            name="LaneResume",
            fields=[
                ("lane", models.CharField(db_collation="C", max_length=8, primary_key=True, serialize=False)),
                ("resumed_at", models.DateTimeField()),
            ],
            options={
                "db_table": "punctual_lane_resume",
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="LeavingPartition",
            fields=[
                ("name", models.CharField(db_collation="C", max_length=63, primary_key=True, serialize=False)),
                ("oid", models.BigIntegerField(help_text="Of the table that had the name when this was written.")),
                (
                    "mark",
                    models.UUIDField(
                        db_default=django.contrib.postgres.functions.RandomUUID(),
                        help_text="Its files in the archive begin with it.",
                    ),
                ),
                (
                    "fence",
                    models.IntegerField(
                        db_default=0, help_text="Goes up with each try: who has an older one may not drop it."
                    ),
                ),
                ("holder", models.CharField(db_default="", max_length=200)),
                ("held_until", models.DateTimeField(help_text="Somebody writes it; the lease.", null=True)),
                ("waiting_since", models.DateTimeField(help_text="When it was first tried.", null=True)),
                ("error", models.TextField(db_default="", help_text="Of the last try, if that failed.")),
                ("kept_until", models.DateTimeField(help_text="It was restored, and stays until then.", null=True)),
                (
                    "restored",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.TextField(),
                        db_default=[],
                        help_text="The files whose rows were restored into it.",
                        size=None,
                    ),
                ),
            ],
            options={
                "db_table": "punctual_leaving",
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="MaintenanceEntry",
            fields=[
                ("name", models.CharField(max_length=50, primary_key=True, serialize=False)),
                ("next_at", models.DateTimeField()),
                ("ran_at", models.DateTimeField(help_text="When a beat last took it.", null=True)),
                ("ran_by", models.CharField(db_default="", max_length=200)),
                ("done_at", models.DateTimeField(help_text="When it was last done to its end.", null=True)),
                ("error", models.TextField(db_default="", help_text="The first line of the last of them.")),
                ("failing_since", models.DateTimeField(help_text="The first of these failures.", null=True)),
                ("failures", models.IntegerField(db_default=0, help_text="In a row, since it was last done.")),
            ],
            options={
                "verbose_name_plural": "maintenance entries",
                "db_table": "punctual_chore",
            },
        ),
        migrations.CreateModel(
            name="Node",
            fields=[
                (
                    "node_id",
                    models.UUIDField(
                        help_text="Random per boot, so that a restart is a new node.", primary_key=True, serialize=False
                    ),
                ),
                ("kind", models.CharField(max_length=6)),
                ("name", models.CharField(max_length=200)),
                ("slots", models.IntegerField(db_default=0, help_text="Batches a worker runs at the same time.")),
                (
                    "lanes",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=8), db_default=[], size=None
                    ),
                ),
                ("started_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("seen_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "renewed_at",
                    models.DateTimeField(
                        help_text="When a beat's dispatcher last renewed its shards; empty: it takes no share of them.",
                        null=True,
                    ),
                ),
                (
                    "figures",
                    models.JSONField(
                        help_text="Of the process itself, see core/own_process.py; empty: unknown.", null=True
                    ),
                ),
                (
                    "site",
                    models.CharField(db_default="main", help_text='PUNCTUAL["SITE"] of the process.', max_length=50),
                ),
                (
                    "keys",
                    models.JSONField(
                        help_text="The ids of the installation's keys that the process has; empty: unknown.", null=True
                    ),
                ),
                (
                    "version",
                    models.CharField(
                        db_default="", help_text="Of the process; empty: it does not say.", max_length=100
                    ),
                ),
                (
                    "drained_at",
                    models.DateTimeField(
                        help_text="Since when a worker takes nothing more; empty: it takes batches.", null=True
                    ),
                ),
                ("drained_by", models.CharField(db_default="", max_length=150)),
                ("drain_reason", models.TextField(db_default="")),
            ],
            options={
                "verbose_name_plural": "fleet",
                "db_table": "punctual_node",
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="OutboxWindow",
            fields=[
                ("no", models.BigIntegerField(primary_key=True, serialize=False)),
                ("before", models.TextField(null=True)),
                ("after", models.TextField()),
                (
                    "floor_id",
                    models.BigIntegerField(
                        db_default=0,
                        help_text="Rows up to this one were written by another server: its transactions mean nothing here.",
                    ),
                ),
                ("min_id", models.BigIntegerField()),
                ("max_id", models.BigIntegerField()),
                ("min_at", models.DateTimeField()),
                ("max_at", models.DateTimeField()),
                ("count", models.BigIntegerField(help_text="How many events it has.")),
                (
                    "topics",
                    models.JSONField(
                        help_text="What they are about: [tenant, event, task type]; empty: unknown.", null=True
                    ),
                ),
                ("system", models.BigIntegerField(help_text="The server's own number: another one means a restore.")),
                ("recorded_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("tenants", models.JSONField(help_text="How many of each tenant; empty: unknown.", null=True)),
            ],
            options={
                "db_table": "punctual_outbox_window",
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="Pulse",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "minute", "lane", "task_type", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("minute", models.DateTimeField()),
                ("lane", models.CharField(db_collation="C", max_length=8)),
                ("task_type", models.CharField(db_collation="C", max_length=100)),
                ("ok", models.IntegerField()),
                ("failed", models.IntegerField()),
                ("run_us", models.BigIntegerField()),
                (
                    "lateness",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.IntegerField(), help_text="Histogram, see core/lateness.py.", size=None
                    ),
                ),
                (
                    "returned",
                    models.IntegerField(
                        db_default=0, help_text="Of the outcomes: of tasks that were away, which took no time."
                    ),
                ),
            ],
            options={
                "db_table": "punctual_pulse",
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="RehearsedTask",
            fields=[
                ("task", models.BigIntegerField(primary_key=True, serialize=False)),
                ("due_at", models.DateTimeField()),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "db_table": "punctual_rehearsed",
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="ScopeOutcome",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("tenant", models.CharField(db_collation="C", max_length=63)),
                (
                    "target",
                    models.CharField(db_collation="C", help_text="A type, or host: and a host.", max_length=340),
                ),
                ("backfill", models.BooleanField(help_text="They ran in the backfill lane.")),
                ("ok", models.IntegerField()),
                ("failed", models.IntegerField()),
            ],
            options={
                "db_table": "punctual_scope_outcome",
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="ShardLease",
            fields=[
                ("shard", models.SmallIntegerField(primary_key=True, serialize=False)),
                (
                    "holder",
                    models.UUIDField(help_text="The node id of the beat that dispatches this shard.", null=True),
                ),
                ("holder_name", models.CharField(db_default="", max_length=200)),
                (
                    "fence",
                    models.BigIntegerField(
                        db_default=0,
                        help_text="Grows with every change of holder; a claim with an older number finds nothing.",
                    ),
                ),
                ("lease_until", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("taken_at", models.DateTimeField(null=True)),
                ("taken_how", models.CharField(db_default="", max_length=7)),
                ("taken_from", models.CharField(db_default="", help_text="Who held it before.", max_length=200)),
            ],
            options={
                "db_table": "punctual_shard_lease",
            },
        ),
        migrations.CreateModel(
            name="Sieve",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(db_collation="C", help_text="Of the partition.", max_length=63, unique=True)),
                ("oid", models.BigIntegerField(help_text="Of the table that had the name when this was written.")),
                ("retention", models.CharField(db_collation="C", max_length=20)),
                ("since", models.DateTimeField()),
                ("until", models.DateTimeField(help_text="Not included.")),
                (
                    "buckets",
                    models.IntegerField(help_text="Into which its prints are spread: the rows of punctual_sieve_part."),
                ),
                (
                    "ready",
                    models.BooleanField(db_default=False, help_text="What is not in it is not in the partition."),
                ),
                ("begun_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "db_table": "punctual_sieve",
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="SkippedEntry",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "tenant", "entry", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "tenant",
                    models.CharField(db_collation="C", help_text="Empty: what all tenants share.", max_length=63),
                ),
                ("entry", models.BigIntegerField(db_column="entry_id")),
                ("created_at", models.DateTimeField()),
            ],
            options={
                "db_table": "punctual_audit_skipped",
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="TaskProgress",
            fields=[
                ("task", models.BigIntegerField(primary_key=True, serialize=False)),
                ("fraction", models.FloatField(help_text="From 0 to 1; empty: it doesn't know.", null=True)),
                ("note", models.TextField(db_default="")),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "db_table": "punctual_progress",
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="TaskTrace",
            fields=[
                ("task", models.BigIntegerField(primary_key=True, serialize=False)),
                (
                    "traceparent",
                    models.CharField(
                        db_collation="C",
                        help_text="The span that its runs come under, as W3C Trace Context has it.",
                        max_length=55,
                    ),
                ),
                ("tracestate", models.TextField(help_text="What came with it.", null=True)),
                (
                    "last_run",
                    models.CharField(
                        db_collation="C",
                        help_text="The span of the try before, if there was one.",
                        max_length=55,
                        null=True,
                    ),
                ),
            ],
            options={
                "db_table": "punctual_trace",
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="Timetable",
            fields=[
                ("shard", models.SmallIntegerField(primary_key=True, serialize=False)),
                (
                    "passed",
                    models.JSONField(db_default={}, help_text="Of each lane: the moment before which nothing waits."),
                ),
                (
                    "noted_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), help_text="When somebody looked last."
                    ),
                ),
                (
                    "mark_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(),
                        help_text="Who got a number later makes no entry before.",
                    ),
                ),
                ("mark_xid", models.BigIntegerField(help_text="Whose number is larger has got it after mark_at.")),
            ],
            options={
                "db_table": "punctual_timetable",
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="TypeLimit",
            fields=[
                ("task_type", models.CharField(db_collation="C", max_length=100, primary_key=True, serialize=False)),
                ("rate", models.FloatField(help_text="Tasks a second; empty: no limit.", null=True)),
                ("burst", models.FloatField(help_text="Tasks that may start at once after a pause.", null=True)),
                (
                    "max_running",
                    models.IntegerField(help_text="Tasks that may run at the same time; empty: no limit.", null=True),
                ),
                ("permits", models.FloatField(db_default=0.0, help_text="Tasks that could start at filled_at.")),
                ("filled_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("full_at", models.DateTimeField(help_text="When as many as may were last seen running.", null=True)),
            ],
            options={
                "db_table": "punctual_type_limit",
            },
        ),
        migrations.CreateModel(
            name="AlarmAlert",
            fields=[
                ("id", models.UUIDField(primary_key=True, serialize=False)),
                ("channel", models.BigIntegerField()),
                ("incident", models.BigIntegerField(help_text="Empty: of several, or of none.", null=True)),
                ("kind", models.CharField(max_length=10)),
                ("body", models.JSONField()),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("attempts", models.IntegerField(db_default=0)),
                ("error", models.TextField(db_default="")),
                ("done_at", models.DateTimeField(null=True)),
                (
                    "outcome",
                    models.CharField(db_default="", help_text="SENT; FOLDED into another; or GIVEN_UP.", max_length=8),
                ),
                ("folded_into", models.UUIDField(null=True)),
            ],
            options={
                "verbose_name": "alert",
                "db_table": "punctual_alarm_alert",
                "default_permissions": (),
                "indexes": [
                    models.Index(
                        condition=models.Q(("done_at__isnull", True)),
                        fields=["channel", "created_at"],
                        name="punctual_alarm_alert_waiting",
                    ),
                    models.Index(
                        condition=models.Q(("done_at__isnull", False)),
                        fields=["done_at"],
                        name="punctual_alarm_alert_done",
                    ),
                    models.Index(fields=["channel", "-created_at"], name="punctual_alarm_alert_channel"),
                    models.Index(
                        condition=models.Q(("incident__isnull", False)),
                        fields=["incident"],
                        name="punctual_alarm_alert_incident",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="AlarmChannel",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "tenant",
                    models.CharField(db_collation="C", help_text="Empty: the operators'.", max_length=63, null=True),
                ),
                ("name", models.CharField(db_collation="C", max_length=100)),
                ("revision", models.IntegerField(db_default=1)),
                ("kind", models.CharField(max_length=10)),
                ("target", models.TextField(help_text="Sealed: addresses, and the secret that signs what is sent.")),
                ("shown", models.CharField(help_text="Of the target, what is no secret.", max_length=200)),
                ("most_per_hour", models.IntegerField(help_text="Alerts; what is more is sent together as one.")),
                ("enabled", models.BooleanField(db_default=True)),
                ("permits", models.FloatField(help_text="Alerts that could be sent now; refilled from most_per_hour.")),
                ("refilled_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("held_until", models.DateTimeField(help_text="A beat is sending; the lease.", null=True)),
                ("fence", models.IntegerField(db_default=0, help_text="Goes up each time a beat takes it.")),
                ("attempts", models.IntegerField(db_default=0, help_text="Failed, since the last that succeeded.")),
                ("next_try_at", models.DateTimeField(null=True)),
                ("failing_since", models.DateTimeField(null=True)),
                ("error", models.TextField(db_default="", help_text="Of the last try, if that failed.")),
                ("sent_at", models.DateTimeField(help_text="The last that succeeded.", null=True)),
                ("created_by", models.CharField(db_default="", max_length=150)),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("updated_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "verbose_name": "alarm channel",
                "db_table": "punctual_alarm_channel",
                "default_permissions": (),
                "indexes": [
                    models.Index(
                        condition=models.Q(("failing_since__isnull", False)),
                        fields=["failing_since"],
                        name="punctual_alarm_channel_fails",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant", "name"), name="punctual_alarm_channel_name", nulls_distinct=False
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["webhook", "email", "chat"])),
                        name="punctual_alarm_channel_kind",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="AlarmIncident",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("rule", models.BigIntegerField()),
                ("tenant", models.CharField(db_collation="C", help_text="The rule's.", max_length=63, null=True)),
                ("condition", models.CharField(max_length=10)),
                ("cause", models.CharField(db_collation="C", max_length=200)),
                ("task_type", models.CharField(db_collation="C", max_length=100)),
                ("job", models.BigIntegerField(help_text="The job, if the rule is about one.", null=True)),
                ("count", models.BigIntegerField()),
                ("seconds", models.FloatField(db_default=0.0, help_text="How late, or how long: the worst.")),
                ("sample", models.JSONField()),
                ("opened_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("seen_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("calm_at", models.DateTimeField(help_text="Not before this is it asked whether all is well again.")),
                ("tell_at", models.DateTimeField(help_text="There is something to tell, from then on.", null=True)),
                ("told_at", models.DateTimeField(null=True)),
                ("told_count", models.BigIntegerField(db_default=0)),
                ("closed_at", models.DateTimeField(null=True)),
                (
                    "outcome",
                    models.CharField(db_default="", help_text="WELL, or GONE: nobody will ever know.", max_length=4),
                ),
            ],
            options={
                "verbose_name": "incident",
                "db_table": "punctual_alarm_incident",
                "default_permissions": (),
                "indexes": [
                    models.Index(
                        condition=models.Q(("tell_at__isnull", False)),
                        fields=["tell_at"],
                        name="punctual_alarm_incident_tell",
                    ),
                    models.Index(
                        condition=models.Q(("closed_at__isnull", True)),
                        fields=["calm_at"],
                        name="punctual_alarm_incident_calm",
                    ),
                    models.Index(
                        condition=models.Q(("closed_at__isnull", False)),
                        fields=["closed_at"],
                        name="punctual_alarm_incident_closed",
                    ),
                    models.Index(fields=["tenant", "-id"], name="punctual_alarm_incident_tenant"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("closed_at__isnull", True)),
                        fields=("rule", "condition", "task_type", "cause"),
                        name="punctual_alarm_incident_open",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="AlarmReader",
            fields=[
                ("id", models.SmallIntegerField(db_default=1, primary_key=True, serialize=False)),
                (
                    "cluster",
                    models.BigIntegerField(
                        help_text="Of the database server: in another, transactions are numbered anew."
                    ),
                ),
                (
                    "floor_id",
                    models.BigIntegerField(
                        db_default=0, help_text="Rows up to this one were written by another server."
                    ),
                ),
                ("before", models.TextField(help_text="All that this snapshot sees has been read, ...")),
                ("after", models.TextField(help_text="... and what this one sees is being read, ...", null=True)),
                ("xid", models.BigIntegerField(db_default=0, help_text="... in order of transactions; this one ...")),
                ("row", models.BigIntegerField(db_default=0, help_text="... up to this row.")),
                ("read_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "db_table": "punctual_alarm_reader",
                "default_permissions": (),
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("id", 1)), name="punctual_alarm_reader_one")
                ],
            },
        ),
        migrations.CreateModel(
            name="AlarmRule",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "tenant",
                    models.CharField(db_collation="C", help_text="Empty: all tenants.", max_length=63, null=True),
                ),
                ("name", models.CharField(db_collation="C", max_length=100)),
                ("revision", models.IntegerField(db_default=1)),
                (
                    "conditions",
                    django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=10), size=None),
                ),
                (
                    "task_types",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=100), help_text="Patterns; none: all types.", size=None
                    ),
                ),
                ("job", models.BigIntegerField(help_text="This job alone.", null=True)),
                ("late_seconds", models.FloatField(null=True)),
                ("running_seconds", models.FloatField(null=True)),
                ("channels", django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), size=None)),
                (
                    "repeat_seconds",
                    models.IntegerField(help_text="While it goes on, it is told again no sooner than this."),
                ),
                (
                    "quiet_seconds",
                    models.IntegerField(help_text="It is well again when it has not happened for so long."),
                ),
                ("runbook", models.CharField(db_default="", max_length=500)),
                ("enabled", models.BooleanField(db_default=True)),
                ("created_by", models.CharField(db_default="", max_length=150)),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("updated_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "verbose_name": "alarm rule",
                "db_table": "punctual_alarm_rule",
                "permissions": [("operate_alarmrule", "Can create, edit, test and delete alarm rules and channels")],
                "default_permissions": ("view",),
                "indexes": [
                    models.Index(
                        condition=models.Q(("enabled", True), ("running_seconds__isnull", False)),
                        fields=["running_seconds"],
                        name="punctual_alarm_rule_running",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant", "name"), name="punctual_alarm_rule_name", nulls_distinct=False
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="AuditLink",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "tenant", "place", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "tenant",
                    models.CharField(db_collation="C", help_text="Empty: what all tenants share.", max_length=63),
                ),
                ("place", models.BigIntegerField(help_text="From 1, in the order of commit.")),
                ("entry", models.BigIntegerField(db_column="entry_id", unique=True)),
                ("at", models.DateTimeField(help_text="The entry's created_at.")),
                ("chained_at", models.DateTimeField(help_text="When it got its place.")),
                ("digest", models.BinaryField(help_text="SHA-256 of the entry; see core/audit_chain.py.")),
                ("hash", models.BinaryField(help_text="SHA-256 of all this and the hash before.")),
            ],
            options={
                "db_table": "punctual_audit_link",
                "default_permissions": (),
                "indexes": [models.Index(fields=["at"], name="punctual_audit_link_at")],
            },
        ),
        migrations.CreateModel(
            name="AwayOutcome",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField()),
                ("lane", models.CharField(db_collation="C", max_length=8)),
                ("task_type", models.CharField(db_collation="C", max_length=100)),
                ("ok", models.IntegerField()),
                ("failed", models.IntegerField()),
            ],
            options={
                "db_table": "punctual_away_outcome",
                "default_permissions": (),
                "indexes": [models.Index(fields=["at"], name="punctual_away_outcome_at")],
            },
        ),
        migrations.CreateModel(
            name="AwayTask",
            fields=[
                ("task", models.BigIntegerField(primary_key=True, serialize=False)),
                ("run", models.UUIDField(help_text="The batch that handed it over: what is reported must name it.")),
                ("task_type", models.CharField(db_collation="C", max_length=100)),
                ("worker", models.CharField(max_length=200)),
                ("lease", models.FloatField(help_text="Seconds that each report of progress gives it.")),
                ("since", models.DateTimeField()),
                ("until", models.DateTimeField(help_text="Lost, if nothing is heard of it by then.")),
            ],
            options={
                "db_table": "punctual_away",
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["until"], name="punctual_away_until"),
                    models.Index(fields=["task_type"], name="punctual_away_type"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Calendar",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("tenant", models.CharField(db_collation="C", db_default="default", max_length=63)),
                ("name", models.CharField(db_collation="C", max_length=100)),
                (
                    "revision",
                    models.IntegerField(
                        db_default=1, help_text="Grows with every change; an edit names the one it saw."
                    ),
                ),
                ("version", models.UUIDField(default=uuid.uuid4, help_text="Another one with every change.")),
                (
                    "weekdays",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.SmallIntegerField(),
                        default=list,
                        help_text="Off in every week; 1 is Monday.",
                        size=None,
                    ),
                ),
                ("days_off", models.JSONField(default=dict, help_text="Days off, each with what it is called.")),
                (
                    "working_days",
                    models.JSONField(default=dict, help_text="On these, people work though their weekday is off."),
                ),
                (
                    "changed",
                    models.BooleanField(
                        db_default=False,
                        help_text="Some of what was planned by its days of before is not planned again yet.",
                    ),
                ),
                ("created_by", models.CharField(db_default="", max_length=150)),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("updated_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "verbose_name": "calendar",
                "db_table": "punctual_calendar",
                "default_permissions": (),
                "indexes": [
                    models.Index(condition=models.Q(("changed", True)), fields=["id"], name="punctual_calendar_changed")
                ],
                "constraints": [models.UniqueConstraint(fields=("tenant", "name"), name="punctual_calendar_name")],
            },
        ),
        migrations.CreateModel(
            name="Campaign",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "operation",
                    models.UUIDField(help_text="Of its audit entries; the same one never begins twice.", unique=True),
                ),
                (
                    "tenant",
                    models.CharField(
                        db_collation="C", help_text="Whose tasks all of them are; empty: any.", max_length=63, null=True
                    ),
                ),
                (
                    "task_type",
                    models.CharField(
                        db_collation="C", help_text="The type of all of them; empty: any.", max_length=100, null=True
                    ),
                ),
                ("kind", models.CharField(help_text="What is done to each task.", max_length=20)),
                ("state", models.CharField(db_default="RUNNING", max_length=9)),
                ("actor", models.CharField(max_length=150)),
                (
                    "from_tenant",
                    models.CharField(
                        db_collation="C",
                        help_text="The tenant of the token that began it; empty: a person, or the scheduler.",
                        max_length=63,
                        null=True,
                    ),
                ),
                ("reason", models.TextField()),
                ("selection", models.TextField(db_default="", help_text="What was looked for, in words.")),
                (
                    "options",
                    models.JSONField(
                        db_default={},
                        help_text="`at`, `by`, `over`: the new times of a move. `undoes`: an operation. `lane`: of what is released. `which`: the firings of a backfill.",
                    ),
                ),
                ("cap", models.IntegerField(help_text="No more tasks than this were chosen.")),
                ("rate", models.FloatField(help_text="Tasks a second; empty: as fast as it goes.", null=True)),
                ("total", models.IntegerField(db_default=0, help_text="Tasks that were chosen.")),
                ("more", models.BooleanField(db_default=False, help_text="There were more than these.")),
                ("done", models.IntegerField(db_default=0, help_text="Tasks that were dealt with, from the first on.")),
                ("counts", models.JSONField(db_default={}, help_text="How many of them got which answer.")),
                (
                    "next_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(),
                        help_text="The rate allows the next step from here on.",
                    ),
                ),
                ("holder", models.CharField(db_default="", help_text="The beat that works on it.", max_length=200)),
                ("held_until", models.DateTimeField(help_text="Others leave it to that beat until then.", null=True)),
                (
                    "failures",
                    models.IntegerField(db_default=0, help_text="Steps that failed since the last that did not."),
                ),
                ("error", models.TextField(db_default="", help_text="The last of these failures.")),
                ("waiting", models.IntegerField(db_default=0)),
                ("succeeded", models.IntegerField(db_default=0)),
                ("died", models.IntegerField(db_default=0)),
                ("otherwise", models.IntegerField(db_default=0, help_text="Cancelled, replaced, or gone.")),
                (
                    "measure_at",
                    models.DateTimeField(help_text="When somebody looks again at those that wait.", null=True),
                ),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("finished_at", models.DateTimeField(help_text="When it was done or cancelled.", null=True)),
                (
                    "most_running",
                    models.IntegerField(
                        help_text="So many of what it released may not be over yet; empty: any number.", null=True
                    ),
                ),
            ],
            options={
                "db_table": "punctual_campaign",
                "default_permissions": (),
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "RUNNING")), fields=["next_at"], name="punctual_campaign_running"
                    ),
                    models.Index(
                        condition=models.Q(("measure_at__isnull", False)),
                        fields=["measure_at"],
                        name="punctual_campaign_measured",
                    ),
                    models.Index(
                        condition=models.Q(("finished_at__isnull", False)),
                        fields=["finished_at"],
                        name="punctual_campaign_finished",
                    ),
                    models.Index(
                        condition=models.Q(("finished_at__isnull", True)), fields=["id"], name="punctual_campaign_open"
                    ),
                    models.Index(fields=["tenant", "id"], name="punctual_campaign_whose"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["RUNNING", "PAUSED", "CANCELLED", "DONE"])),
                        name="punctual_campaign_state",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("done__gte", 0), ("done__lte", models.F("total"))),
                        name="punctual_campaign_progress",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="CountPass",
            fields=[
                ("id", models.SmallIntegerField(db_default=1, primary_key=True, serialize=False)),
                (
                    "counted_until",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(),
                        help_text="Batches that ended before this are counted.",
                    ),
                ),
                ("letters_counted", models.BigIntegerField(help_text="Dead letters up to this number are counted.")),
                ("letters_seen", models.BigIntegerField(help_text="The newest one at `letters_seen_at`.")),
                ("letters_seen_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("at", models.DateTimeField(help_text="When a beat last counted.", null=True)),
                ("seconds", models.FloatField(db_default=0.0, help_text="What that took.")),
                ("gauges", models.JSONField(db_default=[], help_text="[name, labels, value] each.")),
                ("sampled_at", models.DateTimeField(null=True)),
                ("sample", models.JSONField(db_default=[], help_text="Gauges that are estimated once a minute.")),
                (
                    "names",
                    models.JSONField(db_default={}, help_text="The types and tenants that have series of their own."),
                ),
            ],
            options={
                "db_table": "punctual_count_pass",
                "default_permissions": (),
                "constraints": [models.CheckConstraint(condition=models.Q(("id", 1)), name="punctual_count_pass_one")],
            },
        ),
        migrations.CreateModel(
            name="Curb",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(db_collation="C", help_text="Of the safeguard, ...", max_length=20)),
                ("subject", models.CharField(db_collation="C", help_text="... and its subject.", max_length=340)),
                ("kind", models.CharField(db_collation="C", max_length=9)),
                (
                    "target",
                    models.CharField(db_collation="C", help_text="A lane, a type, a host, or *.", max_length=340),
                ),
                ("rate", models.FloatField(help_text="Tasks a second; 0: none.", null=True)),
                ("max_running", models.IntegerField(null=True)),
                ("since", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("counted_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("filled_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "of_tenant",
                    models.CharField(
                        db_collation="C",
                        db_default="",
                        help_text="Whose tasks it holds back; empty: all.",
                        max_length=63,
                    ),
                ),
                (
                    "permits",
                    models.FloatField(db_default=1.0, help_text="Of a tenant's: tasks that could start at filled_at."),
                ),
                (
                    "returned",
                    models.IntegerField(db_default=0, help_text="Tasks that were sent back since counted_at."),
                ),
                (
                    "waiting",
                    models.IntegerField(
                        db_default=0, help_text="Tasks that were sent back in the stretch before that."
                    ),
                ),
            ],
            options={
                "db_table": "punctual_curb",
                "default_permissions": (),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("kind", "target", "of_tenant", "name", "subject"), name="punctual_curb_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["lane", "type", "retries", "host", "backfills", "triggers"])),
                        name="punctual_curb_kind",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="CurbPermit",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("curb", models.BigIntegerField()),
                ("batch_no", models.UUIDField()),
                ("tasks", models.IntegerField()),
            ],
            options={
                "db_table": "punctual_curb_permit",
                "default_permissions": (),
                "constraints": [models.UniqueConstraint(fields=("curb", "batch_no"), name="punctual_curb_permit_of")],
            },
        ),
        migrations.CreateModel(
            name="DeclaredJob",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("tenant", models.CharField(db_collation="C", max_length=63)),
                ("name", models.CharField(db_collation="C", help_text="In the file.", max_length=150)),
                ("source", models.CharField(db_collation="C", help_text="The file, by its own name.", max_length=200)),
                (
                    "job",
                    models.BigIntegerField(
                        help_text="Stays when the job is deleted by hand: that is drift.", unique=True
                    ),
                ),
                ("revision", models.IntegerField(help_text="Of the job when it was applied.")),
                (
                    "document",
                    models.JSONField(help_text="Its fields when it was applied: what differs was changed by hand."),
                ),
                ("applied_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("applied_by", models.CharField(max_length=150)),
            ],
            options={
                "db_table": "punctual_declared_job",
                "default_permissions": (),
                "indexes": [models.Index(fields=["source"], name="punctual_declared_source")],
                "constraints": [models.UniqueConstraint(fields=("tenant", "name"), name="punctual_declared_job_once")],
            },
        ),
        migrations.CreateModel(
            name="Delivery",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("subscription_id", models.BigIntegerField()),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("ok", models.BooleanField()),
                ("status", models.CharField(help_text="As the receiver says it.", max_length=100)),
                ("ms", models.FloatField()),
                ("count", models.IntegerField(help_text="How many events it carried.")),
                (
                    "event_ids",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.TextField(), help_text="The first of them.", size=None
                    ),
                ),
                ("answer", models.TextField(db_default="", help_text="How the answer began, or what went wrong.")),
            ],
            options={
                "db_table": "punctual_delivery",
                "default_permissions": (),
                "indexes": [models.Index(fields=["subscription_id", "id"], name="punctual_delivery_of")],
            },
        ),
        migrations.CreateModel(
            name="EarlyReport",
            fields=[
                ("task", models.BigIntegerField(primary_key=True, serialize=False)),
                ("run", models.UUIDField()),
                ("outcome", models.CharField(help_text="complete or fail.", max_length=8)),
                ("body", models.JSONField()),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "db_table": "punctual_early_report",
                "default_permissions": (),
                "indexes": [models.Index(fields=["at"], name="punctual_early_report_at")],
            },
        ),
        migrations.CreateModel(
            name="FiringOverride",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("job", models.BigIntegerField()),
                (
                    "fire_time",
                    models.DateTimeField(help_text="When it would fire by the schedule; the instance keeps this."),
                ),
                ("moved_to", models.DateTimeField(help_text="When it runs instead; empty: it is skipped.", null=True)),
                ("placed", models.BooleanField(db_default=False, help_text="Moved, and its instance was made.")),
                ("decided_by", models.CharField(max_length=150)),
                ("reason", models.TextField()),
                ("decided_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "db_table": "punctual_firing_override",
                "default_permissions": (),
                "constraints": [
                    models.UniqueConstraint(fields=("job", "fire_time"), name="punctual_firing_override_one")
                ],
            },
        ),
        migrations.CreateModel(
            name="GraphRun",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("tenant", models.CharField(db_collation="C", max_length=63)),
                (
                    "job",
                    models.BigIntegerField(
                        help_text="The first of the graph: its root, or the job that somebody triggered."
                    ),
                ),
                (
                    "label",
                    models.CharField(
                        db_collation="C", help_text="The unit of each of its tasks is `job:label`.", max_length=200
                    ),
                ),
                ("fire_time", models.DateTimeField()),
                (
                    "nodes",
                    models.JSONField(help_text="A list for each job: its id, its name, and the ids of its parents."),
                ),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("backfill", models.BooleanField(db_default=False, help_text="A backfill has made it.")),
                ("rerun_at", models.DateTimeField(help_text="When somebody last ran it again.", null=True)),
            ],
            options={
                "verbose_name": "run of a graph",
                "verbose_name_plural": "runs of graphs",
                "db_table": "punctual_run",
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["job", "id"], name="punctual_run_job"),
                    models.Index(fields=["label"], name="punctual_run_label"),
                    models.Index(fields=["created_at"], name="punctual_run_made"),
                    models.Index(fields=["tenant", "id"], name="punctual_run_whose"),
                ],
                "constraints": [models.UniqueConstraint(fields=("job", "label"), name="punctual_run_unit")],
            },
        ),
        migrations.CreateModel(
            name="HeldTask",
            fields=[
                ("task", models.BigIntegerField(primary_key=True, serialize=False)),
                ("tenant", models.CharField(db_collation="C", max_length=63)),
                ("due_at", models.DateTimeField()),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "db_table": "punctual_held",
                "default_permissions": (),
                "indexes": [models.Index(fields=["tenant", "task"], name="punctual_held_of")],
            },
        ),
        migrations.CreateModel(
            name="HostHealth",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("tenant", models.CharField(db_collation="C", max_length=63)),
                ("host", models.CharField(db_collation="C", max_length=260)),
                (
                    "tasks",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(),
                        help_text="Whose calls failed, each once; no more than it takes.",
                        size=None,
                    ),
                ),
                ("error", models.TextField(db_default="", help_text="Of the last failure.")),
                ("failing_since", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "failed_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), help_text="Last."),
                ),
                (
                    "unwell_since",
                    models.DateTimeField(help_text="Since then its tasks wait; empty: they don't.", null=True),
                ),
                ("tries", models.IntegerField(db_default=0, help_text="That failed since then.")),
                ("try_at", models.DateTimeField(help_text="From then on one task may try it.", null=True)),
                ("trying", models.UUIDField(help_text="The batch that does, until it is finished.", null=True)),
                (
                    "returned",
                    models.IntegerField(db_default=0, help_text="Tasks that were sent back since the last try."),
                ),
                (
                    "crowd",
                    models.IntegerField(
                        db_default=0, help_text="The most that were between two tries: about so many wait."
                    ),
                ),
            ],
            options={
                "db_table": "punctual_host_health",
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["failed_at"], name="punctual_host_failed"),
                    models.Index(
                        condition=models.Q(("unwell_since__isnull", False)),
                        fields=["unwell_since"],
                        name="punctual_host_unwell",
                    ),
                ],
                "constraints": [models.UniqueConstraint(fields=("tenant", "host"), name="punctual_host_health_of")],
            },
        ),
        migrations.CreateModel(
            name="HostPermit",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("host", models.CharField(db_collation="C", max_length=260)),
                ("batch_no", models.UUIDField()),
                ("held", models.IntegerField()),
            ],
            options={
                "db_table": "punctual_host_permit",
                "default_permissions": (),
                "constraints": [models.UniqueConstraint(fields=("host", "batch_no"), name="punctual_host_permit_of")],
            },
        ),
        migrations.CreateModel(
            name="IdempotencyRecord",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("tenant", models.CharField(db_collation="C", max_length=63)),
                ("key", models.CharField(db_collation="C", max_length=150)),
                (
                    "fingerprint",
                    models.CharField(
                        help_text="Of the request: the same key with another one is refused.", max_length=64
                    ),
                ),
                ("status", models.SmallIntegerField()),
                ("answer", models.JSONField(null=True)),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "reach",
                    models.JSONField(help_text="The rights of its caller then: a replay needs them too.", null=True),
                ),
                ("body", models.TextField(help_text="Of the answer, byte for byte; empty: it has none.", null=True)),
            ],
            options={
                "db_table": "punctual_idempotency_record",
                "indexes": [models.Index(fields=["created_at"], name="punctual_idempotency_age")],
                "constraints": [
                    models.UniqueConstraint(fields=("tenant", "key"), name="punctual_idempotency_record_key")
                ],
            },
        ),
        migrations.CreateModel(
            name="ImportedSchedule",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("periodic_task", models.BigIntegerField(help_text="Its id in django-celery-beat.")),
                ("name", models.CharField(max_length=200)),
                ("tenant", models.CharField(db_collation="C", max_length=63)),
                ("job", models.BigIntegerField()),
                (
                    "revision",
                    models.IntegerField(
                        help_text="Of the job when it was made: another one says that somebody changed it."
                    ),
                ),
                ("switched_off", models.BooleanField(help_text="It was on, and the import switched it off.")),
                ("last_run_at", models.DateTimeField(help_text="When Celery had run it last.", null=True)),
                (
                    "fingerprint",
                    models.CharField(help_text="Of its row: another one says that somebody changed it.", max_length=32),
                ),
                ("imported_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("undone_at", models.DateTimeField(null=True)),
            ],
            options={
                "db_table": "punctual_imported_schedule",
                "default_permissions": (),
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("undone_at__isnull", True)),
                        fields=("periodic_task",),
                        name="punctual_imported_schedule_once",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Installation",
            fields=[
                ("id", models.SmallIntegerField(db_default=1, primary_key=True, serialize=False)),
                (
                    "uid",
                    models.UUIDField(
                        db_default=django.contrib.postgres.functions.RandomUUID(),
                        help_text="Stays the same for as long as the installation lives.",
                    ),
                ),
                (
                    "environment",
                    models.CharField(
                        db_default="", help_text='PUNCTUAL["ENVIRONMENT"] of its processes.', max_length=100
                    ),
                ),
                ("facts", models.JSONField(help_text="What the database was when it was last seen well.", null=True)),
                ("state", models.CharField(db_collation="C", db_default="ACTIVE", max_length=11)),
                ("reason", models.TextField(db_default="")),
                ("since", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("changed_by", models.CharField(db_default="", max_length=150)),
                (
                    "held_before",
                    models.DateTimeField(help_text="What was due before then waits for an answer.", null=True),
                ),
                (
                    "held_lanes",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=8),
                        db_default=[],
                        help_text="The lanes in which it waits.",
                        size=None,
                    ),
                ),
                (
                    "silent_since",
                    models.DateTimeField(help_text="Since when nobody had dispatched when it was asked.", null=True),
                ),
                (
                    "answer",
                    models.JSONField(help_text="What an operator has chosen, while beats carry it out.", null=True),
                ),
                (
                    "site",
                    models.CharField(
                        db_default="main",
                        help_text="The one that may claim and start; empty: none may.",
                        max_length=50,
                        null=True,
                    ),
                ),
                (
                    "next_site",
                    models.CharField(
                        help_text="Chosen, and opened once nobody of the one before can start anything.",
                        max_length=50,
                        null=True,
                    ),
                ),
                (
                    "site_epoch",
                    models.BigIntegerField(db_default=0, help_text="Grows whenever a site is chosen, or all stand by."),
                ),
                ("site_since", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "site_recovery",
                    models.BigIntegerField(
                        help_text="The recovery whose lanes the beats let go on, one after the other.", null=True
                    ),
                ),
            ],
            options={
                "verbose_name": "quarantine",
                "verbose_name_plural": "quarantine",
                "db_table": "punctual_installation",
                "permissions": [("operate_installation", "Can put the installation into quarantine and let it go on")],
                "default_permissions": ("view",),
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("id", 1)), name="punctual_installation_one"),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["ACTIVE", "QUARANTINED", "REHEARSING"])),
                        name="punctual_installation_state",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Site",
            fields=[],
            options={
                "verbose_name_plural": "sites",
                "proxy": True,
                "default_permissions": (),
                "indexes": [],
                "constraints": [],
            },
            bases=("punctual.installation",),
        ),
        migrations.CreateModel(
            name="JobCursor",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("cron", models.CharField(db_collation="C", db_default="", max_length=256)),
                ("timezone", models.CharField(db_collation="C", db_default="UTC", max_length=64)),
                ("dst_gap", models.CharField(db_default="shift", max_length=5)),
                ("dst_repeat", models.CharField(db_default="once", max_length=5)),
                ("every", models.IntegerField(db_default=0)),
                ("phase", models.IntegerField(db_default=0)),
                ("shard", models.SmallIntegerField()),
                ("next_fire", models.DateTimeField(help_text="Every firing before this one is planned.")),
                (
                    "after_job",
                    models.BigIntegerField(
                        db_default=0, help_text="Of this firing, the instances of jobs up to this one are planned too."
                    ),
                ),
                ("calendar", models.BigIntegerField(db_default=0, help_text="0: none.")),
                ("on_day_off", models.CharField(db_default="skip", max_length=5)),
                (
                    "calendar_version",
                    models.UUIDField(help_text="The version of it by which next_fire was computed.", null=True),
                ),
                (
                    "down_until",
                    models.DateTimeField(
                        help_text="Firings up to this instant passed in a downtime: a job catches up on them as it says.",
                        null=True,
                    ),
                ),
            ],
            options={
                "db_table": "punctual_job_cursor",
                "indexes": [
                    models.Index(fields=["shard", "next_fire"], name="punctual_job_cursor_due"),
                    models.Index(
                        condition=models.Q(("calendar__gt", 0)),
                        fields=["calendar", "id"],
                        name="punctual_job_cursor_calendar",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=(
                            "cron",
                            "every",
                            "phase",
                            "timezone",
                            "dst_gap",
                            "dst_repeat",
                            "calendar",
                            "on_day_off",
                            "shard",
                        ),
                        name="punctual_job_cursor_schedule",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="JobDefinition",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("tenant", models.CharField(db_collation="C", db_default="default", max_length=63)),
                ("name", models.CharField(db_collation="C", max_length=150)),
                (
                    "revision",
                    models.IntegerField(
                        db_default=1, help_text="Grows with every change; an edit names the one it saw."
                    ),
                ),
                ("task_type", models.CharField(db_collation="C", max_length=100)),
                ("payload", models.JSONField(db_default={})),
                ("lane", models.CharField(db_collation="C", db_default="default", max_length=8)),
                ("max_retry", models.SmallIntegerField()),
                (
                    "backoff",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.FloatField(),
                        help_text="Seconds before each retry; the last repeats. Empty: the handler's.",
                        null=True,
                        size=None,
                    ),
                ),
                ("timeout", models.FloatField(help_text="Seconds; empty: the handler's.", null=True)),
                (
                    "expires_after",
                    models.DurationField(help_text="An instance later than this is not run any more.", null=True),
                ),
                ("cron", models.CharField(db_default="", max_length=256)),
                ("every", models.IntegerField(db_default=0)),
                ("phase", models.IntegerField(db_default=0)),
                ("run_at", models.DateTimeField(null=True)),
                ("timezone", models.CharField(db_default="UTC", max_length=64)),
                ("dst_gap", models.CharField(db_default="shift", max_length=5)),
                ("dst_repeat", models.CharField(db_default="once", max_length=5)),
                ("start_at", models.DateTimeField(help_text="No firing before this.", null=True)),
                ("end_at", models.DateTimeField(help_text="No firing after this.", null=True)),
                ("max_runs", models.IntegerField(null=True)),
                (
                    "runs",
                    models.IntegerField(
                        db_default=0, help_text="Firings planned so far; counted where max_runs is set."
                    ),
                ),
                (
                    "jitter",
                    models.IntegerField(db_default=0, help_text="Seconds over which equal schedules are spread."),
                ),
                (
                    "jitter_offset",
                    models.IntegerField(db_default=0, help_text="This job's own share of it, always the same."),
                ),
                ("catch_up", models.CharField(db_default="latest", max_length=6)),
                ("catch_up_window", models.IntegerField(help_text="Seconds; what was missed longer ago stays missed.")),
                ("catch_up_most", models.IntegerField(help_text="Missed firings that are made up for, at most.")),
                ("status", models.CharField(db_default="ACTIVE", max_length=6)),
                ("pause_reason", models.TextField(db_default="")),
                ("paused_by", models.CharField(db_default="", max_length=150)),
                ("paused_at", models.DateTimeField(null=True)),
                (
                    "paused_until",
                    models.DateTimeField(help_text="Resumes by itself then; empty: when told.", null=True),
                ),
                ("on_resume", models.CharField(db_default="skip", max_length=6)),
                ("shard", models.SmallIntegerField()),
                (
                    "cursor",
                    models.BigIntegerField(
                        help_text="The punctual_job_cursor of its schedule; empty for one time.", null=True
                    ),
                ),
                ("plan_from", models.DateTimeField(help_text="Only firings after this are this job's.")),
                ("created_by", models.CharField(db_default="", max_length=150)),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("updated_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "owed",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.DateTimeField(),
                        help_text="Firings from before plan_from that a pause took back.",
                        null=True,
                        size=None,
                    ),
                ),
                (
                    "overlap",
                    models.CharField(
                        db_default="allow",
                        help_text="What a firing does while an older instance is under way.",
                        max_length=9,
                    ),
                ),
                (
                    "calendar",
                    models.BigIntegerField(help_text="Whose days off it keeps; empty: it fires on any day.", null=True),
                ),
                ("on_day_off", models.CharField(db_default="skip", max_length=5)),
                (
                    "overridden",
                    models.BooleanField(
                        db_default=False,
                        help_text="Somebody skipped or moved some of its firings: punctual_firing_override.",
                    ),
                ),
                (
                    "has_parents",
                    models.BooleanField(db_default=False, help_text="It runs after others, and has no schedule."),
                ),
                ("has_children", models.BooleanField(db_default=False)),
                (
                    "when",
                    models.CharField(
                        db_column="run_when", db_default="all_success", help_text="What it waits for.", max_length=11
                    ),
                ),
                ("if_parent_fails", models.CharField(db_default="wait", max_length=6)),
                (
                    "linked_at",
                    models.DateTimeField(
                        help_text="When its parents were last changed: runs from before keep theirs.", null=True
                    ),
                ),
            ],
            options={
                "verbose_name": "job",
                "db_table": "punctual_job",
                "permissions": [("operate_jobdefinition", "Can create, edit, pause, resume, trigger and delete jobs")],
                "default_permissions": ("view",),
                "indexes": [
                    models.Index(
                        condition=models.Q(("status", "ACTIVE")), fields=["cursor", "id"], name="punctual_job_planned"
                    ),
                    models.Index(
                        condition=models.Q(("max_runs__isnull", False), ("status", "ACTIVE")),
                        fields=["cursor"],
                        name="punctual_job_counted",
                    ),
                    models.Index(
                        condition=models.Q(("status", "ACTIVE"), models.Q(("overlap", "allow"), _negated=True)),
                        fields=["cursor"],
                        name="punctual_job_turns",
                    ),
                    models.Index(
                        condition=models.Q(("end_at__isnull", False), ("status", "ACTIVE")),
                        fields=["cursor", "end_at"],
                        name="punctual_job_ending",
                    ),
                    models.Index(
                        condition=models.Q(("has_children", True), ("status", "ACTIVE")),
                        fields=["cursor", "id"],
                        name="punctual_job_rooted",
                    ),
                    models.Index(
                        condition=models.Q(
                            ("timeout__isnull", False),
                            ("backoff__isnull", False),
                            models.Q(("overlap", "allow"), _negated=True),
                            ("has_parents", True),
                            ("has_children", True),
                            ("linked_at__isnull", False),
                            _connector="OR",
                        ),
                        fields=["id"],
                        name="punctual_job_own",
                    ),
                    models.Index(fields=["tenant", "task_type", "name"], name="punctual_job_type"),
                    models.Index(
                        condition=models.Q(("status", "PAUSED")), fields=["tenant", "name"], name="punctual_job_paused"
                    ),
                    models.Index(
                        condition=models.Q(("calendar__isnull", False)),
                        fields=["calendar", "id"],
                        name="punctual_job_calendar",
                    ),
                    models.Index(
                        condition=models.Q(("paused_until__isnull", False)),
                        fields=["paused_until"],
                        name="punctual_job_resumes",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("tenant", "name"), name="punctual_job_name"),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("lane__in", ("critical", "high", "default", "low", "deferred", "backfill"))
                        ),
                        name="punctual_job_lane",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("status__in", ["ACTIVE", "PAUSED"])), name="punctual_job_status"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("catch_up__in", ["none", "latest", "all"])), name="punctual_job_catch_up"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("when__in", ["all_success", "all_done", "any_failed"])),
                        name="punctual_job_when",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("if_parent_fails__in", ["wait", "cancel"])),
                        name="punctual_job_if_parent_fails",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("has_parents", False),
                            models.Q(("cron", ""), ("cursor__isnull", True), ("every", 0), ("run_at__isnull", True)),
                            _connector="OR",
                        ),
                        name="punctual_job_child_has_no_schedule",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("overlap__in", ["allow", "skip", "queue_one", "queue_all", "replace"])),
                        name="punctual_job_overlap",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("run_at__isnull", False), ("cursor__isnull", True)),
                            ("run_at__isnull", True),
                            _connector="OR",
                        ),
                        name="punctual_job_one_time_has_no_cursor",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="JobParent",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "job", "parent", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("job", models.BigIntegerField(help_text="The one that waits.")),
                ("parent", models.BigIntegerField(help_text="The one that it waits for.")),
            ],
            options={
                "db_table": "punctual_job_parent",
                "default_permissions": (),
                "indexes": [models.Index(fields=["parent", "job"], name="punctual_job_parent_child")],
            },
        ),
        migrations.CreateModel(
            name="KeyWalk",
            fields=[
                ("id", models.SmallIntegerField(primary_key=True, serialize=False)),
                ("state", models.CharField(db_collation="C", db_default="RUNNING", max_length=7)),
                ("place", models.SmallIntegerField(db_default=0, help_text="The table that it is at, counted from 0.")),
                ("after", models.BigIntegerField(db_default=0, help_text="The last row of it that was looked at.")),
                ("until", models.BigIntegerField(db_default=0, help_text="About the last row that there is.")),
                (
                    "rounds",
                    models.IntegerField(
                        db_default=0, help_text="Times that it has begun anew, since something was in use."
                    ),
                ),
                ("changed", models.BigIntegerField(db_default=0, help_text="Rows that were written.")),
                (
                    "left",
                    models.BigIntegerField(db_default=0, help_text="Rows of this round that could not be written now."),
                ),
                ("unreadable", models.BigIntegerField(db_default=0, help_text="Rows of this round that no key opens.")),
                ("ordered_by", models.CharField(db_default="", max_length=150)),
                ("ordered_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("updated_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "db_table": "punctual_key_walk",
                "default_permissions": (),
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("id", 1)), name="punctual_key_walk_one"),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["RUNNING", "STOPPED", "DONE"])),
                        name="punctual_key_walk_state",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Membership",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("tenant", models.CharField(db_collation="C", max_length=63)),
                (
                    "user_key",
                    models.CharField(
                        db_collation="C", help_text="The primary key of the user, as text.", max_length=100
                    ),
                ),
                (
                    "username",
                    models.CharField(db_collation="C", help_text="As it was when this was granted.", max_length=150),
                ),
                ("role", models.CharField(db_collation="C", max_length=8)),
                (
                    "source",
                    models.CharField(
                        db_default="",
                        help_text="What keeps it, such as a single sign-on; empty: it was made by hand.",
                        max_length=50,
                    ),
                ),
                ("granted_by", models.CharField(db_default="", max_length=150)),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("updated_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "verbose_name": "member",
                "db_table": "punctual_membership",
                "permissions": [("operate_membership", "Can grant, change and revoke memberships in tenants")],
                "default_permissions": ("view",),
                "indexes": [models.Index(fields=["tenant", "username"], name="punctual_membership_in")],
                "constraints": [
                    models.UniqueConstraint(fields=("user_key", "tenant"), name="punctual_membership_of"),
                    models.CheckConstraint(
                        condition=models.Q(("role__in", ["viewer", "author", "operator", "admin"])),
                        name="punctual_membership_role",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="MissingEntry",
            fields=[
                ("entry", models.BigIntegerField(db_column="entry_id", primary_key=True, serialize=False)),
                ("created_at", models.DateTimeField()),
                ("noticed_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "db_table": "punctual_audit_missing",
                "default_permissions": (),
                "indexes": [models.Index(fields=["noticed_at"], name="punctual_audit_missed")],
            },
        ),
        migrations.CreateModel(
            name="OwnedUnit",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("tenant", models.CharField(db_collation="C", max_length=63)),
                ("task_type", models.CharField(db_collation="C", max_length=100)),
                ("biz_key", models.CharField(db_collation="C", max_length=200)),
                ("owner", models.CharField(db_collation="C", max_length=150)),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "db_table": "punctual_owned_unit",
                "default_permissions": (),
                "indexes": [models.Index(fields=["at"], name="punctual_owned_unit_at")],
                "constraints": [
                    models.UniqueConstraint(fields=("biz_key", "task_type", "tenant"), name="punctual_owned_unit_is")
                ],
            },
        ),
        migrations.CreateModel(
            name="PulseReader",
            fields=[
                ("id", models.SmallIntegerField(db_default=1, primary_key=True, serialize=False)),
                ("read_until", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "served_since",
                    models.JSONField(db_default={}, help_text="By lane: since when it is served, and nobody holds it."),
                ),
                ("sampled_at", models.DateTimeField(help_text="When what costs more was last looked at.", null=True)),
            ],
            options={
                "db_table": "punctual_pulse_reader",
                "default_permissions": (),
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("id", 1)), name="punctual_pulse_reader_one")
                ],
            },
        ),
        migrations.CreateModel(
            name="QuotaUse",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("tenant", models.CharField(db_collation="C", max_length=63)),
                ("quota", models.CharField(db_collation="C", max_length=20)),
                ("hour", models.DateTimeField()),
                ("used", models.BigIntegerField(help_text="The most of it in that hour.")),
                ("last", models.BigIntegerField(help_text="When it was last counted.")),
                ("most", models.BigIntegerField(help_text="The quota, when it was last counted.")),
            ],
            options={
                "verbose_name_plural": "quota use",
                "db_table": "punctual_quota_use",
                "default_permissions": (),
                "indexes": [models.Index(fields=["hour"], name="punctual_quota_use_hour")],
                "constraints": [
                    models.UniqueConstraint(fields=("tenant", "quota", "hour"), name="punctual_quota_use_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="Recovery",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "incident",
                    models.CharField(
                        db_collation="C", help_text="As people call it; one recovery each.", max_length=100, unique=True
                    ),
                ),
                ("grade", models.CharField(max_length=2)),
                ("actor", models.CharField(max_length=150)),
                ("reason", models.TextField()),
                (
                    "runs",
                    models.IntegerField(
                        db_default=1,
                        help_text="How often it was begun or went on: who has an older number may do no step.",
                    ),
                ),
                (
                    "began_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(),
                        help_text="When the incident began: the limits count from here.",
                    ),
                ),
                ("started_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("finished_at", models.DateTimeField(null=True)),
                (
                    "steps",
                    models.JSONField(
                        db_default={}, help_text="By name: when each was begun and done, and what it did."
                    ),
                ),
                (
                    "resumed",
                    models.IntegerField(
                        db_default=0, help_text="Shards that no live beat dispatched, and that are dispatched again."
                    ),
                ),
                ("replayed", models.BigIntegerField(db_default=0, help_text="Events that subscribers get again.")),
                ("letters_moved", models.IntegerField(db_default=0, help_text="Dead letters whose tasks run again.")),
                (
                    "trouble",
                    models.JSONField(
                        db_default={},
                        help_text="When it was begun: the first symptom that the database knew, and what may be lost.",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "recoveries",
                "db_table": "punctual_recovery",
                "default_permissions": (),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("grade__in", ["P1", "P2"])), name="punctual_recovery_grade"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Safeguard",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(db_collation="C", max_length=20)),
                (
                    "subject",
                    models.CharField(
                        db_collation="C",
                        help_text="A type, host: and a host, or tenant: and a scope; empty: all.",
                        max_length=340,
                    ),
                ),
                ("stage", models.SmallIntegerField(db_default=0, help_text="0: off.")),
                ("over_since", models.DateTimeField(help_text="The limit has been passed since then.", null=True)),
                ("calm_since", models.DateTimeField(help_text="All has been well since then.", null=True)),
                ("stage_since", models.DateTimeField(null=True)),
                ("ended_at", models.DateTimeField(help_text="When it last went off.", null=True)),
                (
                    "relapses",
                    models.SmallIntegerField(
                        db_default=0, help_text="How often it went on again shortly after its end."
                    ),
                ),
                ("figures", models.JSONField(db_default={})),
                (
                    "order",
                    models.CharField(
                        db_default="", help_text="force, forbid or end: what an operator wants.", max_length=6
                    ),
                ),
                ("order_stage", models.SmallIntegerField(db_default=0)),
                ("order_until", models.DateTimeField(null=True)),
                ("order_by", models.CharField(db_default="", max_length=150)),
                ("order_reason", models.TextField(db_default="")),
                ("looked_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "db_table": "punctual_safeguard",
                "permissions": [("operate_safeguard", "Can force, forbid and end safeguards")],
                "default_permissions": ("view",),
                "constraints": [
                    models.UniqueConstraint(fields=("name", "subject"), name="punctual_safeguard_once"),
                    models.CheckConstraint(condition=models.Q(("stage__gte", 0)), name="punctual_safeguard_stage"),
                ],
            },
        ),
        migrations.CreateModel(
            name="SafeguardIncident",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(db_collation="C", max_length=20)),
                ("subject", models.CharField(db_collation="C", max_length=340)),
                ("sentence", models.TextField(help_text="What was found, for people.")),
                ("figures", models.JSONField()),
                ("actions", models.JSONField(help_text="Each with its time: what was held back, and let go again.")),
                (
                    "stage",
                    models.SmallIntegerField(help_text="Where it is now; the highest it was, once it is closed."),
                ),
                ("dry", models.BooleanField(db_default=False, help_text="It was only told.")),
                ("forced_by", models.CharField(db_default="", max_length=150)),
                ("opened_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("closed_at", models.DateTimeField(null=True)),
                ("ending", models.TextField(db_default="", help_text="Why it ended.")),
            ],
            options={
                "db_table": "punctual_safeguard_incident",
                "default_permissions": (),
                "indexes": [
                    models.Index(
                        condition=models.Q(("closed_at__isnull", False)),
                        fields=["closed_at"],
                        name="punctual_safeguard_closed",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("closed_at__isnull", True)),
                        fields=("name", "subject"),
                        name="punctual_safeguard_incident_open",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="SavedFilter",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "tenant",
                    models.CharField(
                        db_collation="C", help_text="Empty: of somebody who works in all.", max_length=63, null=True
                    ),
                ),
                (
                    "user_key",
                    models.CharField(
                        db_collation="C", help_text="The primary key of the user, as text.", max_length=100
                    ),
                ),
                ("page", models.CharField(db_collation="C", help_text="The list that it is for.", max_length=20)),
                ("name", models.CharField(db_collation="C", max_length=60)),
                ("query", models.CharField(help_text="As in the list's address.", max_length=2000)),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "db_table": "punctual_saved_filter",
                "default_permissions": (),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("user_key", "page", "tenant", "name"),
                        name="punctual_saved_filter_of",
                        nulls_distinct=False,
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ScheduleCount",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("tenant", models.CharField(db_collation="C", max_length=63)),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("tasks", models.IntegerField()),
            ],
            options={
                "db_table": "punctual_schedule_count",
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["tenant", "at"], name="punctual_schedule_count_of"),
                    models.Index(fields=["at"], name="punctual_schedule_count_at"),
                ],
            },
        ),
        migrations.CreateModel(
            name="ScheduleTask",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("tenant", models.CharField(db_collation="C", db_default="default", max_length=63)),
                ("task_type", models.CharField(db_collation="C", max_length=100)),
                ("biz_key", models.CharField(db_collation="C", max_length=200)),
                ("current", models.BooleanField(db_default=True)),
                (
                    "replaces",
                    models.BigIntegerField(help_text="The row of the same unit this one took over from.", null=True),
                ),
                ("idem_key", models.CharField(db_collation="C", max_length=200, null=True)),
                (
                    "token",
                    models.UUIDField(
                        db_default=django.contrib.postgres.functions.RandomUUID(),
                        help_text="Stays the same over retries and replacement; for other systems.",
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("BLOCKED", "BLOCKED"),
                            ("INIT", "INIT"),
                            ("RUNNING", "RUNNING"),
                            ("AWAY", "AWAY"),
                            ("SUCCESS", "SUCCESS"),
                            ("FAIL", "FAIL"),
                            ("DEAD", "DEAD"),
                            ("CANCELLED", "CANCELLED"),
                        ],
                        max_length=9,
                    ),
                ),
                ("execute_time", models.DateTimeField(help_text="What the user asked for.")),
                (
                    "due_at",
                    models.DateTimeField(help_text="May be claimed from this moment on; empty: never.", null=True),
                ),
                ("claimed_due", models.DateTimeField(help_text="What due_at was when it was last claimed.", null=True)),
                ("lane", models.CharField(db_collation="C", db_default="default", max_length=8)),
                ("shard", models.SmallIntegerField()),
                (
                    "solo",
                    models.BooleanField(db_default=False, help_text="Tried alone, since a batch it was in was lost."),
                ),
                ("batch_no", models.UUIDField(null=True)),
                (
                    "attempt",
                    models.IntegerField(db_default=0, help_text="Failures since the last success, roll or replay."),
                ),
                ("retry_count", models.IntegerField(db_default=0, help_text="Failures over the row's whole life.")),
                ("max_retry", models.SmallIntegerField()),
                (
                    "repeat_after",
                    models.DurationField(help_text="Rolling: again so long after it finished.", null=True),
                ),
                (
                    "expires_after",
                    models.DurationField(help_text="Later than this past execute_time: not run.", null=True),
                ),
                ("start_time", models.DateTimeField(null=True)),
                ("finish_time", models.DateTimeField(null=True)),
                ("error_code", models.CharField(db_default="", max_length=50)),
                ("error_msg", models.TextField(db_default="")),
                ("cancelled_by", models.CharField(db_default="", max_length=150)),
                ("payload", models.JSONField(db_default={})),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("updated_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "limited",
                    models.BooleanField(
                        db_default=False, help_text="Its type has a limit: claimed by type, apart from what has none."
                    ),
                ),
                ("fire_time", models.DateTimeField(null=True)),
                ("job", models.BigIntegerField(null=True)),
                (
                    "cancelled_from",
                    models.CharField(
                        db_collation="C",
                        help_text="The tenant of the token that cancelled it; empty: a person, or the scheduler.",
                        max_length=63,
                        null=True,
                    ),
                ),
                (
                    "allowed_at",
                    models.DateTimeField(
                        help_text="Late from here, if this is later: planned for the past, or held by a limit or a paused lane.",
                        null=True,
                    ),
                ),
                ("result", models.JSONField(help_text="What the handler returned, if that is small JSON.", null=True)),
                ("ran_in", models.UUIDField(help_text="The batch of the last run that ended.", null=True)),
                ("deferred_from", models.BigIntegerField(help_text="The task that handed this effect on.", null=True)),
                (
                    "deferred",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(),
                        help_text="The tasks that its effects were handed on to.",
                        null=True,
                        size=None,
                    ),
                ),
                (
                    "retry_for",
                    models.DurationField(
                        help_text="Retried until so long past execute_time, however often; empty: max_retry times.",
                        null=True,
                    ),
                ),
                (
                    "payload_bytes",
                    models.BinaryField(help_text="An encrypted payload; the other field names its key.", null=True),
                ),
                (
                    "entry_at",
                    models.DateTimeField(
                        help_text="What due_at was when it was new, if that was yet to come.", null=True
                    ),
                ),
                ("wait_at", models.DateTimeField(help_text="What due_at is, unless it waits at its entry.", null=True)),
                (
                    "asked_by",
                    models.CharField(
                        help_text="The person or API token that scheduled it; empty: code, or the schedule of its job.",
                        max_length=150,
                        null=True,
                    ),
                ),
            ],
            options={
                "db_table": "punctual_task",
                "permissions": [
                    ("operate_scheduletask", "Can retry, cancel and move tasks"),
                    ("decrypt_scheduletask", "Can read what is encrypted"),
                ],
                "indexes": [
                    models.Index(
                        condition=models.Q(("entry_at__isnull", False)),
                        fields=["shard", "lane", "entry_at", "id"],
                        name="punctual_task_entry",
                    ),
                    models.Index(
                        condition=models.Q(("limited", False), ("wait_at__isnull", False)),
                        fields=["shard", "lane", "wait_at"],
                        name="punctual_task_wait",
                    ),
                    models.Index(
                        condition=models.Q(("limited", True), ("wait_at__isnull", False)),
                        fields=["task_type", "lane", "wait_at"],
                        include=("tenant",),
                        name="punctual_task_wait_limited",
                    ),
                    models.Index(
                        condition=models.Q(
                            ("limited", False), ("repeat_after__isnull", False), ("wait_at__isnull", False)
                        ),
                        fields=["task_type", "tenant", "wait_at"],
                        name="punctual_task_wait_rolling",
                    ),
                    models.Index(
                        condition=models.Q(("job__isnull", False)),
                        fields=["job", "fire_time"],
                        name="punctual_task_job",
                    ),
                    models.Index(
                        condition=models.Q(("error_code__gt", ""), ("wait_at__isnull", False)),
                        fields=["task_type", "tenant"],
                        name="punctual_task_wait_failing",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("current", True)),
                        fields=("biz_key", "task_type", "tenant"),
                        name="punctual_task_unit",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("idem_key__isnull", False)),
                        fields=("tenant", "idem_key"),
                        name="punctual_task_idem",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "status__in",
                                ["BLOCKED", "INIT", "RUNNING", "AWAY", "SUCCESS", "FAIL", "DEAD", "CANCELLED"],
                            )
                        ),
                        name="punctual_task_status",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("lane__in", ("critical", "high", "default", "low", "deferred", "backfill"))
                        ),
                        name="punctual_task_lane",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("status", "RUNNING"), ("batch_no__isnull", False)),
                            models.Q(models.Q(("status", "RUNNING"), _negated=True), ("batch_no__isnull", True)),
                            _connector="OR",
                        ),
                        name="punctual_task_running_has_batch",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("due_at__isnull", True),
                            ("status__in", ["INIT", "FAIL"]),
                            models.Q(("repeat_after__isnull", False), ("status", "SUCCESS")),
                            _connector="OR",
                        ),
                        name="punctual_task_due_is_claimable",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("current", True),
                            models.Q(
                                ("due_at__isnull", True),
                                models.Q(("status__in", ["RUNNING", "AWAY", "BLOCKED"]), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="punctual_task_live_is_current",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ScopeMinute",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "target", "tenant", "minute", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("target", models.CharField(db_collation="C", max_length=340)),
                ("tenant", models.CharField(db_collation="C", max_length=63)),
                ("minute", models.DateTimeField()),
                ("ok", models.IntegerField()),
                ("failed", models.IntegerField()),
            ],
            options={
                "db_table": "punctual_scope_minute",
                "default_permissions": (),
                "indexes": [models.Index(fields=["minute"], name="punctual_scope_minute_at")],
            },
        ),
        migrations.CreateModel(
            name="Secret",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("tenant", models.CharField(db_collation="C", max_length=63)),
                ("name", models.CharField(db_collation="C", max_length=100)),
                (
                    "values",
                    models.JSONField(
                        db_default=[], help_text="Sealed, the newest first; more than one only while it is changed."
                    ),
                ),
                ("signs", models.BooleanField(db_default=False, help_text="It is one of Standard Webhooks.")),
                (
                    "hosts",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.TextField(),
                        db_default=[],
                        help_text="Where it may be sent to; empty: anywhere.",
                        size=None,
                    ),
                ),
                ("created_by", models.CharField(db_default="", max_length=150)),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("updated_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "db_table": "punctual_secret",
                "permissions": [("operate_secret", "Can set and delete secrets")],
                "default_permissions": ("view",),
                "constraints": [models.UniqueConstraint(fields=("tenant", "name"), name="punctual_secret_name")],
            },
        ),
        migrations.CreateModel(
            name="ServiceMinute",
            fields=[
                ("minute", models.DateTimeField(primary_key=True, serialize=False)),
                ("state", models.CharField(help_text="UP, DOWN; or IDLE: no lane was served.", max_length=4)),
                (
                    "served",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(db_collation="C", max_length=8),
                        help_text="Lanes in which a canary should have flown.",
                        size=None,
                    ),
                ),
                (
                    "down",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(db_collation="C", max_length=8),
                        help_text="Of these, where it did not come back in time.",
                        size=None,
                    ),
                ),
                (
                    "lost",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(db_collation="C", max_length=8),
                        help_text="Lanes whose last worker died, and none came back.",
                        size=None,
                    ),
                ),
                (
                    "paused",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(db_collation="C", max_length=8),
                        help_text="Lanes that would be served if nobody had paused them.",
                        size=None,
                    ),
                ),
                ("up_minutes", models.IntegerField()),
                ("down_minutes", models.IntegerField()),
                ("ok", models.BigIntegerField(help_text="Runs that succeeded; no canaries.")),
                ("failed", models.BigIntegerField()),
                (
                    "lateness",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(), help_text="Histogram, see core/lateness.py.", size=None
                    ),
                ),
            ],
            options={
                "db_table": "punctual_service_minute",
                "default_permissions": (),
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "DOWN")), fields=["-minute"], name="punctual_service_minute_down"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="SignOfLife",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "kind", "address", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("kind", models.CharField(db_collation="C", max_length=7)),
                (
                    "address",
                    models.CharField(
                        db_collation="C", help_text="Of a standby; empty: a socket of its files.", max_length=45
                    ),
                ),
                ("at", models.DateTimeField()),
            ],
            options={
                "verbose_name_plural": "signs of life",
                "db_table": "punctual_sign",
                "default_permissions": (),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["beat", "standby"])), name="punctual_sign_kind"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Stall",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(db_collation="C", help_text="One of core/at_work.py.", max_length=15)),
                (
                    "place",
                    models.CharField(
                        db_collation="C", help_text="The part of the beat that worked on it.", max_length=32
                    ),
                ),
                (
                    "item",
                    models.CharField(
                        db_collation="C", help_text="Its number or name; of a job, its schedule.", max_length=440
                    ),
                ),
                ("ends", models.IntegerField(db_default=1, help_text="Beats that ended on it.")),
                ("first_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("last_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "skipped_at",
                    models.DateTimeField(help_text="Since when beats skip it; empty: they do not.", null=True),
                ),
                ("beat", models.CharField(db_default="", help_text="The last of these beats.", max_length=200)),
                ("stack", models.TextField(db_default="", help_text="Of its thread, the innermost call first.")),
            ],
            options={
                "db_table": "punctual_stall",
                "default_permissions": (),
                "constraints": [models.UniqueConstraint(fields=("kind", "place", "item"), name="punctual_stall_once")],
            },
        ),
        migrations.CreateModel(
            name="Subscription",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(db_collation="C", max_length=100)),
                (
                    "tenant",
                    models.CharField(
                        db_collation="C",
                        help_text="Whose events; empty: those of all tenants.",
                        max_length=63,
                        null=True,
                    ),
                ),
                (
                    "events",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.TextField(),
                        help_text="Patterns of their names; the last that matches decides.",
                        size=None,
                    ),
                ),
                (
                    "task_types",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.TextField(),
                        db_default=[],
                        help_text="Patterns of task types; empty: all.",
                        size=None,
                    ),
                ),
                ("sink", models.CharField(db_collation="C", help_text="The kind of receiver.", max_length=10)),
                ("target", models.JSONField(help_text="Where it is; the fields depend on its kind.")),
                (
                    "secrets",
                    models.JSONField(
                        db_default=[], help_text="What events are signed with, encrypted; the newest first."
                    ),
                ),
                ("state", models.CharField(db_collation="C", db_default="ACTIVE", max_length=10)),
                ("reason", models.TextField(db_default="", help_text="Why it is paused or suspended.")),
                ("created_by", models.CharField(db_default="", max_length=150)),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "updated_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(),
                        help_text="When a person, or the relay, last changed its state.",
                    ),
                ),
                (
                    "window_no",
                    models.BigIntegerField(db_default=0, help_text="It has all windows before this one, ..."),
                ),
                (
                    "row_id",
                    models.BigIntegerField(db_default=0, help_text="... of this one all rows before this one, ..."),
                ),
                ("place", models.IntegerField(db_default=0, help_text="... and of that row so many events.")),
                (
                    "since",
                    models.DateTimeField(help_text="What was written before is none of its business.", null=True),
                ),
                ("delivered", models.BigIntegerField(db_default=0, help_text="How many events it has got.")),
                ("delivered_at", models.DateTimeField(null=True)),
                ("failing_since", models.DateTimeField(help_text="Nothing could be delivered since then.", null=True)),
                ("attempts", models.IntegerField(db_default=0, help_text="Failed ones in a row.")),
                ("next_try_at", models.DateTimeField(null=True)),
                ("last_error", models.TextField(db_default="")),
                ("holder", models.UUIDField(help_text="The node id of the beat that delivers it.", null=True)),
                ("holder_name", models.CharField(db_default="", max_length=200)),
                (
                    "fence",
                    models.BigIntegerField(
                        db_default=0,
                        help_text="Grows with every change of holder; who has an older one can't move the cursor.",
                    ),
                ),
                ("lease_until", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "db_table": "punctual_subscription",
                "permissions": [("operate_subscription", "Can make, change, pause, resume and delete subscriptions")],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant", "name"), name="punctual_subscription_name", nulls_distinct=False
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["ACTIVE", "PAUSED", "SUSPENDED"])),
                        name="punctual_subscription_state",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("sink__in", ["webhook", "stream", "queue", "python"])),
                        name="punctual_subscription_sink",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="TaskBatch",
            fields=[
                ("batch_no", models.UUIDField(primary_key=True, serialize=False)),
                ("task_type", models.CharField(db_collation="C", max_length=100)),
                ("lane", models.CharField(db_collation="C", max_length=8)),
                ("ids", django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), size=None)),
                ("dispatcher", models.CharField(max_length=200)),
                ("claimed_at", models.DateTimeField()),
                (
                    "lease_until",
                    models.DateTimeField(help_text="The dispatch lease, and from the start on the run lease."),
                ),
                ("worker", models.CharField(db_default="", max_length=200)),
                ("started_at", models.DateTimeField(null=True)),
                (
                    "finished_at",
                    models.DateTimeField(help_text="The fence: nothing of this batch counts after it.", null=True),
                ),
                ("reaped", models.BooleanField(db_default=False)),
                ("ok", models.IntegerField(db_default=0)),
                ("failed", models.IntegerField(db_default=0)),
                (
                    "run_us",
                    models.BigIntegerField(db_default=0, help_text="Wall time of the run, for the next batch's size."),
                ),
                (
                    "lateness",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.IntegerField(),
                        help_text="Histogram, see core/lateness.py.",
                        null=True,
                        size=None,
                    ),
                ),
                (
                    "allowed_at",
                    models.DateTimeField(
                        help_text="From when on its type's limit and its lane let it start; empty: all the time.",
                        null=True,
                    ),
                ),
                (
                    "ticket",
                    models.UUIDField(help_text="Of the start: who has it may ask for its answer again.", null=True),
                ),
            ],
            options={
                "verbose_name_plural": "task batches",
                "db_table": "punctual_batch",
                "indexes": [
                    models.Index(
                        condition=models.Q(("finished_at__isnull", True)),
                        fields=["lease_until"],
                        name="punctual_batch_open",
                    ),
                    models.Index(
                        condition=models.Q(("finished_at__isnull", True), ("started_at__isnull", True)),
                        fields=["claimed_at"],
                        name="punctual_batch_waiting",
                    ),
                    models.Index(
                        condition=models.Q(("finished_at__isnull", False)),
                        fields=["finished_at"],
                        name="punctual_batch_done",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="TaskWait",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "task", "parent", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("task", models.BigIntegerField(help_text="The one that is BLOCKED.")),
                ("parent", models.BigIntegerField(help_text="The current row of the unit that it waits for.")),
                (
                    "ended",
                    models.CharField(
                        db_collation="C",
                        help_text="How the parent ended, if somebody noted it: the row itself, while it is live, is what counts.",
                        max_length=10,
                        null=True,
                    ),
                ),
            ],
            options={
                "db_table": "punctual_wait",
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["parent"], name="punctual_wait_parent"),
                    models.Index(
                        condition=models.Q(("ended__in", ["CANCELLED", "DEAD"])),
                        fields=["parent", "task"],
                        name="punctual_wait_failed",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Tenant",
            fields=[
                ("name", models.CharField(db_collation="C", max_length=63, primary_key=True, serialize=False)),
                ("title", models.CharField(db_default="", help_text="For people.", max_length=100)),
                ("state", models.CharField(db_collation="C", db_default="ACTIVE", max_length=9)),
                ("reason", models.TextField(db_default="", help_text="Why it is suspended, or was archived.")),
                (
                    "since",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), help_text="In this state."
                    ),
                ),
                (
                    "until",
                    models.DateTimeField(
                        help_text="Suspended until then; empty: until somebody resumes it.", null=True
                    ),
                ),
                ("changed_by", models.CharField(db_default="", max_length=150)),
                (
                    "timezone",
                    models.CharField(
                        db_default="", help_text="Of its new jobs by the clock; empty: UTC.", max_length=64
                    ),
                ),
                (
                    "contacts",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=254), db_default=[], help_text="Whom to tell.", size=None
                    ),
                ),
                ("weight", models.SmallIntegerField(db_default=100, help_text="Its share beside others.")),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("updated_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("max_jobs", models.IntegerField(null=True)),
                ("max_tasks", models.IntegerField(help_text="Live ones.", null=True)),
                ("max_payload_bytes", models.IntegerField(help_text="Of one task, as JSON.", null=True)),
                (
                    "calls_per_minute",
                    models.IntegerField(help_text="Of the REST API, by all its tokens together.", null=True),
                ),
                ("tasks", models.BigIntegerField(help_text="Live ones, when they were last counted.", null=True)),
                (
                    "at_limit",
                    models.BooleanField(db_default=False, help_text="It had max_tasks or more: no more are taken."),
                ),
                (
                    "near",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=20),
                        db_default=[],
                        help_text="Quotas of which it was told.",
                        size=None,
                    ),
                ),
                (
                    "encrypted",
                    models.BooleanField(
                        db_default=False,
                        help_text="Payloads, results, errors and secrets are encrypted with a key of its own.",
                    ),
                ),
                (
                    "jobs",
                    models.BigIntegerField(help_text="When they were last counted; one too many: or more.", null=True),
                ),
                (
                    "closed",
                    models.BooleanField(
                        db_default=False, help_text="It is being archived, or was: nothing new is taken for it."
                    ),
                ),
                ("lane", models.CharField(db_collation="C", db_default="", max_length=8)),
                ("max_history_days", models.IntegerField(help_text="That what is over may be kept.", null=True)),
                ("max_running", models.IntegerField(help_text="Tasks that a worker has, or that are away.", null=True)),
                (
                    "retention",
                    models.CharField(
                        db_collation="C", db_default="", help_text="The class, by its name.", max_length=20
                    ),
                ),
                ("retry_burst", models.IntegerField(help_text="Retries that may come at once.", null=True)),
                ("retry_share", models.FloatField(help_text="Of all its tries: retries, at most.", null=True)),
                ("schedules_per_second", models.IntegerField(help_text="New tasks, over some seconds.", null=True)),
            ],
            options={
                "db_table": "punctual_tenant",
                "permissions": [("operate_tenant", "Can make, change, suspend and resume tenants")],
                "default_permissions": ("view",),
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "SUSPENDED")), fields=["name"], name="punctual_tenant_suspended"
                    ),
                    models.Index(
                        condition=models.Q(
                            ("at_limit", True),
                            ("max_payload_bytes__isnull", False),
                            ("encrypted", True),
                            ("closed", True),
                            ("schedules_per_second__isnull", False),
                            _connector="OR",
                        ),
                        fields=["name"],
                        name="punctual_tenant_guarded",
                    ),
                    models.Index(
                        condition=models.Q(("max_running__isnull", False)),
                        fields=["name"],
                        name="punctual_tenant_bounded",
                    ),
                    models.Index(
                        condition=models.Q(("retention__gt", ""), ("max_history_days__isnull", False), _connector="OR"),
                        fields=["name"],
                        name="punctual_tenant_kept",
                    ),
                    models.Index(
                        condition=models.Q(("max_tasks__isnull", False), ("max_jobs__isnull", False), _connector="OR"),
                        fields=["name"],
                        name="punctual_tenant_counted",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("lane__in", ["", "critical", "high", "default", "low", "deferred", "backfill"])
                        ),
                        name="punctual_tenant_lane",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["ACTIVE", "SUSPENDED", "ARCHIVED"])),
                        name="punctual_tenant_state",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "ARCHIVED"), _negated=True), ("closed", True), _connector="OR"
                        ),
                        name="punctual_tenant_archived_is_closed",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("state", "SUSPENDED"), ("until__isnull", True), _connector="OR"),
                        name="punctual_tenant_until_suspended",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="TenantArchive",
            fields=[
                ("tenant", models.CharField(db_collation="C", max_length=63, primary_key=True, serialize=False)),
                ("state", models.CharField(db_collation="C", db_default="RUNNING", max_length=7)),
                ("phase", models.CharField(db_collation="C", db_default="WAIT", max_length=6)),
                ("folder", models.TextField(help_text="Where it lies, below the archive's root.")),
                ("round", models.IntegerField(db_default=1, help_text="Times that all tables were looked through.")),
                (
                    "todo",
                    models.JSONField(db_default=[], help_text="What this phase has left to do: tables, or files."),
                ),
                (
                    "parts",
                    models.JSONField(db_default=[], help_text="The files, each with what was read back from it."),
                ),
                (
                    "in_flight",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.TextField(),
                        help_text="Transactions that may not know of the last change here; empty: nobody has looked since.",
                        null=True,
                        size=None,
                    ),
                ),
                ("waits_for", models.TextField(db_default="", help_text="Why it does not go on, in words.")),
                ("exported", models.BigIntegerField(db_default=0, help_text="Rows that are in the archive.")),
                ("removed", models.BigIntegerField(db_default=0, help_text="Rows that were removed here.")),
                ("destroy_key", models.BooleanField(db_default=False, help_text="Its keys are destroyed in the end.")),
                ("error", models.TextField(db_default="", help_text="Of the last try, if that failed.")),
                ("reason", models.TextField(db_default="")),
                ("ordered_by", models.CharField(db_default="", max_length=150)),
                ("ordered_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("updated_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("holder", models.CharField(db_default="", help_text="The beat that works on it.", max_length=200)),
                ("fence", models.IntegerField(db_default=0, help_text="Grows each time a beat takes it.")),
                ("held_until", models.DateTimeField(help_text="Others leave it to that beat until then.", null=True)),
            ],
            options={
                "db_table": "punctual_tenant_archive",
                "default_permissions": (),
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "RUNNING")), fields=["tenant"], name="punctual_tenant_archive_due"
                    )
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["RUNNING", "STOPPED", "DONE"])),
                        name="punctual_tenant_archive_state",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("phase__in", ["WAIT", "EXPORT", "REMOVE"])),
                        name="punctual_tenant_archive_phase",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="TenantKey",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("tenant", models.CharField(db_collation="C", max_length=63)),
                (
                    "sealed",
                    models.TextField(db_default="", help_text="With the installation's key; empty: it was destroyed."),
                ),
                (
                    "encrypts",
                    models.BooleanField(db_default=True, help_text="What is written now is encrypted with it."),
                ),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("created_by", models.CharField(db_default="", max_length=150)),
                ("destroyed_at", models.DateTimeField(null=True)),
                ("destroyed_by", models.CharField(db_default="", max_length=150)),
                (
                    "in_bytes",
                    models.BooleanField(
                        db_default=False,
                        help_text="Payloads of tasks are stored in bytes. Not with a key of before: processes of then can't read them.",
                    ),
                ),
            ],
            options={
                "db_table": "punctual_tenant_key",
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["tenant", "id"], name="punctual_tenant_key_of"),
                    models.Index(
                        models.Func(models.F("sealed"), models.Value("."), models.Value(2), function="split_part"),
                        condition=models.Q(("sealed__gt", "")),
                        name="punctual_tenant_key_master",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("encrypts", True)), fields=("tenant",), name="punctual_tenant_key_newest"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("destroyed_at__isnull", True),
                            models.Q(("encrypts", False), ("sealed", "")),
                            _connector="OR",
                        ),
                        name="punctual_tenant_key_gone",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Turn",
            fields=[
                ("task", models.BigIntegerField(primary_key=True, serialize=False)),
                ("job", models.BigIntegerField()),
                (
                    "shard",
                    models.SmallIntegerField(help_text="Of the job: the beat that dispatches it gives the turns."),
                ),
                ("at", models.DateTimeField(help_text="When it wants to run; those that wait go in this order.")),
                ("policy", models.CharField(help_text="What it does if it is not its turn then.", max_length=9)),
                (
                    "state",
                    models.CharField(
                        db_default="new",
                        help_text="new: nothing is decided; queued: it waits; taken: it may run.",
                        max_length=6,
                    ),
                ),
                (
                    "passed",
                    models.SmallIntegerField(
                        db_default=0,
                        help_text="How often others went before it, while it was the first in line of a backfill.",
                    ),
                ),
                (
                    "alongside",
                    models.BooleanField(
                        db_default=False,
                        help_text="It was under way when its job still allowed overlap, so others may have a turn beside it.",
                    ),
                ),
            ],
            options={
                "db_table": "punctual_turn",
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["job", "state", "at", "task"], name="punctual_turn_line"),
                    models.Index(
                        condition=models.Q(("state", "new")), fields=["shard", "at"], name="punctual_turn_new"
                    ),
                    models.Index(
                        condition=models.Q(("state", "queued")), fields=["shard", "job"], name="punctual_turn_queued"
                    ),
                    models.Index(
                        condition=models.Q(("state", "queued"), models.Q(("policy", "backfill"), _negated=True)),
                        fields=["job", "at", "task"],
                        name="punctual_turn_first",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["new", "queued", "taken"])), name="punctual_turn_state"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("policy__in", ["skip", "queue_one", "queue_all", "replace", "backfill"])),
                        name="punctual_turn_policy",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="UnchainedEntry",
            fields=[
                ("entry", models.BigIntegerField(db_column="entry_id", primary_key=True, serialize=False)),
                ("created_at", models.DateTimeField()),
                (
                    "looked_at",
                    models.DateTimeField(
                        help_text="The look that found it, with so many others that they get their places part by part.",
                        null=True,
                    ),
                ),
            ],
            options={
                "db_table": "punctual_audit_unchained",
                "default_permissions": (),
                "indexes": [
                    models.Index(
                        condition=models.Q(("looked_at__isnull", False)),
                        fields=["looked_at"],
                        name="punctual_audit_looked",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="UnitRevision",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("tenant", models.CharField(db_collation="C", max_length=63)),
                ("task_type", models.CharField(db_collation="C", max_length=100)),
                ("biz_key", models.CharField(db_collation="C", max_length=200)),
                ("revision", models.BigIntegerField()),
                ("changed_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "db_table": "punctual_unit_revision",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("biz_key", "task_type", "tenant"), name="punctual_unit_revision_unit"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Backfill",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("job", models.BigIntegerField()),
                ("since", models.DateTimeField()),
                ("until", models.DateTimeField()),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "campaign",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="backfills",
                        to="punctual.campaign",
                    ),
                ),
            ],
            options={
                "db_table": "punctual_backfill",
                "default_permissions": (),
                "indexes": [models.Index(fields=["job", "campaign"], name="punctual_backfill_job")],
            },
        ),
        migrations.CreateModel(
            name="CampaignChunk",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.IntegerField(help_text="From 0.")),
                ("ids", django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), size=None)),
                (
                    "released",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(),
                        db_default=[],
                        help_text="Those that it released and that are not known to be over.",
                        size=None,
                    ),
                ),
                (
                    "lanes",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.TextField(),
                        db_default=[],
                        help_text="For each of these, the lane that it came from.",
                        size=None,
                    ),
                ),
                ("waiting", models.IntegerField(db_default=0, help_text="How many these are.")),
                ("measured_at", models.DateTimeField(help_text="When somebody last looked at them.", null=True)),
                (
                    "campaign",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="chunks",
                        to="punctual.campaign",
                    ),
                ),
                (
                    "jobs",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(),
                        help_text="Of a backfill that makes instances, instead of ids: the jobs,",
                        null=True,
                        size=None,
                    ),
                ),
                (
                    "fires",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.DateTimeField(),
                        help_text="and for each of these the firing.",
                        null=True,
                        size=None,
                    ),
                ),
            ],
            options={
                "db_table": "punctual_campaign_chunk",
                "default_permissions": (),
                "indexes": [
                    models.Index(
                        condition=models.Q(("waiting__gt", 0)),
                        fields=["campaign", "measured_at"],
                        name="punctual_campaign_chunk_open",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("campaign", "number"), name="punctual_campaign_chunk_place")
                ],
            },
        ),
        migrations.CreateModel(
            name="DlqEntry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("tenant", models.CharField(db_collation="C", max_length=63)),
                ("task_type", models.CharField(db_collation="C", max_length=100)),
                ("error_code", models.CharField(max_length=50)),
                ("error_msg", models.TextField()),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("replay_status", models.CharField(db_default="OPEN", max_length=8)),
                ("closed_at", models.DateTimeField(null=True)),
                ("closed_by", models.CharField(db_default="", max_length=150)),
                (
                    "task",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="dead_letters",
                        to="punctual.scheduletask",
                    ),
                ),
                (
                    "fingerprint",
                    models.CharField(
                        db_collation="C",
                        db_default="",
                        help_text="The same for all of one cause; punctual_fingerprint() makes it.",
                        max_length=16,
                    ),
                ),
                (
                    "frame",
                    models.CharField(
                        db_default="",
                        help_text="Module and function of the app's code that failed, if it is known.",
                        max_length=200,
                    ),
                ),
                (
                    "traceback",
                    models.TextField(db_default="", help_text="Where it was raised, unless the message says so."),
                ),
                (
                    "tags",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=50), db_default=[], size=None
                    ),
                ),
                ("job", models.BigIntegerField(help_text="The job it is an instance of.", null=True)),
            ],
            options={
                "verbose_name": "dead letter",
                "db_table": "punctual_dead_letter",
                "indexes": [
                    models.Index(
                        condition=models.Q(("closed_at__isnull", False)),
                        fields=["closed_at"],
                        name="punctual_dead_letter_closed",
                    ),
                    models.Index(
                        condition=models.Q(("replay_status", "OPEN")),
                        fields=["created_at", "id"],
                        name="punctual_dead_letter_open",
                    ),
                    models.Index(
                        condition=models.Q(("replay_status", "OPEN")),
                        fields=["tenant", "created_at", "id"],
                        name="punctual_dead_letter_whose",
                    ),
                    models.Index(
                        condition=models.Q(("replay_status", "OPEN")),
                        fields=["fingerprint", "created_at", "id"],
                        name="punctual_dead_letter_cause",
                    ),
                    models.Index(
                        condition=models.Q(("replay_status", "OPEN")),
                        fields=["tenant", "fingerprint", "created_at", "id"],
                        name="punctual_dead_letter_own_cause",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("replay_status__in", ["OPEN", "REPLAYED", "CLOSED"])),
                        name="punctual_dead_letter_replay_status",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("replay_status", "OPEN")),
                        fields=("task",),
                        name="punctual_dead_letter_one_open",
                    ),
                ],
            },
        ),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.CreateModel(
                    name="MinuteFigures",
                    fields=[
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "minute", "task_type", blank=True, editable=False, primary_key=True, serialize=False
                            ),
                        ),
                        ("minute", models.DateTimeField()),
                        ("task_type", models.CharField(db_collation="C", max_length=100)),
                        ("batches", models.IntegerField()),
                        ("ok", models.IntegerField()),
                        ("failed", models.IntegerField()),
                        ("run_us", models.BigIntegerField()),
                        (
                            "lateness",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.IntegerField(),
                                help_text="Histogram, see core/lateness.py.",
                                size=None,
                            ),
                        ),
                        (
                            "returned",
                            models.IntegerField(
                                db_default=0, help_text="Of the outcomes: of tasks that were away, which took no time."
                            ),
                        ),
                    ],
                    options={
                        "verbose_name_plural": "minute figures",
                        "db_table": "punctual_minute_figures",
                        "default_permissions": (),
                    },
                ),
                migrations.CreateModel(
                    name="PastBatch",
                    fields=[
                        ("batch_no", models.UUIDField(primary_key=True, serialize=False)),
                        ("task_type", models.CharField(db_collation="C", max_length=100)),
                        ("lane", models.CharField(db_collation="C", max_length=8)),
                        (
                            "ids",
                            django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), size=None),
                        ),
                        ("dispatcher", models.CharField(max_length=200)),
                        ("claimed_at", models.DateTimeField()),
                        (
                            "lease_until",
                            models.DateTimeField(help_text="The dispatch lease, and from the start on the run lease."),
                        ),
                        ("worker", models.CharField(db_default="", max_length=200)),
                        ("started_at", models.DateTimeField(null=True)),
                        (
                            "finished_at",
                            models.DateTimeField(
                                help_text="The fence: nothing of this batch counts after it.", null=True
                            ),
                        ),
                        ("reaped", models.BooleanField(db_default=False)),
                        ("ok", models.IntegerField(db_default=0)),
                        ("failed", models.IntegerField(db_default=0)),
                        (
                            "run_us",
                            models.BigIntegerField(
                                db_default=0, help_text="Wall time of the run, for the next batch's size."
                            ),
                        ),
                        (
                            "lateness",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.IntegerField(),
                                help_text="Histogram, see core/lateness.py.",
                                null=True,
                                size=None,
                            ),
                        ),
                        (
                            "allowed_at",
                            models.DateTimeField(
                                help_text="From when on its type's limit and its lane let it start; empty: all the time.",
                                null=True,
                            ),
                        ),
                        (
                            "ticket",
                            models.UUIDField(
                                help_text="Of the start: who has it may ask for its answer again.", null=True
                            ),
                        ),
                    ],
                    options={
                        "verbose_name_plural": "past batches",
                        "db_table": "punctual_past_batch",
                        "default_permissions": (),
                    },
                ),
                migrations.CreateModel(
                    name="PastTask",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("tenant", models.CharField(db_collation="C", db_default="default", max_length=63)),
                        ("task_type", models.CharField(db_collation="C", max_length=100)),
                        ("biz_key", models.CharField(db_collation="C", max_length=200)),
                        ("current", models.BooleanField(db_default=True)),
                        (
                            "replaces",
                            models.BigIntegerField(
                                help_text="The row of the same unit this one took over from.", null=True
                            ),
                        ),
                        ("idem_key", models.CharField(db_collation="C", max_length=200, null=True)),
                        (
                            "token",
                            models.UUIDField(
                                db_default=django.contrib.postgres.functions.RandomUUID(),
                                help_text="Stays the same over retries and replacement; for other systems.",
                            ),
                        ),
                        (
                            "status",
                            models.CharField(
                                choices=[
                                    ("BLOCKED", "BLOCKED"),
                                    ("INIT", "INIT"),
                                    ("RUNNING", "RUNNING"),
                                    ("AWAY", "AWAY"),
                                    ("SUCCESS", "SUCCESS"),
                                    ("FAIL", "FAIL"),
                                    ("DEAD", "DEAD"),
                                    ("CANCELLED", "CANCELLED"),
                                ],
                                max_length=9,
                            ),
                        ),
                        ("execute_time", models.DateTimeField(help_text="What the user asked for.")),
                        (
                            "due_at",
                            models.DateTimeField(
                                help_text="May be claimed from this moment on; empty: never.", null=True
                            ),
                        ),
                        (
                            "claimed_due",
                            models.DateTimeField(help_text="What due_at was when it was last claimed.", null=True),
                        ),
                        ("lane", models.CharField(db_collation="C", db_default="default", max_length=8)),
                        ("shard", models.SmallIntegerField()),
                        (
                            "solo",
                            models.BooleanField(
                                db_default=False, help_text="Tried alone, since a batch it was in was lost."
                            ),
                        ),
                        ("batch_no", models.UUIDField(null=True)),
                        (
                            "attempt",
                            models.IntegerField(
                                db_default=0, help_text="Failures since the last success, roll or replay."
                            ),
                        ),
                        (
                            "retry_count",
                            models.IntegerField(db_default=0, help_text="Failures over the row's whole life."),
                        ),
                        ("max_retry", models.SmallIntegerField()),
                        (
                            "repeat_after",
                            models.DurationField(help_text="Rolling: again so long after it finished.", null=True),
                        ),
                        (
                            "expires_after",
                            models.DurationField(help_text="Later than this past execute_time: not run.", null=True),
                        ),
                        ("start_time", models.DateTimeField(null=True)),
                        ("finish_time", models.DateTimeField(null=True)),
                        ("error_code", models.CharField(db_default="", max_length=50)),
                        ("error_msg", models.TextField(db_default="")),
                        ("cancelled_by", models.CharField(db_default="", max_length=150)),
                        ("payload", models.JSONField(db_default={})),
                        ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                        ("updated_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                        (
                            "limited",
                            models.BooleanField(
                                db_default=False,
                                help_text="Its type has a limit: claimed by type, apart from what has none.",
                            ),
                        ),
                        ("fire_time", models.DateTimeField(null=True)),
                        ("job", models.BigIntegerField(null=True)),
                        (
                            "cancelled_from",
                            models.CharField(
                                db_collation="C",
                                help_text="The tenant of the token that cancelled it; empty: a person, or the scheduler.",
                                max_length=63,
                                null=True,
                            ),
                        ),
                        (
                            "allowed_at",
                            models.DateTimeField(
                                help_text="Late from here, if this is later: planned for the past, or held by a limit or a paused lane.",
                                null=True,
                            ),
                        ),
                        (
                            "result",
                            models.JSONField(help_text="What the handler returned, if that is small JSON.", null=True),
                        ),
                        ("ran_in", models.UUIDField(help_text="The batch of the last run that ended.", null=True)),
                        (
                            "retention",
                            models.CharField(
                                db_collation="C", help_text="The class in which it is kept.", max_length=20
                            ),
                        ),
                        ("worker", models.CharField(help_text="Who ran it last.", max_length=200, null=True)),
                        (
                            "deferred_from",
                            models.BigIntegerField(help_text="The task that handed this effect on.", null=True),
                        ),
                        (
                            "deferred",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.BigIntegerField(),
                                help_text="The tasks that its effects were handed on to.",
                                null=True,
                                size=None,
                            ),
                        ),
                        (
                            "retry_for",
                            models.DurationField(
                                help_text="Retried until so long past execute_time, however often; empty: max_retry times.",
                                null=True,
                            ),
                        ),
                        (
                            "payload_bytes",
                            models.BinaryField(
                                help_text="An encrypted payload; the other field names its key.", null=True
                            ),
                        ),
                        (
                            "asked_by",
                            models.CharField(
                                help_text="The person or API token that scheduled it; empty: code, or the schedule of its job.",
                                max_length=150,
                                null=True,
                            ),
                        ),
                    ],
                    options={
                        "db_table": "punctual_past",
                        "default_permissions": (),
                    },
                ),
                migrations.CreateModel(
                    name="AuditEntry",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "operation",
                            models.UUIDField(help_text="One press of a button, however many tasks it was for."),
                        ),
                        ("actor", models.CharField(max_length=150)),
                        ("verb", models.CharField(max_length=20)),
                        (
                            "subject",
                            models.CharField(help_text="What it was done to, as people call it.", max_length=250),
                        ),
                        ("task_id", models.BigIntegerField(help_text="The task, if the subject is one.", null=True)),
                        ("outcome", models.CharField(max_length=20)),
                        ("reason", models.TextField()),
                        ("detail", models.JSONField(db_default={})),
                        ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                        (
                            "tenant",
                            models.CharField(
                                db_collation="C",
                                help_text="Whose task or job it is; empty: what all tenants share, and what was written before this was known.",
                                max_length=63,
                                null=True,
                            ),
                        ),
                        (
                            "task_type",
                            models.CharField(
                                db_collation="C", help_text="Of the task or job.", max_length=100, null=True
                            ),
                        ),
                        (
                            "address",
                            models.TextField(
                                help_text="Where it was done from; empty: the scheduler itself did it, or it was not known yet.",
                                null=True,
                            ),
                        ),
                    ],
                    options={
                        "verbose_name_plural": "audit entries",
                        "db_table": "punctual_audit_entry",
                        "default_permissions": (),
                        "indexes": [
                            models.Index(fields=["created_at", "id"], name="punctual_audit_entry_when"),
                            models.Index(fields=["tenant", "created_at", "id"], name="punctual_audit_entry_whose"),
                            models.Index(fields=["actor", "created_at", "id"], name="punctual_audit_entry_who"),
                            models.Index(fields=["subject", "created_at", "id"], name="punctual_audit_entry_what"),
                            models.Index(
                                condition=models.Q(("task_id__isnull", False)),
                                fields=["task_id", "created_at", "id"],
                                name="punctual_audit_entry_of_task",
                            ),
                            models.Index(fields=["operation", "subject"], name="punctual_audit_entry_operation"),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="OutboxEvent",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("tenant", models.CharField(db_collation="C", max_length=63)),
                        ("event", models.CharField(max_length=50)),
                        (
                            "task_id",
                            models.BigIntegerField(
                                help_text="Written by versions before 0028 only, as is `payload`.", null=True
                            ),
                        ),
                        ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                        ("payload", models.JSONField(null=True)),
                        (
                            "xid",
                            tasks_app.models.outbox_event.TransactionIdField(
                                db_default=tasks_app.models.outbox_event.CurrentTransaction(),
                                help_text="Of the transaction that wrote it.",
                                null=True,
                            ),
                        ),
                        ("task_type", models.CharField(max_length=100, null=True)),
                        ("worker", models.CharField(max_length=200, null=True)),
                        ("batch_no", models.UUIDField(null=True)),
                        ("count", models.IntegerField(db_default=1, help_text="How many events it is.")),
                        (
                            "task_ids",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.BigIntegerField(), null=True, size=None
                            ),
                        ),
                        (
                            "keys",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.TextField(), null=True, size=None
                            ),
                        ),
                        (
                            "jobs",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.BigIntegerField(null=True), null=True, size=None
                            ),
                        ),
                        (
                            "fire_times",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.DateTimeField(null=True), null=True, size=None
                            ),
                        ),
                        (
                            "idem_keys",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.TextField(null=True), null=True, size=None
                            ),
                        ),
                        (
                            "attempts",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.IntegerField(null=True), null=True, size=None
                            ),
                        ),
                        (
                            "states",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.TextField(null=True), null=True, size=None
                            ),
                        ),
                        ("payloads", models.JSONField(help_text="A list: what each event carries.", null=True)),
                    ],
                    options={
                        "db_table": "punctual_outbox",
                        "indexes": [models.Index(fields=["xid"], name="punctual_outbox_xid")],
                    },
                ),
                migrations.CreateModel(
                    name="TaskAttempt",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "attempt",
                            models.IntegerField(
                                help_text="1 for the first try since the last success, roll or replay."
                            ),
                        ),
                        ("batch_no", models.UUIDField()),
                        ("worker", models.CharField(max_length=200)),
                        ("started_at", models.DateTimeField(null=True)),
                        ("finished_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                        ("error_code", models.CharField(max_length=50)),
                        ("error_msg", models.TextField()),
                        (
                            "task",
                            models.ForeignKey(
                                db_constraint=False,
                                db_index=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="attempts",
                                to="punctual.scheduletask",
                            ),
                        ),
                        (
                            "held_by",
                            models.CharField(
                                help_text="Whose retry budget was spent, so that the next try waits for it.",
                                max_length=120,
                                null=True,
                            ),
                        ),
                    ],
                    options={
                        "db_table": "punctual_attempt",
                        "indexes": [models.Index(fields=["task", "id"], name="punctual_attempt_task")],
                    },
                ),
                migrations.CreateModel(
                    name="TaskLog",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "task",
                            models.ForeignKey(
                                db_constraint=False,
                                db_index=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="logs",
                                to="punctual.scheduletask",
                            ),
                        ),
                        (
                            "attempt",
                            models.IntegerField(
                                help_text="1 for the first try since the last success, roll or replay."
                            ),
                        ),
                        ("batch_no", models.UUIDField()),
                        ("worker", models.CharField(max_length=200)),
                        ("started_at", models.DateTimeField(help_text="When its batch began.")),
                        ("dropped", models.IntegerField(help_text="Lines before these, which are not kept.")),
                        (
                            "lines",
                            models.JSONField(
                                help_text="[seconds since the epoch, level or empty, text] each, the oldest first."
                            ),
                        ),
                    ],
                    options={
                        "db_table": "punctual_log",
                        "default_permissions": (),
                        "constraints": [
                            models.UniqueConstraint(fields=("task", "batch_no", "started_at"), name="punctual_log_try")
                        ],
                    },
                ),
            ],
        ),
        migrations.RunSQL(OUR_SCHEMA, THEIR_SCHEMA),
        sql("storage_parameters"),
        sql("tasks"),
        sql("tenants"),
        sql("past", "TABLE punctual_past_batch, punctual_past"),
        sql("attempts", "TABLE punctual_attempt"),
        sql("task_logs", "TABLE punctual_log"),
        sql("minute_figures", "TABLE punctual_minute_figures"),
        sql("outbox", "TABLE punctual_outbox"),
        sql("audit_entries", "TABLE punctual_audit_entry", "FUNCTION punctual_audit_entry_only_grows()"),
        sql(
            "audit_trail",
            "TRIGGER punctual_audit_entry_waits ON punctual_audit_entry",
            "TRIGGER punctual_audit_link_stays ON punctual_audit_link",
            "TRIGGER punctual_audit_link_unchanged ON punctual_audit_link",
            "FUNCTION punctual_audit_entry_waits(), punctual_audit_link_stays(), punctual_trail_sound(text)",
        ),
        sql(
            "dead_tasks",
            "TRIGGER punctual_dead_letter_cause ON punctual_dead_letter",
            "FUNCTION punctual_dead_letter_cause(), punctual_fingerprint(text, text, text, text)",
        ),
        sql(
            "due_index",
            "TRIGGER punctual_new_waits_apart ON punctual_task",
            "TRIGGER punctual_waits_apart ON punctual_task",
            "FUNCTION punctual_wait_apart()",
        ),
        sql(
            "numbers",
            "TRIGGER punctual_know_server ON punctual_task",
            "TRIGGER punctual_know_server ON punctual_outbox",
            "TRIGGER punctual_other_server ON punctual_installation",
            "FUNCTION punctual_know_server(), punctual_other_server(), punctual_skip_numbers()",
        ),
        sql(
            "fingerprint_filters",
            "TABLE punctual_sieve_late, punctual_sieve_part",
            "FUNCTION punctual_fill_sieve(bigint), punctual_begin_sieve(text, integer)",
            "FUNCTION punctual_add_to_sieve() CASCADE",
            "FUNCTION punctual_bucket(bigint, integer), punctual_print(bigint)",
            "FUNCTION punctual_idem_mark(text, text), punctual_unit_mark(text, text, text)",
        ),
        sql(
            "isolation",
            "FUNCTION punctual_isolate(regclass, regclass)",
            "FUNCTION punctual_sees_task(bigint) CASCADE",
            "FUNCTION punctual_sees_job(bigint) CASCADE",
            "FUNCTION punctual_sees_campaign(bigint) CASCADE",
            "FUNCTION punctual_sees_subscription(bigint) CASCADE",
            "FUNCTION punctual_sees_channel(bigint) CASCADE",
        ),
        sql(
            "partitions",
            "FUNCTION punctual_analyze(regclass), punctual_tune_partition(regclass)",
            "FUNCTION punctual_drop_partition(regclass, text)",
            "FUNCTION punctual_make_partition(regclass, text, timestamptz, timestamptz), punctual_make_class(text)",
        ),
        sql(
            "archive",
            "FUNCTION punctual_drop_archived(regclass, text, text, bigint, numeric, numeric)",
            "FUNCTION punctual_tally(regclass, text)",
        ),
        sql(
            "views",
            "VIEW punctual_dlq_entry, punctual_retry_entry, punctual_job_instance, punctual_job_definition",
            "VIEW punctual_any_batch, punctual_any_task",
        ),
        migrations.RunSQL(THEIR_SCHEMA, OUR_SCHEMA),
        migrations.RunPython(migrations.RunPython.noop, drop_partitions),
    ]
