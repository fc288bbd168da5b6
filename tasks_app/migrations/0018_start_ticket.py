from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0017_audit_not_truncated")]

    operations = [
        # Without a default the table is not rewritten: it takes a moment, however many batches there are.
        migrations.AddField(
            model_name="taskbatch",
            name="ticket",
            field=models.UUIDField(help_text="Of the start: who has it may ask for its answer again.", null=True),
        ),
    ]
