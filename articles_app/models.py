"""Articles and their history, written by articles_app.lifecycle alone; and what an editor prefers."""

from django.conf import settings
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVector
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from .states import ArticleStatus

TITLE_LENGTH = 200
NAME_LENGTH = 150  # of an author or an actor


# By which titles are searched; "simple", since titles come in any language.
TITLE_WORDS = SearchVector("title", config="simple")


class Article(models.Model):
    title: str = models.CharField(max_length=TITLE_LENGTH)
    body = models.TextField()
    author = models.CharField(max_length=NAME_LENGTH)
    status = models.CharField(
        max_length=13, choices=[(s.value, s.value) for s in ArticleStatus], db_default=ArticleStatus.DRAFT
    )
    publish_time = models.DateTimeField(help_text="When it is to go live.")
    offline_time = models.DateTimeField(null=True, blank=True, help_text="When it is to be taken offline, if at all.")
    published_at = models.DateTimeField(null=True, help_text="When it went live.")
    audit_reason = models.TextField(db_default="", help_text="Why it was rejected.")
    revision = models.IntegerField(db_default=1, help_text="Grows with every write of the row.")
    content_revision = models.IntegerField(db_default=1, help_text="Grows with every edit of title or body.")
    created_at = models.DateTimeField(db_default=Now())
    updated_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "article"
        permissions = [("audit_article", "Can approve and reject articles")]
        indexes = [
            # What the compensation scan walks. Drafts and most published articles are in none.
            models.Index(fields=["id"], name="article_pending", condition=Q(status=ArticleStatus.PENDING_AUDIT)),
            models.Index(fields=["id"], name="article_approved", condition=Q(status=ArticleStatus.AUDIT_SUCCESS)),
            models.Index(
                fields=["id"],
                name="article_leaving",
                condition=Q(status=ArticleStatus.PUBLISHED, offline_time__isnull=False),
            ),
            # What an editor asks for: what goes live next, what is overdue, what was rejected.
            models.Index(
                fields=["publish_time"],
                name="article_waiting",
                condition=Q(status__in=[ArticleStatus.PENDING_AUDIT, ArticleStatus.AUDIT_SUCCESS]),
            ),
            # The calendar, whatever the state, and the list in this order.
            models.Index(fields=["publish_time", "id"], name="article_publish_time"),
            models.Index(fields=["id"], name="article_rejected", condition=Q(status=ArticleStatus.AUDIT_FAIL)),
            models.Index(fields=["id"], name="article_draft", condition=Q(status=ArticleStatus.DRAFT)),
            GinIndex(TITLE_WORDS, name="article_title_words"),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(status__in=list(ArticleStatus)), name="article_status"),
            models.CheckConstraint(
                condition=~Q(status=ArticleStatus.PUBLISHED) | Q(published_at__isnull=False),
                name="article_published_since",
            ),
            models.CheckConstraint(
                condition=Q(offline_time__isnull=True) | Q(offline_time__gt=F("publish_time")),
                name="article_offline_after_publish",
            ),
        ]

    def __str__(self) -> str:
        return self.title


class ArticleEvent(models.Model):
    """One row for every write of an article; never changed, never deleted (a trigger sees to it)."""

    article = models.ForeignKey(
        Article, on_delete=models.DO_NOTHING, db_constraint=False, related_name="events", db_index=False
    )
    revision = models.IntegerField(help_text="The article's revision after this write.")
    verb = models.CharField(max_length=20)
    source = models.CharField(max_length=13, db_default="")
    target = models.CharField(max_length=13)
    actor = models.CharField(max_length=NAME_LENGTH)
    detail = models.JSONField(db_default={})
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "article_event"
        constraints = [
            # One write, one event. It is also the index by which an article's history is read.
            models.UniqueConstraint(fields=["article", "revision"], name="article_event_once"),
        ]

    def __str__(self) -> str:
        return f"{self.verb} by {self.actor}"


class ArticleCreation(models.Model):
    """Which article a form has made: sent again, it makes no second one.

    A table of its own: an index on the article would be written again whenever one goes live.
    """

    token = models.UUIDField(primary_key=True)
    article = models.ForeignKey(
        Article, on_delete=models.DO_NOTHING, db_constraint=False, related_name="+", db_index=False
    )
    sent = models.CharField(max_length=64, help_text="A digest of what was sent: another text is no resend.")

    class Meta:
        db_table = "article_creation"
        default_permissions = ()
        indexes = [models.Index(fields=["sent"], name="article_creation_sent")]

    def __str__(self) -> str:
        return f"{self.token}: {self.article_id}"


class EditorPreference(models.Model):
    """What one user has chosen for the admin pages of the articles."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    time_zone = models.CharField(max_length=64, help_text="A name such as Europe/Berlin; empty: what the browser says.")

    class Meta:
        db_table = "editor_preference"
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.user_id}: {self.time_zone}"
