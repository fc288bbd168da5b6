"""A token reaches the handlers that are open to its tenant, in the lanes it names, and hears nothing of the rest."""

import re
from uuid import uuid4

import pytest

from django_punctual import schedule
from django_punctual.testing import run_due
from tasks_app.core.handlers import REGISTRY
from tasks_app.lifecycle.jobs import verbs
from tasks_app.lifecycle.jobs.request import JobRequest
from tasks_app.models import GraphRun, JobDefinition, ScheduleTask
from tests.support.api import JOB
from tests.support.jobs import by, make
from tests.support.live import a_beat_is_alive
from tests.support.moves import dead
from tests.support.ready import letter_of
from tests.support.schema import OPERATIONS

WRITES = [(one.method, one.path) for one in OPERATIONS if one.writes]
# What is about no task: a lane, and who is told; of which types, their own tests try. A campaign has chosen its tasks.
OTHERS = ("/lanes/", "/subscriptions", "/alarms/", "/campaigns/", "/hosts/", "/secrets/", "/calendars", "/safeguards")
OTHERS += ("/installation", "/sites", "/tenants", "/members", "/tokens", "/workers/")
CHANGES = [(method, path) for method, path in WRITES if not path.startswith(OTHERS)]
TASK = {"task_type": "T_QUIET", "key": "a", "delay": 3600}
LATER = {"at": "2090-01-01T00:00:00Z"}


def body_of(path: str, task_type: str) -> dict | None:
    if path.endswith(("/jobs", "/jobs/preview")):
        return JOB | {"task_type": task_type}
    if path.endswith("/tasks"):
        return {"task_type": task_type, "key": "b"}
    if path.endswith("/tasks/bulk"):
        return {"tasks": [{"task_type": task_type, "key": "b"}], "atomic": True}
    if path.endswith("/tasks/bulk/cancel"):
        return {"tasks": [{"task_type": task_type, "key": "a"}], "atomic": True, "reason": "x"}
    if path == "/campaigns":
        return {"kind": "cancel", "matching": {"task_type": task_type}}
    if path.endswith("/backfill"):
        return {"since": "2026-03-01T00:00:00Z", "until": "2026-03-01T01:00:00Z"}
    if path.endswith("/move"):
        return {"to": LATER["at"]}
    if "{token}" in path:
        return {}
    if path.startswith("/dead-letters/{"):
        return {"add": ["x"]}
    if path.startswith("/dead-letters"):
        return {"task_type": task_type, "reason": "x"}
    if path.endswith("/tasks/reschedule"):
        return LATER | {"task_type": task_type, "key": "a"}
    return LATER if path.endswith("/reschedule") else {"reason": "x"}


def run_of(job: JobDefinition) -> int:
    """Of a graph of two jobs, this and another of its type."""
    verbs.create(JobRequest(name="after it", task_type=job.task_type, parents=[job.name]), by(), job.tenant)
    verbs.trigger(job.id, "now", by(), tenant=job.tenant)
    return GraphRun.objects.filter(job=job.id).latest("id").id


def everything() -> tuple:
    return list(JobDefinition.objects.order_by("id").values()), list(ScheduleTask.objects.order_by("id").values())


def test_nothing_of_a_closed_type_can_be_changed_even_in_the_own_tenant(caller):
    a_beat_is_alive()
    job = make(task_type="T_CLOSED", tenant="acme")
    task = schedule("T_CLOSED", "a", tenant="acme", delay=3600)
    letter = letter_of(*dead("dead", task_type="T_CLOSED", tenant="acme"))
    ids = {"{job_id}": job.id, "{task_id}": task.task_id, "{letter_id}": letter, "{run_id}": run_of(job)}
    ids |= {"{fire_time}": LATER["at"], "{token}": ScheduleTask.objects.get(id=task.task_id).token}
    before, one = everything(), caller()

    for number, (method, path) in enumerate(CHANGES):
        url = re.sub(r"{\w+}", lambda found: str(ids[found[0]]), path)
        url += f"?task={task.task_id}&run={uuid4()}" if "{token}" in path else ""
        body = body_of(path, "T_CLOSED")
        if path == "/backfills":
            body = body_of(f"{path}/backfill", "") | {"jobs": [job.id]}

        answer = one.call(method, url, body, If_Match="1", Idempotency_Key=f"k{number}")

        assert (answer.status, answer.code) == (403, "SCH_403_TYPE_CLOSED"), (method, path, answer.body)
        assert everything() == before, (method, path)


@pytest.mark.parametrize("path", ["/jobs", "/tasks", "/tasks/reschedule"])
def test_a_closed_type_answers_as_one_that_does_not_exist(caller, path):
    one = caller(types=["T_QUIET"])

    closed, unknown = (one.post(path, body_of(path, name)) for name in ("T_CLOSED", "T_CLOSEX"))

    assert closed.status == unknown.status == 403
    assert closed.body["detail"].replace("T_CLOSED", "T_CLOSEX") == unknown.body["detail"]
    assert "It may use T_QUIET." in closed.body["detail"]


def test_a_token_that_may_use_no_type_learns_how_a_handler_is_opened(caller):
    one = caller(types=["T_CLOSED"])

    assert one.post("/tasks", body_of("/tasks", "T_CLOSED")).body["detail"] == (
        "task type 'T_CLOSED' is not open to this token. It may use none so far: declare a handler with api=True, and "
        "name it in the token's types if it has some."
    )


