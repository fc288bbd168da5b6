"""The one way to write an article: lock, compare, write, emit; and the error when nothing moved."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import NamedTuple

import psycopg
from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper

from articles_app.errors import IllegalMove, InvalidArticle, StaleArticle, UnknownArticle
from articles_app.events import Changed, emit
from articles_app.models import NAME_LENGTH, ArticleEvent
from articles_app.states import ArticleStatus, sources_of, target_of
from django_punctual import InvalidTask, checked_instant, checked_name, checked_text
from django_punctual.together import cursor_made


class Moved(NamedTuple):
    """An article as a move left it."""

    article_id: int
    source: ArticleStatus
    target: ArticleStatus
    revision: int
    content_revision: int
    publish_time: datetime
    offline_time: datetime | None


# The row is locked first, and the guard looks at `locked`, the row as it is under our lock, not at `a`: that is
# compared as it was when the statement began, and would miss a row that moved to where we start while we waited.
_MOVE = """
WITH locked AS MATERIALIZED (
    SELECT id, status, revision, content_revision, publish_time, offline_time FROM article WHERE id = %(id)s
    FOR NO KEY UPDATE
), moved AS (
    UPDATE article a
    SET {sets} status = coalesce(%(target)s, a.status), revision = a.revision + 1, updated_at = clock_timestamp()
    FROM locked
    WHERE a.id = locked.id AND locked.status = ANY (%(sources)s)
      AND (%(revision)s::int IS NULL OR locked.revision = %(revision)s::int) {guard}
    RETURNING a.id, a.status, a.revision, a.content_revision, a.publish_time, a.offline_time
), history AS (
    INSERT INTO article_event (article_id, revision, verb, source, target, actor, detail)
    SELECT moved.id, moved.revision, %(verb)s, locked.status, moved.status, %(actor)s, {detail}
    FROM moved JOIN locked USING (id)
)
SELECT locked.id, locked.status, locked.revision, moved.status, moved.revision, moved.content_revision,
       moved.publish_time, moved.offline_time
FROM locked LEFT JOIN moved USING (id)
"""


def move(
    verb: str,
    article_id: int,
    *,
    actor: str,
    revision: int | None = None,
    sets: str = "",
    guard: str = "",
    detail: str = "'{}'",
    params: Mapping[str, object] | None = None,
    more: Mapping[str, object] | None = None,
) -> Moved:
    """One conditional write and its event; raises, having written nothing, if the article is not where the verb starts.

    `sets`, `guard` (on `locked`) and `detail` are SQL of the calling module; values go through `params`. `more` is what
    others hear besides.
    """
    article_id, actor = checked_id(article_id), checked_actor(actor)
    given = {
        "id": article_id,
        "verb": verb,
        "actor": actor,
        "revision": checked_revision(revision),
        "target": target_of(verb),
        "sources": [str(source) for source in sources_of(verb)],
    }
    statement = _MOVE.format(sets=f"{sets}," if sets else "", guard=f"AND {guard}" if guard else "", detail=detail)
    with transaction.atomic(), prepared() as cursor:
        cursor.execute(statement, given | dict(params or {}))
        row = cursor.fetchone()
        if row is None:
            raise UnknownArticle(f"there is no article {article_id}.")
        _, source, found, target, *rest = row
        if target is None:
            refuse(verb, article_id, ArticleStatus(source), revision, found)
        moved = Moved(article_id, ArticleStatus(source), ArticleStatus(target), *rest)
        emit(verb, [Changed(article_id, moved.revision, moved.target, more or {})], actor)
    return moved


def prepared() -> CursorWrapper:
    """A cursor whose statements keep their plan on this connection: planning one edit takes as long as running it.

    For statements about one or a few rows. A plan that was kept from those would suit thousands badly.
    """
    return cursor_made(connection, psycopg.Cursor)


def refuse(verb: str, article_id: int, status: ArticleStatus, wanted: int | None, found: int) -> None:
    """Raise what says why nothing moved."""
    if wanted is not None and wanted != found:
        raise StaleArticle(article_id, wanted, found, last_event(article_id))
    if status not in sources_of(verb):
        raise IllegalMove(article_id, status, verb)
    raise InvalidArticle(f"article {article_id} did not allow {verb}; its times or its content stood in the way.")


def last_event(article_id: int) -> str:
    event = ArticleEvent.objects.filter(article_id=article_id).order_by("-revision").first()
    if event is None:
        return "It was changed without an entry in its history."
    path = event.target if event.source == event.target else f"{event.source or 'nothing'} to {event.target}"
    return f"The last change was {event.verb} by {event.actor} at {event.created_at.isoformat()} ({path})."


def checked_id(article_id: object) -> int:
    if isinstance(article_id, bool) or not isinstance(article_id, int) or not 0 < article_id < 2**63:
        raise InvalidArticle(f"article_id={article_id!r} must be a whole number above 0.")
    return article_id


def checked_revision(revision: object) -> int | None:
    if revision is not None and (isinstance(revision, bool) or not isinstance(revision, int)):
        raise InvalidArticle(f"revision={revision!r} must be the whole number that was read with the article, or None.")
    return revision if revision is None or -(2**31) <= revision < 2**31 else -1


def checked_actor(actor: object) -> str:
    return checked("actor", actor, NAME_LENGTH, checked_name)


def checked(name: str, value: object, longest: int, check: Callable[[str, object, int], str] = checked_text) -> str:
    try:
        return check(name, value, longest)
    except InvalidTask as error:
        raise InvalidArticle(str(error)) from None


def checked_time(name: str, at: object) -> datetime:
    try:
        return checked_instant(name, at)
    except InvalidTask as error:
        raise InvalidArticle(str(error)) from None
