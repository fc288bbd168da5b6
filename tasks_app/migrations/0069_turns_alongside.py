"""What was under way when its job still allowed overlap may go on beside others."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0064_turns_runs")]

    operations = [
        migrations.AddField(
            "turn",
            "alongside",
            models.BooleanField(
                db_default=False,
                help_text="It was under way when its job still allowed overlap, so others may have a turn beside it.",
            ),
        ),
    ]
