"""Document 001: how articles are audited by scheduled tasks.

§1 the flow and the compensation, §2.1 which tasks can run, §2.2 how they are claimed, §2.3 threads and the time-out,
§2.4 how outcomes are written, §3 the audit itself, §4 what dead processes leave behind.
"""

import socket
from collections.abc import Callable
from datetime import timedelta
from threading import current_thread

import pytest
from django.db import transaction
from django.utils import timezone

from articles_app import lifecycle
from articles_app.compensation import scan
from articles_app.errors import IllegalMove
from articles_app.models import Article, ArticleEvent
from articles_app.states import ArticleStatus
from articles_app.units import AUDIT
from django_punctual import cancel, ensure
from tasks_app.core.handlers import REGISTRY
from tasks_app.core.task import Failure
from tasks_app.engine import nodes
from tasks_app.engine.beat.chores import Chores
from tasks_app.lifecycle.reap import reap
from tasks_app.lifecycle.start import start
from tasks_app.models import MaintenanceEntry, ScheduleTask
from tests.support.articles import (
    ANN,
    IN_STATE,
    MONDAY,
    approved,
    audit_task,
    claim_task,
    draft,
    history,
    pending,
    publish_task,
    row,
    run,
    status,
)
from tests.support.engine import batch_row, claim_due, expire_lease, make_due, run_due
from tests.support.http_receiver import http_receiver
from tests.support.marks import commits
from tests.support.moves import (
    AWAY,
    FINAL,
    OK,
    RETRY,
    TUESDAY,
    away,
    claimed,
    dead,
    ids_of,
    scheduled,
    settled,
    started,
    state,
)
from tests.support.overlap import overlap, overlap_results
from tests.support.sides import sides
from tests.support.wait import wait_until

pytestmark = commits

APPROVE = b'{"verdict": "approve"}'
REJECT = b'{"verdict": "reject", "reason": "dull"}'


@pytest.fixture
def service(settings):
    """A moderation service that approves, or waits while `hold` is cleared; only its address is not the default."""
    with http_receiver() as service:
        service.answer = APPROVE
        settings.ARTICLES = settings.ARTICLES | {"MODERATION_URL": service.url}
        yield service


def task_row(task_id: int) -> ScheduleTask:
    return ScheduleTask.objects.get(id=task_id)


# §1


def test_s1_a_submission_creates_an_audit_task_in_the_same_transaction():
    article = draft()

    with pytest.raises(KeyError), transaction.atomic():
        lifecycle.submit(article, actor=ANN)
        assert audit_task(article).status == "INIT"
        raise KeyError("the author's request fails")
    assert (audit_task(article), status(article)) == (None, "DRAFT")

    lifecycle.submit(article, actor=ANN)
    assert (audit_task(article).status, status(article)) == ("INIT", "PENDING_AUDIT")


def test_s1_the_publish_time_is_the_execute_time_of_the_publish_task_and_the_audit_runs_at_once():
    """The document runs the audit at the publish time. Here an approved article is published on time:
    docs/publish-time-rules.md."""
    article = pending(MONDAY)
    [batch] = claim_due()

    run(batch.batch_no)

    assert batch.task_type == "ARTICLE_AUDIT"
    assert (status(article), publish_task(article).due_at) == ("AUDIT_SUCCESS", MONDAY)


def test_s1_with_an_audit_lead_of_0_the_publish_time_is_the_execute_time_of_the_audit(settings):
    settings.ARTICLES = settings.ARTICLES | {"AUDIT_LEAD_SECONDS": 0}

    assert audit_task(pending(MONDAY)).due_at == MONDAY


def test_s1_the_scan_creates_the_audit_task_that_a_pending_article_lacks():
    lost, kept = pending(), pending()
    ScheduleTask.objects.filter(task_type=AUDIT, biz_key=str(lost)).delete()
    its_task = audit_task(kept).id

    list(scan(dry_run=False))

    assert audit_task(lost).status == "INIT"
    assert audit_task(kept).id == its_task
    assert ScheduleTask.objects.filter(task_type=AUDIT).count() == 2


