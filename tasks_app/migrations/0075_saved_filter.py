"""Filters of lists that people have given names."""

from django.db import migrations, models
from django.db.models.functions import Now


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0074_hour_figures")]

    operations = [
        migrations.CreateModel(
            "SavedFilter",
            [
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "tenant",
                    models.CharField(
                        db_collation="C", help_text="Empty: of somebody who works in all.", max_length=63, null=True
                    ),
                ),
                (
                    "user_key",
                    models.CharField(
                        db_collation="C", help_text="The primary key of the user, as text.", max_length=100
                    ),
                ),
                ("page", models.CharField(db_collation="C", help_text="The list that it is for.", max_length=20)),
                ("name", models.CharField(db_collation="C", max_length=60)),
                ("query", models.CharField(help_text="As in the list's address.", max_length=2000)),
                ("created_at", models.DateTimeField(db_default=Now())),
            ],
            options={
                "db_table": "punctual_saved_filter",
                "default_permissions": (),
                "constraints": [
                    models.UniqueConstraint(
                        fields=["user_key", "page", "tenant", "name"],
                        name="punctual_saved_filter_of",
                        nulls_distinct=False,
                    )
                ],
            },
        ),
    ]
