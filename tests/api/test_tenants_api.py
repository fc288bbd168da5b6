"""/tenants, and what a suspended tenant and one with quotas hear."""

import pytest

from tasks_app.engine import calls
from tasks_app.engine.beat import quotas
from tasks_app.engine.web import throttle
from tasks_app.lifecycle import tenants
from tasks_app.models import Tenant
from tests.support.api import JOB, Api
from tests.support.moves import TUESDAY, TYPE, away, scheduled, state
from tests.support.operators import operator
from tests.support.ready import boss

pytestmark = pytest.mark.django_db

TASK = {"task_type": TYPE, "key": "a"}


def test_an_operator_makes_changes_suspends_and_resumes_a_tenant():
    asked = boss()
    made = asked.post("/tenants", {"name": "acme", "title": "Acme", "quotas": {"max_jobs": 5}})
    assert (made.status, made.body["state"], made.body["quotas"]["max_jobs"]) == (201, "ACTIVE", 5)
    assert asked.post("/tenants", {"name": "acme"}).code == "SCH_409_DUPLICATE"

    edited = asked.call("PATCH", "/tenants/acme", {"quotas": {"max_jobs": None, "max_tasks": 7}})
    assert (edited.body["quotas"]["max_jobs"], edited.body["quotas"]["max_tasks"]) == (None, 7)
    assert asked.call("PATCH", "/tenants/acme", {}).code == "SCH_422_INVALID"

    stopped = asked.post("/tenants/acme/suspend", {"reason": "unpaid", "until": "2090-01-01T00:00:00Z"})
    assert (stopped.body["changed"], stopped.body["tenant"]["reason"]) == (True, "unpaid")
    assert asked.post("/tenants/acme/resume", {"reason": "paid"}).body["tenant"]["state"] == "ACTIVE"
    assert asked.post("/tenants/acme/resume", {"reason": "paid"}).body["changed"] is False
    assert asked.post("/tenants/nobody/resume", {"reason": "x"}).code == "SCH_404_NOT_FOUND"
    unnamed = asked.post("/tenants/unnamed/suspend", {"reason": "it needs no row before"})
    assert unnamed.body["tenant"]["state"] == "SUSPENDED"
    assert {one["name"] for one in asked.get("/tenants").body["items"]} >= {"acme", "internal"}
    first = asked.get("/tenants?limit=1").body
    assert first["next"] == "acme" and asked.get("/tenants?after=acme").body["items"][0]["name"] > "acme"


def test_a_tenants_token_sees_its_own_alone_and_changes_nothing():
    api = Api("acme")
    tenants.create("other", operator())
    tenants.suspend("acme", operator("unpaid"))

    assert [one["name"] for one in api.get("/tenants").body["items"]] == ["acme"]
    seen = api.get("/tenants/acme").body
    assert (seen["reason"], seen["by"]) == ("unpaid", operator().name), "as its audit and its events say"
    assert api.get("/tenants/other").body == api.get("/tenants/nobody").body | {"detail": "there is no tenant 'other'."}
    tenants.resume("acme", operator())
    assert api.post("/tenants", {"name": "x"}).code == "SCH_403_FORBIDDEN"
    assert api.post("/tenants/acme/suspend", {"reason": "x"}).code == "SCH_403_FORBIDDEN"


def test_a_suspended_tenant_reads_and_writes_nothing():
    api, other = Api("acme"), Api("other")
    tenants.suspend("acme", operator("the invoice is open"))

    refused = api.post("/tasks", TASK, Idempotency_Key="k")

    assert (refused.status, refused.code) == (403, "SCH_403_TENANT_SUSPENDED")
    assert "the invoice is open" in refused.body["detail"]
    assert api.get("/tasks").status == 200
    assert other.post("/tasks", TASK, Idempotency_Key="k").status == 201
    tenants.resume("acme", operator())
    assert api.post("/tasks", TASK, Idempotency_Key="k").status == 201


def test_what_a_suspended_tenant_has_under_way_may_be_reported():
    api = Api("acme")
    [task] = away("a", tenant="acme").tasks
    tenants.suspend("acme", operator())

    seen = api.get(f"/tasks/{task.id}").body
    done = api.post(f"/tasks/{task.token}/complete?task={task.id}&run={seen['batch']}", {})

    assert (done.status, state(task.id).status) == (200, "SUCCESS")


