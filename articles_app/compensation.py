"""The articles' compensation scan: articles and tasks that no longer agree are found, and repaired once.

Found set-based, a page at a time, without locks; repaired with the articles locked and the finding looked at again.
So two scans at once, or a scan and an edit, can't both repair the same article. What is DEAD, or was cancelled by a
person, is a decision or a failure that a person has to look at: it is told, not revived.
"""

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import NamedTuple

from django.db import transaction

from tasks_app.client import (
    Difference,
    Finding,
    Found,
    Walked,
    cancel,
    differing,
    ensure_many,
    planned_keys,
    register_scan,
)
from tasks_app.client import Status as TaskStatus

from .lifecycle.audit import audit_plan
from .models import Article
from .states import Status
from .units import AUDIT, PUBLISH

PAGE = 5_000
BY = "compensation"
BY_HANDLER = "handler"  # who the scheduler names when a handler skipped its task


class Kind(NamedTuple):
    """Articles in one state must have this task."""

    status: Status
    task_type: str
    wanted_time: Callable[[Article], datetime | None]  # None: any
    plan: Callable[[Article], dict]
    words: str


KINDS = (
    Kind(
        Status.PENDING_AUDIT,
        AUDIT,
        lambda _: None,
        lambda article: audit_plan(article.publish_time),
        "waits for an audit",
    ),
    Kind(
        Status.AUDIT_SUCCESS,
        PUBLISH,
        lambda article: article.publish_time,
        lambda article: {"at": article.publish_time},
        "waits to be published",
    ),
)


def scan(dry_run: bool) -> Iterator[Found | Walked]:
    for kind in KINDS:
        yield from _without_task(kind, dry_run)
    yield from _published_but_planned(dry_run)


register_scan("articles", scan)


def _without_task(kind: Kind, dry_run: bool) -> Iterator[Found | Walked]:
    after = 0
    while True:
        page = list(_rows(kind, id__gt=after)[:PAGE])
        if not page:
            return
        after = page[-1].id
        differences = _differences(kind, page)
        # Two looks can't be one statement, so an article may have moved between them. Nothing is said of it before
        # it was looked at again, under its lock.
        if differences:
            yield from _again(kind, [int(key) for key in differences], dry_run)
        yield Walked(len(page))


def _again(kind: Kind, ids: list[int], dry_run: bool) -> list[Found]:
    with transaction.atomic():
        articles = {article.id: article for article in _locked(kind, ids)}
        differences = _differences(kind, articles.values())
        found, repairs = [], []
        for key, difference in sorted(differences.items(), key=lambda one: int(one[0])):
            words = f"{kind.words}, {_what(difference)}"
            if _for_a_person(difference):
                found.append(Found(words, key, Finding.NEEDS_PERSON))
                continue
            repairs.append({"key": key, **kind.plan(articles[int(key)])})
            found.append(Found(words, key, Finding.REPAIRABLE if dry_run else Finding.REPAIRED))
        if repairs and not dry_run:
            ensure_many(kind.task_type, repairs, by=BY)
    return found


def _rows(kind: Kind, **which: object):
    return Article.objects.filter(status=kind.status, **which).order_by("id").only("id", "publish_time")


def _locked(kind: Kind, ids: list[int]):
    return _rows(kind, id__in=ids).select_for_update(no_key=True)


def _differences(kind: Kind, articles) -> dict[str, Difference]:
    return differing(kind.task_type, {str(article.id): kind.wanted_time(article) for article in articles})


def _for_a_person(difference: Difference) -> bool:
    if difference.status == TaskStatus.CANCELLED:
        return difference.cancelled_by != BY_HANDLER
    return difference.status == TaskStatus.DEAD


def _what(difference: Difference) -> str:
    if difference.task_id is None:
        return "has no task"
    if difference.live:
        return "its task has another time"
    if difference.status == TaskStatus.CANCELLED and _for_a_person(difference):
        return "its task was cancelled by a person"
    return f"its task is {difference.status}"


def _published_but_planned(dry_run: bool) -> Iterator[Found | Walked]:
    for keys in planned_keys(PUBLISH, page=PAGE):
        ids = [int(key) for key in keys if key.isdecimal()]
        live = list(
            Article.objects.filter(id__in=ids, status=Status.PUBLISHED).order_by("id").values_list("id", flat=True)
        )
        if live:
            yield from _cancel_planned(live, dry_run)
        yield Walked(len(keys))


def _cancel_planned(ids: list[int], dry_run: bool) -> list[Found]:
    words = "is published, and to be published again"
    with transaction.atomic():
        rows = Article.objects.select_for_update(no_key=True).filter(id__in=ids, status=Status.PUBLISHED)
        live = [str(id_) for id_ in rows.order_by("id").values_list("id", flat=True)]
        gone = differing(PUBLISH, dict.fromkeys(live))
        planned = [key for key in live if key not in gone]
        if dry_run:
            return [Found(words, key, Finding.REPAIRABLE) for key in planned]
        # One by one: there are few, and each may meanwhile have been run and settled.
        done = [key for key in planned if cancel(PUBLISH, key, reason="the article is live already", by=BY).cancelled]
    return [Found(words, key, Finding.REPAIRED) for key in done]
