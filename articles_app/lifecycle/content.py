"""create, edit_content, withdraw and back_to_draft: what an author does to the text."""

from datetime import UTC, datetime
from hashlib import sha256
from uuid import UUID

from django.db import connection, transaction

from articles_app.errors import AlreadyCreated, InvalidArticle
from articles_app.events import Changed, emit
from articles_app.models import NAME_LENGTH, TITLE_LENGTH, Article, ArticleCreation, ArticleEvent
from articles_app.states import ArticleStatus
from articles_app.units import AUDIT, PUBLISH
from django_punctual import cancel

from .write import Moved, checked, checked_actor, checked_time, move

BODY_LENGTH = 1_000_000


def create(
    *,
    title: str,
    body: str,
    author: str,
    publish_time: datetime,
    offline_time: datetime | None = None,
    actor: str | None = None,
    token: UUID | None = None,
) -> Article:
    """A new draft. With a token, one article however often it is called: after the first it raises AlreadyCreated."""
    title, body = checked("title", title, TITLE_LENGTH), checked("body", body, BODY_LENGTH)
    author = checked("author", author, NAME_LENGTH)
    actor = author if actor is None else checked_actor(actor)
    publish_time = checked_time("publish_time", publish_time)
    if offline_time is not None:
        refuse_offline_before_publish(checked_time("offline_time", offline_time), publish_time)
    with transaction.atomic():
        article = Article(
            title=title, body=body, author=author, status=ArticleStatus.DRAFT, revision=1, content_revision=1
        )
        article.publish_time, article.offline_time, article.audit_reason = publish_time, offline_time, ""
        article.save(force_insert=True)
        ArticleEvent.objects.create(
            article_id=article.id,
            revision=1,
            verb="create",
            source="",
            target=ArticleStatus.DRAFT,
            actor=actor,
            detail={},
        )
        if token is not None:
            _use(token, article)
        emit("create", [Changed(article.id, 1, ArticleStatus.DRAFT)], actor)
    return article


def _use(token: UUID, article: Article) -> None:
    """Whoever comes second waits here for the first, and then rolls back what it has made."""
    sent = digest_of(article.title, article.body, article.publish_time, article.offline_time)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO article_creation (token, article_id, sent) VALUES (%s, %s, %s) ON CONFLICT (token) DO NOTHING",
            [token, article.id, sent],
        )
        if cursor.rowcount:
            return
    first = ArticleCreation.objects.get(token=token)
    raise AlreadyCreated(first.article_id, same=first.sent == sent)


def digest_of(title: str, body: str, publish_time: datetime, offline_time: datetime | None) -> str:
    """Of what a new article is made of: two that are equal have the same."""
    times = [at and at.astimezone(UTC).isoformat() for at in (publish_time, offline_time)]
    return sha256("\0".join(map(str, (title, body, *times))).encode(errors="replace")).hexdigest()


def edit_content(
    article_id: int, *, title: str | None = None, body: str | None = None, actor: str, revision: int | None = None
) -> Moved:
    """New text. An article that waits for audit or publishing is withdrawn by that: nobody approved this text."""
    if title is None and body is None:
        raise InvalidArticle("there is nothing to edit; give title=, body= or both.")
    params = {
        "title": None if title is None else checked("title", title, TITLE_LENGTH),
        "body": None if body is None else checked("body", body, BODY_LENGTH),
    }
    with transaction.atomic():
        moved = move(
            "edit_content",
            article_id,
            actor=actor,
            revision=revision,
            sets="title = coalesce(%(title)s, a.title), body = coalesce(%(body)s, a.body), audit_reason = '',"
            " content_revision = a.content_revision + 1",
            detail="jsonb_build_object('content_revision', moved.content_revision)",
            params=params,
        )
        _call_off(moved, f"the content was edited by {actor}", actor)
    return moved


def withdraw(article_id: int, *, actor: str, revision: int | None = None) -> Moved:
    """Back to a draft before it went live."""
    with transaction.atomic():
        moved = move("withdraw", article_id, actor=actor, revision=revision)
        _call_off(moved, f"the article was withdrawn by {actor}", actor)
    return moved


def back_to_draft(article_id: int, *, actor: str, revision: int | None = None) -> Moved:
    """A rejected or an offline article becomes a draft again. An offline_time that has passed has had its effect."""
    return move(
        "back_to_draft",
        article_id,
        actor=actor,
        revision=revision,
        sets="published_at = NULL,"
        " offline_time = CASE WHEN a.offline_time <= clock_timestamp() THEN NULL ELSE a.offline_time END",
    )


def refuse_offline_before_publish(offline_time: datetime, publish_time: datetime) -> None:
    if offline_time <= publish_time:
        raise InvalidArticle(
            f"offline_time={offline_time.isoformat()} is not after publish_time={publish_time.isoformat()}; "
            "an article must go offline after it goes live. Move one of them."
        )


def _call_off(moved: Moved, reason: str, actor: str) -> None:
    """What was scheduled for the state that was left. A running attempt can't settle any more."""
    if moved.source == ArticleStatus.PENDING_AUDIT:
        cancel(AUDIT, moved.article_id, reason=reason, by=actor)
    elif moved.source == ArticleStatus.AUDIT_SUCCESS:
        cancel(PUBLISH, moved.article_id, reason=reason, by=actor)
