"""Subscribers of events, the stretches of the outbox that they read, and the last calls to each of them.

New tables only; nothing that exists is touched.
"""

import django.contrib.postgres.fields
import django.db.models.functions.datetime
from django.db import migrations, models

# The row of a subscription is written again and again, and no index has a column that is: all versions fit on its page.
# Windows are recorded, put together and dropped all the time.
SET = """
ALTER TABLE punctual_subscription SET (fillfactor = 50, autovacuum_vacuum_threshold = 200);
ALTER TABLE punctual_outbox_window SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500);
ALTER TABLE punctual_delivery SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500);
"""
NOW = django.db.models.functions.datetime.Now


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0028_events")]

    operations = [
        migrations.CreateModel(
            name="Subscription",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(db_collation="C", max_length=100)),
                ("tenant", models.CharField(db_collation="C", help_text="Whose events; empty: those of all tenants.", max_length=63, null=True)),
                ("events", django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), help_text="Patterns of their names; the last that matches decides.", size=None)),
                ("task_types", django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), db_default=[], help_text="Patterns of task types; empty: all.", size=None)),
                ("sink", models.CharField(db_collation="C", help_text="The kind of receiver.", max_length=10)),
                ("target", models.JSONField(help_text="Where it is; the fields depend on its kind.")),
                ("secrets", models.JSONField(db_default=[], help_text="What events are signed with, encrypted; the newest first.")),
                ("state", models.CharField(db_collation="C", db_default="ACTIVE", max_length=10)),
                ("reason", models.TextField(db_default="", help_text="Why it is paused or suspended.")),
                ("created_by", models.CharField(db_default="", max_length=150)),
                ("created_at", models.DateTimeField(db_default=NOW())),
                ("updated_at", models.DateTimeField(db_default=NOW(), help_text="When a person, or the relay, last changed its state.")),
                ("window_no", models.BigIntegerField(db_default=0, help_text="It has all windows before this one, ...")),
                ("row_id", models.BigIntegerField(db_default=0, help_text="... of this one all rows before this one, ...")),
                ("place", models.IntegerField(db_default=0, help_text="... and of that row so many events.")),
                ("since", models.DateTimeField(help_text="What was written before is none of its business.", null=True)),
                ("delivered", models.BigIntegerField(db_default=0, help_text="How many events it has got.")),
                ("delivered_at", models.DateTimeField(null=True)),
                ("failing_since", models.DateTimeField(help_text="Nothing could be delivered since then.", null=True)),
                ("attempts", models.IntegerField(db_default=0, help_text="Failed ones in a row.")),
                ("next_try_at", models.DateTimeField(null=True)),
                ("last_error", models.TextField(db_default="")),
                ("holder", models.UUIDField(help_text="The node id of the beat that delivers it.", null=True)),
                ("holder_name", models.CharField(db_default="", max_length=200)),
                ("fence", models.BigIntegerField(db_default=0, help_text="Grows with every change of holder; who has an older one can't move the cursor.")),
                ("lease_until", models.DateTimeField(db_default=NOW())),
            ],
            options={
                "db_table": "punctual_subscription",
                "constraints": [
                    models.UniqueConstraint(fields=("tenant", "name"), name="punctual_subscription_name", nulls_distinct=False),
                    models.CheckConstraint(condition=models.Q(("state__in", ["ACTIVE", "PAUSED", "SUSPENDED"])), name="punctual_subscription_state"),
                    models.CheckConstraint(condition=models.Q(("sink__in", ["webhook", "stream", "queue", "python"])), name="punctual_subscription_sink"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Delivery",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("subscription_id", models.BigIntegerField()),
                ("at", models.DateTimeField(db_default=NOW())),
                ("ok", models.BooleanField()),
                ("status", models.CharField(help_text="As the receiver says it.", max_length=100)),
                ("ms", models.FloatField()),
                ("count", models.IntegerField(help_text="How many events it carried.")),
                ("event_ids", django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), help_text="The first of them.", size=None)),
                ("answer", models.TextField(db_default="", help_text="How the answer began, or what went wrong.")),
            ],
            options={
                "db_table": "punctual_delivery",
                "default_permissions": (),
                "indexes": [models.Index(fields=["subscription_id", "id"], name="punctual_delivery_of")],
            },
        ),
        migrations.CreateModel(
            name="OutboxWindow",
            fields=[
                ("no", models.BigIntegerField(primary_key=True, serialize=False)),
                ("before", models.TextField(null=True)),
                ("after", models.TextField()),
                ("floor_id", models.BigIntegerField(db_default=0, help_text="Rows up to this one were written by another server: its transactions mean nothing here.")),
                ("min_id", models.BigIntegerField()),
                ("max_id", models.BigIntegerField()),
                ("min_at", models.DateTimeField()),
                ("max_at", models.DateTimeField()),
                ("count", models.BigIntegerField(help_text="How many events it has.")),
                ("topics", models.JSONField(help_text="What they are about: [tenant, event, task type]; empty: unknown.", null=True)),
                ("system", models.BigIntegerField(help_text="The server's own number: another one means a restore.")),
                ("recorded_at", models.DateTimeField(db_default=NOW())),
            ],
            options={"db_table": "punctual_outbox_window", "default_permissions": ()},
        ),
        migrations.RunSQL(SET, migrations.RunSQL.noop),
    ]
