"""Changing the publish time: one article or many, what moves, what is told, and what is refused."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from django.db import DataError, transaction

from articles_app.errors import InvalidArticle, StaleArticle, UnknownArticle
from articles_app.lifecycle import NewTime, TimeOutcome, change_publish_time, change_publish_times, withdraw
from articles_app.lifecycle.publish_time import CHANGE_WITH_TASK
from articles_app.states import ArticleStatus
from articles_app.units import PUBLISH
from django_punctual import InvalidTask, ScheduleConflict, cancel
from django_punctual.together import reschedule_with
from tasks_app.lifecycle.alone import replaced
from tasks_app.lifecycle.decisions import CurrentRow, Outcome
from tasks_app.lifecycle.start import start
from tasks_app.sql import execute
from tests.support import events
from tests.support.articles import (
    IN_STATE,
    MONDAY,
    TUESDAY,
    WEDNESDAY,
    approved,
    audit_task,
    claim_task,
    draft,
    history,
    offline,
    pending,
    publish_task,
    published,
    row,
    told,
    write_past_lifecycle,
)
from tests.support.engine import claim_due, make_due
from tests.support.moves import FINAL, OK, RETRY, settled

pytestmark = pytest.mark.django_db

BEFORE_APPROVAL = [ArticleStatus.DRAFT, ArticleStatus.PENDING_AUDIT, ArticleStatus.AUDIT_FAIL]


def settle_publish_task(article: int, outcome) -> None:
    """Its publish task ended so, whatever became of the article."""
    settled(start(claim_task(publish_task(article)), "worker"), outcome)


@pytest.mark.parametrize("state", BEFORE_APPROVAL)
def test_before_the_approval_only_the_column_changes(state):
    article = IN_STATE[state](MONDAY)

    answer = change_publish_time(article, TUESDAY, actor="bob")

    assert (answer.outcome, answer.old, answer.new) == (TimeOutcome.SAVED, MONDAY, TUESDAY)
    assert row(article).publish_time == TUESDAY
    assert publish_task(article) is None


@pytest.mark.parametrize("lead", [None, 0, 3600])
def test_a_pending_audit_follows_the_publish_time_if_it_has_a_lead_time(settings, lead):
    settings.ARTICLES = {"AUDIT_LEAD_SECONDS": lead}
    article = pending(MONDAY)
    at_first = audit_task(article)

    change_publish_time(article, TUESDAY, actor="bob")

    wanted = at_first.due_at if lead is None else TUESDAY - timedelta(seconds=lead)
    assert (audit_task(article).id, audit_task(article).due_at) == (at_first.id, wanted)


# Document 000, row by row.


def test_a_task_that_waits_is_updated_and_keeps_its_id():
    article = approved(MONDAY)
    task = publish_task(article).id

    answer = change_publish_time(article, TUESDAY, actor="bob")

    assert (answer.outcome, answer.task_id) == (TimeOutcome.UPDATED, task)
    assert (publish_task(article).id, publish_task(article).due_at) == (task, TUESDAY)


def test_a_task_that_failed_and_will_be_tried_again_is_updated_and_keeps_its_count():
    article = approved(MONDAY)
    settle_publish_task(article, RETRY)
    assert publish_task(article).status == "FAIL"

    answer = change_publish_time(article, TUESDAY, actor="bob")

    task = publish_task(article)
    assert answer.outcome is TimeOutcome.UPDATED
    assert (task.status, task.due_at, task.retry_count) == ("FAIL", TUESDAY, 1)


def test_a_task_that_runs_is_cancelled_and_replaced():
    article = approved(MONDAY)
    task = publish_task(article).id
    claim_task(publish_task(article))

    answer = change_publish_time(article, TUESDAY, actor="bob")

    assert answer.outcome is TimeOutcome.REPLACED
    assert publish_task(article).id == answer.task_id != task
    assert publish_task(article).due_at == TUESDAY


def test_a_task_that_runs_is_replaced_together_with_its_article():
    article = approved(MONDAY)
    old = publish_task(article).id
    claim_task(publish_task(article))
    before = len(events.kinds())

    answer = change_publish_time(article, TUESDAY, actor="bob")

    cancelled, replaced, changed = events.told()[before:]
    assert (cancelled.type, cancelled.task, cancelled.data["by"]) == ("task.cancelled", old, "bob")
    assert (replaced.type, replaced.task, replaced.data["replaces"]) == ("task.replaced", answer.task_id, old)
    assert (changed.type, changed.data["outcome"]) == ("article.publish_time_changed", "REPLACED")
    assert (changed.data["old"], changed.data["new"]) == (MONDAY.isoformat(), TUESDAY.isoformat())
    assert (row(article).publish_time, row(article).revision) == (TUESDAY, answer.revision)


@pytest.mark.parametrize("kept", ["task.cancelled", "task.replaced", "article.publish_time_changed"])
def test_one_that_runs_tells_only_what_is_kept(settings, kept):
    article = approved(MONDAY)
    claim_task(publish_task(article))
    settings.PUNCTUAL = settings.PUNCTUAL | {"EVENTS": [kept]}
    before = events.kinds()

    change_publish_time(article, TUESDAY, actor="bob")

    assert events.kinds() == [*before, kept]


@pytest.mark.parametrize("end", ["dead", "cancelled"])
def test_a_task_that_is_over_is_created_anew(end):
    article = approved(MONDAY)
    if end == "dead":
        settle_publish_task(article, FINAL)
    else:
        cancel(PUBLISH, article, by="operator")

    answer = change_publish_time(article, TUESDAY, actor="bob")

    assert answer.outcome is TimeOutcome.CREATED
    assert publish_task(article).due_at == TUESDAY


def test_a_task_that_says_done_of_an_unpublished_article_does_not_swallow_the_change():
    article = approved(MONDAY)
    settle_publish_task(article, OK)

    answer = change_publish_time(article, TUESDAY, actor="bob")

    assert answer.outcome is TimeOutcome.CREATED
    assert publish_task(article).due_at == TUESDAY


@pytest.mark.parametrize("make", [published, offline])
def test_what_is_or_was_live_keeps_its_time_and_says_so(make, django_assert_num_queries):
    article = make()
    before, events = row(article), history(article)

    with django_assert_num_queries(1):
        answer = change_publish_time(article, TUESDAY, actor="bob", revision=1)

    after = row(article)
    assert answer.outcome is TimeOutcome.IGNORED
    assert (after.publish_time, after.revision, history(article)) == (before.publish_time, before.revision, events)
    assert "stays" in str(answer)
    assert told() == []


# What is told.


def test_a_change_tells_old_new_outcome_and_actor():
    article = approved(MONDAY)

    change_publish_time(article, TUESDAY, actor="bob")

    assert told() == [
        {
            "article": article,
            "old": MONDAY.isoformat(),
            "new": TUESDAY.isoformat(),
            "outcome": "UPDATED",
            "actor": "bob",
            "status": "AUDIT_SUCCESS",
            "revision": row(article).revision,
        }
    ]
    assert history(article)[-1] == "change_publish_time"


def test_a_change_that_is_rolled_back_changes_and_tells_nothing():
    article = approved(MONDAY)

    with pytest.raises(KeyError), transaction.atomic():
        change_publish_time(article, TUESDAY, actor="bob")
        raise KeyError("something else went wrong")

    assert (row(article).publish_time, publish_task(article).due_at, told()) == (MONDAY, MONDAY, [])


def test_a_schedule_that_can_not_be_made_takes_the_column_back(monkeypatch):
    """ScheduleConflict is raised by the scheduler after ten lost races; here the limit is no race at all."""
    articles = [approved(MONDAY) for _ in range(2)]
    monkeypatch.setattr("tasks_app.lifecycle.schedule.ROUNDS", 0)

    with pytest.raises(ScheduleConflict):
        change_publish_times([NewTime(article, TUESDAY) for article in articles], actor="bob")

    seen = {(row(article).publish_time, publish_task(article).due_at) for article in articles}
    assert (seen, told()) == ({(MONDAY, MONDAY)}, [])


# One that waits, in one statement with its task.


def test_one_that_waits_is_changed_by_one_statement(django_assert_num_queries):
    article = approved(MONDAY)

    with django_assert_num_queries(1):
        change_publish_time(article, TUESDAY, actor="bob")

    assert events.kinds("*")[-2:] == ["task.updated", "article.publish_time_changed"]
    assert publish_task(article).due_at == row(article).publish_time == TUESDAY


@pytest.mark.parametrize("kept", ["task.updated", "article.publish_time_changed"])
def test_one_that_waits_tells_only_what_is_kept(settings, kept):
    article = approved(MONDAY)
    settings.PUNCTUAL = settings.PUNCTUAL | {"EVENTS": [kept]}
    before = events.kinds()

    change_publish_time(article, TUESDAY, actor="bob")

    assert events.kinds() == [*before, kept]


@pytest.mark.parametrize(
    "meanwhile",
    [
        lambda article: claim_task(publish_task(article)),
        lambda article: cancel(PUBLISH, article, by="operator"),
        lambda article: withdraw(article, actor="ann"),
    ],
    ids=["running", "cancelled", "draft"],
)
def test_what_takes_more_than_one_statement_is_still_changed_once(meanwhile):
    article = approved(MONDAY)
    meanwhile(article)
    revision = row(article).revision

    answer = change_publish_time(article, TUESDAY, actor="bob", revision=revision)

    assert answer.outcome is not TimeOutcome.UPDATED
    assert row(article).revision == answer.revision == revision + 1
    assert (history(article).count("change_publish_time"), len(told())) == (1, 1)


@pytest.mark.parametrize("runs", [False, True], ids=["waiting", "running"])
def test_a_stale_one_keeps_its_task_where_it_is(runs):
    article = approved(MONDAY)
    task = publish_task(article)
    if runs:
        claim_task(task)

    with pytest.raises(StaleArticle):
        change_publish_time(article, TUESDAY, actor="bob", revision=1)

    assert (row(article).publish_time, publish_task(article).id, told()) == (MONDAY, task.id, [])
    assert publish_task(article).due_at == (None if runs else MONDAY)


def test_one_that_is_live_keeps_its_time_even_if_a_task_is_left():
    article = approved(MONDAY)
    write_past_lifecycle(article, status="PUBLISHED", published_at=MONDAY)

    assert change_publish_time(article, TUESDAY, actor="bob").outcome is TimeOutcome.IGNORED
    assert (row(article).publish_time, publish_task(article).due_at, told()) == (MONDAY, MONDAY, [])


def test_a_row_in_another_database_is_not_changed_with_its_task():
    article = approved(MONDAY)
    params = {"id": article, "revision": None, "verb": "change_publish_time", "actor": "bob"}

    assert (
        reschedule_with(replace(CHANGE_WITH_TASK, using="other"), PUBLISH, article, at=TUESDAY, params=params) is None
    )
    assert (row(article).publish_time, publish_task(article).due_at) == (MONDAY, MONDAY)


@pytest.mark.parametrize("runs", [False, True], ids=["waiting", "running"])
def test_a_task_never_moves_without_its_row(runs):
    article = approved(MONDAY)
    task = publish_task(article)
    if runs:
        claim_task(task)
    picky = replace(CHANGE_WITH_TASK, write=CHANGE_WITH_TASK.write.replace("a.id = own.id", "a.id = -own.id"))
    params = {"id": article, "revision": None, "verb": "change_publish_time", "actor": "bob"}

    with pytest.raises(DataError, match=r"would be (moved|replaced) without its row"), transaction.atomic():
        reschedule_with(picky, PUBLISH, article, at=TUESDAY, params=params)

    assert (row(article).publish_time, publish_task(article).id) == (MONDAY, task.id)
    assert publish_task(article).due_at == (None if runs else MONDAY)


def test_a_running_task_stays_if_its_row_may_not_be_changed_any_more():
    article = approved(MONDAY)
    task = publish_task(article)
    claim_task(task)
    [(version,)] = execute("SELECT xmin::text FROM punctual_task WHERE id = %(id)s", {"id": task.id})
    seen = CurrentRow(task.id, "RUNNING", False, None, None, version)
    params = {"id": article, "revision": 1, "verb": "change_publish_time", "actor": "bob", "event": None}
    params |= {"tenant": "default", "task_type": PUBLISH, "key": str(article), "at": TUESDAY, "delay": None}
    params |= replaced(seen, Outcome.REPLACED, "bob") | {"outcome": "REPLACED"}

    [(task_id, due, id_, *_)] = execute(CHANGE_WITH_TASK.replacing, params)

    assert (task_id, due, id_, publish_task(article).id) == (None, None, article, task.id)
    assert execute(CHANGE_WITH_TASK.replacing, params | {"revision": None})[0][0] == publish_task(article).id != task.id


def test_a_parameter_that_the_statement_has_itself_is_refused():
    with pytest.raises(InvalidTask, match="params has at, by, key, which the statement has itself"):
        reschedule_with(CHANGE_WITH_TASK, PUBLISH, 1, at=TUESDAY, params={"key": 1, "at": MONDAY, "by": "bob"})


# Many at once.


def test_many_are_moved_in_as_many_statements_as_few(django_assert_max_num_queries):
    few, many = [approved(MONDAY) for _ in range(2)], [approved(MONDAY) for _ in range(60)]

    for articles in (few, many):
        with django_assert_max_num_queries(8):
            answers = change_publish_times([NewTime(article, TUESDAY) for article in articles], actor="bob")
        assert {answer.outcome for answer in answers} == {TimeOutcome.UPDATED}
    assert len(told()) == 62


def test_the_answers_come_in_the_order_of_the_questions_and_fit_each_article():
    live, waiting, drafted, running = published(), approved(MONDAY), draft(MONDAY), approved(MONDAY)
    claim_task(publish_task(running))

    answers = change_publish_times([NewTime(a, WEDNESDAY) for a in (running, live, drafted, waiting)], actor="bob")

    assert [(answer.article_id, str(answer.outcome)) for answer in answers] == [
        (running, "REPLACED"),
        (live, "IGNORED"),
        (drafted, "SAVED"),
        (waiting, "UPDATED"),
    ]


def test_one_stale_article_keeps_all_from_moving_and_is_named():
    fresh, stale = approved(MONDAY), approved(MONDAY)

    with pytest.raises(StaleArticle, match=f"article {stale} was changed"):
        change_publish_times([NewTime(fresh, TUESDAY, row(fresh).revision), NewTime(stale, TUESDAY, 1)], actor="bob")

    assert [row(article).publish_time for article in (fresh, stale)] == [MONDAY, MONDAY]
    assert publish_task(fresh).due_at == MONDAY


def test_an_unknown_article_keeps_all_from_moving():
    article = approved(MONDAY)

    with pytest.raises(UnknownArticle, match="no article 404"):
        change_publish_times([NewTime(article, TUESDAY), NewTime(404, TUESDAY)], actor="bob")

    assert row(article).publish_time == MONDAY


def test_no_changes_are_no_changes():
    assert change_publish_times([], actor="bob") == []


def test_the_same_article_twice_in_one_call_is_refused():
    article = approved(MONDAY)

    with pytest.raises(InvalidArticle, match="given twice"):
        change_publish_times([NewTime(article, TUESDAY), NewTime(article, WEDNESDAY)], actor="bob")


# Bad input.


@pytest.mark.parametrize(
    ("at", "words"),
    [
        (datetime(2090, 1, 1), "is naive"),  # noqa: DTZ001
        ("tomorrow", "must be an aware datetime"),
        (None, "must be an aware datetime"),
        (1_800_000_000, "must be an aware datetime"),
    ],
)
def test_what_is_no_instant_is_refused(at, words):
    article = approved(MONDAY)

    with pytest.raises(InvalidArticle, match=words):
        change_publish_time(article, at, actor="bob")

    assert row(article).publish_time == MONDAY


def test_a_publish_time_after_the_offline_time_is_refused():
    article = approved(MONDAY, offline_time=TUESDAY)

    with pytest.raises(InvalidArticle, match="must go offline after it goes live"):
        change_publish_time(article, WEDNESDAY, actor="bob")

    assert (row(article).publish_time, publish_task(article).due_at) == (MONDAY, MONDAY)


def test_the_past_is_at_once():
    article = approved(MONDAY)
    now = row(article).created_at

    change_publish_time(article, now - timedelta(days=1), actor="bob")

    make_due()
    assert [batch.task_type for batch in claim_due()] == [PUBLISH]


@pytest.mark.parametrize("runs", [False, True])
def test_an_actor_with_a_line_break_is_refused_whether_its_task_waits_or_runs(runs):
    article = approved(MONDAY)
    if runs:
        claim_task(publish_task(article))

    with pytest.raises(InvalidArticle, match=r"actor 'bob\\nsmith' contains the control character"):
        change_publish_time(article, TUESDAY, actor="bob\nsmith")


@pytest.mark.parametrize("runs", [False, True])
def test_a_statement_that_goes_with_an_edit_knows_as_much_of_the_new_row_as_of_one_that_was_moved(runs):
    article = approved(MONDAY)
    if runs:
        claim_task(publish_task(article))
    also = "FROM written, own, moved WHERE moved.status = 'INIT' AND moved.job IS NULL AND moved.fire_time IS NULL"
    change = replace(CHANGE_WITH_TASK, write=CHANGE_WITH_TASK.write.replace("FROM written, own", also))
    params = {"id": article, "revision": None, "verb": "change_publish_time", "actor": "bob"}

    assert reschedule_with(change, PUBLISH, article, at=TUESDAY, params=params) is not None
