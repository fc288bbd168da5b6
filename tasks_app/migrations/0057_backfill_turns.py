"""Turns say whose instance was made by a backfill: what fires by itself goes before it."""

from django.db import migrations, models
from django.db.models import Q

BEFORE = ["skip", "queue_one", "queue_all", "replace"]
BACK = "UPDATE punctual_turn SET policy = 'queue_all' WHERE policy = 'backfill'"


def _of(policies: list[str]) -> models.CheckConstraint:
    return models.CheckConstraint(condition=Q(policy__in=policies), name="punctual_turn_policy")


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0056_audit_chain_waiting")]

    operations = [
        migrations.RemoveConstraint("turn", "punctual_turn_policy"),
        migrations.AddConstraint("turn", _of([*BEFORE, "backfill"])),
        migrations.AddIndex(
            "turn",
            models.Index(
                fields=["job", "at", "task"],
                name="punctual_turn_first",
                condition=Q(("state", "queued"), Q(("policy", "backfill"), _negated=True)),
            ),
        ),
        migrations.RunSQL(migrations.RunSQL.noop, BACK),  # on the way back it is the first
    ]
