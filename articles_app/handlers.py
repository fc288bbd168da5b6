"""What runs for an article's tasks. The scheduler says when to try; whether it takes effect is decided here."""

from typing import NamedTuple

from django_punctual import RetryableError, Skip, Snooze, Task, handler

from . import lifecycle
from .conf import HANDLER_SECONDS
from .models import Article
from .moderation import Verdict, ask
from .states import ArticleStatus
from .units import AUDIT, MODERATION, OFFLINE, PUBLISH, TENANT


class Judged(NamedTuple):
    """A verdict, and the text it is about."""

    content_revision: int
    verdict: Verdict


def write_verdict(task: Task, judged: Judged) -> None:
    """The second phase, inside the settle transaction: a superseded attempt's answer can't be written."""
    article = Article.objects.select_for_update(no_key=True).filter(id=int(task.key)).only(*_STATE).first()
    _skip_unless_pending(task, article)
    if article.content_revision != judged.content_revision:
        raise RetryableError(
            f"the verdict was about content revision {judged.content_revision}, and it is {article.content_revision} "
            "now; asked again",
            code="CONTENT_CHANGED",
            after=0,
        )
    read = judged.content_revision
    if judged.verdict.approved:
        lifecycle.write_approval(article.id, actor=MODERATION, content_revision=read)
    else:
        reason = judged.verdict.reason
        lifecycle.write_rejection(article.id, reason=reason, actor=MODERATION, content_revision=read)


# About 17 minutes of tries: an outage of the service should not need a person for every article.
@handler(AUDIT, tenant=TENANT, concurrency=8, timeout=HANDLER_SECONDS, max_retry=12, apply=write_verdict)
def audit(task: Task) -> Judged:
    """The first phase: ask, with no transaction open."""
    article = Article.objects.filter(id=int(task.key)).first()
    _skip_unless_pending(task, article)
    verdict = ask(article.id, article.content_revision, article.title, article.body, token=str(task.token))
    return Judged(article.content_revision, verdict)


@handler(PUBLISH, tenant=TENANT, transactional=True, batch=True, timeout=60)
def publish(tasks: list[Task]) -> dict[int, Exception]:
    """Live, once, at the article's own time: what the task was scheduled for is only a hint."""
    outcomes = lifecycle.publish_due([int(task.key) for task in tasks])
    failed: dict[int, Exception] = {}
    for task in tasks:
        one = outcomes.get(int(task.key))
        if one is None:
            failed[task.id] = _gone(task)
        elif one.moved or one.status == ArticleStatus.PUBLISHED:
            continue
        elif one.status == ArticleStatus.AUDIT_SUCCESS:
            failed[task.id] = Snooze(one.publish_time)
        else:
            failed[task.id] = Skip(f"article {task.key} is {one.status}, not {ArticleStatus.AUDIT_SUCCESS}")
    return failed


@handler(OFFLINE, tenant=TENANT, transactional=True, batch=True, timeout=60)
def take_offline(tasks: list[Task]) -> dict[int, Exception]:
    """Offline, once, at the article's own offline time."""
    outcomes = lifecycle.take_offline_due([int(task.key) for task in tasks])
    failed: dict[int, Exception] = {}
    for task in tasks:
        one = outcomes.get(int(task.key))
        if one is None:
            failed[task.id] = _gone(task)
        elif one.moved or one.status == ArticleStatus.OFFLINE:
            continue
        elif one.status == ArticleStatus.PUBLISHED and one.offline_time is not None:
            failed[task.id] = Snooze(one.offline_time)
        elif one.status == ArticleStatus.PUBLISHED:
            failed[task.id] = Skip(f"article {task.key} is to stay online")
        else:
            failed[task.id] = Skip(f"article {task.key} is {one.status}, not {ArticleStatus.PUBLISHED}")
    return failed


_STATE = ("id", "status", "content_revision")


def _skip_unless_pending(task: Task, article: Article | None) -> None:
    if article is None:
        raise _gone(task)
    if article.status != ArticleStatus.PENDING_AUDIT:
        raise Skip(f"article {task.key} is {article.status}, not {ArticleStatus.PENDING_AUDIT}")


def _gone(task: Task) -> Skip:
    return Skip(f"there is no article {task.key}", code="NO_ARTICLE")
