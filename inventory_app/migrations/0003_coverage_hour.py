"""How much of the catalogue was fresh, hour by hour."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("inventory_app", "0002_internal_tenant")]

    operations = [
        migrations.CreateModel(
            "CoverageHour",
            [
                ("hour", models.DateTimeField(primary_key=True, serialize=False)),
                ("products", models.BigIntegerField()),
                ("fresh", models.BigIntegerField(help_text="Synced within the window.")),
                ("never", models.BigIntegerField(help_text="Never synced.")),
                ("length", models.DurationField(help_text="Of the window.")),
            ],
            options={"db_table": "coverage_hour", "default_permissions": ()},
        ),
    ]
