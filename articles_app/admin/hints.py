"""What will happen to an article next, or why it is late, in a line that the browser can count down by itself."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

from articles_app.models import Article
from articles_app.states import Status
from articles_app.units import AUDIT, OFFLINE, PUBLISH
from tasks_app.client import Status as TaskStatus
from tasks_app.client import TaskInfo, find_many, who_is_missing

from .times import lasting, late_by, local_only

LABELS = {
    Status.DRAFT: "Draft",
    Status.PENDING_AUDIT: "In audit",
    Status.AUDIT_SUCCESS: "Planned",
    Status.AUDIT_FAIL: "Rejected",
    Status.PUBLISHED: "Live",
    Status.OFFLINE: "Offline",
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
NEXT_TASK = {Status.PENDING_AUDIT: AUDIT, Status.AUDIT_SUCCESS: PUBLISH, Status.PUBLISHED: OFFLINE}


def hints(articles: Iterable[Article], zone: ZoneInfo, now: datetime) -> dict[int, Hint]:
    """The hint of each article; three statements, however many there are."""
    articles = list(articles)
    waiting = [article.id for article in articles if article.status in NEXT_TASK]
    tasks = find_many([AUDIT, PUBLISH, OFFLINE], waiting) if waiting else {}
    missing = who_is_missing(LANE) if waiting else ""
    return {article.id: _hint(article, tasks, missing, zone, now) for article in articles}


def _hint(
    article: Article, tasks: Mapping[tuple[str, str], TaskInfo], missing: str, zone: ZoneInfo, now: datetime
) -> Hint:
    status = Status(article.status)
    task = tasks.get((NEXT_TASK.get(status, ""), str(article.id)))
    if status in NEXT_TASK and task is not None and task.status == TaskStatus.DEAD:
        return Hint(FAILED, f"Given up: {why(task, missing, zone)}")
    if status == Status.PENDING_AUDIT:
        because = why(task, missing, zone)
        tried = f"; {because}" if task is not None and task.status == TaskStatus.FAIL else ""
        return Hint(
            SOON,
            f"In audit{tried}; goes live in {{}} if approved",
            article.publish_time,
            f"{{}} late, because {because}",
        )
    if status == Status.AUDIT_SUCCESS:
        return Hint(SOON, "Goes live in {}", article.publish_time, f"{{}} late, because {why(task, missing, zone)}")
    if status == Status.PUBLISHED:
        return _live(article, task, missing, zone, now)
    if status == Status.AUDIT_FAIL:
        return Hint(FAILED, f"Rejected: {_first_line(article.audit_reason)}")
    if status == Status.OFFLINE:
        return Hint(CALM, "Offline; readers can't see it")
    return Hint(CALM, "Not planned: it goes live only after you submit it")


def _live(article: Article, task: TaskInfo | None, missing: str, zone: ZoneInfo, now: datetime) -> Hint:
    since = local_only(article.published_at, zone, now)
    late = late_by(article.published_at - article.publish_time)
    if article.offline_time is None:
        return Hint(LIVE, f"Live since {since}, {late}")
    because = why(task, missing, zone)
    return Hint(LIVE, "Live; goes offline in {}", article.offline_time, f"{{}} late to go offline, because {because}")


def why(task: TaskInfo | None, missing: str, zone: ZoneInfo) -> str:
    """Why it has not happened yet, as the end of a sentence."""
    if task is None:
        return "nothing is planned for it; the next compensation scan plans it, within a minute"
    error = _first_line(task.error_msg) or task.error_code
    if task.status == TaskStatus.DEAD:
        tries = f"{task.retry_count} tries" if task.retry_count > 1 else "the only try"
        return f"{tries} failed ({error}). An operator has to try again, or you move its publish time"
    if task.status == TaskStatus.CANCELLED:
        return f"its task was cancelled by {task.cancelled_by or 'somebody'} ({error or 'no reason given'})"
    if task.status == TaskStatus.RUNNING:
        return missing or "a worker is at it right now"
    if missing:
        return missing
    if task.status == TaskStatus.FAIL:
        again = "" if task.due_at is None else f"; tried again at {task.due_at.astimezone(zone):%H:%M:%S}"
        return f"try {task.attempt} failed ({error}){again}"
    if task.status == TaskStatus.SUCCESS:
        return "its task says done, but the article does not; the next compensation scan repairs it"
    return "it waits for a free worker"


def _first_line(text: str) -> str:
    line = text.strip().split("\n", 1)[0].replace("{}", "{ }")  # In a hint, {} stands for a duration.
    return line if len(line) <= ERROR_SHOWN else f"{line[:ERROR_SHOWN]}…"


def overdue_since(now: datetime) -> datetime:
    """Before this, an article that is not live is overdue; a moment of grace keeps the list still at every minute."""
    return now - timedelta(seconds=2)
