"""Sites: which of them may claim and start, and where a process is."""

import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0052_away_outcome")]

    operations = [
        migrations.AddField(
            "installation",
            "site",
            models.CharField(
                db_default="main",
                help_text="The one that may claim and start; empty: none may.",
                max_length=50,
                null=True,
            ),
        ),
        migrations.AddField(
            "installation",
            "next_site",
            models.CharField(
                help_text="Chosen, and opened once nobody of the one before can start anything.",
                max_length=50,
                null=True,
            ),
        ),
        migrations.AddField(
            "installation",
            "site_epoch",
            models.BigIntegerField(db_default=0, help_text="Grows whenever a site is chosen, or all stand by."),
        ),
        migrations.AddField(
            "installation",
            "site_since",
            models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
        ),
        migrations.AddField(
            "installation",
            "site_recovery",
            models.BigIntegerField(
                help_text="The recovery whose lanes the beats let go on, one after the other.", null=True
            ),
        ),
        migrations.AddField(
            "node",
            "site",
            models.CharField(db_default="main", help_text='PUNCTUAL["SITE"] of the process.', max_length=50),
        ),
    ]