def test_a_job_can_not_be_turned_to_a_closed_type(caller):
    job = make(tenant="acme")

    answer = caller().call("PATCH", f"/jobs/{job.id}", {"task_type": "CELERY_TASK"}, If_Match="1")

    assert (answer.status, answer.code) == (403, "SCH_403_TYPE_CLOSED")
    assert JobDefinition.objects.get().task_type == "T_QUIET"


def test_every_handler_is_closed_unless_it_says_otherwise():
    opened = [one for one in REGISTRY if one.api and not one.name.startswith(("T_", "TYPED_"))]
    assert [one.name for one in opened if not one.named_only] == []
    assert [one.name for one in opened] == ["HTTP_CALLBACK"]


def test_a_type_may_be_open_to_some_tenants(caller):
    assert caller("acme").post("/tasks", TASK | {"task_type": "T_ACME"}).status == 201
    assert caller("other").post("/tasks", TASK | {"task_type": "T_ACME"}).code == "SCH_403_TYPE_CLOSED"


def test_what_is_of_a_closed_type_is_read_in_the_own_tenant_only(caller):
    task = schedule("T_CLOSED", "a", tenant="acme", delay=3600).task_id

    assert caller("acme").get(f"/tasks/{task}").body["key"] == "a"
    assert caller("other").get(f"/tasks/{task}").status == 404


def test_a_token_that_names_types_neither_changes_nor_sees_others(caller):
    one, job = caller(types=["T_QUIET"]), make("theirs", task_type="T_PLAIN", tenant="acme")
    task = schedule("T_PLAIN", "a", tenant="acme", delay=3600).task_id
    own = one.post("/tasks", TASK).body["id"]

    assert one.post("/tasks", TASK | {"task_type": "T_PLAIN", "key": "b"}).code == "SCH_403_TYPE_CLOSED"
    for path in (f"/tasks/{task}", f"/tasks/{task}/why", f"/jobs/{job.id}", f"/jobs/{job.id}/instances"):
        assert one.get(path).status == 404, path
    assert one.post(f"/tasks/{task}/cancel").status == one.post(f"/jobs/{job.id}/resume").status == 404
    assert [found["id"] for found in one.get("/tasks").body["items"]] == [own]
    assert one.get("/tasks?task_type=T_PLAIN").body["items"] == one.get("/jobs").body["items"] == []
    assert one.get("/tasks?task_type=T_PLAIN&key=a").body["items"] == []


def test_a_token_stays_in_its_lanes(caller):
    a_beat_is_alive()
    one = caller()  # as a new token is: all lanes but the one that goes before everybody
    job = make(tenant="acme", lane="critical")
    task = schedule("T_QUIET", "urgent", tenant="acme", delay=3600, lane="critical").task_id

    refused = [
        one.post("/tasks", TASK | {"lane": "critical"}),
        one.post("/tasks", TASK | {"task_type": "T_URGENT"}),
        one.post("/jobs", JOB | {"lane": "critical", "name": "new"}),
        one.call("PATCH", f"/jobs/{job.id}", {"payload": 1}, If_Match="1"),
        one.post(f"/jobs/{job.id}/trigger", Idempotency_Key="k"),
        one.post(f"/tasks/{task}/reschedule", LATER),
        one.post("/tasks/reschedule", LATER | {"task_type": "T_QUIET", "key": "urgent"}),
    ]

    assert {(answer.status, answer.code) for answer in refused} == {(403, "SCH_403_LANE_CLOSED")}
    assert "high, default, low, deferred, backfill" in refused[0].body["detail"]
    assert (JobDefinition.objects.count(), ScheduleTask.objects.exclude(job=job.id).count()) == (1, 1)
    assert caller(lanes=["critical"]).post("/tasks", TASK | {"lane": "critical"}).status == 201
    assert caller("b", lanes=["low"]).post("/tasks", TASK).code == "SCH_403_LANE_CLOSED"


def test_an_error_is_told_without_frames_and_paths(caller):
    message = "no such file: /srv/app/secret/key.pem, see https://example.com/a/b"
    payload = {"do": "crash", "message": message}
    task = schedule("T_QUIET", "a", tenant="acme", payload=payload, max_retry=0).task_id
    run_due()
    stored = ScheduleTask.objects.get(id=task)
    assert 'File "' in stored.error_msg and "handlers.py" in stored.error_msg

    one = caller()
    read, [listed] = one.get(f"/tasks/{task}").body, one.get("/tasks").body["items"]

    assert read["error_code"] == "KeyError"
    for told in (read["error_msg"], listed["error_msg"], one.get(f"/tasks/{task}/why").body["words"]):
        assert "no such file" in told and "https://example.com/a/b" in told
        assert not re.search(r"File|Traceback|line \d|\.py|/srv|secret", told), told


def test_a_token_hears_that_a_lane_is_paused_and_not_by_whom(caller):
    from tasks_app.engine.operations.lanes import pause

    a_beat_is_alive()
    pause("low", reason="mallory drained it", by="olga")
    task = schedule("T_QUIET", "a", tenant="acme", lane="low").task_id
    one = caller()

    health, why = one.get("/scheduler/health").body, one.get(f"/tasks/{task}/why").body

    assert {lane["lane"]: lane["paused"] for lane in health["lanes"]}["low"]
    assert (why["rule"], "'low' has been paused" in why["words"]) == ("lane_paused", True)
    assert not re.search("olga|mallory", str(health) + str(why))
