"""How many jobs a tenant with a quota for them had when they were last counted."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0060_encryption")]

    operations = [
        migrations.AddField(
            model_name="tenant",
            name="jobs",
            field=models.BigIntegerField(help_text="When they were last counted; one too many: or more.", null=True),
        ),
    ]
