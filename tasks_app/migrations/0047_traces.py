"""The traces that tasks belong to. A new table; nothing else is touched."""

from django.db import migrations, models

# As many rows go as come.
SET = "ALTER TABLE punctual_trace SET (autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0.05)"


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0046_service_levels")]

    operations = [
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
            options={"db_table": "punctual_trace", "default_permissions": ()},
        ),
        migrations.RunSQL(SET, migrations.RunSQL.noop),
    ]
