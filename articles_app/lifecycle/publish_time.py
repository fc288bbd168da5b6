"""change_publish_time: the column and the task move together, or neither does, and the answer says what happened.

One article and twenty thousand take the same statements. Lock order: the articles by id, then their tasks.
"""

import logging
from collections.abc import Iterable
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, NamedTuple

from django.db import connection, transaction

from articles_app.conf import conf
from articles_app.errors import InvalidArticle, UnknownArticle
from articles_app.events import KINDS, Changed, emit
from articles_app.states import ArticleStatus, sources_of
from articles_app.units import AUDIT, PUBLISH
from django_punctual import Outcome, Scheduled, ensure_many, reschedule_many
from django_punctual.together import RowChange, reschedule_with

from .audit import audit_options
from .write import checked_actor, checked_id, checked_revision, checked_time, prepared, refuse

log = logging.getLogger(__name__)

VERB = "change_publish_time"
FEW = 10


class TimeOutcome(StrEnum):
    SAVED = "SAVED"  # not approved yet: the column is all there is
    UPDATED = "UPDATED"  # same task, new time
    REPLACED = "REPLACED"  # its task was running: cancelled, and a new one took over
    CREATED = "CREATED"  # it had no task that could be moved: a new one
    IGNORED = "IGNORED"  # it is live, or was: nothing was changed, the column included

    @property
    def changed(self) -> bool:
        return self is not TimeOutcome.IGNORED


class NewTime(NamedTuple):
    article_id: int
    at: datetime
    revision: int | None = None  # what the caller has read; None: whatever it is now


class TimeChange(NamedTuple):
    """What became of one request."""

    article_id: int
    outcome: TimeOutcome
    status: ArticleStatus
    old: datetime
    new: datetime  # the article's publish time now
    revision: int
    task_id: int | None = None

    def __str__(self) -> str:
        return _WORDS[self.outcome].format(id=self.article_id, old=self.old, new=self.new, status=self.status)


_WORDS = {
    TimeOutcome.SAVED: "Article {id} is {status}; its publish time is now {new}.",
    TimeOutcome.UPDATED: "Article {id} goes live at {new} instead of {old}.",
    TimeOutcome.REPLACED: "Article {id} was just about to go live; that was called off. It goes live at {new}.",
    TimeOutcome.CREATED: "Article {id} had nothing scheduled to move; it goes live at {new}.",
    TimeOutcome.IGNORED: "Article {id} is {status}; its publish time stays {old}.",
}

_CHANGE = """
WITH given AS MATERIALIZED (
    SELECT * FROM unnest(%(ids)s::bigint[], %(ats)s::timestamptz[], %(revisions)s::int[]) AS g(id, at, revision)
), locked AS MATERIALIZED (
    SELECT id, status, publish_time, offline_time, revision FROM article
    WHERE id = ANY (%(ids)s::bigint[]) ORDER BY id FOR NO KEY UPDATE
), moved AS (
    UPDATE article a
    SET publish_time = g.at, revision = a.revision + 1, updated_at = clock_timestamp()
    FROM locked JOIN given g USING (id)
    WHERE a.id = locked.id AND locked.status = ANY (%(sources)s)
      AND (g.revision IS NULL OR locked.revision = g.revision)
      AND (locked.offline_time IS NULL OR locked.offline_time > g.at)
    RETURNING a.id, a.status, a.revision, a.publish_time
), history AS (
    INSERT INTO article_event (article_id, revision, verb, source, target, actor, detail)
    SELECT moved.id, moved.revision, %(verb)s, moved.status, moved.status, %(actor)s,
           jsonb_build_object('old', locked.publish_time, 'new', moved.publish_time)
    FROM moved JOIN locked USING (id)
)
SELECT locked.id, locked.status, locked.publish_time, locked.offline_time, locked.revision, moved.revision
FROM locked LEFT JOIN moved USING (id)
"""

