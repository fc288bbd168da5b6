"""The tables, and what Django has no operation for: articles_app/models.sql, which does not change any more."""

from pathlib import Path

import django.contrib.postgres.indexes
import django.contrib.postgres.search
import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("auth", "__first__"),
    ]

    operations = [
        migrations.CreateModel(
            name="Article",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("title", models.CharField(max_length=200)),
                ("body", models.TextField()),
                ("author", models.CharField(max_length=150)),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("DRAFT", "DRAFT"),
                            ("PENDING_AUDIT", "PENDING_AUDIT"),
                            ("AUDIT_SUCCESS", "AUDIT_SUCCESS"),
                            ("AUDIT_FAIL", "AUDIT_FAIL"),
                            ("PUBLISHED", "PUBLISHED"),
                            ("OFFLINE", "OFFLINE"),
                        ],
                        db_default="DRAFT",
                        max_length=13,
                    ),
                ),
                ("publish_time", models.DateTimeField(help_text="When it is to go live.")),
                (
                    "offline_time",
                    models.DateTimeField(blank=True, help_text="When it is to be taken offline, if at all.", null=True),
                ),
                ("published_at", models.DateTimeField(help_text="When it went live.", null=True)),
                ("audit_reason", models.TextField(db_default="", help_text="Why it was rejected.")),
                ("revision", models.IntegerField(db_default=1, help_text="Grows with every write of the row.")),
                (
                    "content_revision",
                    models.IntegerField(db_default=1, help_text="Grows with every edit of title or body."),
                ),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("updated_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "db_table": "article",
                "permissions": [("audit_article", "Can approve and reject articles")],
                "indexes": [
                    models.Index(
                        condition=models.Q(("status", "PENDING_AUDIT")), fields=["id"], name="article_pending"
                    ),
                    models.Index(
                        condition=models.Q(("status", "AUDIT_SUCCESS")), fields=["id"], name="article_approved"
                    ),
                    models.Index(
                        condition=models.Q(("offline_time__isnull", False), ("status", "PUBLISHED")),
                        fields=["id"],
                        name="article_leaving",
                    ),
                    models.Index(
                        condition=models.Q(("status__in", ["PENDING_AUDIT", "AUDIT_SUCCESS"])),
                        fields=["publish_time"],
                        name="article_waiting",
                    ),
                    models.Index(fields=["publish_time", "id"], name="article_publish_time"),
                    models.Index(condition=models.Q(("status", "AUDIT_FAIL")), fields=["id"], name="article_rejected"),
                    models.Index(condition=models.Q(("status", "DRAFT")), fields=["id"], name="article_draft"),
                    django.contrib.postgres.indexes.GinIndex(
                        django.contrib.postgres.search.SearchVector("title", config="simple"),
                        name="article_title_words",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "status__in",
                                ["DRAFT", "PENDING_AUDIT", "AUDIT_SUCCESS", "AUDIT_FAIL", "PUBLISHED", "OFFLINE"],
                            )
                        ),
                        name="article_status",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("status", "PUBLISHED"), _negated=True),
                            ("published_at__isnull", False),
                            _connector="OR",
                        ),
                        name="article_published_since",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("offline_time__isnull", True),
                            ("offline_time__gt", models.F("publish_time")),
                            _connector="OR",
                        ),
                        name="article_offline_after_publish",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="EditorPreference",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "time_zone",
                    models.CharField(
                        help_text="A name such as Europe/Berlin; empty: what the browser says.", max_length=64
                    ),
                ),
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "db_table": "editor_preference",
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="ArticleCreation",
            fields=[
                ("token", models.UUIDField(primary_key=True, serialize=False)),
                (
                    "sent",
                    models.CharField(help_text="A digest of what was sent: another text is no resend.", max_length=64),
                ),
                (
                    "article",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="articles_app.article",
                    ),
                ),
            ],
            options={
                "db_table": "article_creation",
                "default_permissions": (),
                "indexes": [models.Index(fields=["sent"], name="article_creation_sent")],
            },
        ),
        migrations.CreateModel(
            name="ArticleEvent",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("revision", models.IntegerField(help_text="The article's revision after this write.")),
                ("verb", models.CharField(max_length=20)),
                ("source", models.CharField(db_default="", max_length=13)),
                ("target", models.CharField(max_length=13)),
                ("actor", models.CharField(max_length=150)),
                ("detail", models.JSONField(db_default={})),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "article",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="events",
                        to="articles_app.article",
                    ),
                ),
            ],
            options={
                "db_table": "article_event",
                "constraints": [models.UniqueConstraint(fields=("article", "revision"), name="article_event_once")],
            },
        ),
        migrations.RunSQL(
            (Path(__file__).resolve().parent.parent / "models.sql").read_text(),
            "DROP TRIGGER article_event_not_truncated ON article_event;"
            "DROP TRIGGER article_event_only_grows ON article_event;"
            "DROP FUNCTION article_event_only_grows()",
        ),
    ]
