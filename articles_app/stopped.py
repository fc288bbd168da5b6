"""Articles that wait for a task which will not run: which state waits for which, and which articles have none.

A bounded look, for a page. The compensation scan walks all of them, and repairs what no person has decided.
"""

from collections.abc import Iterator
from typing import NamedTuple

from django.db.models import QuerySet

from django_punctual import Status, TaskInfo, dead_keys
from django_punctual.compensation import Difference, differing_rows

from .models import Article
from .states import ArticleStatus
from .units import AUDIT, OFFLINE, PUBLISH

LOOKED_AT = 10_000  # articles of each kind, at most
FOUND = 500  # of them, at most: were all without a task, each would be looked for in the past as well
BY_HANDLER = "handler"  # who the scheduler names when a handler skipped its task


class Wait(NamedTuple):
    """Articles of one state that wait for one task."""

    status: ArticleStatus
    task_type: str
    next_first: QuerySet[Article]  # in the order in which a page looks at them, by an index


def _in(status: ArticleStatus) -> QuerySet[Article]:
    return Article.objects.filter(status=status)


WAITS = (
    Wait(ArticleStatus.PENDING_AUDIT, AUDIT, _in(ArticleStatus.PENDING_AUDIT).order_by("publish_time")),
    Wait(ArticleStatus.AUDIT_SUCCESS, PUBLISH, _in(ArticleStatus.AUDIT_SUCCESS).order_by("publish_time")),
    Wait(
        ArticleStatus.PUBLISHED,
        OFFLINE,
        _in(ArticleStatus.PUBLISHED).filter(offline_time__isnull=False).order_by("-id"),
    ),
)


def for_a_person(task: TaskInfo | Difference) -> bool:
    """Whether the end of a task is a decision or a failure that nobody but a person may undo."""
    if task.status == Status.CANCELLED:
        return task.cancelled_by != BY_HANDLER and not task.by_outsider
    return task.status == Status.DEAD


def stopped() -> Iterator[tuple[ArticleStatus, list[int]]]:
    """By state, the ids of those whose task is cancelled, done or gone among the next ones, or gave up anywhere."""
    for wait in WAITS:
        without = differing_rows(wait.task_type, wait.next_first[:LOOKED_AT], most=FOUND)
        keys = {*without, *dead_keys([wait.task_type])}
        yield wait.status, [int(key) for key in keys if key.isdecimal()]