# The same for one that is approved, in one statement with its task and its events.
CHANGE_WITH_TASK = RowChange(
    lock="""
    SELECT id, status, publish_time, offline_time, revision,
           status = 'AUDIT_SUCCESS' AND (%(revision)s::int IS NULL OR revision = %(revision)s::int)
           AND (offline_time IS NULL OR offline_time > %(at)s::timestamptz) AS allowed
    FROM article WHERE id = %(id)s FOR NO KEY UPDATE""",
    write="""
    written AS (
        UPDATE article a
        SET publish_time = %(at)s::timestamptz, revision = a.revision + 1, updated_at = clock_timestamp()
        FROM own, moved
        WHERE a.id = own.id
        RETURNING a.id, a.status, a.revision, a.publish_time
    ), noted AS (
        INSERT INTO article_event (article_id, revision, verb, source, target, actor, detail)
        SELECT written.id, written.revision, %(verb)s, own.status, written.status, %(actor)s,
               jsonb_build_object('old', own.publish_time, 'new', written.publish_time)
        FROM written, own
    )""",
    answer="own.id, own.status, own.publish_time, own.offline_time, own.revision, written.revision",
    event=KINDS[VERB],
    data="""jsonb_build_object(
        'article', written.id, 'revision', written.revision, 'status', written.status, 'actor', %(actor)s::text,
        'old', own.publish_time, 'new', written.publish_time, 'outcome', %(outcome)s::text)""",
)


class _Row(NamedTuple):
    id: int
    status: ArticleStatus
    old: datetime
    offline_time: datetime | None
    revision: int
    new_revision: int | None  # None: it was not changed


def change_publish_time(article_id: int, at: datetime, *, actor: str, revision: int | None = None) -> TimeChange:
    """Move an article's publish time and what is scheduled for it; with `revision`, only if nobody has changed it."""
    return change_publish_times([NewTime(article_id, at, revision)], actor=actor)[0]


def change_publish_times(changes: Iterable[NewTime], *, actor: str) -> list[TimeChange]:
    """change_publish_time for many, in a handful of statements whatever their number: all of them, or none.

    Published ones are IGNORED and don't keep the others from moving. An unknown or stale one does: it raises.
    """
    actor = checked_actor(actor)
    wanted = _checked(changes)
    if not wanted:
        return []
    if len(wanted) == 1:
        [change] = wanted.values()
        if alone := _change_with_task(change, actor):
            return [alone]
    with transaction.atomic():
        rows = _write(wanted, actor)
        _refuse_unmoved(wanted, rows)
        scheduled = _schedule_publish(wanted, rows, actor)
        _schedule_audit(wanted, rows, actor)
        answers = [_answer(change, rows[id_], scheduled.get(id_)) for id_, change in wanted.items()]
        emit(VERB, [_changed(answer) for answer in answers if answer.outcome.changed], actor)
    return answers


def _checked(changes: Iterable[NewTime]) -> dict[int, NewTime]:
    wanted: dict[int, NewTime] = {}
    for change in changes:
        article_id, at, revision = NewTime(*change)
        one = NewTime(checked_id(article_id), checked_time("at", at), checked_revision(revision))
        if wanted.setdefault(one.article_id, one) is not one:
            raise InvalidArticle(f"article {article_id} is given twice in one call; which time is meant?")
    return wanted


def _change_with_task(change: NewTime, actor: str) -> TimeChange | None:
    """In the shortest way there is, also of one that is live; None, and nothing is changed, if it takes more."""
    params = {"id": change.article_id, "revision": change.revision, "verb": VERB, "actor": actor}
    changed = reschedule_with(CHANGE_WITH_TASK, PUBLISH, change.article_id, at=change.at, params=params, by=actor)
    if changed is None:
        return None
    row = _row(*changed.row)
    return None if changed.task is None and row.status in sources_of(VERB) else _answer(change, row, changed.task)


