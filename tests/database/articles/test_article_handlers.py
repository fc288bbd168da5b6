"""The handlers of an article against the real example service, switched to everything a third party does."""

import httpx
import pytest

from articles_app import lifecycle
from articles_app.models import Article
from articles_app.moderation import _say_once, ask
from articles_app.units import AUDIT
from django_punctual import RetryableError, UnrecoverableError, ensure
from tasks_app.models import DlqEntry, ScheduleTask, TaskAttempt
from tests.support.articles import (
    ANN,
    MONDAY,
    approved,
    audit_task,
    claim_task,
    draft,
    history,
    offline_task,
    past,
    pending,
    publish_task,
    published,
    row,
    run,
    status,
    write_past_lifecycle,
)
from tests.support.engine import make_due, run_due
from tests.support.marks import commits
from tests.support.moderation import moderation_service

pytestmark = commits


@pytest.fixture(scope="module")
def service():
    with moderation_service() as service:
        yield service


@pytest.fixture
def moderation(service, settings):
    """The service as a well-behaved one, and a caller with patience."""
    settings.ARTICLES = {"MODERATION_URL": service.url, "ANSWER_MAX_BYTES": 1000}
    service.behave("ok")
    return service


def question(body: str = "A body"):
    return ask(7, 1, "A title", body, token="a-token")


# The client.


def test_a_clear_verdict_is_final(moderation):
    assert question().approved
    verdict = ask(7, 1, "A title", "something Forbidden", token="another")
    assert (verdict.approved, verdict.reason) == (False, "contains 'forbidden'")


@pytest.mark.parametrize(
    ("mode", "options", "code"),
    [
        ("silent", {}, "MODERATION_UNREACHABLE"),
        ("failing", {"status": 500}, "MODERATION_500"),
        ("failing", {"status": 503}, "MODERATION_503"),
        ("failing", {"status": 408}, "MODERATION_408"),
        ("failing", {"status": 429}, "MODERATION_429"),
        ("failing", {"status": 204}, "MODERATION_MALFORMED"),
        ("wrong", {}, "MODERATION_MALFORMED"),
        ("unsure", {}, "MODERATION_MALFORMED"),
        ("endless", {}, "MODERATION_MALFORMED"),
    ],
)
def test_what_may_pass_is_retryable_and_has_a_name_of_its_own(moderation, mode, options, code):
    moderation.behave(mode, **options)

    with pytest.raises(RetryableError) as failed:
        question()

    assert failed.value.code == code


def test_a_silent_service_is_waited_for_no_longer_than_allowed(moderation, settings):
    settings.ARTICLES = settings.ARTICLES | {"READ_SECONDS": 0.3}
    moderation.behave("slow", seconds=60)

    with pytest.raises(RetryableError) as failed:
        question()

    assert failed.value.code == "MODERATION_TIMEOUT"


@pytest.mark.parametrize("status_code", [301, 400, 401, 403, 404, 422])
def test_what_a_person_has_to_change_is_final(moderation, status_code):
    moderation.behave("failing", status=status_code)

    with pytest.raises(UnrecoverableError, match="Check MODERATION_URL") as failed:
        question()

    assert failed.value.code == f"MODERATION_{status_code}"


@pytest.mark.parametrize(("retry_after", "after"), [(7, 7), (10_000, 300), ("soon", None)])
def test_a_service_that_is_busy_says_when_to_come_back(moderation, retry_after, after):
    moderation.behave("failing", status=429, retry_after=retry_after)

    with pytest.raises(RetryableError) as failed:
        question()

    assert failed.value.after == after


@pytest.mark.parametrize("mode", ["dripping", "dripping_headers"])
def test_a_dripping_answer_can_not_hold_the_call_beyond_its_deadline(moderation, settings, mode):
    """A byte a second: no silence is too long, and without the deadline the answer would be whole one day."""
    settings.ARTICLES = settings.ARTICLES | {"READ_SECONDS": 5, "TOTAL_SECONDS": 1.3}
    moderation.behave(mode)

    with pytest.raises(RetryableError) as failed:
        question()

    assert failed.value.code == "MODERATION_TIMEOUT"


def test_a_service_that_is_not_there_is_retryable(settings):
    settings.ARTICLES = {"MODERATION_URL": "http://127.0.0.1:9/audit"}

    with pytest.raises(RetryableError) as failed:
        question()

    assert failed.value.code == "MODERATION_UNREACHABLE"


def test_the_service_knows_the_same_question_again_by_its_key(moderation):
    before = moderation.told()["judged"]

    for _ in range(3):
        ask(7, 1, "A title", "A body", token="the-same")

    assert moderation.told()["judged"] == before + 1


def test_a_switch_that_does_not_exist_is_refused_by_the_service(service):
    answer = httpx.post(service.url.replace("/audit", "/mode"), json={"mode": "lazy"})

    assert answer.status_code == 400
    assert "dripping" in answer.json()["error"]


def test_without_a_service_the_local_rules_decide_and_say_so_once(settings, caplog):
    settings.ARTICLES = {"FORBIDDEN_WORDS": ("casino",)}
    _say_once.cache_clear()

    assert question().approved
    assert not ask(7, 1, "CASINO!", "A body", token="t").approved

    assert caplog.text.count("moderation.local") == 1


# Audit.


def test_an_audit_approves_and_schedules_the_publishing(moderation):
    article = pending(MONDAY)

    run_due()

    assert (status(article), audit_task(article).status) == ("AUDIT_SUCCESS", "SUCCESS")
    assert publish_task(article).due_at == MONDAY
    assert history(article)[-1] == "approve"


