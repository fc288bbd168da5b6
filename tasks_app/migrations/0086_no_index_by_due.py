"""No index has due_at any more, so that a claim is a heap-only update. The version before finds what is due by these: in
a fleet that goes on, this one comes when all its beats are new (docs/deploy.md)."""

from django.contrib.postgres.operations import RemoveIndexConcurrently
from django.db import migrations

NAMES = (
    "punctual_task_due",
    "punctual_task_limited",
    "punctual_task_rolling",
    "punctual_task_planned",
    "punctual_task_failing",
)


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("tasks_app", "0085_timetable")]

    operations = [RemoveIndexConcurrently("scheduletask", name) for name in NAMES]