def test_s1_a_beat_runs_the_scan_once_a_minute():
    article = pending()
    ScheduleTask.objects.filter(task_type=AUDIT).delete()
    beat = Chores(nodes.new_node_id(), "beat")

    before = timezone.now()
    assert "compensate" in beat.run_once(["compensate"])
    beat.wait_aside(60)
    next_at = MaintenanceEntry.objects.get(name="compensate").next_at

    assert audit_task(article).status == "INIT"
    assert timedelta(seconds=60) <= next_at - before <= timedelta(seconds=60) + (timezone.now() - before)


# §2.1


def test_s2_1_init_and_fail_with_retries_left_can_run_and_nothing_else():
    away("away")
    dead("dead")
    settled(started("done"))
    cancel("T_QUIET", scheduled("cancelled") and "cancelled", by="olga")
    claimed("running")
    spent = started("spent", max_retry=0)
    settled(spent, Failure("BROKEN", "asked to fail", after=0))
    failed = started("failed", max_retry=1)
    settled(failed, Failure("BROKEN", "asked to fail", after=0))
    [init] = scheduled("init")
    scheduled("later", at=TUESDAY)

    [batch] = claim_due()

    running = [*ids_of(failed), init]
    assert sorted(batch_row(batch).ids) == sorted(running)
    assert {task_row(task).status for task in running} == {"RUNNING"}
    assert state(ids_of(spent)[0]).status == "DEAD"


def test_s2_1_the_last_of_max_retry_retries_runs_and_no_further_one():
    """max_retry retries come after the first try: a FAIL with retry_count = max_retry is run once more."""
    [task] = scheduled("a", max_retry=2)
    for became in ("FAIL", "FAIL", "DEAD"):
        [batch] = claim_due()
        settled(start(batch.batch_no, "worker"), Failure("BROKEN", "asked to fail", after=0))
        assert state(task).status == became

    assert (claim_due(), task_row(task).retry_count) == ([], 3)


# §2.2


@pytest.mark.parametrize("again", [False, True], ids=["new", "due again"])
def test_s2_2_a_claim_skips_the_rows_that_another_transaction_has_locked(again):
    """A task that is due again is found by another index."""
    held, free = scheduled("held", "free")
    if again:
        make_due(held, free)

    def lock() -> int:
        return ScheduleTask.objects.select_for_update().get(id=held).id

    _, claim = overlap_results(lock, claim_due)

    [batch] = claim.value
    assert (batch_row(batch).ids, claim.waited) == ([free], False)


def test_s2_2_two_claims_at_the_same_time_share_no_task():
    tasks = scheduled("a", "b", "c")

    first, second = overlap_results(claim_due, claim_due)

    [batch] = first.value
    assert (sorted(batch_row(batch).ids), second.value, second.waited) == (tasks, [], False)


@pytest.mark.parametrize("commit", [True, False])
def test_s2_2_the_select_and_running_are_one_transaction(commit):
    tasks = scheduled("a", "b", "c")

    overlap(claim_due, lambda: None, commit=commit)

    assert {task_row(task).status for task in tasks} == {"RUNNING" if commit else "INIT"}
    assert len(claim_due()) == (0 if commit else 1)


# §2.3


def test_s2_3_audits_run_in_threads_side_by_side(service):
    """Each waits for its answer until both have been asked for."""
    articles = [pending(), pending()]
    service.hold.clear()

    with sides(1) as begin:
        worker = begin(0, run_due)
        wait_until(lambda: worker.done() or len(service.got) == 2)
        service.hold.set()
        worker.result(120)

    assert [(status(one), audit_task(one).retry_count) for one in articles] == [("AUDIT_SUCCESS", 0)] * 2


