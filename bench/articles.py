"""Articles to measure with, made by a few statements; and what must be true of them afterwards."""

from .stack import execute, query

# Past the lifecycle: a million articles through it would take longer than what is measured. Each has the events that
# its revision promises, and an approved one its publish task.
_ARTICLES = """
INSERT INTO article (title, body, author, status, publish_time, published_at, revision)
SELECT 'Title ' || n, repeat('Some words of a body. ', 10), 'bench', %(status)s, {time},
       CASE WHEN %(status)s = 'PUBLISHED' THEN {time} END, 1
FROM generate_series(0, %(count)s - 1) AS n
RETURNING id
"""
_EVENTS = """
INSERT INTO article_event (article_id, revision, verb, target, actor)
SELECT id, 1, 'create', status, 'bench' FROM article WHERE id >= %s
"""


def make_articles(count: int, status: str, time: str, **params: object) -> range:
    """So many new articles; `time` is SQL for the publish time of number `n`. Their ids are one after the other."""
    first = query("SELECT coalesce(max(id), 0) + 1 FROM article")[0][0]
    statement = f"WITH made AS ({_ARTICLES.format(time=time)}) SELECT min(id), count(*) FROM made"
    first, made = query(statement, {"status": status, "count": count, **params})[0]
    execute(_EVENTS, [first])
    return range(first, first + made)


def schedule_publishings(ids: range) -> None:
    """The publish task of each, at the article's own time, through the door."""
    from articles_app.units import PUBLISH
    from django_punctual import ensure_many

    for first in range(ids.start, ids.stop, 10_000):
        rows = query(
            "SELECT id, publish_time FROM article WHERE id >= %s AND id < %s", [first, min(first + 10_000, ids.stop)]
        )
        ensure_many(PUBLISH, [{"key": id_, "at": at} for id_, at in rows])


def analyse() -> None:
    execute("VACUUM ANALYZE article")
    execute("VACUUM ANALYZE punctual_task")


def empty_articles() -> None:
    execute("ALTER TABLE article_event DISABLE TRIGGER USER")  # else it can only grow
    execute("TRUNCATE article, article_event RESTART IDENTITY")
    execute("ALTER TABLE article_event ENABLE TRIGGER USER")
