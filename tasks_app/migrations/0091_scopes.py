"""Failures by tenant and type, and what safeguards hold back of one tenant alone."""

import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("tasks_app", "0090_idempotency_reach"),
    ]

    operations = [
        migrations.CreateModel(
            name="CurbPermit",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("curb", models.BigIntegerField()),
                ("batch_no", models.UUIDField()),
                ("tasks", models.IntegerField()),
            ],
            options={
                "db_table": "punctual_curb_permit",
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="ScopeMinute",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "target", "tenant", "minute", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("target", models.CharField(db_collation="C", max_length=340)),
                ("tenant", models.CharField(db_collation="C", max_length=63)),
                ("minute", models.DateTimeField()),
                ("ok", models.IntegerField()),
                ("failed", models.IntegerField()),
            ],
            options={
                "db_table": "punctual_scope_minute",
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="ScopeOutcome",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("tenant", models.CharField(db_collation="C", max_length=63)),
                (
                    "target",
                    models.CharField(db_collation="C", help_text="A type, or host: and a host.", max_length=340),
                ),
                ("backfill", models.BooleanField(help_text="They ran in the backfill lane.")),
                ("ok", models.IntegerField()),
                ("failed", models.IntegerField()),
            ],
            options={
                "db_table": "punctual_scope_outcome",
                "default_permissions": (),
            },
        ),
        migrations.RemoveConstraint(
            model_name="curb",
            name="punctual_curb_once",
        ),
        migrations.AddField(
            model_name="curb",
            name="counted_at",
            field=models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
        ),
        migrations.AddField(
            model_name="curb",
            name="filled_at",
            field=models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
        ),
        migrations.AddField(
            model_name="curb",
            name="of_tenant",
            field=models.CharField(
                db_collation="C", db_default="", help_text="Whose tasks it holds back; empty: all.", max_length=63
            ),
        ),
        migrations.AddField(
            model_name="curb",
            name="permits",
            field=models.FloatField(db_default=1.0, help_text="Of a tenant's: tasks that could start at filled_at."),
        ),
        migrations.AddField(
            model_name="curb",
            name="returned",
            field=models.IntegerField(db_default=0, help_text="Tasks that were sent back since counted_at."),
        ),
        migrations.AddField(
            model_name="curb",
            name="waiting",
            field=models.IntegerField(db_default=0, help_text="Tasks that were sent back in the stretch before that."),
        ),
        migrations.AlterField(
            model_name="curb",
            name="subject",
            field=models.CharField(db_collation="C", help_text="... and its subject.", max_length=340),
        ),
        migrations.AlterField(
            model_name="curb",
            name="target",
            field=models.CharField(db_collation="C", help_text="A lane, a type, a host, or *.", max_length=340),
        ),
        migrations.AlterField(
            model_name="safeguard",
            name="subject",
            field=models.CharField(
                db_collation="C",
                help_text="A type, host: and a host, or tenant: and a scope; empty: all.",
                max_length=340,
            ),
        ),
        migrations.AlterField(
            model_name="safeguardincident",
            name="subject",
            field=models.CharField(db_collation="C", max_length=340),
        ),
        migrations.AddConstraint(
            model_name="curb",
            constraint=models.UniqueConstraint(
                fields=("kind", "target", "of_tenant", "name", "subject"), name="punctual_curb_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="curbpermit",
            constraint=models.UniqueConstraint(fields=("curb", "batch_no"), name="punctual_curb_permit_of"),
        ),
        migrations.AddIndex(
            model_name="scopeminute",
            index=models.Index(fields=["minute"], name="punctual_scope_minute_at"),
        ),
    ]