def _write(wanted: dict[int, NewTime], actor: str) -> dict[int, _Row]:
    params = {
        "ids": list(wanted),
        "ats": [change.at for change in wanted.values()],
        "revisions": [change.revision for change in wanted.values()],
        "sources": [str(source) for source in sources_of(VERB)],
        "verb": VERB,
        "actor": actor,
    }
    with prepared() if len(wanted) <= FEW else connection.cursor() as cursor:
        cursor.execute(_CHANGE, params)
        return {row[0]: _row(*row) for row in cursor.fetchall()}


def _row(id_: int, status: str, *rest: Any) -> _Row:
    return _Row(id_, ArticleStatus(status), *rest)


def _refuse_unmoved(wanted: dict[int, NewTime], rows: dict[int, _Row]) -> None:
    for article_id, change in wanted.items():
        row = rows.get(article_id)
        if row is None:
            raise UnknownArticle(f"there is no article {article_id}.")
        if row.new_revision is not None or row.status not in sources_of(VERB):
            continue
        if row.offline_time is not None and row.offline_time <= change.at and change.revision in (None, row.revision):
            raise InvalidArticle(
                f"at={change.at.isoformat()} is not before the offline_time {row.offline_time.isoformat()} of article "
                f"{article_id}; an article must go offline after it goes live. Move one of them."
            )
        refuse(VERB, article_id, row.status, change.revision, row.revision)


def _schedule_publish(wanted: dict[int, NewTime], rows: dict[int, _Row], actor: str) -> dict[int, Scheduled]:
    """Document 000: UPDATE where it is safe, CANCEL and INSERT where it runs."""
    ids = [id_ for id_ in wanted if rows[id_].status == ArticleStatus.AUDIT_SUCCESS]
    scheduled = _reschedule(PUBLISH, {id_: {"at": wanted[id_].at} for id_ in ids}, actor)
    lost = [id_ for id_, answer in scheduled.items() if answer.outcome is Outcome.IGNORED]
    if lost:
        # The task says done and the article says not. The article is right: its change must not be swallowed.
        log.warning("article.task_done_but_unpublished count=%d ids=%s", len(lost), lost[:20])
        again = ensure_many(PUBLISH, [{"key": id_, "at": wanted[id_].at} for id_ in lost], by=actor)
        scheduled |= dict(zip(lost, again, strict=True))
    return scheduled


def _schedule_audit(wanted: dict[int, NewTime], rows: dict[int, _Row], actor: str) -> None:
    """With a lead time, a pending audit follows the publish time."""
    if conf().AUDIT_LEAD_SECONDS is not None:
        ids = [id_ for id_ in wanted if rows[id_].status == ArticleStatus.PENDING_AUDIT]
        _reschedule(AUDIT, {id_: audit_options(wanted[id_].at) for id_ in ids}, actor)


def _reschedule(task_type: str, options: dict[int, dict[str, Any]], actor: str) -> dict[int, Scheduled]:
    if not options:
        return {}
    answers = reschedule_many(task_type, [{"key": id_, **one} for id_, one in options.items()], by=actor)
    return dict(zip(options, answers, strict=True))


def _answer(change: NewTime, row: _Row, scheduled: Scheduled | None) -> TimeChange:
    if row.new_revision is None:
        return TimeChange(row.id, TimeOutcome.IGNORED, row.status, row.old, row.old, row.revision)
    outcome = TimeOutcome.SAVED if scheduled is None else TimeOutcome(scheduled.outcome)
    task_id = None if scheduled is None else scheduled.task_id
    return TimeChange(row.id, outcome, row.status, row.old, change.at, row.new_revision, task_id)


def _changed(answer: TimeChange) -> Changed:
    old, new = (at.astimezone(UTC).isoformat() for at in (answer.old, answer.new))
    more = {"old": old, "new": new, "outcome": str(answer.outcome)}
    return Changed(answer.article_id, answer.revision, answer.status, more)
