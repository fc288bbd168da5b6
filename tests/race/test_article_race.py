"""Two at the same article: edits, publishings, audits and submissions, each held open while the other runs into it."""

import threading
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection, connections, transaction
from django.utils import timezone

from articles_app import lifecycle
from articles_app.errors import AlreadyCreated, IllegalMove, StaleArticle
from articles_app.handlers import Judged, audit, write_verdict
from articles_app.lifecycle import NewTime, TimeOutcome, change_publish_time, change_publish_times
from articles_app.models import Article, ArticleEvent
from articles_app.moderation import Verdict
from articles_app.units import AUDIT, PUBLISH
from tasks_app.core.handlers import REGISTRY
from tasks_app.lifecycle.reap import reap
from tasks_app.lifecycle.settle import Settled, settle
from tasks_app.lifecycle.start import start
from tasks_app.models import ScheduleTask
from tests.support.articles import (
    ANN,
    MONDAY,
    TUESDAY,
    WEDNESDAY,
    approved,
    audit_task,
    claim_task,
    draft,
    history,
    past,
    pending,
    publish_task,
    row,
    run,
    status,
    told,
    write_past_lifecycle,
)
from tests.support.contend import contend
from tests.support.engine import claim_due, expire_lease, make_due
from tests.support.marks import commits
from tests.support.overlap import overlap, overlap_results

pytestmark = commits


@pytest.fixture(autouse=True)
def _history_is_whole():
    """Whatever a race ends in: one event for every write, and nothing live before its time."""
    yield
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT a.id FROM article a LEFT JOIN article_event e ON e.article_id = a.id"
            " GROUP BY a.id HAVING count(e.id) <> a.revision"
        )
        assert cursor.fetchall() == []
        cursor.execute("SELECT id FROM article WHERE status = 'PUBLISHED' AND published_at < publish_time")
        assert cursor.fetchall() == []


def to_tuesday(article: int):
    return lambda: change_publish_time(article, TUESDAY, actor="tess")


def to_wednesday(article: int):
    return lambda: change_publish_time(article, WEDNESDAY, actor="wen")


def publish(article: int):
    """The publish task's batch, run as a worker runs it."""
    number = claim_task(publish_task(article))
    return lambda: run(number)


# Edit against claim.


@pytest.mark.parametrize("commit", [True, False])
def test_a_claim_does_not_take_what_is_being_moved(commit):
    article = approved(past())

    answer, claimed = overlap(to_tuesday(article), claim_due, commit=commit)

    assert answer.outcome is TimeOutcome.UPDATED
    assert claimed == []
    assert publish_task(article).due_at == (TUESDAY if commit else row(article).publish_time)


@pytest.mark.parametrize("commit", [True, False])
def test_an_edit_that_meets_a_claim_waits_and_then_replaces_or_moves(commit):
    article = approved(past())

    claimed, answer = overlap(claim_due, to_tuesday(article), commit=commit)

    assert len(claimed) == 1
    assert answer.outcome is (TimeOutcome.REPLACED if commit else TimeOutcome.UPDATED)
    assert (publish_task(article).due_at, status(article)) == (TUESDAY, "AUDIT_SUCCESS")


# Edit against publish, whose transaction is effect and settle in one.


@pytest.mark.parametrize("commit", [True, False])
def test_an_edit_that_meets_a_publishing_waits_and_then_says_what_happened(commit):
    article = approved(past())
    at = row(article).publish_time

    report, answer = overlap_results(publish(article), to_tuesday(article), commit=commit)

    assert report.error is answer.error is None
    assert answer.waited
    if commit:
        assert (answer.value.outcome, status(article)) == (TimeOutcome.IGNORED, "PUBLISHED")
        assert (row(article).publish_time, told()) == (at, [])
    else:
        assert (answer.value.outcome, status(article)) == (TimeOutcome.REPLACED, "AUDIT_SUCCESS")
        assert publish_task(article).due_at == TUESDAY


