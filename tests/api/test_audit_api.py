"""/audit: what was done, told to those whom it concerns."""

import pytest
from django.contrib.auth.models import Permission, User

from django_punctual import cancel_tasks, schedule
from tasks_app.engine.operations import lanes
from tasks_app.engine.operations.api_tokens import issue
from tasks_app.engine.watch import audit_browse
from tasks_app.engine.web.people import VERBS
from tasks_app.lifecycle.audit import Entry, audit
from tests.support.api import JOB, Api
from tests.support.clients import client_of
from tests.support.operators import operator

pytestmark = pytest.mark.django_db

RIGHTS = ("view_jobdefinition", "view_scheduletask")


def subjects(answer) -> list[str]:
    """But for the tokens that the tests call with."""
    body = answer.json() if hasattr(answer, "json") else answer.body
    return [one["subject"] for one in body["items"] if one["verb"] != "issue"]


@pytest.fixture
def world(api):
    """A deed of each kind: to a task and a job of two tenants, to what all share, and by people."""
    task = api.post("/tasks", {"task_type": "T_QUIET", "key": "a", "delay": 60}).body["id"]
    api.post(f"/tasks/{task}/reschedule", {"at": "2090-01-02T09:00:00Z", "reason": "later"})
    api.post(f"/tasks/{task}/cancel", {"reason": "no more"})
    job = api.post("/jobs", JOB | {"task_type": "T_PLAIN"}).body["id"]
    api.post(f"/jobs/{job}/trigger", Idempotency_Key="k")
    acme = Api("acme")
    theirs = schedule("T_QUIET", "theirs", tenant="acme", delay=60).task_id
    acme.post(f"/tasks/{theirs}/cancel")
    lanes.pause("low", reason="the warehouse", by="olga")
    audit(operator(), VERBS[0], [Entry("user olga", "logged in")])
    return {"api": api, "acme": acme, "task": f"task {task}", "job": f"job {job}", "theirs": f"task {theirs}"}


def test_a_tenant_reads_what_was_done_to_its_own(world):
    task, job = world["task"], world["job"]

    assert subjects(world["api"].get("/audit")) == [job, job, task, task]
    assert subjects(world["acme"].get("/audit")) == [world["theirs"]]
    [cancel] = world["api"].get("/audit?verb=cancel").body["items"]
    assert (cancel["actor"], cancel["outcome"], cancel["reason"]) == ("token of default", "cancelled", "no more")
    assert (cancel["task_type"], cancel["subject"]) == ("T_QUIET", f"task {cancel['task_id']}")
    assert world["api"].get("/audit?verb=move").body["items"][0]["detail"]["at"] == "2090-01-02T09:00:00+00:00"


def test_entries_are_found_by_task_job_verb_and_actor(world):
    api, task, job = world["api"], world["task"], world["job"]

    assert subjects(api.get(f"/audit?task_id={task.split()[1]}")) == [task, task]
    assert subjects(api.get(f"/audit?task_id={task.split()[1]}&verb=move")) == [task]
    assert subjects(api.get(f"/audit?job_id={job.split()[1]}")) == [job, job]
    assert subjects(api.get(f"/audit?task_id={world['theirs'].split()[1]}")) == []
    assert subjects(api.get("/audit?actor=olga")) == []
    assert len(subjects(api.get("/audit?actor=token%20of%20default"))) == 4
    assert api.get("/audit?task_id=0").status == 422
    assert api.get("/audit?after=x").status == 422


def test_entries_are_found_by_subject_reason_and_time(world):
    api, task, job = world["api"], world["task"], world["job"]

    assert subjects(api.get(f"/audit?subject={job}")) == [job, job]
    assert subjects(api.get(f"/audit?subject={world['theirs']}")) == []
    assert subjects(api.get("/audit?reason=NO%20more")) == [task]
    assert subjects(api.get("/audit?since=2020-01-01T00:00:00Z")) == [job, job, task, task]
    assert subjects(api.get("/audit?until=2020-01-01T00:00:00Z")) == []
    assert {one["tenant"] for one in api.get("/audit").body["items"]} == {"default"}
    for wrong in (
        "since=yesterday",
        "since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z",
        "job_id=1&subject=lane%20low",
    ):
        assert api.get(f"/audit?{wrong}").status == 422, wrong


def test_the_entries_of_a_job_stay_when_it_is_deleted(world):
    api, job = world["api"], world["job"]
    assert api.delete(f"/jobs/{job.split()[1]}").status < 300

    assert subjects(api.get(f"/audit?subject={job}"))[1:] == [job, job]


def test_a_place_in_the_list_whose_entry_is_gone_meanwhile_is_its_end(world):
    assert world["api"].get("/audit?after=99999999").body == {"items": [], "next": None}


def test_a_token_of_some_types_reads_of_those_alone(world):
    narrow = Api(token=issue("narrow", "default", operator(), types=["T_PLAIN"])[1])

    assert subjects(narrow.get("/audit")) == [world["job"]] * 2
    assert subjects(narrow.get(f"/audit?task_id={world['task'].split()[1]}")) == []


def test_operators_also_read_of_what_all_share_and_some_of_the_people(world):
    user = User.objects.create_user("vera", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=RIGHTS))
    vera = client_of(user)
    internal = Api("internal", token=issue("boss", "internal", operator(), internal=True)[1])

    for seen in (subjects(vera.get("/api/v1/audit", headers={"X-Tenant": "nobody"})), subjects(internal.get("/audit"))):
        assert "lane low" in seen
        assert not {world["task"], world["theirs"], "user olga"} & set(seen)
    assert world["theirs"] in subjects(vera.get("/api/v1/audit", headers={"X-Tenant": "acme"}))
    audit(operator(), "cancel", [Entry("task 7", "cancelled", 7)])  # as they were written before
    assert subjects(vera.get("/api/v1/audit?task_id=7")) == ["task 7"]
    assert subjects(world["api"].get("/audit?task_id=7")) == []
    user.user_permissions.add(Permission.objects.get(codename="view_user"))
    assert "user olga" in subjects(client_of(User.objects.get(id=user.id)).get("/api/v1/audit"))


@pytest.mark.parametrize("query", ["&verb=cancel", "&task_id={task}"])
def test_pages_have_every_entry_once_however_little_a_look_finds(api, monkeypatch, query):
    monkeypatch.setattr(audit_browse, "STRETCH", 3)
    task = schedule("T_QUIET", "mine", delay=60).task_id
    for n in range(5):
        cancel_tasks([task], operator())
        cancel_tasks([schedule("T_QUIET", n, delay=60, tenant="acme").task_id], operator())

    ids, after = [], ""
    while after is not None:
        page = api.get(f"/audit?limit=2{query.format(task=task)}{after}").body
        ids += [one["id"] for one in page["items"]]
        after = page["next"] and f"&after={page['next']}"
    assert len(ids) == len(set(ids)) == 5 and ids == sorted(ids, reverse=True)
