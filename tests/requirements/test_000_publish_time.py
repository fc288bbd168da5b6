"""Document 000: what becomes of an article's publish task when its author moves the publish time.

§1 the unit, §2 the event, §3 the three rules, §4 an UPDATE that matches no row, §5 an attempt that runs already,
§6 the scheduler decides when to try, and the article whether it takes effect.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from uuid import uuid4

import pytest
from django.db import IntegrityError, connection, transaction

from articles_app.lifecycle import NewTime, change_publish_time, change_publish_times, publish_due
from articles_app.lifecycle.publish_time import CHANGE_WITH_TASK
from django_punctual import ScheduleConflict, ToFunction, cancel, subscribe
from tasks_app.core.handlers import REGISTRY
from tasks_app.core.task import Failure
from tasks_app.lifecycle.start import start
from tasks_app.models import DlqEntry, ScheduleTask
from tests.support.articles import (
    MONDAY,
    TUESDAY,
    WEDNESDAY,
    approved,
    claim_task,
    history,
    offline,
    past,
    publish_task,
    published,
    row,
    run,
    status,
    told,
)
from tests.support.engine import claim_due, make_due, run_due
from tests.support.marks import commits
from tests.support.moves import OK, RETRY, settled
from tests.support.outbox import courier_of, cut, subscribed
from tests.support.overlap import overlap, overlap_results
from tests.support.sides import sides

pytestmark = commits

PUBLISH = "ARTICLE_PUBLISH"


def to_tuesday(article: int):
    return change_publish_time(article, TUESDAY, actor="bob")


def among_others(article: int):
    """The same in a call for two articles, which takes other statements."""
    changes = [NewTime(article, TUESDAY), NewTime(approved(MONDAY), TUESDAY)]
    return change_publish_times(changes, actor="bob")[0]


edits = pytest.mark.parametrize("edit", [to_tuesday, among_others])


def tasks_of(article: int) -> list[ScheduleTask]:
    """The oldest first."""
    return list(ScheduleTask.objects.filter(task_type=PUBLISH, biz_key=str(article)).order_by("id"))


def settle_publish_task(article: int, outcome: object) -> None:
    settled(start(claim_task(publish_task(article)), "worker"), outcome)


# §1


def test_s1_the_unit_of_a_publish_task_is_the_articles_id_and_article_publish():
    article, other = approved(MONDAY), approved(MONDAY)

    [task], [another] = tasks_of(article), tasks_of(other)

    assert (task.task_type, task.biz_key) == ("ARTICLE_PUBLISH", str(article))
    assert task.id != another.id
    assert task.execute_time == MONDAY


def test_s1_a_unit_has_one_current_task():
    article = approved(MONDAY)
    [task] = tasks_of(article)
    task.id, task.token = None, uuid4()

    with pytest.raises(IntegrityError, match="punctual_task_unit"), transaction.atomic():
        task.save(force_insert=True)


# §2


def test_s2_the_column_and_the_task_change_in_one_transaction():
    article = approved(MONDAY)

    with pytest.raises(KeyError), transaction.atomic():
        to_tuesday(article)
        assert (row(article).publish_time, publish_task(article).due_at) == (TUESDAY, TUESDAY)
        raise KeyError("the author's request fails")

    assert (row(article).publish_time, publish_task(article).due_at, told()) == (MONDAY, MONDAY, [])


def test_s2_the_event_publish_time_changed_reaches_a_subscriber_with_the_default_events():
    """The scheduler is called in the author's transaction; the event is for other systems."""
    article = approved(MONDAY)
    with subscribed() as received:
        subscription = subscribe("cms", events=["article.*"], to=ToFunction("test"))

        to_tuesday(article)
        cut()
        courier_of(subscription).run_once()

    [event] = received.events
    assert (event.type, event.task_type, event.key) == ("article.publish_time_changed", PUBLISH, str(article))
    assert event.data == {
        "article": article,
        "revision": row(article).revision,
        "status": "AUDIT_SUCCESS",
        "actor": "bob",
        "old": MONDAY.isoformat(),
        "new": TUESDAY.isoformat(),
        "outcome": "UPDATED",
    }


# §3


@edits
def test_s3_rule_1_an_init_task_gets_the_new_time_and_keeps_its_id(edit):
    article = approved(MONDAY)
    [before] = tasks_of(article)

    answer = edit(article)

    [task] = tasks_of(article)
    assert (answer.outcome, answer.task_id) == ("UPDATED", before.id)
    assert (task.id, task.status, task.execute_time, task.due_at) == (before.id, "INIT", TUESDAY, TUESDAY)


@edits
def test_s3_rule_1_a_failed_task_with_retries_left_gets_the_new_time_and_keeps_its_id_and_counts(edit):
    article = approved(MONDAY)
    settle_publish_task(article, RETRY)
    [before] = tasks_of(article)

    answer = edit(article)

    [task] = tasks_of(article)
    assert (answer.outcome, task.id, task.status) == ("UPDATED", before.id, "FAIL")
    assert (task.execute_time, task.due_at, task.retry_count, task.attempt) == (TUESDAY, TUESDAY, 1, 1)