def test_s2_3_the_audit_call_times_out_after_5_seconds_without_an_answer(service, monkeypatch):
    """What the client gives its socket last is the longest silence. Here it is cut short, except for connecting."""
    article = pending()
    service.hold.clear()
    given: list[float | None] = []
    settimeout = socket.socket.settimeout

    def note(self: socket.socket, seconds: float | None) -> None:
        ours = current_thread().name == "punctual-crew"
        given.extend([seconds] if ours else [])
        settimeout(self, 0.05 if ours and len(given) > 1 else seconds)

    monkeypatch.setattr(socket.socket, "settimeout", note)
    run_due()

    assert given[-1] == 5.0
    assert (audit_task(article).status, audit_task(article).error_code) == ("FAIL", "MODERATION_TIMEOUT")
    assert (status(article), audit_task(article).retry_count) == ("PENDING_AUDIT", 1)


# §2.4


OUTCOMES = {"markSuccess": OK, "markFailRetryable": RETRY, "markFailUnrecoverable": FINAL}
every_method = pytest.mark.parametrize("outcome", OUTCOMES.values(), ids=OUTCOMES)


@pytest.mark.parametrize(("outcome", "becomes"), [(OK, "SUCCESS"), (RETRY, "FAIL"), (FINAL, "DEAD")], ids=OUTCOMES)
def test_s2_4_each_method_moves_a_running_task(outcome, becomes):
    """An unrecoverable failure is DEAD here: the document has no status for it."""
    batch = started("a")

    assert settled(batch, outcome) == 1
    assert state(ids_of(batch)[0]).status == becomes


def reaped(batch) -> None:
    expire_lease(str(batch.batch_no))
    reap()


LEFT = {
    "cancelled": lambda batch: cancel("T_QUIET", "a", by="olga"),
    "successful": lambda batch: settled(batch, finish=False),
    "failed": lambda batch: settled(batch, RETRY, finish=False),
    "dead": lambda batch: settled(batch, FINAL, finish=False),
    "away": lambda batch: settled(batch, AWAY, finish=False),
    "reaped": reaped,
    "claimed again": lambda batch: (reaped(batch), make_due(*ids_of(batch)), claim_due()),
}


@every_method
@pytest.mark.parametrize("leave", LEFT.values(), ids=LEFT)
def test_s2_4_each_method_needs_a_running_task_of_its_batch(outcome, leave):
    batch = started("a")
    leave(batch)
    before = ScheduleTask.objects.values().get()

    assert not settled(batch, outcome)
    assert ScheduleTask.objects.values().get() == before


@every_method
def test_s2_4_each_method_waits_for_a_rival_and_then_writes_nothing(outcome):
    batch = started("a")

    _, written = overlap(lambda: cancel("T_QUIET", "a", by="olga"), lambda: settled(batch, outcome))

    assert (written, state(ids_of(batch)[0]).status) == (0, "CANCELLED")


def test_s2_4_success_clears_error_msg_and_keeps_retry_count():
    batch = started("a")
    settled(batch, RETRY)
    [task] = ids_of(batch)
    assert task_row(task).error_msg == "asked to fail"
    make_due(task)
    [again] = claim_due()

    settled(start(again.batch_no, "worker"), OK)

    assert (task_row(task).status, task_row(task).error_msg, task_row(task).retry_count) == ("SUCCESS", "", 1)


# §3


@pytest.mark.parametrize(
    ("answer", "becomes", "reason"), [(APPROVE, "AUDIT_SUCCESS", ""), (REJECT, "AUDIT_FAIL", "dull")]
)
def test_s3_1_the_audit_returns_a_verdict_and_its_caller_writes_it(service, answer, becomes, reason):
    article = pending()
    service.answer = answer

    run_due()

    assert (status(article), row(article).audit_reason) == (becomes, reason)
    assert audit_task(article).status == "SUCCESS"
    assert len(service.got) == 1


