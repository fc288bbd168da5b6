"""What /metrics shows: counts that a beat keeps, figures that processes report of themselves, and a token's right to it.

New tables, and columns of two small ones.
"""

import django.contrib.postgres.fields
import django.db.models.functions.datetime
from django.db import migrations, models

# Both are written every few seconds, and read as a whole.
SET = """
ALTER TABLE punctual_count SET (fillfactor = 50, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0.2);
ALTER TABLE punctual_count_pass SET (fillfactor = 50, autovacuum_vacuum_threshold = 100);
"""


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0044_graph_index")]

    operations = [
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
                (
                    "labels",
                    models.TextField(db_collation="C", help_text="The values of its labels, as a JSON list."),
                ),
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
            options={"db_table": "punctual_count", "default_permissions": ()},
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
                    models.JSONField(
                        db_default={}, help_text="The types and tenants that have series of their own."
                    ),
                ),
            ],
            options={
                "db_table": "punctual_count_pass",
                "default_permissions": (),
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("id", 1)), name="punctual_count_pass_one")
                ],
            },
        ),
        migrations.RunSQL(SET, migrations.RunSQL.noop),
        migrations.AddField(
            "node",
            "figures",
            models.JSONField(help_text="Of the process itself, see core/own_process.py; empty: unknown.", null=True),
        ),
        migrations.AddField(
            "apitoken",
            "metrics",
            models.BooleanField(
                db_default=False, help_text="It reads /metrics, which has figures of all tenants, and nothing else."
            ),
        ),
    ]
