"""What was under way when its job still allowed overlap may go on beside others; tokens may be issued to decrypt; beats and
workers say which of the installation's keys they have."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0068_tenant_life")]

    operations = [
        migrations.AddField(
            "turn",
            "alongside",
            models.BooleanField(
                db_default=False,
                help_text="It was under way when its job still allowed overlap, so others may have a turn beside it.",
            ),
        ),
        migrations.AddField(
            "apitoken",
            "can_decrypt",
            models.BooleanField(
                db_default=False, help_text="It may see what is encrypted of the tasks that it may use."
            ),
        ),
        migrations.AddField(
            "node",
            "keys",
            models.JSONField(
                null=True, help_text="The ids of the installation's keys that the process has; empty: unknown."
            ),
        ),
    ]
