"""The wider checks of states are asked of the rows there are, while everybody goes on."""

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("tasks_app", "0038_away")]

    operations = [
        ValidateConstraint("scheduletask", "punctual_task_status"),
        ValidateConstraint("scheduletask", "punctual_task_live_is_current"),
    ]
