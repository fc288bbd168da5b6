"""publish: approved articles go live once, at their publish time."""

from collections.abc import Collection
from datetime import datetime
from typing import NamedTuple

from django.db import connection, transaction

from articles_app.errors import InvalidArticle
from articles_app.events import Changed, emit
from articles_app.states import ArticleStatus
from articles_app.units import OFFLINE, PUBLISH, SCHEDULER
from django_punctual import cancel, ensure_many

from .write import Moved, move


class Published(NamedTuple):
    """The outcome for one article."""

    moved: bool  # this call published it
    status: ArticleStatus  # before the call
    publish_time: datetime


# Rows are locked in order of id, so two batches, or a batch and a bulk edit, cannot deadlock. The guard reads the rows
# after they are locked, so it sees all edits that were committed before. A second publish matches no row.
_PUBLISH_DUE = """
WITH locked AS MATERIALIZED (
    SELECT id, status, publish_time FROM article WHERE id = ANY (%(ids)s) ORDER BY id FOR NO KEY UPDATE
), moved AS (
    UPDATE article a
    SET status = 'PUBLISHED', published_at = clock_timestamp(), revision = a.revision + 1,
        updated_at = clock_timestamp()
    FROM locked
    WHERE a.id = locked.id AND locked.status = 'AUDIT_SUCCESS' AND locked.publish_time <= clock_timestamp()
    RETURNING a.id, a.revision, a.published_at, a.offline_time
), history AS (
    INSERT INTO article_event (article_id, revision, verb, source, target, actor, detail)
    SELECT id, revision, 'publish', 'AUDIT_SUCCESS', 'PUBLISHED', %(actor)s,
           jsonb_build_object('published_at', published_at)
    FROM moved
)
SELECT locked.id, moved.revision, locked.status, locked.publish_time, moved.offline_time
FROM locked LEFT JOIN moved USING (id)
"""


def publish_due(article_ids: Collection[int], *, actor: str = SCHEDULER) -> dict[int, Published]:
    """Publish the approved articles whose publish time has passed, in one statement. Unknown ids are left out."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(_PUBLISH_DUE, {"ids": list(article_ids), "actor": actor})
            rows = cursor.fetchall()
        live = [(id_, revision, offline_time) for id_, revision, _, _, offline_time in rows if revision is not None]
        emit("publish", [Changed(id_, revision, ArticleStatus.PUBLISHED) for id_, revision, _ in live], actor)
        _schedule_offline({id_: offline_time for id_, _, offline_time in live})
    return {id_: Published(revision is not None, ArticleStatus(status), at) for id_, revision, status, at, _ in rows}


def publish_now(article_id: int, *, actor: str, revision: int | None = None) -> Moved:
    """Publish an approved article immediately at a person's request. Its publish time becomes now."""
    with transaction.atomic():
        try:
            moved = move(
                "publish_now",
                article_id,
                actor=actor,
                revision=revision,
                sets="publish_time = statement_timestamp(), published_at = clock_timestamp()",
                guard="(locked.offline_time IS NULL OR locked.offline_time > clock_timestamp())",
            )
        except InvalidArticle:
            raise InvalidArticle(
                f"the offline_time of article {article_id} has passed; it would go live and offline at once. "
                "Change its offline time first."
            ) from None
        cancel(PUBLISH, article_id, reason=f"published at once by {actor}", by=actor)
        _schedule_offline({article_id: moved.offline_time})
    return moved


def _schedule_offline(times: dict[int, datetime | None]) -> None:
    """Create the offline task when the article goes live. Before that, it would have nothing to do."""
    tasks = [{"key": id_, "at": at} for id_, at in sorted(times.items()) if at is not None]
    if tasks:
        ensure_many(OFFLINE, tasks)