def test_a_spent_quota_is_told_with_what_is_used_and_when_to_ask_again():
    api = Api("acme")
    tenants.edit("acme", {"max_tasks": 1, "max_jobs": 0}, operator())
    scheduled("there", tenant="acme", at=TUESDAY)
    quotas.count_again()
    quotas.count_used()

    tasks = api.post("/tasks", TASK, Idempotency_Key="k")
    jobs = api.post("/jobs", JOB)

    assert (tasks.status, tasks.code) == (429, "SCH_429_QUOTA")
    assert tasks.body["quota"] == {"name": "max_tasks", "limit": 1, "used": 1}
    assert (tasks.headers["Retry-After"], jobs.headers["Retry-After"]) == ("5", "3600")
    assert jobs.body["quota"] == {"name": "max_jobs", "limit": 0, "used": 0}
    tenants.edit("acme", {"max_tasks": None}, operator())
    assert api.post("/tasks", TASK, Idempotency_Key="k").status == 201  # the refusal was not kept


def test_calls_beyond_the_quota_of_a_minute_are_refused_for_all_tokens_of_the_tenant():
    one, another, other = Api("acme"), Api("acme"), Api("other")
    tenants.edit("acme", {"calls_per_minute": 2}, operator())

    # Three are too many, unless a new minute begins among them.
    refused = next(a for a in (api.get("/lanes") for _ in range(3) for api in (one, another)) if a.status == 429)

    assert (refused.code, refused.body["quota"]["name"]) == ("SCH_429_QUOTA", "calls_per_minute")
    assert 0 < int(refused.headers["Retry-After"]) <= 60
    assert other.get("/lanes").status == 200


def test_how_much_of_its_quotas_a_tenant_has_used_is_read_by_the_hour_and_calls_are_told_of(monkeypatch):
    api, other = Api("acme"), Api("other")
    tenants.edit("acme", {"calls_per_minute": 5, "max_tasks": 10}, operator())
    scheduled("there", tenant="acme", at=TUESDAY)
    this = calls.window()
    monkeypatch.setattr(throttle, "window", lambda: this)
    for _ in range(4):
        assert api.get("/lanes").status == 200

    for module in (calls, throttle):
        monkeypatch.setattr(module, "window", lambda: this + 1)  # a minute later
    quotas.count_quotas()

    use = {one["quota"]: (one["used"], one["limit"]) for one in api.get("/tenants/acme/use").body["items"]}
    assert use == {"calls_per_minute": (4, 5), "max_tasks": (1, 10)}
    assert Tenant.objects.get(name="acme").near == ["calls_per_minute"]
    assert [one["quota"] for one in api.get("/tenants/acme/use?quota=max_tasks").body["items"]] == ["max_tasks"]
    assert other.get("/tenants/acme/use").status == 404
    assert other.get("/tenants/other/use").body == {"items": []}
    assert api.get("/tenants/acme/use?hours=745").status == 422


def test_a_token_makes_its_tenant_known():
    Api("acme")

    assert Tenant.objects.get(name="acme").state == "ACTIVE"


def test_a_job_by_the_clock_has_the_time_zone_of_its_tenant_unless_it_names_one():
    api = Api("acme")
    tenants.edit("acme", {"timezone": "Europe/Berlin"}, operator())
    by_clock = {"name": "a", "task_type": TYPE, "cron": "0 9 * * *"}

    assert api.post("/jobs", by_clock).body["timezone"] == "Europe/Berlin"
    assert api.post("/jobs", by_clock | {"name": "b", "timezone": "UTC"}).body["timezone"] == "UTC"
    assert api.post("/jobs", {"name": "c", "task_type": TYPE, "every": 60}).body["timezone"] == "UTC"


def test_a_tenant_that_asks_for_encryption_reads_the_word_for_what_is_encrypted():
    assert boss().post("/tenants", {"name": "acme", "encrypted": True}).body["encrypted"] is True
    api = Api("acme")

    made = api.post("/tasks", TASK | {"payload": {"word": "zebra", "return": "zebra"}})
    job = api.post("/jobs", JOB | {"payload": {"word": "zebra"}})

    assert (made.body["payload"], job.body["payload"]) == ("encrypted", "encrypted")
    assert api.get(f"/tasks/{made.body['id']}").body["payload"] == "encrypted"
    kept = api.call("PATCH", f"/jobs/{job.body['id']}", {"payload": "encrypted", "lane": "low"}, If_Match="1")
    assert (kept.status, kept.body["payload"]) == (200, "encrypted")
    assert api.post("/tasks", TASK | {"key": "b", "payload": {"$punctual": "1:1:x"}}).code == "SCH_422_INVALID"
