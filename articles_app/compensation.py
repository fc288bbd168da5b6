"""The articles' compensation scan: articles and tasks that no longer agree are found, and repaired once.

Found set-based, a page at a time, without locks; repaired with the articles locked and the finding looked at again.
So two scans at once, or a scan and an edit, can't both repair the same article. What is DEAD, or was cancelled by a
person, is a decision or a failure that a person has to look at: it is told, not revived. What a token of another tenant
cancelled was not its to decide, and is scheduled again.
"""

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Count, Max, QuerySet

from django_punctual import Status, cancel, ensure_many
from django_punctual.compensation import (
    Difference,
    Finding,
    Found,
    Walked,
    differing,
    differing_rows,
    register_scan,
    waiting_keys,
)

from .lifecycle.audit import audit_options
from .models import Article
from .states import ArticleStatus
from .stopped import for_a_person
from .units import AUDIT, OFFLINE, PUBLISH

PAGE = 20_000
BY = "compensation"


class Kind(NamedTuple):
    """Articles of one kind must have this task."""

    articles: QuerySet[Article]  # as the partial index has it that the walk uses
    task_type: str
    column: str  # the time that the task runs by
    follows: bool  # the task must have exactly that time, not just any
    options: Callable[[datetime], dict[str, Any]]
    words: str


def _at(time: datetime) -> dict[str, Any]:
    return {"at": time}


_TO_AUDIT = Article.objects.filter(status=ArticleStatus.PENDING_AUDIT)
_TO_PUBLISH = Article.objects.filter(status=ArticleStatus.AUDIT_SUCCESS)
_LIVE = Article.objects.filter(status=ArticleStatus.PUBLISHED)
_TO_LEAVE = _LIVE.filter(offline_time__isnull=False)

KINDS = (
    Kind(_TO_AUDIT, AUDIT, "publish_time", False, audit_options, "waits for an audit"),
    Kind(_TO_PUBLISH, PUBLISH, "publish_time", True, _at, "waits to be published"),
    Kind(_TO_LEAVE, OFFLINE, "offline_time", True, _at, "is to go offline"),
)


def scan(dry_run: bool) -> Iterator[Found | Walked]:
    for kind in KINDS:
        yield from _without_task(kind, dry_run)
    yield from _published_but_waiting(dry_run)


register_scan("articles", scan)


def _without_task(kind: Kind, dry_run: bool) -> Iterator[Found | Walked]:
    after = 0
    while True:
        last, count = _bound(kind, after)
        if last is None:
            return
        page = kind.articles.filter(id__gt=after, id__lte=last)
        differences = differing_rows(kind.task_type, page, at=kind.column if kind.follows else None)
        # An article may have moved since. Nothing is said of it before it was looked at again, under its lock.
        if differences:
            yield from _again(kind, [int(key) for key in differences], dry_run)
        yield Walked(count)
        after = last


def _bound(kind: Kind, after: int) -> tuple[int | None, int]:
    """The last id of the next page, and how many are on it."""
    page = kind.articles.filter(id__gt=after).order_by("id")[:PAGE]
    found = page.aggregate(last=Max("id"), count=Count("id"))
    return found["last"], found["count"]


def _again(kind: Kind, ids: list[int], dry_run: bool) -> list[Found]:
    with transaction.atomic():
        locked = kind.articles.select_for_update(no_key=True).filter(id__in=ids).order_by("id")
        times = dict(locked.values_list("id", kind.column))
        wanted = {str(id_): time if kind.follows else None for id_, time in times.items()}
        differences = differing(kind.task_type, wanted)
        found, repairs = [], []
        for key, difference in sorted(differences.items(), key=lambda one: int(one[0])):
            words = f"{kind.words}, {_what(difference)}"
            if for_a_person(difference):
                found.append(Found(words, key, Finding.NEEDS_PERSON))
                continue
            repairs.append({"key": key, **kind.options(times[int(key)])})
            found.append(Found(words, key, Finding.REPAIRABLE if dry_run else Finding.REPAIRED))
        if repairs and not dry_run:
            ensure_many(kind.task_type, repairs, by=BY)
    return found


def _what(difference: Difference) -> str:
    if difference.task_id is None:
        return "has no task"
    if difference.live:
        return "its task has another time"
    if difference.status == Status.CANCELLED and for_a_person(difference):
        return "its task was cancelled by a person"
    return f"its task is {difference.status}"


def _published_but_waiting(dry_run: bool) -> Iterator[Found | Walked]:
    count, keys = waiting_keys(PUBLISH, _LIVE)
    ids = sorted(int(key) for key in keys)
    for first in range(0, len(ids), PAGE):
        yield from _cancel_waiting(ids[first : first + PAGE], dry_run)
    yield Walked(count)


def _cancel_waiting(ids: list[int], dry_run: bool) -> list[Found]:
    words = "is published, but has a task to publish it again"
    with transaction.atomic():
        rows = _LIVE.select_for_update(no_key=True).filter(id__in=ids)
        live = [str(id_) for id_ in rows.order_by("id").values_list("id", flat=True)]
        gone = differing(PUBLISH, dict.fromkeys(live))
        waiting = [key for key in live if key not in gone]
        if dry_run:
            return [Found(words, key, Finding.REPAIRABLE) for key in waiting]
        # One by one: there are few, and each may meanwhile have been run and settled.
        done = [key for key in waiting if cancel(PUBLISH, key, reason="the article is live already", by=BY).cancelled]
    return [Found(words, key, Finding.REPAIRED) for key in done]
