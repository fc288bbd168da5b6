"""002 §8 and §16: the job operations of the REST API, their error codes, and the two panels."""

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

CRON = "0 */5 * * * ?"  # the example in §16


@pytest.fixture
def api() -> Api:
    a_beat_is_alive()
    return Api()


# §8


def test_s8_post_jobs_creates_a_job(api):
    created = api.post("/api/v1/jobs", JOB)

    assert (created.status, created.body["name"], created.body["status"]) == (201, "report", "ACTIVE")


def test_s8_a_trigger_needs_an_idempotency_key(api):
    job = make()

    without_key = api.post(f"/api/v1/jobs/{job.id}/trigger")

    assert (without_key.status, without_key.code) == (400, "SCH_400_IDEMPOTENCY_KEY_MISSING")
    assert not ScheduleTask.objects.filter(biz_key__contains=":m:").exists()
    assert api.post(f"/api/v1/jobs/{job.id}/trigger", Idempotency_Key="k").status == 201


def test_s8_a_backfill_creates_the_runs_between_two_times(api):
    job = hourly()
    between = {"since": hours(5)[0].isoformat(), "until": hours(5)[-1].isoformat()}

    backfill = api.post(f"/api/v1/jobs/{job.id}/backfill", between, Idempotency_Key="k")

    assert (backfill.status, backfill.body["instances"]) == (200, 5)


def test_s8_instances_lists_the_runs_of_a_job(api):
    job = make(every=3600)
    task_id = api.post(f"/jobs/{job.id}/trigger", Idempotency_Key="k").body["task_id"]
    run_due()

    runs = api.get(f"/api/v1/jobs/{job.id}/instances?status=SUCCESS").body["items"]

    assert [(run["id"], run["status"]) for run in runs] == [(task_id, "SUCCESS")]


def test_s8_a_second_job_of_the_same_name_returns_sch_409_duplicate(api):
    api.post("/jobs", JOB)

    second = api.post("/jobs", JOB)

    assert (second.status, second.code) == (409, "SCH_409_DUPLICATE")


def test_s8_a_trigger_without_a_running_beat_returns_sch_503_dispatcher_down(api):
    job = make()
    nobody_is_alive()

    down = api.post(f"/jobs/{job.id}/trigger", Idempotency_Key="k")

    assert (down.status, down.code, down.headers["Retry-After"]) == (503, "SCH_503_DISPATCHER_DOWN", "5")


def test_s8_the_three_error_codes_of_the_document_exist():
    """`test_002_thresholds.py` tests `SCH_429_RETRY_LIMITED`, which a backfill returns during a retry storm."""
    assert {"SCH_409_DUPLICATE", "SCH_429_RETRY_LIMITED", "SCH_503_DISPATCHER_DOWN"} <= CODES.keys()


# §16


def test_s16_a_job_with_only_a_name_and_cron_lacks_the_task_type(api):
    """The document's body `{name, cron}` doesn't name the task type. The error names the missing field."""
    incomplete = api.post("/jobs", {"name": "coupon_job", "cron": CRON})
    complete = {"name": "coupon_job", "cron": CRON, "task_type": "T_QUIET"}
    created = api.post("/jobs", complete, Idempotency_Key="create-1")

    assert (incomplete.status, incomplete.code) == (422, "SCH_422_INVALID")
    assert "task_type" in incomplete.body["detail"]
    assert (created.status, created.body["words"]) == (201, "Every fifth minute of every hour")


def test_s16_health_includes_the_p95_of_the_trigger_delay(api):
    health = api.get("/api/v1/scheduler/health")

    assert (health.status, health.body["triggerDelayP95Ms"]) == (200, None)  # no task has started yet


@pytest.mark.parametrize(
    "panel_test",
    [
        "the pause is 2 s after an answer, longer after each failure, and 30 s at most",
        "failures are counted, the third one leaves a summary of the last good state, and an answer ends it",
        "what starts or waits longer than 2 s is late, and throttled only if a safeguard does it",
    ],
)
def test_s16_the_health_panel_keeps_the_limits_of_the_document(panel_test):
    """Poll every 2 s, back off to min(30 s, 2 s * (n + 1)) after n failures, show a read-only summary from the third
    failure, and report degraded above 2,000 ms. The panels are web components, so any page can embed them."""
    run_panel_tests(panel_test)


def test_s16_the_panel_sends_a_job_once_per_idempotency_key():
    run_panel_tests(
        "a lost answer is asked for again with the same key, even after a reload, and a new job has a new one"
    )
