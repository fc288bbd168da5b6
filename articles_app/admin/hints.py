"""What will happen to an article next, or why it is late, in a line that the browser can count down by itself."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from functools import cache
from typing import NamedTuple
from zoneinfo import ZoneInfo

from django.utils.translation import gettext, gettext_lazy

from articles_app.models import Article
from articles_app.states import ArticleStatus
from articles_app.stopped import WAITS, for_a_person
from articles_app.units import AUDIT, OFFLINE, PUBLISH
from django_punctual import Status, TaskInfo, find_many, what_delays

from .times import lasting, late_by, local_only

LABELS = {
    ArticleStatus.DRAFT: gettext_lazy("Draft"),
    ArticleStatus.PENDING_AUDIT: gettext_lazy("In audit"),
    ArticleStatus.AUDIT_SUCCESS: gettext_lazy("Scheduled"),
    ArticleStatus.AUDIT_FAIL: gettext_lazy("Rejected"),
    ArticleStatus.PUBLISHED: gettext_lazy("Live"),
    ArticleStatus.OFFLINE: gettext_lazy("Offline"),
}
# Instead, where the task that it waits for will not run.
STOPPED = {
    ArticleStatus.PENDING_AUDIT: gettext_lazy("Audit stopped"),
    ArticleStatus.AUDIT_SUCCESS: gettext_lazy("Not scheduled"),
}
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
    AUDIT: _Without(
        gettext_lazy("Its audit"),
        gettext_lazy("it won't be audited or go live"),
        gettext_lazy("Withdraw it and submit it again"),
    ),
    PUBLISH: _Without(
        gettext_lazy("Its publication"),
        gettext_lazy("it won't go live"),
        gettext_lazy("Give it another publish time, or publish it now"),
    ),
    OFFLINE: _Without(
        gettext_lazy("Taking it offline"),
        gettext_lazy("it stays online"),
        gettext_lazy("Give it another offline time, or take it offline now"),
    ),
}


def badge_of(article: Article, hint: Hint) -> tuple[str, str]:
    """The badge's style and words. One that waits for nothing is not said to wait, whatever its state is called."""
    status = ArticleStatus(article.status)
    if hint.kind == FAILED and status in STOPPED:
        return "STOPPED", STOPPED[status]
    return status, LABELS[status]


def hints(articles: Iterable[Article], zone: ZoneInfo, now: datetime) -> dict[int, Hint]:
    """The hint of each article; one statement for each type of task that any of them waits for, and a few more if any
    is late or its task is over."""
    articles = list(articles)
    waiting: dict[str, list[int]] = {}
    for article in articles:
        if article.status in NEXT_TASK and not _stays(article):
            waiting.setdefault(NEXT_TASK[article.status], []).append(article.id)
    tasks: dict[tuple[str, str], TaskInfo] = {}
    for task_type, ids in waiting.items():
        tasks |= find_many([task_type], ids)
    delayed = cache(lambda: what_delays(LANE))
    return {article.id: _hint(article, tasks, delayed, zone, now) for article in articles}


def _stays(article: Article) -> bool:
    """It is live, and nothing will take it offline."""
    return article.status == ArticleStatus.PUBLISHED and article.offline_time is None


