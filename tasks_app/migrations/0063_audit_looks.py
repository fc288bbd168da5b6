"""A look that finds many entries without a place is noted with them, and what was deleted before it had one is kept apart."""

import django.db.models.functions.datetime
from django.db import migrations, models
from django.db.models import Q

# On the way back: whoever chains looks at what waits, and finds what is gone among it.
_WAIT_AGAIN = """
INSERT INTO punctual_audit_unchained (entry_id, created_at)
SELECT entry_id, created_at FROM punctual_audit_missing ON CONFLICT DO NOTHING
"""


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0062_site_page")]

    operations = [
        migrations.AddField(
            "unchainedentry",
            "looked_at",
            models.DateTimeField(
                help_text="The look that found it, with so many others that they get their places part by part.",
                null=True,
            ),
        ),
        migrations.AddIndex(
            "unchainedentry",
            models.Index(condition=Q(looked_at__isnull=False), fields=["looked_at"], name="punctual_audit_looked"),
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
        migrations.RunSQL(migrations.RunSQL.noop, _WAIT_AGAIN),  # on the way back it is the first
    ]
