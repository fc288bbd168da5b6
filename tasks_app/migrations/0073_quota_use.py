"""How much of its quotas each tenant has used, hour by hour."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0069_alongside_decrypt_keys")]

    operations = [
        migrations.CreateModel(
            "QuotaUse",
            [
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("tenant", models.CharField(db_collation="C", max_length=63)),
                ("quota", models.CharField(db_collation="C", max_length=20)),
                ("hour", models.DateTimeField()),
                ("used", models.BigIntegerField(help_text="The most of it in that hour.")),
                ("last", models.BigIntegerField(help_text="When it was last counted.")),
                ("most", models.BigIntegerField(help_text="The quota, when it was last counted.")),
            ],
            options={
                "db_table": "punctual_quota_use",
                "default_permissions": (),
                "verbose_name_plural": "quota use",
                "indexes": [models.Index(fields=["hour"], name="punctual_quota_use_hour")],
                "constraints": [
                    models.UniqueConstraint(fields=["tenant", "quota", "hour"], name="punctual_quota_use_once")
                ],
            },
        ),
    ]
