"""What will happen to an article next, or why it is late, in a line that the browser can count down by itself."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from functools import cache
from typing import NamedTuple
from zoneinfo import ZoneInfo

from articles_app.models import Article
from articles_app.states import ArticleStatus
from articles_app.stopped import WAITS, for_a_person
from articles_app.units import AUDIT, OFFLINE, PUBLISH
from tasks_app.client import Status, TaskInfo, find_many, what_delays

from .times import lasting, late_by, local_only

LABELS = {
    ArticleStatus.DRAFT: "Draft",
    ArticleStatus.PENDING_AUDIT: "In audit",
    ArticleStatus.AUDIT_SUCCESS: "Scheduled",
    ArticleStatus.AUDIT_FAIL: "Rejected",
    ArticleStatus.PUBLISHED: "Live",
    ArticleStatus.OFFLINE: "Offline",
}
# Instead, where the task that it waits for will not run.
STOPPED = {ArticleStatus.PENDING_AUDIT: "Audit stopped", ArticleStatus.AUDIT_SUCCESS: "Not scheduled"}
LANE = "default"  # of the articles' tasks
ERROR_SHOWN = 120
CALM, SOON, LATE, FAILED, LIVE = "calm", "soon", "late", "failed", "live"


class Hint(NamedTuple):
    """A line for people. With `at`, it is `before` until then and `after` from then on, {} being the time between."""

    kind: str
    before: str
    at: datetime | None = None
    after: str = ""

    def text(self, now: datetime) -> str:
        if self.at is None:
            return self.before
        return (self.before if now < self.at else self.after).replace("{}", lasting(self.at - now))

    def kind_at(self, now: datetime) -> str:
        return LATE if self.at is not None and now >= self.at and self.kind != FAILED else self.kind


# Which task decides what happens next, in which state.
NEXT_TASK = {wait.status: wait.task_type for wait in WAITS}


class _Without(NamedTuple):
    """What to say of an article whose task will not run."""

    task: str
    means: str
    way_out: str


_WITHOUT = {
    AUDIT: _Without("Its audit", "it won't be audited or go live", "Withdraw it and submit it again"),
    PUBLISH: _Without("Its publication", "it won't go live", "Give it another publish time, or publish it now"),
    OFFLINE: _Without("Taking it offline", "it stays online", "Give it another offline time, or take it offline now"),
}


def badge_of(article: Article, hint: Hint) -> tuple[str, str]:
    """The badge's style and words. One that waits for nothing is not said to wait, whatever its state is called."""
    status = ArticleStatus(article.status)
    if hint.kind == FAILED and status in STOPPED:
        return "STOPPED", STOPPED[status]
    return status, LABELS[status]


def hints(articles: Iterable[Article], zone: ZoneInfo, now: datetime) -> dict[int, Hint]:
    """The hint of each article; one statement however many there are, and a few more if any is late."""
    articles = list(articles)
    waiting = [article.id for article in articles if article.status in NEXT_TASK]
    tasks = find_many([AUDIT, PUBLISH, OFFLINE], waiting) if waiting else {}
    delayed = cache(lambda: what_delays(LANE))
    return {article.id: _hint(article, tasks, delayed, zone, now) for article in articles}


def _hint(
    article: Article,
    tasks: Mapping[tuple[str, str], TaskInfo],
    delayed: Callable[[], str],
    zone: ZoneInfo,
    now: datetime,
) -> Hint:
    status = ArticleStatus(article.status)
    if status == ArticleStatus.AUDIT_FAIL:
        return Hint(FAILED, f"Rejected: {_first_line(article.audit_reason)}")
    if status == ArticleStatus.OFFLINE:
        return Hint(CALM, "Offline; readers can't see it")
    if status == ArticleStatus.DRAFT:
        return Hint(CALM, "Not scheduled: it goes live only after you submit it")
    if status == ArticleStatus.PUBLISHED and article.offline_time is None:
        since, late = local_only(article.published_at, zone, now), article.published_at - article.publish_time
        return Hint(LIVE, f"Live since {since}, {late_by(late)}")
    task = tasks.get((NEXT_TASK[status], str(article.id)))
    if task is None or not task.live:
        return Hint(FAILED, _stopped(NEXT_TASK[status], task))
    at = article.offline_time if status == ArticleStatus.PUBLISHED else article.publish_time
    # Why it is late is known only to who looks after its time: a page that counts by itself must not make it up.
    because = why(task, delayed, zone, now) if at <= now else ""
    if status == ArticleStatus.PUBLISHED:
        after = _after("late to go offline", because) if at <= now else "Should have gone offline {} ago"
        return Hint(LIVE, "Live; goes offline in {}", at, after)
    before = "Goes live in {}"
    if status == ArticleStatus.PENDING_AUDIT:
        tried = f"; {_tried(task, zone)}" if task.status == Status.FAIL else ""
        before = f"In audit{tried}; goes live in {{}} if approved"
    return Hint(SOON, before, at, _after("late", because) if at <= now else "Should have gone live {} ago")


def _after(late: str, because: str) -> str:
    return f"{{}} {late}, because {because}" if because else f"{{}} {late}"


def _stopped(task_type: str, task: TaskInfo | None) -> str:
    """What was to happen and will not: by whom, why, and what the editor can do."""
    what, means, way_out = _WITHOUT[task_type]
    if task is None or not for_a_person(task):
        state = "its task is gone" if task is None else f"its task has ended ({_error(task) or 'done'})"
        return f"{what} is not scheduled: {state}; the next compensation scan schedules it (every minute, by a beat)"
    if task.status == Status.DEAD:
        tries = f"{task.retry_count} tries" if task.retry_count > 1 else "the only try"
        return f"Given up: {tries} failed ({_error(task)}), so {means}. {way_out}, or ask an operator to retry it"
    by, reason = task.cancelled_by or "somebody", _error(task) or "no reason given"
    return f"{what} was cancelled by {by} ({reason}): {means}. {way_out}"


def why(task: TaskInfo, delayed: Callable[[], str], zone: ZoneInfo, now: datetime) -> str:
    """Why it has not happened yet, as the end of a sentence; empty: nobody knows."""
    if task.status == Status.RUNNING:
        return delayed() or "it was handed to a worker and isn't done yet"
    if task.status == Status.AWAY:
        return "somebody else has it, and has not reported yet"
    if delayed():
        return delayed()
    if task.status == Status.FAIL:
        return _tried(task, zone)
    if task.due_at is not None and task.due_at > now:
        return f"its task is scheduled for {local_only(task.due_at, zone, now)}"
    return ""


def _tried(task: TaskInfo, zone: ZoneInfo) -> str:
    again = "" if task.due_at is None else f"; tried again at {task.due_at.astimezone(zone):%H:%M:%S}"
    return f"try {task.attempt} failed ({_error(task)}){again}"


def _error(task: TaskInfo) -> str:
    return _first_line(task.error_msg) or task.error_code


def _first_line(text: str) -> str:
    line = text.strip().split("\n", 1)[0].replace("{}", "{ }")  # In a hint, {} stands for a duration.
    return line if len(line) <= ERROR_SHOWN else f"{line[:ERROR_SHOWN]}…"


def overdue_since(now: datetime) -> datetime:
    """Before this, an article that is not live is overdue; a moment of grace keeps the list still at every minute."""
    return now - timedelta(seconds=2)
