"""An article's timeline: its events, the tasks that were scheduled for it, and every try that failed."""

from datetime import datetime, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

from django.utils.translation import gettext, gettext_lazy

from articles_app.models import Article, ArticleEvent
from articles_app.units import AUDIT, OFFLINE, PUBLISH
from django_punctual import AttemptInfo, Status, TaskInfo, history

from .times import lasting, late_by, spoken, to_the_second
from .words import event_words

EVENTS_SHOWN = 100
KINDS = {AUDIT: gettext_lazy("audit"), PUBLISH: gettext_lazy("publication"), OFFLINE: gettext_lazy("taking offline")}


class Entry(NamedTuple):
    at: datetime
    kind: str  # event, task or try
    words: str
    detail: str = ""
    task_id: int | None = None
    at_words: str = ""


def timeline(article: Article, zone: ZoneInfo, now: datetime) -> list[Entry]:
    """The latest first."""
    events = ArticleEvent.objects.filter(article_id=article.id).order_by("-revision")[:EVENTS_SHOWN]
    entries = [_event(event, article, zone, now) for event in events]
    for task_type in (AUDIT, PUBLISH, OFFLINE):
        tasks, attempts = history(task_type, article.id)
        entries += [_task(task, zone, now) for task in tasks]
        entries += [_attempt(attempt, KINDS[task_type]) for attempt in attempts]
    entries.sort(key=lambda entry: entry.at, reverse=True)
    return [entry._replace(at_words=to_the_second(entry.at, zone, now)) for entry in entries]


def events_since(article_id: int, revision: int, zone: ZoneInfo, now: datetime) -> list[Entry]:
    """What others did to it since the revision, the earliest first."""
    events = ArticleEvent.objects.filter(article_id=article_id, revision__gt=revision).order_by("revision")
    return [Entry(event.created_at, "event", event_words(event, zone, now)) for event in events[:EVENTS_SHOWN]]


def _event(event: ArticleEvent, article: Article, zone: ZoneInfo, now: datetime) -> Entry:
    late = ""
    if event.verb == "publish" and article.published_at and event.detail.get("published_at"):
        # An article that was published before may have had another time then.
        went_live = datetime.fromisoformat(event.detail["published_at"])
        late = late_by(went_live - article.publish_time) if went_live == article.published_at else ""
    return Entry(event.created_at, "event", event_words(event, zone, now), late)


def _task(task: TaskInfo, zone: ZoneInfo, now: datetime) -> Entry:
    named = {"id": task.id, "kind": KINDS.get(task.type, task.type)}
    if task.status == Status.SUCCESS and task.finish_time:
        detail = []
        if task.late is not None:
            detail.append(gettext("started {late}").format(late=late_by(task.late)))
        if task.start_time is not None and task.finish_time is not None:
            detail.append(gettext("took {time}").format(time=_took(task.finish_time - task.start_time)))
        words = gettext("Task {id} ({kind}) is done").format(**named)
        return Entry(task.finish_time, "task", words, ", ".join(detail), task.id)
    if task.status == Status.CANCELLED:
        words = (
            gettext("Task {id} ({kind}) was cancelled by {by}")
            if task.cancelled_by
            else gettext("Task {id} ({kind}) was cancelled")
        )
        return Entry(task.updated_at, "task", words.format(**named, by=task.cancelled_by), task.error_msg, task.id)
    if task.status == Status.DEAD:
        words = gettext("Task {id} ({kind}) gave up").format(**named)
        return Entry(task.updated_at, "task", words, task.error_msg, task.id)
    if task.status == Status.RUNNING:
        words = (
            gettext("Task {id} ({kind}) is queued, and waits for a worker")
            if task.start_time is None
            else gettext("Task {id} ({kind}) is running")
        )
        return Entry(task.start_time or task.updated_at, "task", words.format(**named), "", task.id)
    if task.status == Status.AWAY:
        words = gettext("Task {id} ({kind}) is being done elsewhere").format(**named)
        return Entry(task.start_time or task.updated_at, "task", words, "", task.id)
    words = (
        gettext("Task {id} ({kind}) is tried again on {due}")
        if task.status == Status.FAIL
        else gettext("Task {id} ({kind}) is scheduled for {due}")
    )
    due = spoken(task.execute_time if task.aside or task.due_at is None else task.due_at, zone, now)
    return Entry(task.created_at, "task", words.format(**named, due=due), "", task.id)


def _took(took: timedelta) -> str:
    seconds = took.total_seconds()
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s" if seconds < 60 else lasting(took)


def _attempt(attempt: AttemptInfo, kind: str) -> Entry:
    words = gettext("Try {number} of the {kind} failed: {error}").format(
        number=attempt.attempt, kind=kind, error=attempt.error_code
    )
    return Entry(attempt.finished_at, "try", words, attempt.error_msg, attempt.task_id)
