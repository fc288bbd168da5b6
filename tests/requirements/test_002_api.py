"""002 §8 and §16: the four operations, their codes, and the two panels."""

import pytest

from tasks_app.api.problems import CODES
from tasks_app.models import ScheduleTask
from tests.support.api import JOB, Api
from tests.support.backfill import hourly, hours
from tests.support.engine import run_due
from tests.support.jobs import make
from tests.support.live import a_beat_is_alive, nobody_is_alive
from tests.support.panels import run_panel_tests

pytestmark = pytest.mark.django_db

CRON = "0 */5 * * * ?"  # as in the document


@pytest.fixture
def api() -> Api:
    a_beat_is_alive()
    return Api()


# ---- §8


def test_s8_post_jobs_creates_a_job(api):
    made = api.post("/api/v1/jobs", JOB)

    assert (made.status, made.body["name"], made.body["status"]) == (201, "report", "ACTIVE")


def test_s8_a_trigger_needs_an_idempotency_key(api):
    job = make()

    refused = api.post(f"/api/v1/jobs/{job.id}/trigger")
    assert (refused.status, refused.code) == (400, "SCH_400_IDEMPOTENCY_KEY_MISSING")
    assert not ScheduleTask.objects.filter(biz_key__contains=":m:").exists()
    assert api.post(f"/api/v1/jobs/{job.id}/trigger", Idempotency_Key="k").status == 201


def test_s8_a_backfill_runs_the_firings_between_two_times(api):
    job = hourly()
    between = {"since": hours(5)[0].isoformat(), "until": hours(5)[-1].isoformat()}

    begun = api.post(f"/api/v1/jobs/{job.id}/backfill", between, Idempotency_Key="k")

    assert (begun.status, begun.body["instances"]) == (200, 5)


def test_s8_instances_are_the_history_of_a_job(api):
    job = make(every=3600)
    done = api.post(f"/jobs/{job.id}/trigger", Idempotency_Key="k").body["task_id"]
    run_due()

    listed = api.get(f"/api/v1/jobs/{job.id}/instances?status=SUCCESS").body["items"]
    assert [(one["id"], one["status"]) for one in listed] == [(done, "SUCCESS")]


def test_s8_sch_409_duplicate_is_a_name_that_is_taken(api):
    api.post("/jobs", JOB)

    again = api.post("/jobs", JOB)
    assert (again.status, again.code) == (409, "SCH_409_DUPLICATE")


def test_s8_sch_503_dispatcher_down_is_a_trigger_while_no_beat_dispatches(api):
    job = make()
    nobody_is_alive()

    down = api.post(f"/jobs/{job.id}/trigger", Idempotency_Key="k")
    assert (down.status, down.code, down.headers["Retry-After"]) == (503, "SCH_503_DISPATCHER_DOWN", "5")


def test_s8_the_three_codes_of_the_document_are_there():
    """`SCH_429_RETRY_LIMITED` is the answer to a backfill while too many tries fail: `test_002_thresholds.py`."""
    assert {"SCH_409_DUPLICATE", "SCH_429_RETRY_LIMITED", "SCH_503_DISPATCHER_DOWN"} <= CODES.keys()


# ---- §16


def test_s16_the_document_s_body_of_a_job_lacks_the_task_type(api):
    """`{name, cron}` doesn't say what is to run. The answer names the field; with it, the body is taken as it is."""
    refused = api.post("/jobs", {"name": "coupon_job", "cron": CRON})
    assert (refused.status, refused.code) == (422, "SCH_422_INVALID")
    assert "task_type" in refused.body["detail"]

    made = api.post("/jobs", {"name": "coupon_job", "cron": CRON, "task_type": "T_QUIET"}, Idempotency_Key="create-1")
    assert (made.status, made.body["words"]) == (201, "Every fifth minute of every hour")


def test_s16_health_has_the_p95_of_the_trigger_delay(api):
    health = api.get("/api/v1/scheduler/health")

    assert (health.status, health.body["triggerDelayP95Ms"]) == (200, None)  # nothing has started


@pytest.mark.parametrize(
    "promise",
    [
        "the pause is 2 s after an answer, longer after each failure, and 30 s at most",
        "failures are counted, the third one leaves a summary of the last good state, and an answer ends it",
        "what starts or waits longer than 2 s is late, and throttled only if a safeguard does it",
    ],
)
def test_s16_the_health_panel_keeps_the_numbers_of_the_document(promise):
    """Poll every 2 s, min(30 s, 2 s * (n + 1)) after n failures, read-only after the third, degraded above 2,000 ms; in
    the words of the document. Both panels are web components, so they need no React and work in any page."""
    run_panel_tests(promise)


def test_s16_a_job_is_sent_once_under_one_key():
    run_panel_tests(
        "a lost answer is asked for again with the same key, even after a reload, and a new job has a new one"
    )
