"""Keys of tenants, which tenants ask for them, and the walk that brings stored data under the newest."""

import django.db.models.functions.datetime
from django.db import migrations, models
from django.db.models import Q

_NOW = django.db.models.functions.datetime.Now()


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0058_tenant")]

    operations = [
        migrations.AddField(
            "tenant",
            "encrypted",
            models.BooleanField(
                db_default=False, help_text="Payloads, results, errors and secrets are encrypted with a key of its own."
            ),
        ),
        migrations.RemoveIndex("tenant", "punctual_tenant_guarded"),
        migrations.AddIndex(
            "tenant",
            models.Index(
                condition=Q(
                    ("at_limit", True), ("max_payload_bytes__isnull", False), ("encrypted", True), _connector="OR"
                ),
                fields=["name"],
                name="punctual_tenant_guarded",
            ),
        ),
        migrations.AlterModelOptions(
            "scheduletask",
            options={
                "permissions": [
                    ("operate_scheduletask", "Can retry, cancel and move tasks"),
                    ("decrypt_scheduletask", "Can read what is encrypted"),
                ]
            },
        ),
        migrations.CreateModel(
            name="TenantKey",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("tenant", models.CharField(db_collation="C", max_length=63)),
                (
                    "sealed",
                    models.TextField(db_default="", help_text="With the installation's key; empty: it was destroyed."),
                ),
                (
                    "encrypts",
                    models.BooleanField(db_default=True, help_text="What is written now is encrypted with it."),
                ),
                ("created_at", models.DateTimeField(db_default=_NOW)),
                ("created_by", models.CharField(db_default="", max_length=150)),
                ("destroyed_at", models.DateTimeField(null=True)),
                ("destroyed_by", models.CharField(db_default="", max_length=150)),
            ],
            options={
                "db_table": "punctual_tenant_key",
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["tenant", "id"], name="punctual_tenant_key_of"),
                    models.Index(
                        models.Func(models.F("sealed"), models.Value("."), models.Value(2), function="split_part"),
                        condition=Q(("sealed__gt", "")),
                        name="punctual_tenant_key_master",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=Q(("encrypts", True)), fields=("tenant",), name="punctual_tenant_key_newest"
                    ),
                    models.CheckConstraint(
                        condition=Q(
                            ("destroyed_at__isnull", True), Q(("encrypts", False), ("sealed", "")), _connector="OR"
                        ),
                        name="punctual_tenant_key_gone",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="KeyWalk",
            fields=[
                ("id", models.SmallIntegerField(primary_key=True, serialize=False)),
                ("state", models.CharField(db_collation="C", db_default="RUNNING", max_length=7)),
                (
                    "place",
                    models.SmallIntegerField(db_default=0, help_text="The table that it is at, counted from 0."),
                ),
                (
                    "after",
                    models.BigIntegerField(db_default=0, help_text="The last row of it that was looked at."),
                ),
                ("until", models.BigIntegerField(db_default=0, help_text="About the last row that there is.")),
                (
                    "rounds",
                    models.IntegerField(
                        db_default=0, help_text="Times that it has begun anew, since something was in use."
                    ),
                ),
                ("changed", models.BigIntegerField(db_default=0, help_text="Rows that were written.")),
                (
                    "left",
                    models.BigIntegerField(db_default=0, help_text="Rows of this round that could not be written now."),
                ),
                (
                    "unreadable",
                    models.BigIntegerField(db_default=0, help_text="Rows of this round that no key opens."),
                ),
                ("ordered_by", models.CharField(db_default="", max_length=150)),
                ("ordered_at", models.DateTimeField(db_default=_NOW)),
                ("updated_at", models.DateTimeField(db_default=_NOW)),
            ],
            options={
                "db_table": "punctual_key_walk",
                "default_permissions": (),
                "constraints": [
                    models.CheckConstraint(condition=Q(("id", 1)), name="punctual_key_walk_one"),
                    models.CheckConstraint(
                        condition=Q(("state__in", ["RUNNING", "STOPPED", "DONE"])), name="punctual_key_walk_state"
                    ),
                ],
            },
        ),
    ]
