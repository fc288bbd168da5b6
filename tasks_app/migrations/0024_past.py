"""Tables for what is over, apart from what is live: in partitions by time, which are dropped and never deleted from.

Nothing is moved here, and no large table is locked or read: the beats move what is over, in steps.
"""

import django.contrib.postgres.fields
import django.contrib.postgres.functions
import django.db.models.functions.datetime
from django.db import migrations, models

# Columns are taken over as they are, without defaults and constraints: rows come as they were.
TABLES = """
CREATE TABLE punctual_past (
    LIKE punctual_task,
    retention varchar(20) COLLATE "C" NOT NULL,
    worker varchar(200)
) PARTITION BY LIST (retention);
CREATE INDEX punctual_past_id ON punctual_past (id);
CREATE INDEX punctual_past_unit ON punctual_past (biz_key, task_type, tenant, id);
CREATE INDEX punctual_past_idem ON punctual_past (tenant, idem_key) WHERE idem_key IS NOT NULL;
CREATE INDEX punctual_past_job ON punctual_past (job, fire_time) WHERE job IS NOT NULL;
CREATE TABLE punctual_past_batch (LIKE punctual_batch) PARTITION BY RANGE (finished_at);
CREATE INDEX punctual_past_batch_no ON punctual_past_batch (batch_no);
CREATE INDEX punctual_past_batch_done ON punctual_past_batch (finished_at);
"""
DROP_TABLES = "DROP TABLE punctual_past_batch; DROP TABLE punctual_past;"

# What is live and what is over, as one: for whoever reads. The columns are named, so that the two can't get out of step.
VIEWS = """
DO $$
DECLARE
    ours text := (SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute
                  WHERE attrelid = 'punctual_task'::regclass AND attnum > 0 AND NOT attisdropped);
    batches text := (SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute
                     WHERE attrelid = 'punctual_batch'::regclass AND attnum > 0 AND NOT attisdropped);
BEGIN
    EXECUTE format('CREATE VIEW punctual_any_task AS
        SELECT %s, NULL::varchar(20) COLLATE "C" AS retention, NULL::varchar(200) AS worker
        FROM punctual_task UNION ALL SELECT %s, retention, worker FROM punctual_past', ours, ours);
    EXECUTE format('CREATE VIEW punctual_any_batch AS
        SELECT %s FROM punctual_batch UNION ALL SELECT %s FROM punctual_past_batch', batches, batches);
END $$
"""
DROP_VIEWS = "DROP VIEW punctual_any_batch; DROP VIEW punctual_any_task"

# They act with the rights of who migrates: a beat may make and drop partitions, and no other table, without owning any.
# A lock that is not to be had at once is not waited for: whoever waits for it makes everybody behind it wait.
# They find our tables whatever the caller's search_path says, and never a temporary one.
FUNCTIONS = """
SELECT set_config('punctual.path', current_setting('search_path'), TRUE),
       set_config('search_path', relnamespace::regnamespace || ', pg_temp', TRUE)
FROM pg_class WHERE oid = 'punctual_task'::regclass;

CREATE FUNCTION punctual_make_class(retention text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET lock_timeout = '100ms' AS $$
BEGIN
    IF retention !~ '^[a-z]{1,20}$' OR retention = 'batch' THEN
        RAISE EXCEPTION 'retention class % must be 1 to 20 small letters, and not batch', retention;
    END IF;
    PERFORM pg_advisory_xact_lock(hashtextextended('punctual_partitions', 0));
    IF to_regclass('punctual_past_' || retention) IS NOT NULL THEN
        RETURN;
    END IF;
    EXECUTE format('CREATE TABLE %I (LIKE punctual_past) PARTITION BY RANGE (updated_at)', 'punctual_past_' || retention);
    EXECUTE format('ALTER TABLE punctual_past ATTACH PARTITION %I FOR VALUES IN (%L)',
                   'punctual_past_' || retention, retention);
END $$;

CREATE FUNCTION punctual_make_partition(family regclass, name text, since timestamptz, until timestamptz) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET lock_timeout = '100ms' AS $$
BEGIN
    IF NOT starts_with(family::text, 'punctual_') OR NOT starts_with(name, family::text || '_') THEN
        RAISE EXCEPTION '% is no partition of one of our tables', name;
    END IF;
    PERFORM pg_advisory_xact_lock(hashtextextended('punctual_partitions', 0));
    IF to_regclass(name) IS NOT NULL THEN
        RETURN;
    END IF;
    EXECUTE format('CREATE TABLE %I (LIKE %s INCLUDING DEFAULTS INCLUDING STORAGE INCLUDING CONSTRAINTS)', name, family);
    EXECUTE format('ALTER TABLE %s ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', family, name, since, until);
END $$;

CREATE FUNCTION punctual_drop_partition(family regclass, name text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET lock_timeout = '100ms' AS $$
BEGIN
    IF NOT starts_with(family::text, 'punctual_')
       OR NOT EXISTS (SELECT FROM pg_inherits WHERE inhrelid = to_regclass(name) AND inhparent = family) THEN
        RAISE EXCEPTION '% is no partition of %', name, family;
    END IF;
    EXECUTE format('DROP TABLE %I', name);
END $$;

REVOKE EXECUTE ON FUNCTION punctual_make_class(text) FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION punctual_make_partition(regclass, text, timestamptz, timestamptz) FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION punctual_drop_partition(regclass, text) FROM PUBLIC;
SELECT set_config('search_path', current_setting('punctual.path'), TRUE);
"""
DROP_FUNCTIONS = """
DROP FUNCTION punctual_make_class(text);
DROP FUNCTION punctual_make_partition(regclass, text, timestamptz, timestamptz);
DROP FUNCTION punctual_drop_partition(regclass, text);
"""