def test_s3_2_an_audit_of_an_article_that_waits_for_none_asks_no_service(service):
    article = approved()
    before = row(article).revision
    ensure(AUDIT, article, delay=0)

    run_due()

    assert (service.got, row(article).revision) == ([], before)
    assert (audit_task(article).status, status(article)) == ("CANCELLED", "AUDIT_SUCCESS")


def test_s3_2_a_verdict_that_comes_after_another_is_not_written(service):
    """The service rejects, while another call has approved the article."""
    article = pending()
    service.answer = REJECT
    service.hold.clear()

    with sides(1) as begin:
        worker = begin(0, run_due)
        wait_until(lambda: service.got)
        lifecycle.write_approval(article, actor="moderation")
        service.hold.set()
        worker.result(120)

    assert (status(article), history(article)[-1]) == ("AUDIT_SUCCESS", "approve")


def test_s3_2_a_verdict_about_another_text_is_not_written(service):
    article = pending()
    service.hold.clear()

    with sides(1) as begin:
        worker = begin(0, run_due)
        wait_until(lambda: service.got)
        lifecycle.edit_content(article, body="another text", actor=ANN)
        lifecycle.submit(article, actor=ANN)
        service.hold.set()
        worker.result(120)

    assert status(article) == "PENDING_AUDIT"


VERBS: dict[str, Callable] = {
    "submit": lifecycle.submit,
    "approve": lifecycle.approve,
    "reject": lambda article, actor: lifecycle.reject(article, reason="dull", actor=actor),
    "publish_now": lifecycle.publish_now,
    "take_offline": lifecycle.take_offline,
}
LEGAL = {
    ("submit", "DRAFT"): "PENDING_AUDIT",
    ("approve", "PENDING_AUDIT"): "AUDIT_SUCCESS",
    ("reject", "PENDING_AUDIT"): "AUDIT_FAIL",
    ("publish_now", "AUDIT_SUCCESS"): "PUBLISHED",
    ("take_offline", "PUBLISHED"): "OFFLINE",
}


@pytest.mark.parametrize("source", ArticleStatus)
def test_s3_3_each_verb_moves_an_article_from_its_own_state_only(source):
    def written() -> tuple:
        rows = Article.objects.values().get(id=article)
        return rows, ArticleEvent.objects.count(), list(ScheduleTask.objects.order_by("id").values())

    article = IN_STATE[source]()
    before = written()
    for verb in [verb for verb in VERBS if (verb, source) not in LEGAL]:
        with pytest.raises(IllegalMove):
            VERBS[verb](article, actor=ANN)
        assert written() == before

    for (verb, _), target in [item for item in LEGAL.items() if item[0][1] == source]:
        another = IN_STATE[source]()
        VERBS[verb](another, actor=ANN)
        assert status(another) == target


# §4


def test_s4_a_running_task_whose_process_has_died_is_recovered():
    article = pending()
    number = claim_task(audit_task(article))
    start(number, "worker")
    assert reap() == []

    expire_lease(str(number))
    reap()

    assert (audit_task(article).status, audit_task(article).error_code) == ("FAIL", "LOST")
    make_due(audit_task(article).id)
    run_due()
    assert (status(article), audit_task(article).status) == ("AUDIT_SUCCESS", "SUCCESS")


def test_s4_the_retry_cap_ends_a_task_that_always_fails():
    """12 retries after the first try; the document gives no number. It is DEAD then, and nothing claims it."""
    article = pending()
    tries = 0
    while (task := audit_task(article)).status in ("INIT", "FAIL"):
        settled(start(claim_task(task), "worker"), Failure("BROKEN", "asked to fail", after=0))
        tries += 1

    assert (tries, task.status, task.retry_count) == (13, "DEAD", 13)
    assert REGISTRY.require(AUDIT).max_retry == 12
    assert claim_due() == []
