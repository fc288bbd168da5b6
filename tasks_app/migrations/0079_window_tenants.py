"""Windows of the outbox say how many events of each tenant they have. Those that there are don't, and stay as they are."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0078_payload_bytes")]

    operations = [
        migrations.AddField(
            "outboxwindow", "tenants", models.JSONField(help_text="How many of each tenant; empty: unknown.", null=True)
        )
    ]
