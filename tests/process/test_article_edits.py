"""The headline: articles that go live exactly once, at the time last set, while their authors edit them around it."""

import threading
import time
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import pytest
from django.db import connection, connections, transaction

from articles_app import lifecycle
from articles_app.lifecycle import NewTime, TimeChange, TimeOutcome, change_publish_time, change_publish_times
from articles_app.models import Article, ArticleEvent
from articles_app.states import ArticleStatus
from articles_app.units import PUBLISH
from tasks_app.models import ScheduleTask
from tests.support.articles import ANN, MONDAY, approved, draft, history
from tests.support.moderation import moderation_service
from tests.support.wait import wait_until

# When an edit is made, against the article's publish time.
AROUND = (-1.0, -0.05, 0.0, 0.05, 1.0)
MOVED_BY = timedelta(seconds=1.5)
SET_UP = "set-up"


@dataclass
class Edit:
    article: int
    at: datetime  # the publish time it had
    wanted: datetime  # the publish time it is to have
    when: float  # monotonic
    offset: float
    answer: TimeChange | None = None
    landed: float | None = None  # seconds after `at` at which the edit had committed, database clock
    errors: list[BaseException] = field(default_factory=list)


def database_now() -> datetime:
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        return cursor.fetchone()[0]


def approved_articles(count: int, spread: float) -> list[tuple[int, datetime]]:
    """Articles with a publish time each, in a moment, and spread over so many seconds."""
    with transaction.atomic():  # the worker is there already, and must not be the one who approves
        articles = [approved(MONDAY) for _ in range(count)]
    # Moved there in one go: however slow the machine is at making them, their authors have time for their edits.
    first = database_now() + timedelta(seconds=2)
    times = [(article, first + timedelta(seconds=spread * number / count)) for number, article in enumerate(articles)]
    change_publish_times([NewTime(*one) for one in times], actor=SET_UP)
    return times


def choose_edits(articles: list[tuple[int, datetime]]) -> list[Edit]:
    offset = time.monotonic() - database_now().timestamp()
    edits = []
    for number, (article, at) in enumerate(articles):
        around = AROUND[number % len(AROUND)]
        edits.append(Edit(article, at, at + MOVED_BY, at.timestamp() + offset + around, around))
    return sorted(edits, key=lambda edit: edit.when)


def make_edits(edits: list[Edit], editors: int = 4) -> list[threading.Thread]:
    """Each editor makes every n-th edit at its moment."""
    ended = threading.Event()

    def work(mine: list[Edit]) -> None:
        try:
            for edit in mine:
                ended.wait(max(0.0, edit.when - time.monotonic()))
                try:
                    edit.answer = change_publish_time(edit.article, edit.wanted, actor="editor")
                    edit.landed = (database_now() - edit.at).total_seconds()
                except BaseException as error:
                    edit.errors.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=work, args=[edits[n::editors]]) for n in range(editors)]
    for thread in threads:
        thread.start()
    return threads


def judge(edits: list[Edit]) -> dict[str, int]:
    """Each edit's answer against what happened; returns how often each outcome came."""
    outcomes: dict[str, int] = {}
    for edit in edits:
        assert edit.errors == [], edit
        article = Article.objects.get(id=edit.article)
        events = list(ArticleEvent.objects.filter(article_id=edit.article).exclude(actor=SET_UP).order_by("revision"))
        published = [event for event in events if event.verb == "publish"]
        assert (article.status, len(published)) == (ArticleStatus.PUBLISHED, 1), edit
        verbs = [event.verb for event in events]
        outcomes[edit.answer.outcome] = outcomes.get(edit.answer.outcome, 0) + 1
        # Nothing is live before its time, so an edit that landed before it can't have come too late.
        assert edit.landed >= 0 or edit.answer.outcome is not TimeOutcome.IGNORED, edit
        if edit.answer.outcome is TimeOutcome.IGNORED:
            # It was live before the edit: nothing of it was changed.
            assert "change_publish_time" not in verbs, edit
            assert article.publish_time == edit.at <= article.published_at, edit
        else:
            assert edit.answer.outcome in (TimeOutcome.UPDATED, TimeOutcome.REPLACED), edit
            assert verbs.index("change_publish_time") < verbs.index("publish"), edit
            assert article.publish_time == edit.wanted <= article.published_at, edit
    return outcomes


def wait_live(stack, articles: list[tuple[int, datetime]], timeout: float) -> None:
    ids = [article for article, _ in articles]
    wait_until(
        lambda: not Article.objects.filter(id__in=ids).exclude(status=ArticleStatus.PUBLISHED).exists(),
        timeout,
        describe=lambda: f"{Article.objects.exclude(status=ArticleStatus.PUBLISHED).count()} not live\n{stack.logs()}",
    )


def run_the_headline(stack, count: int, spread: float, *, kill: bool) -> dict[str, int]:
    stack.beat()
    victim = stack.worker(concurrency=1)
    if kill:
        stack.worker(concurrency=1)
    articles = approved_articles(count, spread)
    edits = choose_edits(articles)
    threads = make_edits(edits)
    if kill:
        # In the middle of it, so that what it had claimed comes back by its lease.
        middle = edits[len(edits) // 2].when
        wait_until(lambda: time.monotonic() >= middle, timeout=120, describe="the middle of the edits")
        victim.kill()
    for thread in threads:
        thread.join(spread + 60)
        assert not thread.is_alive()
    wait_live(stack, articles, 60)
    outcomes = judge(edits)
    left = ScheduleTask.objects.filter(task_type=PUBLISH).exclude(status__in=["SUCCESS", "CANCELLED"])
    assert not left.exists()
    return outcomes


def test_every_article_goes_live_once_at_the_time_last_set_although_a_worker_is_killed(stack):
    outcomes = run_the_headline(stack, 40, 1.0, kill=True)

    assert (
        outcomes.get(TimeOutcome.UPDATED, 0) + outcomes.get(TimeOutcome.REPLACED, 0) > 0
    )  # a second before is in time


@pytest.mark.scale
@pytest.mark.parametrize("kill", [False, True], ids=["quiet", "a worker is killed"])
def test_hundreds_of_articles_go_live_once_at_the_time_last_set(stack, kill):
    outcomes = run_the_headline(stack, 400, 20.0, kill=kill)

    # A second after is too late, unless a dead worker held the article.
    assert kill or outcomes.get(TimeOutcome.IGNORED, 0) > 0

    assert outcomes[TimeOutcome.UPDATED] >= 80


@pytest.mark.scale
def test_an_article_goes_all_the_way_with_a_service_that_is_slow_at_first(stack):
    """Submitted, asked about twice since the first answer came too late, approved once, live at its time."""
    with moderation_service() as service:
        service.behave("slow", seconds=6, times=1)
        stack.beat(MODERATION_URL=service.url)
        stack.worker(MODERATION_URL=service.url)
        article = draft(database_now() + timedelta(seconds=1))
        lifecycle.submit(article, actor=ANN)

        wait_live(stack, [(article, None)], 30)

        assert history(article) == ["create", "submit", "approve", "publish"]
        assert ScheduleTask.objects.get(task_type="ARTICLE_AUDIT").retry_count == 1
        assert service.told()["judged"] == 1