@pytest.mark.parametrize("commit", [True, False])
def test_a_publishing_that_meets_an_edit_waits_and_then_leaves_the_article_alone(commit):
    article, neighbour = approved(past()), approved(past())
    make_due(publish_task(article).id, publish_task(neighbour).id)
    [batch] = claim_due()

    edit, report = overlap_results(to_tuesday(article), lambda: run(batch.batch_no), commit=commit)

    assert edit.error is report.error is None
    assert report.waited
    assert edit.value.outcome is TimeOutcome.REPLACED
    assert status(neighbour) == "PUBLISHED"
    assert history(neighbour).count("publish") == 1
    assert status(article) == ("AUDIT_SUCCESS" if commit else "PUBLISHED")
    if commit:
        assert publish_task(article).due_at == TUESDAY


def test_a_bulk_edit_and_a_publishing_of_the_same_articles_meet_in_any_order_without_a_deadlock():
    articles = [approved(past()) for _ in range(4)]
    make_due(*(publish_task(article).id for article in articles))
    [batch] = claim_due()

    def bulk():
        return change_publish_times([NewTime(article, TUESDAY) for article in reversed(articles)], actor="bulk")

    # Somebody holds the second article; both sides queue up behind it, each holding what it locked before.
    results = contend(
        lambda: lifecycle.change_offline_time(articles[1], WEDNESDAY, actor="x"), bulk, lambda: run(batch.batch_no)
    )

    assert [result.error for result in results] == [None, None]
    assert {answer.outcome for answer in results[0].value} == {TimeOutcome.REPLACED}
    assert {status(article) for article in articles} == {"AUDIT_SUCCESS"}


def test_a_publishing_and_then_a_bulk_edit_behind_it():
    articles = [approved(past()) for _ in range(4)]
    make_due(*(publish_task(article).id for article in articles))
    [batch] = claim_due()

    def bulk():
        return change_publish_times([NewTime(article, TUESDAY) for article in reversed(articles)], actor="bulk")

    results = contend(
        lambda: lifecycle.change_offline_time(articles[1], WEDNESDAY, actor="x"), lambda: run(batch.batch_no), bulk
    )

    assert [result.error for result in results] == [None, None]
    assert {answer.outcome for answer in results[1].value} == {TimeOutcome.IGNORED}
    assert {status(article) for article in articles} == {"PUBLISHED"}


# Edit against settle: the worker that published wants to settle while the edit holds the task.


def test_a_worker_that_lost_its_task_to_an_edit_publishes_nothing():
    article = approved(past())
    number = claim_task(publish_task(article))
    old = publish_task(article).id

    change_publish_time(article, TUESDAY, actor="bob")
    report = run(number)

    assert (report.settled, status(article)) == (0, "AUDIT_SUCCESS")
    assert ScheduleTask.objects.get(id=old).status == "CANCELLED"


def test_a_late_settle_of_the_old_attempt_moves_nothing():
    article = approved(past())
    batch = start(claim_task(publish_task(article)), "worker")

    answer, moved = overlap(
        to_tuesday(article),
        lambda: settle(batch.batch_no, REGISTRY.get(PUBLISH), [Settled(batch.tasks[0], None)], finish=True),
    )

    assert (answer.outcome, moved) == (TimeOutcome.REPLACED, 0)
    assert publish_task(article).due_at == TUESDAY


# Two edits.


@pytest.mark.parametrize("commit", [True, False])
def test_the_later_of_two_edits_has_the_last_word(commit):
    article = approved(MONDAY)

    first, second = overlap(to_tuesday(article), to_wednesday(article), commit=commit)

    assert (first.outcome, second.outcome) == (TimeOutcome.UPDATED, TimeOutcome.UPDATED)
    assert (row(article).publish_time, publish_task(article).due_at) == (WEDNESDAY, WEDNESDAY)
    assert second.old == (TUESDAY if commit else MONDAY)
    assert [event["actor"] for event in told()] == (["tess", "wen"] if commit else ["wen"])


