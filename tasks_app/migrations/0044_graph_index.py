"""Jobs that have children are found by their schedule, and the checks of graphs are asked of the jobs there are, while
everybody goes on.
"""

from django.contrib.postgres.operations import AddIndexConcurrently, ValidateConstraint
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("tasks_app", "0044_graph")]

    operations = [
        AddIndexConcurrently(
            "jobdefinition",
            models.Index(
                condition=models.Q(("has_children", True), ("status", "ACTIVE")),
                fields=["cursor", "id"],
                name="punctual_job_rooted",
            ),
        ),
        ValidateConstraint("jobdefinition", "punctual_job_when"),
        ValidateConstraint("jobdefinition", "punctual_job_if_parent_fails"),
        ValidateConstraint("jobdefinition", "punctual_job_child_has_no_schedule"),
    ]
