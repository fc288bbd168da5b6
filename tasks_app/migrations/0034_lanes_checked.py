"""The wider checks of lanes are asked of the rows there are, while everybody goes on."""

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("tasks_app", "0033_defer")]

    operations = [
        ValidateConstraint("scheduletask", "punctual_task_lane"),
        ValidateConstraint("jobdefinition", "punctual_job_lane"),
    ]
