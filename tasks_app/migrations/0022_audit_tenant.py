from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    """Empty columns take no time; the index is built while others write."""

    atomic = False
    dependencies = [("tasks_app", "0021_permits")]

    operations = [
        migrations.AddField(
            "auditentry",
            "tenant",
            models.CharField(
                max_length=63,
                db_collation="C",
                null=True,
                help_text=(
                    "Whose task or job it is; empty: what all tenants share, and what was written before this was known."
                ),
            ),
        ),
        migrations.AddField(
            "auditentry",
            "task_type",
            models.CharField(max_length=100, db_collation="C", null=True, help_text="Of the task or job."),
        ),
        AddIndexConcurrently("auditentry", models.Index(fields=["tenant", "id"], name="punctual_audit_entry_tenant")),
    ]
