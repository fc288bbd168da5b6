"""Backfills aren't passed over for ever; runs say whether a backfill made them, and when they were run again; jobs, when
their parents were changed; hosts that are unwell, how many tasks wait for them."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0063_audit_looks")]

    operations = [
        migrations.AddField(
            "turn",
            "passed",
            models.SmallIntegerField(
                db_default=0, help_text="How often others went before it, while it was the first in line of a backfill."
            ),
        ),
        migrations.AddField(
            "graphrun", "backfill", models.BooleanField(db_default=False, help_text="A backfill has made it.")
        ),
        migrations.AddField(
            "graphrun", "rerun_at", models.DateTimeField(help_text="When somebody last ran it again.", null=True)
        ),
        migrations.AddField(
            "hosthealth",
            "returned",
            models.IntegerField(db_default=0, help_text="Tasks that were sent back since the last try."),
        ),
        migrations.AddField(
            "hosthealth",
            "crowd",
            models.IntegerField(db_default=0, help_text="The most that were between two tries: about so many wait."),
        ),
        migrations.AddField(
            "jobdefinition",
            "linked_at",
            models.DateTimeField(
                help_text="When its parents were last changed: runs from before keep theirs.", null=True
            ),
        ),
    ]