def test_an_audit_rejects_with_the_reason(moderation):
    article = pending(MONDAY, body="a forbidden word")

    run_due()

    assert (status(article), row(article).audit_reason) == ("AUDIT_FAIL", "contains 'forbidden'")
    assert publish_task(article) is None


def test_a_batch_of_audits_is_judged_one_by_one(moderation):
    good, bad = [pending() for _ in range(6)], [pending(body="forbidden") for _ in range(3)]

    run_due()

    assert {status(article) for article in good} == {"AUDIT_SUCCESS"}
    assert {status(article) for article in bad} == {"AUDIT_FAIL"}


def test_an_answer_after_the_callers_time_out_leads_to_one_outcome_after_the_retry(moderation, settings):
    article = pending()
    judged = moderation.told()["judged"]
    patient = settings.ARTICLES
    moderation.behave("slow", seconds=60, times=1)

    settings.ARTICLES = patient | {"READ_SECONDS": 0.3}
    run_due()
    settings.ARTICLES = patient
    assert (status(article), audit_task(article).error_code) == ("PENDING_AUDIT", "MODERATION_TIMEOUT")
    make_due(audit_task(article).id)
    run_due()

    assert (status(article), audit_task(article).status) == ("AUDIT_SUCCESS", "SUCCESS")
    assert history(article).count("approve") == 1
    assert moderation.told()["judged"] == judged + 1


def test_a_malformed_answer_is_tried_again_and_visible(moderation):
    article = pending()
    moderation.behave("wrong")

    run_due()

    assert (audit_task(article).status, audit_task(article).error_code) == ("FAIL", "MODERATION_MALFORMED")
    assert TaskAttempt.objects.get().error_code == "MODERATION_MALFORMED"


def test_a_wrong_address_is_a_dead_letter_and_the_article_stays_pending(moderation):
    article = pending()
    moderation.behave("failing", status=404)

    run_due()

    assert (status(article), audit_task(article).status) == ("PENDING_AUDIT", "DEAD")
    assert DlqEntry.objects.get().error_code == "MODERATION_404"


def test_an_audit_of_what_is_no_longer_pending_asks_nobody(moderation):
    article = approved()
    asked = moderation.told()["asked"]
    ensure(AUDIT, article, delay=0)

    run_due()

    assert moderation.told()["asked"] == asked
    assert audit_task(article).status == "CANCELLED"
    assert "is AUDIT_SUCCESS" in audit_task(article).error_msg


def test_an_audit_of_an_article_that_is_gone_is_skipped(moderation):
    ensure(AUDIT, 404, delay=0)

    run_due()

    assert ScheduleTask.objects.get().error_code == "NO_ARTICLE"


# Publish and offline.


def test_a_batch_of_publishings_goes_live_in_one_go():
    articles = [approved(past()) for _ in range(20)]

    [report] = run_due()

    assert report.settled == 20
    assert not Article.objects.filter(id__in=articles).exclude(status="PUBLISHED").exists()


def test_an_article_whose_own_time_is_later_is_snoozed_until_then():
    article = approved(past())
    write_past_lifecycle(article, publish_time=MONDAY)

    run_due()

    assert (status(article), publish_task(article).status) == ("AUDIT_SUCCESS", "INIT")
    assert (publish_task(article).due_at, publish_task(article).retry_count) == (MONDAY, 0)


def test_an_article_that_is_no_longer_approved_is_skipped_with_the_reason():
    article = approved(past())
    write_past_lifecycle(article, status="DRAFT")

    run_due()

    assert publish_task(article).status == "CANCELLED"
    assert "is DRAFT, not AUDIT_SUCCESS" in publish_task(article).error_msg


def test_publishing_what_is_live_already_succeeds_without_a_second_event():
    article = approved(past())
    lifecycle.publish_due([article])

    run_due()

    assert publish_task(article).status == "SUCCESS"
    assert history(article).count("publish") == 1


def test_one_odd_article_in_a_batch_does_not_harm_its_neighbours():
    early, gone, good = approved(past()), approved(past()), approved(past())
    write_past_lifecycle(early, publish_time=MONDAY)
    Article.objects.filter(id=gone)._raw_delete("default")

    run_due()

    assert [publish_task(article).status for article in (early, gone, good)] == ["INIT", "CANCELLED", "SUCCESS"]
    assert history(good)[-1] == "publish"


def test_an_article_goes_offline_when_its_task_is_due():
    article = published(offline_time=MONDAY)
    write_past_lifecycle(article, offline_time=row(article).published_at)

    run(claim_task(offline_task(article)))

    assert (status(article), offline_task(article).status) == ("OFFLINE", "SUCCESS")


@pytest.mark.parametrize(("offline_time", "ended"), [(MONDAY, "INIT"), (None, "CANCELLED")])
def test_an_offline_task_that_comes_too_early_looks_at_the_article(offline_time, ended):
    article = published(offline_time=MONDAY)
    write_past_lifecycle(article, offline_time=offline_time)

    run(claim_task(offline_task(article)))

    assert (status(article), offline_task(article).status) == ("PUBLISHED", ended)


def test_the_whole_way_from_draft_to_offline(moderation):
    article = draft(past(), offline_time=MONDAY)
    lifecycle.submit(article, actor=ANN)

    run_due()
    run_due()
    lifecycle.take_offline(article, actor=ANN)

    assert history(article) == ["create", "submit", "approve", "publish", "take_offline"]
