"""Short words for tests about articles: one in any state, what is scheduled for it, and its history."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from django.db import connection
from django.utils import timezone

from articles_app import lifecycle
from articles_app.models import Article, ArticleEvent
from articles_app.states import ArticleStatus
from articles_app.units import AUDIT, OFFLINE, PUBLISH
from django_punctual import TaskInfo, find
from tasks_app.engine.worker.executor import BatchReport, run_batch
from tests.support import events
from tests.support.engine import claim_due, make_due

# Far enough never to come due while the tests run.
MONDAY = datetime(2090, 1, 2, 9, tzinfo=UTC)
TUESDAY = datetime(2090, 1, 3, 9, tzinfo=UTC)
WEDNESDAY = datetime(2090, 1, 4, 9, tzinfo=UTC)
ANN = "ann"


def past() -> datetime:
    return timezone.now() - timedelta(seconds=1)


def draft(publish_time: datetime = MONDAY, **fields: object) -> int:
    values = {"title": "A title", "body": "A body", "author": ANN} | fields
    return lifecycle.create(publish_time=publish_time, **values).id


def pending(publish_time: datetime = MONDAY, **fields: object) -> int:
    article = draft(publish_time, **fields)
    lifecycle.submit(article, actor=ANN)
    return article


def approved(publish_time: datetime = MONDAY, **fields: object) -> int:
    article = pending(publish_time, **fields)
    lifecycle.approve(article, actor="mod")
    return article


def rejected(publish_time: datetime = MONDAY, **fields: object) -> int:
    article = pending(publish_time, **fields)
    lifecycle.reject(article, reason="dull", actor="mod")
    return article


def published(publish_time: datetime | None = None, **fields: object) -> int:
    article = approved(publish_time or past(), **fields)
    run(claim_task(publish_task(article)))
    assert status(article) == ArticleStatus.PUBLISHED
    return article


def offline(publish_time: datetime | None = None, **fields: object) -> int:
    article = published(publish_time, **fields)
    lifecycle.take_offline(article, actor=ANN)
    return article


IN_STATE = {
    ArticleStatus.DRAFT: draft,
    ArticleStatus.PENDING_AUDIT: pending,
    ArticleStatus.AUDIT_SUCCESS: approved,
    ArticleStatus.AUDIT_FAIL: rejected,
    ArticleStatus.PUBLISHED: published,
    ArticleStatus.OFFLINE: offline,
}


def row(article_id: int) -> Article:
    return Article.objects.get(id=article_id)


def status(article_id: int) -> ArticleStatus:
    return ArticleStatus(row(article_id).status)


def history(article_id: int) -> list[str]:
    return list(ArticleEvent.objects.filter(article_id=article_id).order_by("revision").values_list("verb", flat=True))


def audit_task(article_id: int) -> TaskInfo | None:
    return find(AUDIT, article_id)


def publish_task(article_id: int) -> TaskInfo | None:
    return find(PUBLISH, article_id)


def offline_task(article_id: int) -> TaskInfo | None:
    return find(OFFLINE, article_id)


def told() -> list[dict]:
    """What article.publish_time_changed events carry, the oldest first."""
    return [event.data for event in events.told("article.publish_time_changed")]


def claim_task(task: TaskInfo) -> UUID:
    """This task, due and claimed."""
    make_due(task.id)
    [batch] = claim_due()
    return UUID(batch.batch_no)


def run(number: UUID) -> BatchReport:
    return run_batch(number, guarded=False)


def write_past_lifecycle(article_id: int, **values: object) -> None:
    """Damage, as a restored backup or a careless UPDATE leaves it."""
    columns = ", ".join(f"{name} = %s" for name in values)
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE article SET {columns} WHERE id = %s", [*values.values(), article_id])