@edits
def test_s3_rule_1_a_failed_task_without_retries_left_gets_a_successor(edit):
    """Such a task is DEAD here. The document doesn't say what becomes of it; the change must not be lost."""
    article = approved(MONDAY)
    for _ in range(1 + REGISTRY.require(PUBLISH).max_retry):
        settle_publish_task(article, Failure("BROKEN", "asked to fail", after=0))
    [before] = tasks_of(article)

    answer = edit(article)

    [dead, task] = tasks_of(article)
    assert (answer.outcome, answer.task_id) == ("CREATED", task.id)
    assert (dead.id, dead.status, dead.execute_time) == (before.id, "DEAD", before.execute_time)
    assert (task.status, task.execute_time, task.replaces, task.retry_count) == ("INIT", TUESDAY, dead.id, 0)
    assert DlqEntry.objects.get(task_id=dead.id).replay_status == "CLOSED"


@edits
@pytest.mark.parametrize("begun", [False, True], ids=["claimed", "started"])
def test_s3_rule_2_a_running_publish_task_is_cancelled_and_inserted_again(edit, begun):
    article = approved(MONDAY)
    number = claim_task(publish_task(article))
    if begun:
        start(number, "worker")
    [before] = tasks_of(article)

    answer = edit(article)

    [old, new] = tasks_of(article)
    assert (answer.outcome, answer.task_id) == ("REPLACED", new.id)
    assert (old.id, old.status, old.execute_time, old.cancelled_by) == (before.id, "CANCELLED", MONDAY, "bob")
    assert (new.status, new.execute_time, new.due_at, new.replaces) == ("INIT", TUESDAY, TUESDAY, old.id)


def published_beside_its_task() -> int:
    """It is live, and its publish task still waits."""
    article = approved(past())
    publish_due([article])
    return article


@edits
@pytest.mark.parametrize("make", [published, offline, published_beside_its_task])
def test_s3_rule_3_a_successful_task_and_its_article_stay_as_they_are(edit, make):
    """The column stays too: a live article would have a publish time that never was."""

    def written() -> tuple:
        tasks = ScheduleTask.objects.filter(task_type=PUBLISH, biz_key=str(article))
        return row(article).publish_time, history(article), list(tasks.values())

    article = make()
    before = written()

    answer = edit(article)

    assert (answer.outcome, written()) == ("IGNORED", before)
    assert [event for event in told() if event["article"] == article] == []


@edits
def test_s3_rule_3_a_successful_task_of_an_article_that_is_not_live_gets_a_successor_with_a_warning(edit, caplog):
    """Here the article decides, since the data is damaged: docs/publish-time-rules.md."""
    article = approved(MONDAY)
    settle_publish_task(article, OK)

    answer = edit(article)

    [done, task] = tasks_of(article)
    assert (answer.outcome, done.status, task.status, task.due_at) == ("CREATED", "SUCCESS", "INIT", TUESDAY)
    assert "article.task_done_but_unpublished" in caplog.text


# §4: the edit has found the task in one state, and its UPDATE comes to it in another.


@edits
def test_s4_a_task_that_another_transaction_made_running_is_cancelled_and_inserted_again(edit):
    article = approved(past())

    [batch], answer = overlap(claim_due, lambda: edit(article))

    [old, new] = tasks_of(article)
    assert (answer.outcome, old.status, new.status, new.due_at) == ("REPLACED", "CANCELLED", "INIT", TUESDAY)
    assert start(batch.batch_no, "worker").tasks == []


@edits
def test_s4_a_task_that_another_transaction_made_successful_is_left_alone(edit):
    article = approved(past())
    number = claim_task(publish_task(article))

    report, answer = overlap_results(lambda: run(number), lambda: edit(article))

    assert (report.error, answer.error, answer.waited) == (None, None, True)
    assert (answer.value.outcome, status(article)) == ("IGNORED", "PUBLISHED")
    assert [task.status for task in tasks_of(article)] == ["SUCCESS"]


@edits
def test_s4_a_task_that_another_transaction_cancelled_is_inserted_again(edit):
    article = approved(MONDAY)

    _, answer = overlap(lambda: cancel(PUBLISH, article, by="operator"), lambda: edit(article))

    [old, new] = tasks_of(article)
    assert (answer.outcome, old.status, new.status, new.due_at) == ("CREATED", "CANCELLED", "INIT", TUESDAY)


@edits
def test_s4_a_task_that_another_transaction_deleted_is_inserted_again(edit):
    article = approved(MONDAY)

    _, answer = overlap(lambda: ScheduleTask.objects.filter(biz_key=str(article)).delete(), lambda: edit(article))

    [task] = tasks_of(article)
    assert (answer.outcome, task.status, task.due_at) == ("CREATED", "INIT", TUESDAY)


