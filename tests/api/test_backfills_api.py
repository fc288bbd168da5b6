"""/jobs/{job_id}/backfill and /backfills: a dry run, the campaign, and who may."""

import pytest

from tasks_app.engine.operations.api_tokens import issue
from tasks_app.models import AuditEntry, Backfill, Campaign, GraphRun
from tests.support.api import Api
from tests.support.backfill import fired, hourly, hours
from tests.support.campaigns import carried_out
from tests.support.jobs import make
from tests.support.operators import operator

pytestmark = pytest.mark.django_db


def body(count: int, **options: object) -> dict:
    times = hours(count)
    return {"since": times[0].isoformat(), "until": times[-1].isoformat()} | options


def test_a_dry_run_says_what_would_be_done_and_the_next_call_does_it(api):
    job = hourly()

    dry = api.post(f"/jobs/{job.id}/backfill", body(5, rate=2, dry_run=True), Idempotency_Key="dry")
    assert (dry.status, dry.body["instances"], dry.body["campaign"]) == (200, 5, None)
    assert [one["job"] for one in dry.body["first"]] == [job.id] * 3
    assert not Campaign.objects.exists()

    begun = api.post(f"/jobs/{job.id}/backfill", body(5, rate=2, reason="it is back"), Idempotency_Key="k")
    again = api.post(f"/jobs/{job.id}/backfill", body(5, rate=2, reason="it is back"), Idempotency_Key="k")

    assert (begun.body["state"], again.body) == ("RUNNING", begun.body)
    seen = api.get(f"/campaigns/{begun.body['campaign']}").body
    assert (seen["kind"], seen["which"], seen["total"], seen["lane"]) == ("backfill", "missing", 5, "backfill")
    assert [one["id"] for one in api.get("/campaigns?kind=backfill").body["items"]] == [seen["id"]]
    carried_out(Campaign.objects.get())
    assert fired(job) == hours(5)
    assert api.post(f"/jobs/{job.id}/backfill", body(5), Idempotency_Key="later").body["campaign"] is None
    listed = api.get(f"/jobs/{job.id}/instances").body["items"]
    assert {one["fire_time"] for one in listed} >= {f"{at:%Y-%m-%dT%H:%M:%SZ}" for at in hours(5)}
    assert AuditEntry.objects.filter(subject=f"campaign {seen['id']}", reason="it is back").exists()


def test_it_needs_a_key(api):
    assert api.post(f"/jobs/{hourly().id}/backfill", body(2)).code == "SCH_400_IDEMPOTENCY_KEY_MISSING"
    assert api.post("/backfills", body(2, jobs=[1])).code == "SCH_400_IDEMPOTENCY_KEY_MISSING"


def test_several_jobs_are_one_campaign_of_the_caller_s_own(api):
    one, two, theirs = hourly("one"), hourly("two"), hourly("theirs", tenant="acme")

    begun = api.post("/backfills", body(3, jobs=[one.id, two.id], which="all", newest_first=True), Idempotency_Key="k")
    refused = api.post("/backfills", body(3, jobs=[one.id, theirs.id]), Idempotency_Key="other")

    assert (begun.status, begun.body["instances"]) == (200, 6)
    assert Backfill.objects.filter(campaign=begun.body["campaign"]).count() == 2
    assert refused.code == "SCH_404_NOT_FOUND"
    assert Campaign.objects.count() == 1


def test_a_token_uses_its_own_types_and_lanes_only():
    plain, closed = hourly("plain"), hourly("closed", task_type="T_CLOSED")
    other = hourly("other", task_type="T_PLAIN")
    api = Api(token=issue("some", "default", operator(), can_write=True, types=["T_QUIET", "T_PLAIN"])[1])

    def code(path: str, **options: object) -> str:
        return api.post(path, body(2, **options), Idempotency_Key=f"{path} {len(options)}").code

    assert code("/backfills", jobs=[plain.id, closed.id]) == "SCH_404_NOT_FOUND"
    assert code(f"/jobs/{plain.id}/backfill", lane="critical") == "SCH_403_LANE_CLOSED"
    assert code("/backfills", jobs=[plain.id, other.id], reason="two types") == "SCH_422_INVALID"
    assert not Campaign.objects.exists()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"which": "some"}, "which"),
        ({"cap": 1}, "more than 1"),
        ({"until": "2090-01-01T00:00:00Z"}, "in the future"),
        ({"since": "2090-01-01T00:00:00Z"}, "not before until"),
        ({"newest_first": "perhaps"}, "newest_first"),
        ({"rate": 0}, "rate"),
        ({"descendants": "perhaps"}, "descendants"),
        ({"descendants": False, "which": "failed"}, "descendants=False"),
        ({"most_running": 0}, "most_running"),
        ({"most_running": True}, "most_running"),
        ({"sinse": "x"}, "sinse"),
    ],
)
def test_bad_input_is_told_and_begins_nothing(api, options, told):
    answer = api.post(f"/jobs/{hourly().id}/backfill", body(3) | options, Idempotency_Key="k")

    assert (answer.status, answer.code) == (422, "SCH_422_INVALID")
    assert told in answer.body["detail"]
    assert not Campaign.objects.exists()


def test_what_comes_after_a_job_comes_along_or_not(api):
    root = hourly("root")
    make("after", parents=["root"])

    dry = api.post(f"/jobs/{root.id}/backfill", body(3, dry_run=True), Idempotency_Key="dry").body
    alone = api.post(f"/jobs/{root.id}/backfill", body(2, descendants=False), Idempotency_Key="alone").body
    carried_out(Campaign.objects.get())

    assert (dry["instances"], dry["along"], alone["instances"], alone["along"]) == (3, 3, 2, 0)
    assert "without what comes after" in alone["selection"]
    assert not GraphRun.objects.exists()


def test_the_pace_of_a_campaign_is_changed(api):
    job = hourly()
    begun = api.post(f"/jobs/{job.id}/backfill", body(5, rate=1, most_running=2), Idempotency_Key="k").body["campaign"]

    answer = api.call("PATCH", f"/campaigns/{begun}", {"rate": None, "reason": "at night"})

    assert (answer.status, answer.body["rate"], answer.body["most_running"]) == (200, None, 2)
    assert AuditEntry.objects.get(verb="pace").reason == "at night"
    assert api.call("PATCH", f"/campaigns/{begun}", {"reason": "x"}).code == "SCH_422_INVALID"
    assert api.call("PATCH", f"/campaigns/{begun}", {"rate": 0}).code == "SCH_422_INVALID"
    theirs = Campaign.objects.filter(id=begun)
    theirs.update(tenant="acme")
    assert api.call("PATCH", f"/campaigns/{begun}", {"rate": 5}).code == "SCH_404_NOT_FOUND"