@pytest.mark.parametrize("commit", [True, False])
def test_of_two_edits_of_the_same_revision_one_is_stale(commit):
    article = approved(MONDAY)
    seen = row(article).revision

    first, second = overlap_results(
        lambda: change_publish_time(article, TUESDAY, actor="tess", revision=seen),
        lambda: change_publish_time(article, WEDNESDAY, actor="wen", revision=seen),
        commit=commit,
    )

    assert first.error is None
    if commit:
        assert isinstance(second.error, StaleArticle)
        assert "by tess" in str(second.error)
        assert (row(article).publish_time, publish_task(article).due_at) == (TUESDAY, TUESDAY)
    else:
        assert (row(article).publish_time, publish_task(article).due_at) == (WEDNESDAY, WEDNESDAY)


def test_two_bulk_edits_in_opposite_orders_do_not_deadlock():
    articles = [approved(MONDAY) for _ in range(6)]

    def bulk(at, actor, ids):
        return lambda: change_publish_times([NewTime(article, at) for article in ids], actor=actor)

    results = contend(
        lambda: lifecycle.change_offline_time(articles[3], None, actor="x"),
        bulk(TUESDAY, "one", articles),
        bulk(WEDNESDAY, "two", articles[::-1]),
    )

    assert [result.error for result in results] == [None, None]
    assert {row(article).publish_time for article in articles} == {WEDNESDAY}
    assert {publish_task(article).due_at for article in articles} == {WEDNESDAY}


# Publish against publish.


@pytest.mark.parametrize("commit", [True, False])
def test_of_two_publishings_one_has_the_effect(commit):
    article = approved(past())

    first, second = overlap(
        lambda: lifecycle.publish_due([article]), lambda: lifecycle.publish_due([article]), commit=commit
    )

    assert (first[article].moved, second[article].moved) == (True, not commit)
    assert history(article).count("publish") == 1


def test_two_publishings_of_the_same_articles_in_opposite_orders_do_not_deadlock():
    articles = [approved(past()) for _ in range(6)]

    results = contend(
        lambda: lifecycle.change_offline_time(articles[3], None, actor="x"),
        lambda: lifecycle.publish_due(articles),
        lambda: lifecycle.publish_due(articles[::-1]),
    )

    assert [result.error for result in results] == [None, None]
    assert [sum(one.moved for one in result.value.values()) for result in results] == [6, 0]


def test_publishing_by_hand_and_by_its_task_is_one_publishing():
    article = approved(past())
    by_task = publish(article)

    by_hand, report = overlap_results(lambda: lifecycle.publish_now(article, actor="bob"), by_task)

    assert by_hand.error is report.error is None
    assert [verb for verb in history(article) if verb.startswith("publish")] == ["publish_now"]


def test_publishing_by_hand_after_its_task_is_refused():
    article = approved(past())

    report, by_hand = overlap_results(publish(article), lambda: lifecycle.publish_now(article, actor="bob"))

    assert report.error is None
    assert isinstance(by_hand.error, IllegalMove)
    assert [verb for verb in history(article) if verb.startswith("publish")] == ["publish"]


def test_fifty_publishings_of_one_article_at_once_are_one():
    article = approved(past())
    moved, ready = [], threading.Barrier(50)

    def one() -> None:
        try:
            connection.ensure_connection()
            ready.wait(20)
            moved.append(lifecycle.publish_due([article])[article].moved)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=one) for _ in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)

    assert sorted(moved) == [False] * 49 + [True]
    assert history(article).count("publish") == 1


def test_a_worker_whose_batch_was_reaped_publishes_nothing_and_the_next_one_does():
    article = approved(past())
    number = claim_task(publish_task(article))
    batch = start(number, "slow worker")
    expire_lease(str(number))
    reap()
    make_due(publish_task(article).id)
    [again] = claim_due()

    run(again.batch_no)
    late = lifecycle.publish_due([article])

    assert batch is not None
    assert not late[article].moved
    assert history(article).count("publish") == 1


