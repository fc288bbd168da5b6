"""Every move of an article: what it writes, what it schedules, what it tells, and what it refuses."""

from datetime import datetime, timedelta

import pytest
from django.db import connection, transaction
from django.db.utils import IntegrityError
from django.utils import timezone

from articles_app import lifecycle
from articles_app.errors import IllegalMove, InvalidArticle, StaleArticle, UnknownArticle
from articles_app.models import Article, ArticleEvent
from articles_app.states import MOVES, ArticleStatus, allowed_moves
from django_punctual import Outcome
from tasks_app.models import OutboxEvent, ScheduleTask
from tests.support.articles import (
    ANN,
    IN_STATE,
    MONDAY,
    TUESDAY,
    WEDNESDAY,
    approved,
    audit_task,
    draft,
    history,
    offline,
    offline_task,
    past,
    pending,
    publish_task,
    published,
    rejected,
    row,
    status,
)

pytestmark = pytest.mark.django_db

VERBS = {
    "edit_content": lambda article, **options: lifecycle.edit_content(article, body="new", **options),
    "submit": lifecycle.submit,
    "withdraw": lifecycle.withdraw,
    "approve": lifecycle.approve,
    "reject": lambda article, **options: lifecycle.reject(article, reason="dull", **options),
    "publish_now": lifecycle.publish_now,
    "take_offline": lifecycle.take_offline,
    "back_to_draft": lifecycle.back_to_draft,
    "change_offline_time": lambda article, **options: lifecycle.change_offline_time(article, WEDNESDAY, **options),
}
LEGAL = {(move.verb, move.source): move.target for move in MOVES}


def everything() -> tuple:
    """All rows that a move may write."""
    tables = (Article, ArticleEvent, ScheduleTask, OutboxEvent)
    return tuple(list(table.objects.order_by("id").values()) for table in tables)


@pytest.mark.parametrize(("verb", "state"), [move for move in LEGAL if move[0] in VERBS])
def test_a_verb_moves_an_article_as_the_table_says(verb, state):
    article = IN_STATE[state]()
    before, events = row(article), history(article)

    VERBS[verb](article, actor="bob")

    after = row(article)
    assert after.status == LEGAL[verb, state]
    assert after.revision == before.revision + 1
    assert history(article) == [*events, verb]
    event = ArticleEvent.objects.get(article_id=article, revision=after.revision)
    assert (event.source, event.target, event.actor) == (state, after.status, "bob")


@pytest.mark.parametrize("state", ArticleStatus)
def test_a_verb_that_the_table_does_not_have_changes_nothing(state):
    article = IN_STATE[state]()
    all_rows = everything()

    for verb in (one for one in VERBS if (one, state) not in LEGAL):
        with pytest.raises(IllegalMove) as refused:
            VERBS[verb](article, actor="bob")

        assert refused.value.allowed == allowed_moves(state), verb
        assert everything() == all_rows, verb


@pytest.mark.parametrize("verb", VERBS)
def test_a_stale_revision_is_refused_and_told_what_changed_and_by_whom(verb):
    state = next(move.source for move in MOVES if move.verb == verb)
    article = IN_STATE[state]()
    seen = row(article).revision
    lifecycle.change_offline_time(article, TUESDAY, actor="carl") if state != ArticleStatus.OFFLINE else None
    all_rows = everything()

    with pytest.raises(StaleArticle) as refused:
        VERBS[verb](article, actor="bob", revision=seen - 1)

    assert f"revision {seen - 1}" in str(refused.value)
    assert " by carl " in str(refused.value) or " by ann " in str(refused.value)
    assert everything() == all_rows


@pytest.mark.parametrize("verb", VERBS)
def test_the_revision_that_was_read_is_accepted(verb):
    article = IN_STATE[next(move.source for move in MOVES if move.verb == verb)]()

    VERBS[verb](article, actor="bob", revision=row(article).revision)


@pytest.mark.parametrize("verb", VERBS)
def test_an_article_that_does_not_exist_is_named(verb):
    with pytest.raises(UnknownArticle, match="no article 404"):
        VERBS[verb](404, actor="bob")


def test_a_new_article_is_a_draft_with_one_event():
    article = row(draft(MONDAY))

    assert (article.status, article.revision, article.content_revision) == ("DRAFT", 1, 1)
    assert history(article.id) == ["create"]
    assert audit_task(article.id) is None


def test_the_history_can_only_grow():
    article = draft()

    for statement in ("UPDATE article_event SET actor = 'eve'", "DELETE FROM article_event"):
        with pytest.raises(IntegrityError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)

    assert ArticleEvent.objects.get(article_id=article).actor == ANN


# What is scheduled.


def test_submitting_schedules_the_audit_at_once():
    task = audit_task(pending())

    assert task.live
    assert abs(task.due_at - timezone.now()) < timedelta(seconds=60)


