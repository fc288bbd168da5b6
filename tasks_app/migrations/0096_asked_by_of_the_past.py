"""Who asked for a task: the column of the past, before anything is moved there with it."""

from django.db import migrations, models

HELP = "The person or API token that scheduled it; empty: code, or the schedule of its job."


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0095_exact_answers")]

    operations = [
        migrations.AddField("pasttask", "asked_by", models.CharField(max_length=150, null=True, help_text=HELP))
    ]