# Audit against audit, and against the author.


def judged(article: int, *, approved: bool = True) -> Judged:
    return Judged(row(article).content_revision, Verdict(approved, "dull"))


def audit_batch(article: int):
    """Its audit, started by a worker; the handler's first phase is done by `then`."""
    return start(claim_task(audit_task(article)), "worker")


def verdict(article: int, batch, answer: Judged):
    """The second phase, as the executor does it: effects, then settle, in one transaction; None if it was not ours."""

    def write():
        with transaction.atomic():
            write_verdict(batch.tasks[0], answer)
            if settle(batch.batch_no, REGISTRY.get(AUDIT), [Settled(batch.tasks[0], None)], finish=True) != 1:
                transaction.set_rollback(True)
                return False
        return True

    return write


def test_of_two_verdicts_on_one_article_one_counts():
    article = pending()

    first, second = overlap_results(
        lambda: lifecycle.write_approval(article, actor="one", content_revision=1),
        lambda: lifecycle.write_rejection(article, reason="dull", actor="two", content_revision=1),
    )

    assert first.error is None
    assert isinstance(second.error, IllegalMove)
    assert (status(article), history(article)[-1]) == ("AUDIT_SUCCESS", "approve")
    assert publish_task(article).live


def test_of_two_attempts_of_one_audit_one_writes():
    """The first worker's lease ran out while it waited for the service; the second asked again."""
    article = pending()
    slow = audit_batch(article)
    expire_lease(str(slow.batch_no))
    reap()
    quick = audit_batch(article)

    first, second = overlap_results(
        verdict(article, quick, judged(article)), lambda: run_apply(slow, judged(article, approved=False))
    )

    assert first.value is True
    assert second.waited
    assert status(article) == "AUDIT_SUCCESS"
    assert [verb for verb in history(article) if verb in ("approve", "reject")] == ["approve"]


def run_apply(batch, answer: Judged):
    """The executor's own second phase for a batch that was started before."""
    from tasks_app.engine.worker.batch_run import BatchRun
    from tasks_app.engine.worker.interruption import MainThreadInterrupter
    from tasks_app.engine.worker.transactional import EffectsRun

    handler = REGISTRY.get(AUDIT)
    batch_run = BatchRun(batch, handler)
    for task in batch.tasks:
        batch_run.begin(task)
    effects = EffectsRun(batch_run, MainThreadInterrupter(), lambda task: write_verdict(task, answer), vectorised=False)
    effects.execute(batch.tasks, finish=True)
    return batch_run.written


@pytest.mark.parametrize("commit", [True, False])
def test_a_verdict_that_meets_an_edit_of_the_text_is_not_written(commit):
    article = pending()
    batch, answer = audit_batch(article), judged(article)

    edit, written = overlap_results(
        lambda: lifecycle.edit_content(article, body="quite another", actor=ANN),
        lambda: run_apply(batch, answer),
        commit=commit,
    )

    assert edit.error is written.error is None
    assert written.waited
    assert status(article) == ("DRAFT" if commit else "AUDIT_SUCCESS")
    assert (publish_task(article) is None) == commit


@pytest.mark.parametrize("commit", [True, False])
def test_an_edit_of_the_text_that_meets_a_verdict_withdraws_what_was_approved(commit):
    article = pending()
    batch, answer = audit_batch(article), judged(article)

    written, edit = overlap_results(
        verdict(article, batch, answer),
        lambda: lifecycle.edit_content(article, body="quite another", actor=ANN),
        commit=commit,
    )

    assert written.error is edit.error is None
    assert (status(article), row(article).content_revision) == ("DRAFT", 2)
    assert publish_task(article) is None or not publish_task(article).live