@pytest.mark.parametrize("lead", [0, 600])
def test_with_a_lead_time_the_audit_waits_for_the_publish_time(settings, lead):
    settings.ARTICLES = {"AUDIT_LEAD_SECONDS": lead}

    assert audit_task(pending(MONDAY)).due_at == MONDAY - timedelta(seconds=lead)


def test_a_submit_that_is_rolled_back_leaves_no_task():
    article = draft()

    with pytest.raises(KeyError), transaction.atomic():
        lifecycle.submit(article, actor=ANN)
        raise KeyError("something else went wrong")

    assert (status(article), audit_task(article), history(article)) == ("DRAFT", None, ["create"])


def test_approval_schedules_the_publishing_at_the_publish_time():
    article = approved(TUESDAY)

    assert publish_task(article).due_at == TUESDAY
    assert row(article).published_at is None


@pytest.mark.parametrize("make", [approved, rejected])
def test_a_verdict_by_hand_calls_off_the_audit(make):
    assert audit_task(make()).status == "CANCELLED"


def test_an_approval_of_another_text_is_refused():
    article = pending()

    with pytest.raises(InvalidArticle):
        lifecycle.write_approval(article, actor="mod", content_revision=7)

    assert status(article) == "PENDING_AUDIT"
    assert publish_task(article) is None


def test_a_rejection_tells_its_reason_until_the_text_is_edited():
    article = rejected()
    assert row(article).audit_reason == "dull"

    lifecycle.edit_content(article, title="Better", actor=ANN)

    assert (row(article).audit_reason, row(article).title, row(article).body) == ("", "Better", "A body")


@pytest.mark.parametrize(("make", "task_of"), [(pending, audit_task), (approved, publish_task)])
@pytest.mark.parametrize("verb", ["withdraw", "edit_content"])
def test_what_waits_is_withdrawn_and_its_task_called_off(make, task_of, verb):
    article = make()

    VERBS[verb](article, actor="bob")

    assert status(article) == "DRAFT"
    assert (task_of(article).status, task_of(article).live) == ("CANCELLED", False)
    assert "by bob" in task_of(article).error_msg


def test_only_an_edit_of_the_text_changes_the_content_revision():
    article = approved()
    assert row(article).content_revision == 1

    lifecycle.edit_content(article, body="other", actor=ANN)

    assert row(article).content_revision == 2


def test_a_submission_after_an_audit_gets_a_new_audit():
    article = pending()
    first = audit_task(article).id
    lifecycle.withdraw(article, actor=ANN)

    lifecycle.submit(article, actor=ANN)

    assert audit_task(article).live
    assert audit_task(article).id != first


# Going live and leaving.


def test_publishing_takes_only_what_is_approved_and_due():
    due, early, waiting = approved(past()), approved(MONDAY), pending(past())

    outcomes = lifecycle.publish_due([due, early, waiting, 404])

    assert {id_: (one.moved, one.status) for id_, one in outcomes.items()} == {
        due: (True, "AUDIT_SUCCESS"),
        early: (False, "AUDIT_SUCCESS"),
        waiting: (False, "PENDING_AUDIT"),
    }
    assert [status(article) for article in (due, early, waiting)] == ["PUBLISHED", "AUDIT_SUCCESS", "PENDING_AUDIT"]
    assert row(due).published_at >= row(due).publish_time


def test_publishing_twice_has_one_effect_and_one_event():
    article = approved(past())

    first, second = lifecycle.publish_due([article]), lifecycle.publish_due([article])

    assert (first[article].moved, second[article].moved) == (True, False)
    assert history(article).count("publish") == 1


def test_publishing_schedules_to_take_offline_what_has_an_offline_time():
    leaves, stays = approved(past(), offline_time=MONDAY), approved(past())

    lifecycle.publish_due([leaves, stays])

    assert offline_task(leaves).due_at == MONDAY
    assert offline_task(stays) is None


def test_publishing_a_batch_takes_the_same_statements_as_publishing_one(django_assert_max_num_queries):
    articles = [approved(past(), offline_time=MONDAY) for _ in range(30)]

    with django_assert_max_num_queries(10):
        outcomes = lifecycle.publish_due(articles)

    assert all(one.moved for one in outcomes.values())


def test_publishing_now_calls_off_the_schedule_and_makes_now_the_publish_time():
    article = approved(MONDAY, offline_time=TUESDAY)

    lifecycle.publish_now(article, actor="bob")

    live = row(article)
    assert live.status == "PUBLISHED"
    assert live.publish_time <= live.published_at < MONDAY
    assert publish_task(article).status == "CANCELLED"
    assert offline_task(article).due_at == TUESDAY


def test_what_should_be_offline_already_is_not_published_by_hand():
    article = approved(past() - timedelta(hours=2), offline_time=past() - timedelta(hours=1))

    with pytest.raises(InvalidArticle, match="has passed"):
        lifecycle.publish_now(article, actor="bob")

    assert status(article) == "AUDIT_SUCCESS"
    assert publish_task(article).live