STATE = [
    migrations.CreateModel(
        name="PastBatch",
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
                    help_text="From when on its type's limit and its lane let it start; empty: all the time.", null=True
                ),
            ),
            ("lease_until", models.DateTimeField(help_text="The dispatch lease, and from the start on the run lease.")),
            ("worker", models.CharField(db_default="", max_length=200)),
            ("ticket", models.UUIDField(help_text="Of the start: who has it may ask for its answer again.", null=True)),
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
                    base_field=models.IntegerField(), help_text="Histogram, see core/lateness.py.", null=True, size=None
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
                        ("SUCCESS", "SUCCESS"),
                        ("FAIL", "FAIL"),
                        ("DEAD", "DEAD"),
                        ("CANCELLED", "CANCELLED"),
                    ],
                    max_length=9,
                ),
            ),
            ("execute_time", models.DateTimeField(help_text="What the user asked for.")),
            ("due_at", models.DateTimeField(help_text="May be claimed from this moment on; empty: never.", null=True)),
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
            ("solo", models.BooleanField(db_default=False, help_text="Tried alone, since a batch it was in was lost.")),
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
            ("repeat_after", models.DurationField(help_text="Rolling: again so long after it finished.", null=True)),
            ("expires_after", models.DurationField(help_text="Later than this past execute_time: not run.", null=True)),
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
            ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ("updated_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ("result", models.JSONField(help_text="What the handler returned, if that is small JSON.", null=True)),
            (
                "retention",
                models.CharField(db_collation="C", help_text="The class in which it is kept.", max_length=20),
            ),
            ("ran_in", models.UUIDField(help_text="The batch of the last run that ended.", null=True)),
            ("worker", models.CharField(help_text="Who ran it last.", max_length=200, null=True)),
        ],
        options={
            "db_table": "punctual_past",
            "default_permissions": (),
        },
    ),
]


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0023_audit_tenant_index")]

    operations = [
        migrations.AddField(
            "scheduletask",
            "result",
            models.JSONField(null=True, help_text="What the handler returned, if that is small JSON."),
        ),
        migrations.AddField(
            "scheduletask", "ran_in", models.UUIDField(null=True, help_text="The batch of the last run that ended.")
        ),
        migrations.SeparateDatabaseAndState([migrations.RunSQL(TABLES, DROP_TABLES)], STATE),
        migrations.RunSQL(VIEWS, DROP_VIEWS),
        migrations.RunSQL(FUNCTIONS, DROP_FUNCTIONS),
        migrations.RunSQL("SELECT punctual_make_class('default')", migrations.RunSQL.noop),
        # The views as models; Django asks no more of those that it does not manage.
        migrations.CreateModel(
            name="AnyTask",
            fields=[("id", models.BigAutoField(primary_key=True))],
            options={"db_table": "punctual_any_task", "managed": False, "default_permissions": ()},
        ),
        migrations.CreateModel(
            name="AnyBatch",
            fields=[("batch_no", models.UUIDField(primary_key=True))],
            options={"db_table": "punctual_any_batch", "managed": False, "default_permissions": ()},
        ),
    ]
