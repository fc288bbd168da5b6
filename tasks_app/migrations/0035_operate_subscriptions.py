"""The right to make and change subscriptions."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0034_lanes_checked")]

    operations = [
        migrations.AlterModelOptions(
            "subscription",
            {"permissions": [("operate_subscription", "Can make, change, pause, resume and delete subscriptions")]},
        ),
    ]