def test_an_article_goes_offline_at_its_time_once():
    times = (past() + timedelta(milliseconds=500), MONDAY, None)
    due, later, never = articles = [approved(past(), offline_time=time) for time in times]
    lifecycle.publish_due(articles)

    outcomes = lifecycle.take_offline_due([due, later, never])
    again = lifecycle.take_offline_due([due])

    assert [outcomes[article].moved for article in (due, later, never)] == [True, False, False]
    assert not again[due].moved
    assert history(due).count("take_offline") == 1


def test_taking_offline_by_hand_calls_off_the_schedule():
    article = published(offline_time=MONDAY)

    lifecycle.take_offline(article, actor="bob")

    assert (status(article), offline_task(article).status) == ("OFFLINE", "CANCELLED")


def test_the_offline_time_of_a_live_article_moves_its_task_and_none_calls_it_off():
    article = published()

    assert lifecycle.change_offline_time(article, MONDAY, actor="bob").outcome is Outcome.CREATED
    assert lifecycle.change_offline_time(article, TUESDAY, actor="bob").outcome is Outcome.UPDATED
    assert offline_task(article).due_at == TUESDAY
    assert lifecycle.change_offline_time(article, None, actor="bob").outcome is None
    assert not offline_task(article).live


@pytest.mark.parametrize("at", [TUESDAY, None])
def test_what_else_is_wrong_with_a_change_of_the_offline_time_is_not_blamed_on_the_time(at):
    with pytest.raises(InvalidArticle, match="revision='2' must be the whole number"):
        lifecycle.change_offline_time(published(), at, actor="bob", revision="2")


def test_the_offline_time_of_an_article_that_is_not_live_is_only_its_column():
    article = approved(MONDAY)

    assert lifecycle.change_offline_time(article, TUESDAY, actor="bob").outcome is None
    assert (row(article).offline_time, offline_task(article)) == (TUESDAY, None)


def test_an_offline_article_that_becomes_a_draft_forgets_the_times_that_have_passed():
    article = published(offline_time=past() + timedelta(milliseconds=900))
    lifecycle.take_offline_due([article])

    lifecycle.back_to_draft(article, actor=ANN)

    assert (row(article).published_at, row(article).offline_time) == (None, None)


def test_an_article_can_go_live_again_after_a_new_approval():
    article = offline()
    lifecycle.back_to_draft(article, actor=ANN)
    lifecycle.submit(article, actor=ANN)
    lifecycle.approve(article, actor="mod")

    assert publish_task(article).live
    assert lifecycle.publish_due([article])[article].moved
    assert history(article).count("publish") == 2


# Bad input.


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"publish_time": datetime(2090, 1, 1)}, "is naive"),  # noqa: DTZ001
        ({"publish_time": "tomorrow"}, "must be an aware datetime"),
        ({"publish_time": None}, "must be an aware datetime"),
        ({"publish_time": datetime.max.replace(tzinfo=MONDAY.tzinfo)}, "surely a mistake"),
        ({"offline_time": MONDAY}, "must go offline after it goes live"),
        ({"offline_time": datetime(2090, 1, 9)}, "is naive"),  # noqa: DTZ001
        ({"title": ""}, "title is empty"),
        ({"title": "x" * 201}, "at most 200"),
        ({"title": "a\0b"}, "NUL"),
        ({"body": "\ud800"}, "surrogate"),
        ({"author": 7}, "must be a string"),
    ],
)
def test_a_bad_article_is_refused_with_the_way_out(fields, words):
    with pytest.raises(InvalidArticle, match=words):
        draft(**({"publish_time": MONDAY} | fields))

    assert not Article.objects.exists()


@pytest.mark.parametrize("actor", ["", None, "x" * 151, 7])
def test_a_move_without_an_actor_is_refused(actor):
    article = draft()

    with pytest.raises(InvalidArticle, match="actor"):
        lifecycle.submit(article, actor=actor)

    assert status(article) == "DRAFT"


@pytest.mark.parametrize("article_id", [0, -1, True, "7", None, 2**70])
def test_what_is_no_article_id_is_refused(article_id):
    with pytest.raises(InvalidArticle, match="article_id"):
        lifecycle.submit(article_id, actor=ANN)


def test_an_edit_of_nothing_is_refused():
    with pytest.raises(InvalidArticle, match="nothing to edit"):
        lifecycle.edit_content(draft(), actor=ANN)


def test_an_illegal_move_does_not_spoil_the_callers_transaction():
    article = draft()

    with transaction.atomic():
        with pytest.raises(IllegalMove):
            lifecycle.publish_now(article, actor=ANN)
        lifecycle.submit(article, actor=ANN)

    assert status(article) == "PENDING_AUDIT"
