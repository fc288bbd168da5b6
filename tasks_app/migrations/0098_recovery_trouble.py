"""What a recovery knew of the trouble when it was begun."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0097_asked_by")]

    operations = [
        migrations.AddField(
            "recovery",
            "trouble",
            models.JSONField(
                db_default={},
                help_text="When it was begun: the first symptom that the database knew, and what may be lost.",
            ),
        ),
        migrations.AlterField(
            "recovery",
            "resumed",
            models.IntegerField(
                db_default=0, help_text="Shards that no live beat dispatched, and that are dispatched again."
            ),
        ),
    ]
