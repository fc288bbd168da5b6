"""take_offline: live articles leave, by hand or at their offline time; and that time may move."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.db import connection, transaction

from articles_app.errors import InvalidArticle
from articles_app.events import Changed, emit
from articles_app.states import ArticleStatus
from articles_app.units import OFFLINE, SCHEDULER
from django_punctual import Outcome, cancel, ensure

from .write import Moved, checked_actor, checked_id, checked_revision, checked_time, move


class TakenOffline(NamedTuple):
    """What became of one article."""

    moved: bool
    status: ArticleStatus  # what it was before
    offline_time: datetime | None


_OFFLINE_DUE = """
WITH locked AS MATERIALIZED (
    SELECT id, status, offline_time FROM article WHERE id = ANY (%(ids)s) ORDER BY id FOR NO KEY UPDATE
), moved AS (
    UPDATE article a
    SET status = 'OFFLINE', revision = a.revision + 1, updated_at = clock_timestamp()
    FROM locked
    WHERE a.id = locked.id AND locked.status = 'PUBLISHED' AND locked.offline_time <= clock_timestamp()
    RETURNING a.id, a.revision
), history AS (
    INSERT INTO article_event (article_id, revision, verb, source, target, actor)
    SELECT id, revision, 'take_offline', 'PUBLISHED', 'OFFLINE', %(actor)s FROM moved
)
SELECT locked.id, moved.revision, locked.status, locked.offline_time
FROM locked LEFT JOIN moved USING (id)
"""


def take_offline_due(article_ids: Collection[int], *, actor: str = SCHEDULER) -> dict[int, TakenOffline]:
    """Take those offline that are live and whose offline time has come, in one statement."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_OFFLINE_DUE, {"ids": list(article_ids), "actor": actor})
        rows = cursor.fetchall()
        offline = ArticleStatus.OFFLINE
        emit("take_offline", [Changed(id_, revision, offline) for id_, revision, *_ in rows if revision], actor)
    return {id_: TakenOffline(revision is not None, ArticleStatus(status), at) for id_, revision, status, at in rows}


def take_offline(article_id: int, *, actor: str, revision: int | None = None) -> Moved:
    """Offline at once, by hand."""
    with transaction.atomic():
        moved = move("take_offline", article_id, actor=actor, revision=revision)
        cancel(OFFLINE, article_id, reason=f"taken offline by {actor}", by=actor)
    return moved


@dataclass(frozen=True, slots=True)
class OfflineChange:
    moved: Moved
    outcome: Outcome | None  # of the task; None: there was none to move


def change_offline_time(
    article_id: int, at: datetime | None, *, actor: str, revision: int | None = None
) -> OfflineChange:
    """Another time to go offline, or None for never. While the article is live, its task follows."""
    article_id, actor, revision = checked_id(article_id), checked_actor(actor), checked_revision(revision)
    if at is not None:
        at = checked_time("at", at)
    with transaction.atomic():
        try:
            moved = move(
                "change_offline_time",
                article_id,
                actor=actor,
                revision=revision,
                sets="offline_time = %(at)s::timestamptz",
                guard="(%(at)s::timestamptz IS NULL OR locked.publish_time < %(at)s::timestamptz)",
                detail="jsonb_build_object('new', %(at)s::timestamptz)",
                params={"at": at},
                more={"new": at and at.isoformat()},
            )
        except InvalidArticle:
            if at is None:
                raise
            raise InvalidArticle(
                f"at={at.isoformat()} is not after the publish time of article {article_id}; an article must go "
                "offline after it goes live. Move one of them."
            ) from None
        outcome = None
        if moved.target == ArticleStatus.PUBLISHED and at is not None:
            outcome = ensure(OFFLINE, article_id, at=at, by=actor).outcome
        elif moved.target == ArticleStatus.PUBLISHED:
            cancel(OFFLINE, article_id, reason=f"set to stay online by {actor}", by=actor)
    return OfflineChange(moved, outcome)