def test_a_verdict_on_an_old_text_is_not_written_even_if_the_article_is_pending_again():
    article = pending()
    batch, answer = audit_batch(article), judged(article)
    lifecycle.edit_content(article, body="quite another", actor=ANN)
    lifecycle.submit(article, actor=ANN)

    assert run_apply(batch, answer) == 0

    assert status(article) == "PENDING_AUDIT"
    assert audit_task(article).live


def test_a_text_that_changed_under_a_running_audit_is_asked_about_again():
    """Past the lifecycle, so that the task is still the same: the verdict is about another text, and is not written."""
    article = pending()
    batch, answer = audit_batch(article), judged(article)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE article SET content_revision = 9 WHERE id = %s", [article])

    run_apply(batch, answer)

    assert status(article) == "PENDING_AUDIT"
    assert (audit_task(article).status, audit_task(article).error_code) == ("FAIL", "CONTENT_CHANGED")
    assert audit_task(article).due_at <= timezone.now() + timedelta(seconds=1)


# Submitting.


def test_an_audit_is_not_claimed_before_the_submission_is_committed():
    article = draft()

    submitted, claimed = overlap_results(lambda: lifecycle.submit(article, actor=ANN), claim_due, commit=False)

    assert submitted.error is claimed.error is None
    assert claimed.value == []
    assert (status(article), audit_task(article), history(article)) == ("DRAFT", None, ["create"])


@pytest.mark.parametrize("outcome", ["approved", "rejected"])
def test_a_new_submission_while_the_old_audit_is_settling_is_audited_again(outcome):
    article = pending()
    batch, answer = audit_batch(article), judged(article, approved=outcome == "approved")

    def again():
        if outcome == "approved":
            lifecycle.withdraw(article, actor=ANN)
        else:
            lifecycle.back_to_draft(article, actor=ANN)
        return lifecycle.submit(article, actor=ANN)

    written, submitted = overlap_results(verdict(article, batch, answer), again)

    assert written.error is submitted.error is None
    assert (status(article), audit_task(article).live) == ("PENDING_AUDIT", True)


def test_a_skip_that_is_settling_does_not_swallow_a_new_submission():
    """The audit saw a draft and is about to skip; the author submits right then."""
    article = pending()
    batch = audit_batch(article)
    lifecycle.withdraw(article, actor=ANN)

    with pytest.raises(Exception, match="is DRAFT"):
        audit(batch.tasks[0])
    lifecycle.submit(article, actor=ANN)
    run_apply(batch, judged(article))

    assert (status(article), audit_task(article).live) == ("PENDING_AUDIT", True)


def test_a_submission_does_not_rely_on_an_audit_of_before_that_still_runs():
    """Past the lifecycle, which would have called it off: the old attempt may be about to skip."""
    article = pending()
    batch = audit_batch(article)
    write_past_lifecycle(article, status="DRAFT")

    lifecycle.submit(article, actor=ANN)

    assert audit_task(article).id != batch.tasks[0].id
    assert audit_task(article).live


def test_two_submissions_are_one():
    article = draft()

    first, second = overlap_results(
        lambda: lifecycle.submit(article, actor=ANN), lambda: lifecycle.submit(article, actor="twice")
    )

    assert first.error is None
    assert isinstance(second.error, IllegalMove)
    assert ScheduleTask.objects.filter(task_type=AUDIT).count() == 1
    assert ArticleEvent.objects.filter(verb="submit").count() == 1


# A form that is sent twice


@pytest.mark.parametrize("commit", [True, False], ids=["committed", "rolled back"])
def test_a_form_that_is_sent_twice_at_once_makes_one_article(commit):
    token = uuid4()

    def make() -> int:
        return lifecycle.create(title="A title", body="A body", author=ANN, publish_time=MONDAY, token=token).id

    first, second = overlap_results(make, make, commit=commit)

    assert second.waited
    if commit:
        assert isinstance(second.error, AlreadyCreated) and second.error.article_id == first.value
    else:
        assert second.error is None
    assert Article.objects.count() == ArticleEvent.objects.count() == 1
