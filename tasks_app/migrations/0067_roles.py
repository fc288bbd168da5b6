"""Roles: who is what in which tenant, the rights of tokens, and the units of those who change only their own."""

import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("tasks_app", "0066_isolation"),
    ]

    operations = [
        migrations.AddField(
            model_name="apitoken",
            name="right",
            field=models.CharField(
                db_collation="C",
                help_text="The highest it has; empty: issued before rights had names, and can_write says it.",
                max_length=10,
                null=True,
            ),
        ),
        migrations.AlterField(
            model_name="apitoken",
            name="can_write",
            field=models.BooleanField(
                db_default=False, help_text="It may operate, to web processes that know no rights."
            ),
        ),
        migrations.CreateModel(
            name="Membership",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("tenant", models.CharField(db_collation="C", max_length=63)),
                (
                    "user_key",
                    models.CharField(
                        db_collation="C", help_text="The primary key of the user, as text.", max_length=100
                    ),
                ),
                (
                    "username",
                    models.CharField(db_collation="C", help_text="As it was when this was granted.", max_length=150),
                ),
                ("role", models.CharField(db_collation="C", max_length=8)),
                (
                    "source",
                    models.CharField(
                        db_default="",
                        help_text="What keeps it, such as a single sign-on; empty: it was made by hand.",
                        max_length=50,
                    ),
                ),
                ("granted_by", models.CharField(db_default="", max_length=150)),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("updated_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "verbose_name": "member",
                "db_table": "punctual_membership",
                "permissions": [("operate_membership", "Can grant, change and revoke memberships in tenants")],
                "default_permissions": ("view",),
                "indexes": [models.Index(fields=["tenant", "username"], name="punctual_membership_in")],
                "constraints": [
                    models.UniqueConstraint(fields=("user_key", "tenant"), name="punctual_membership_of"),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "role__in",
                                [
                                    "viewer",
                                    "author",
                                    "operator",
                                    "admin",
                                ],
                            )
                        ),
                        name="punctual_membership_role",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="OwnedUnit",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("tenant", models.CharField(db_collation="C", max_length=63)),
                ("task_type", models.CharField(db_collation="C", max_length=100)),
                ("biz_key", models.CharField(db_collation="C", max_length=200)),
                ("owner", models.CharField(db_collation="C", max_length=150)),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "db_table": "punctual_owned_unit",
                "default_permissions": (),
                "indexes": [models.Index(fields=["at"], name="punctual_owned_unit_at")],
                "constraints": [
                    models.UniqueConstraint(fields=("biz_key", "task_type", "tenant"), name="punctual_owned_unit_is")
                ],
            },
        ),
    ]
