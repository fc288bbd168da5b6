from django.db import migrations, models


class Migration(migrations.Migration):
    """Empty columns take no time. Their index is built apart, so that either can be run again by itself."""

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
    ]
