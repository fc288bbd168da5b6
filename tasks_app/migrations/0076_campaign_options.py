"""What the options of a campaign may be, in words."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0075_saved_filter")]

    operations = [
        migrations.AlterField(
            model_name="campaign",
            name="options",
            field=models.JSONField(
                db_default={},
                help_text="`at`, `by`, `over`: the new times of a move. `undoes`: an operation. `lane`: of what is released. "
                "`which`: the firings of a backfill.",
            ),
        ),
    ]