def _hint(
    article: Article,
    tasks: Mapping[tuple[str, str], TaskInfo],
    delayed: Callable[[], str],
    zone: ZoneInfo,
    now: datetime,
) -> Hint:
    status = ArticleStatus(article.status)
    if status == ArticleStatus.AUDIT_FAIL:
        return Hint(FAILED, gettext("Rejected: {reason}").format(reason=_first_line(article.audit_reason)))
    if status == ArticleStatus.OFFLINE:
        return Hint(CALM, gettext("Offline; readers can't see it"))
    if status == ArticleStatus.DRAFT:
        return Hint(CALM, gettext("Not scheduled: it goes live only after you submit it"))
    if _stays(article):
        since, late = local_only(article.published_at, zone, now), article.published_at - article.publish_time
        return Hint(LIVE, gettext("Live since {since}, {late}").format(since=since, late=late_by(late)))
    task = tasks.get((NEXT_TASK[status], str(article.id)))
    if task is None or not task.live:
        return Hint(FAILED, _stopped(NEXT_TASK[status], task))
    at = article.offline_time if status == ArticleStatus.PUBLISHED else article.publish_time
    # Why it is late is known only to who looks after its time: a page that counts by itself must not make it up.
    because = why(task, delayed, zone, now) if at <= now else ""
    if status == ArticleStatus.PUBLISHED:
        after = gettext("Should have gone offline {} ago")
        if at <= now:
            after = gettext("{} late to go offline, because {because}") if because else gettext("{} late to go offline")
        return Hint(LIVE, gettext("Live; goes offline in {}"), at, after.replace("{because}", because))
    before = gettext("Goes live in {}")
    if status == ArticleStatus.PENDING_AUDIT:
        before = gettext("In audit; goes live in {} if approved")
        if task.status == Status.FAIL:
            before = gettext("In audit; {tried}; goes live in {} if approved").replace("{tried}", _tried(task, zone))
    after = gettext("Should have gone live {} ago")
    if at <= now:
        after = gettext("{} late, because {because}") if because else gettext("{} late")
    return Hint(SOON, before, at, after.replace("{because}", because))


def _stopped(task_type: str, task: TaskInfo | None) -> str:
    """What was to happen and will not: by whom, why, and what the editor can do."""
    what, means, way_out = _WITHOUT[task_type]
    if task is None or not for_a_person(task):
        words = (
            gettext(
                "{what} is not scheduled: its task is gone; the next compensation scan schedules it (every minute, by "
                "a beat)"
            )
            if task is None
            else gettext(
                "{what} is not scheduled: its task has ended ({why}); the next compensation scan schedules it (every "
                "minute, by a beat)"
            )
        )
        return str(words.format(what=what, why=(task and _error(task)) or gettext("done")))
    if task.status == Status.DEAD:
        words = (
            gettext("Given up: {count} tries failed ({error}), so {means}. {way_out}, or ask an operator to retry it")
            if task.retry_count > 1
            else gettext(
                "Given up: the only try failed ({error}), so {means}. {way_out}, or ask an operator to retry it"
            )
        )
        return str(words.format(count=task.retry_count, error=_error(task), means=means, way_out=way_out))
    by, reason = task.cancelled_by or gettext("somebody"), _error(task) or gettext("no reason given")
    words = gettext("{what} was cancelled by {by} ({reason}): {means}. {way_out}")
    return str(words.format(what=what, by=by, reason=reason, means=means, way_out=way_out))


def why(task: TaskInfo, delayed: Callable[[], str], zone: ZoneInfo, now: datetime) -> str:
    """Why it has not happened yet, as the end of a sentence; empty: nobody knows."""
    if task.status == Status.RUNNING:
        return delayed() or gettext("it was handed to a worker and isn't done yet")
    if task.status == Status.AWAY:
        return str(gettext("somebody else has it, and has not reported yet"))
    if delayed():
        return delayed()
    if task.aside:
        return str(gettext("its task was put aside for now"))
    if task.status == Status.FAIL:
        return _tried(task, zone)
    if task.due_at is not None and task.due_at > now:
        return str(gettext("its task is scheduled for {time}").format(time=local_only(task.due_at, zone, now)))
    return ""


def _tried(task: TaskInfo, zone: ZoneInfo) -> str:
    if task.due_at is None:
        return str(gettext("try {number} failed ({error})").format(number=task.attempt, error=_error(task)))
    return str(
        gettext("try {number} failed ({error}); tried again at {time}").format(
            number=task.attempt, error=_error(task), time=f"{task.due_at.astimezone(zone):%H:%M:%S}"
        )
    )


def _error(task: TaskInfo) -> str:
    return _first_line(task.error_msg) or task.error_code


def _first_line(text: str) -> str:
    line = text.strip().split("\n", 1)[0].replace("{}", "{ }")  # In a hint, {} stands for a duration.
    return line if len(line) <= ERROR_SHOWN else f"{line[:ERROR_SHOWN]}…"


def overdue_since(now: datetime) -> datetime:
    """Before this, an article that is not live is overdue; a moment of grace keeps the list still at every minute."""
    return now - timedelta(seconds=2)
