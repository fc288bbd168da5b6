"""The compensation scan against another one, and against those who write the article meanwhile."""

import pytest

from articles_app import lifecycle
from articles_app.compensation import KINDS, _again, _cancel_waiting, scan
from articles_app.units import PUBLISH
from django_punctual import ensure
from django_punctual.compensation import Finding, Found
from tasks_app.models import OutboxEvent, ScheduleTask
from tests.support.articles import ANN, MONDAY, TUESDAY, approved, past, pending, publish_task, published, status
from tests.support.marks import commits
from tests.support.overlap import overlap

pytestmark = commits

AUDITS, PUBLISHINGS, _ = KINDS


def repaired() -> list[str]:
    return [one.key for one in scan(False) if isinstance(one, Found) and one.finding is Finding.REPAIRED]


def lose_tasks() -> None:
    ScheduleTask.objects.all().delete()
    OutboxEvent.objects.all().delete()


@pytest.mark.parametrize("make", [pending, approved])
@pytest.mark.parametrize("commit", [True, False])
def test_two_scans_at_once_repair_each_article_once(make, commit):
    articles = sorted(str(make()) for _ in range(5))
    lose_tasks()

    first, second = overlap(repaired, repaired, commit=commit)

    assert sorted(first) == articles
    assert sorted(second) == ([] if commit else articles)
    assert ScheduleTask.objects.count() == 5


def test_two_scans_cancel_a_task_too_many_once():
    article = published()
    ensure(PUBLISH, article, at=MONDAY)

    first, second = overlap(lambda: _cancel_waiting([article], False), lambda: _cancel_waiting([article], False))

    assert (len(first), second) == (1, [])


def found_before(kind) -> list[int]:
    """What a scan saw before others wrote."""
    seen = [int(one.key) for one in scan(True) if isinstance(one, Found)]
    return sorted(kind.articles.filter(id__in=seen).values_list("id", flat=True))


def test_an_article_that_is_withdrawn_meanwhile_is_not_repaired():
    article = approved(MONDAY)
    lose_tasks()
    seen = found_before(PUBLISHINGS)
    assert seen == [article]

    _, found = overlap(lambda: lifecycle.withdraw(article, actor=ANN), lambda: _again(PUBLISHINGS, seen, False))

    assert found == []
    assert publish_task(article) is None


def test_an_article_that_is_moved_meanwhile_is_not_moved_back():
    article = approved(MONDAY)
    lose_tasks()
    seen = found_before(PUBLISHINGS)

    _, found = overlap(
        lambda: lifecycle.change_publish_time(article, TUESDAY, actor=ANN), lambda: _again(PUBLISHINGS, seen, False)
    )

    assert found == []
    assert publish_task(article).due_at == TUESDAY


def test_an_article_that_is_approved_meanwhile_gets_no_second_audit():
    article = pending()
    lose_tasks()
    seen = found_before(AUDITS)

    _, found = overlap(lambda: lifecycle.write_approval(article, actor="mod"), lambda: _again(AUDITS, seen, False))

    assert found == []
    assert [task.task_type for task in ScheduleTask.objects.all()] == [PUBLISH]


def test_an_article_that_is_published_meanwhile_gets_no_task():
    article = approved(past())
    lose_tasks()
    seen = found_before(PUBLISHINGS)

    _, found = overlap(lambda: lifecycle.publish_due([article]), lambda: _again(PUBLISHINGS, seen, False))

    assert (found, status(article), publish_task(article)) == ([], "PUBLISHED", None)


def test_an_edit_behind_a_repair_moves_what_was_repaired():
    article = approved(MONDAY)
    lose_tasks()

    found, answer = overlap(repaired, lambda: lifecycle.change_publish_time(article, TUESDAY, actor=ANN))

    assert found == [str(article)]
    assert (answer.outcome, publish_task(article).due_at) == ("UPDATED", TUESDAY)
    assert ScheduleTask.objects.count() == 1