@contextmanager
def another_commits_after(statement: str, other: Callable[[], object]) -> Iterator[list[object]]:
    """As soon as this statement has been executed for the first time, another transaction runs to its end."""
    seen: list[object] = []

    def between(execute, sql, params, many, context):
        answer = execute(sql, params, many, context)
        if sql == statement and not seen:
            with sides(1) as begin:
                seen.append(begin(0, other).result(120))
        return answer

    with connection.execute_wrapper(between):
        yield seen
    assert seen, "the statement was never executed"


@pytest.mark.parametrize(
    ("becomes", "outcome", "statuses"),
    [
        (lambda article, number: run(number), "IGNORED", ["SUCCESS"]),
        (lambda article, number: cancel(PUBLISH, article, by="operator"), "CREATED", ["CANCELLED", "INIT"]),
        (
            lambda article, number: change_publish_time(article, WEDNESDAY, actor="wen"),
            "UPDATED",
            ["CANCELLED", "INIT"],
        ),
    ],
    ids=["success", "cancelled", "replaced"],
)
def test_s4_a_replacement_that_matches_no_row_is_decided_again(becomes, outcome, statuses):
    """The first statement has found RUNNING, and the second finds what another transaction has made of it."""
    article = approved(past())
    number = claim_task(publish_task(article))

    with another_commits_after(CHANGE_WITH_TASK.moving, lambda: becomes(article, number)):
        answer = to_tuesday(article)

    assert (answer.outcome, [task.status for task in tasks_of(article)]) == (outcome, statuses)
    assert row(article).publish_time == (TUESDAY if outcome != "IGNORED" else answer.old)
    if outcome != "IGNORED":
        assert publish_task(article).due_at == TUESDAY


def test_s4_an_edit_that_is_overtaken_ten_times_changes_neither_the_time_nor_the_task(monkeypatch):
    """It fails with ScheduleConflict, so that the author's change is not half done."""
    article = approved(MONDAY)
    ScheduleTask.objects.filter(biz_key=str(article)).delete()
    with connection.cursor() as cursor:
        cursor.execute(
            """
            CREATE SEQUENCE refused;
            CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
                'BEGIN PERFORM nextval(''refused''); RETURN NULL; END';
            CREATE TRIGGER refuse BEFORE INSERT ON punctual_task FOR EACH ROW EXECUTE FUNCTION refuse()"""
        )
    try:
        with pytest.raises(ScheduleConflict, match="10 times"):
            to_tuesday(article)
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP TRIGGER refuse ON punctual_task; DROP FUNCTION refuse(); DROP SEQUENCE refused")

    assert (row(article).publish_time, tasks_of(article), told()) == (MONDAY, [], [])


# §5


@pytest.mark.parametrize("first", ["old", "new"])
def test_s5_of_the_old_and_the_new_attempt_one_publishes_the_article(first):
    article = approved(past())
    attempts = {"old": claim_task(publish_task(article))}
    assert change_publish_time(article, past(), actor="bob").outcome == "REPLACED"
    attempts["new"] = claim_task(publish_task(article))

    for name in (first, "old", "new"):
        run(attempts[name])

    assert (status(article), history(article).count("publish")) == ("PUBLISHED", 1)
    assert [task.status for task in tasks_of(article)] == ["CANCELLED", "SUCCESS"]


def test_s5_two_executions_at_the_same_time_publish_the_article_once():
    article = approved(past())

    first, second = overlap(lambda: publish_due([article]), lambda: publish_due([article]))

    assert (first[article].moved, second[article].moved) == (True, False)
    assert (status(article), history(article).count("publish")) == ("PUBLISHED", 1)


def test_s5_a_publish_task_of_a_live_article_succeeds_without_an_effect():
    article = approved(past())
    number = claim_task(publish_task(article))
    publish_due([article])
    revision = row(article).revision

    run(number)

    assert [task.status for task in tasks_of(article)] == ["SUCCESS"]
    assert (row(article).revision, history(article).count("publish")) == (revision, 1)


def test_s5_the_attempt_that_was_replaced_runs_to_its_end_and_settles_nothing():
    """Nothing stops it; it can't write either, since the effect and the settle are one transaction here."""
    article = approved(past())
    batch = start(claim_task(publish_task(article)), "worker")

    to_tuesday(article)

    assert settled(batch, OK) == 0
    assert ([task.status for task in tasks_of(article)], status(article)) == (["CANCELLED", "INIT"], "AUDIT_SUCCESS")


# §6


def test_s6_a_task_that_is_tried_before_the_articles_time_publishes_nothing_and_waits_for_it():
    article = approved(MONDAY)
    make_due(publish_task(article).id)

    run_due()

    assert (status(article), publish_task(article).status) == ("AUDIT_SUCCESS", "INIT")
    assert publish_task(article).due_at == MONDAY
