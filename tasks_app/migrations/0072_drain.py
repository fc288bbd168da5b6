"""A worker can be drained: it finishes what it has and takes no more. Beats and workers say which version they are."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0069_alongside_decrypt_keys")]

    operations = [
        migrations.AddField(
            "node",
            "version",
            models.CharField(max_length=100, db_default="", help_text="Of the process; empty: it does not say."),
        ),
        migrations.AddField(
            "node",
            "drained_at",
            models.DateTimeField(null=True, help_text="Since when a worker takes nothing more; empty: it takes batches."),
        ),
        migrations.AddField("node", "drained_by", models.CharField(max_length=150, db_default="")),
        migrations.AddField("node", "drain_reason", models.TextField(db_default="")),
    ]
