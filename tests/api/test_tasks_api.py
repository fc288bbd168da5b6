"""/tasks, /scheduler/health and /live."""

import json
from contextlib import suppress
from dataclasses import replace
from io import StringIO
from urllib.parse import quote

import pytest
from django.core.management import call_command

from django_punctual import schedule
from tasks_app.engine.operations import lanes
from tasks_app.engine.operations.api_tokens import issue
from tasks_app.lifecycle import tenant_keys
from tasks_app.lifecycle.jobs.verbs import trigger
from tasks_app.models import AuditEntry, Curb, JobCursor, ScheduleTask, ShardLease
from tests.support.api import Api
from tests.support.audit import deeds
from tests.support.browser import person
from tests.support.clients import client_of
from tests.support.cold import fill_archive
from tests.support.engine import claim_due, make_due, run_due
from tests.support.jobs import by, instances, make
from tests.support.live import a_worker_is_alive
from tests.support.moves import MONDAY, TUESDAY, WEDNESDAY, dead
from tests.support.operators import operator

pytestmark = pytest.mark.django_db

TASK = {"task_type": "T_QUIET", "key": "article-1", "at": "2090-01-02T09:00:00Z", "payload": {"n": 1}}


def test_a_task_is_created_once_for_its_unit(api):
    first = api.post("/tasks", TASK)
    second = api.post("/tasks", TASK)

    assert (first.status, first.body["status"], first.body["live"]) == (201, "INIT", True)
    assert (second.status, second.code) == (409, "SCH_409_DUPLICATE")
    assert api.get(f"/tasks/{first.body['id']}").body == first.body


NO_TASKS = [
    {"key": ""},
    {"key": "x" * 10_000},
    {"key": "a\0"},
    {"at": "2090-01-02T09:00:00"},
    {"at": "2090-01-02"},
    {"at": "20900102"},
    {"at": 3787203600},
    {"at": 3787203600.5},
    {"at": True},
    {"at": "9999-01-01T00:00:00Z"},
    {"at": None, "delay": -1},
    {"delay": 5},
    {"lane": "fast"},
    {"max_retry": -1},
    {"expires_after": 0},
]


def test_a_task_that_makes_no_sense_is_refused(api):
    for change in NO_TASKS:
        answer = api.post("/tasks", TASK | change)

        assert (answer.status, answer.code) == (422, "SCH_422_INVALID"), (change, answer.body)
        assert not ScheduleTask.objects.exists(), change


def test_tasks_are_listed_the_newest_first_and_filtered(api):
    ids = [schedule("T_QUIET", n).task_id for n in range(5)]
    schedule("T_QUIET", "acme's", tenant="acme")
    run_due()
    later = schedule("T_PLAIN", "later", delay=3600).task_id

    first = api.get("/tasks?limit=4").body
    second = api.get(f"/tasks?limit=4&after={first['next']}").body

    assert [task["id"] for task in first["items"] + second["items"]] == [later, *ids[::-1]]
    assert second["next"] is None
    assert [task["id"] for task in api.get("/tasks?status=INIT").body["items"]] == [later]
    assert [task["id"] for task in api.get("/tasks?task_type=T_PLAIN").body["items"]] == [later]
    assert [task["id"] for task in api.get("/tasks?task_type=T_QUIET&key=3").body["items"]] == [ids[3]]
    assert api.get("/tasks?status=NEW").status == 422


def listed(api: Api, query: str) -> list[int]:
    """All of a list, a page of two at a time."""
    seen, after = [], ""
    while True:
        page = api.get(f"/tasks?limit=2{query}{after}").body
        seen += [task["id"] for task in page["items"]]
        if page["next"] is None:
            return seen
        after = f"&after={quote(page['next'])}"


def test_a_key_is_searched_over_the_types_and_a_unit_has_a_history(api):
    first = schedule("T_QUIET", "a b/ü*").task_id
    run_due()
    second, plain = schedule("T_QUIET", "a b/ü*", delay=60).task_id, schedule("T_PLAIN", "a b/ü*", delay=60).task_id
    schedule("T_QUIET", "a b/ü*", delay=60, tenant="acme")
    key = f"&key={quote('a b/ü*')}"

    assert listed(api, key) == [plain, second]
    assert listed(api, f"{key}&task_type=T_QUIET") == [second]
    assert listed(api, f"{key}&status=SUCCESS") == []
    assert listed(api, f"{key}&task_type=T_QUIET&history=true") == [second, first]
    assert api.get("/tasks?key=3&history=true").code == "SCH_422_INVALID"


def test_tasks_are_filtered_by_lane_job_and_time(api):
    due = [schedule("T_QUIET", n, lane="low", at=at).task_id for n, at in enumerate((MONDAY, TUESDAY, WEDNESDAY))]
    ran = schedule("T_QUIET", "ran").task_id
    run_due()
    job = make()
    for key in "abc":
        trigger(job.id, key, by())
    theirs = make("theirs", tenant="acme")
    trigger(theirs.id, "a", by(), tenant="acme")

    assert listed(api, "&lane=low") == due[::-1]
    assert listed(api, "&due_from=2090-01-03T09:00:00Z") == [due[2], due[1]]
    assert listed(api, "&due_from=2090-01-01T00:00:00Z&due_to=2090-01-03T09:00:00Z") == [due[0]]
    assert listed(api, "&ran_from=2020-01-01T00:00:00Z") == [ran]
    assert listed(api, "&ran_to=2020-01-01T00:00:00Z") == []
    assert listed(api, f"&job={job.id}") == [task.id for task in instances(job)][::-1]
    assert listed(api, f"&job={theirs.id}") == []


@pytest.mark.parametrize(
    "query",
    [
        "after=x",
        "after=99999999999999999999",
        "status=DEAD&after=0:x",
        "due_from=2090-01-01",
        "due_to=9999-12-31T23:00:00-12:00",
        "due_from=2090-01-02T00:00:00Z&due_to=2090-01-01T00:00:00Z",
        "lane=fast",
        "job=0",
        "history=perhaps",
    ],
)
def test_a_list_that_makes_no_sense_is_refused(api, query):
    assert (api.get(f"/tasks?{query}").status, api.get(f"/tasks?{query}").code) == (422, "SCH_422_INVALID")


def test_a_page_that_finds_little_is_short_and_goes_on(api, monkeypatch):
    from tasks_app.engine.watch import browse

    monkeypatch.setattr(browse, "FIRST_STEP", 3)
    monkeypatch.setattr(browse, "_BY_ID", replace(browse._BY_ID, longest=2))
    wanted = schedule("T_PLAIN", "wanted", delay=60).task_id
    for n in range(7):
        schedule("T_QUIET", n, delay=60)

    seen, after, pages = [], "", 0
    while after is not None:
        page = api.get(f"/tasks?task_type=T_PLAIN&limit=2{after}").body
        seen += [task["id"] for task in page["items"]]
        after, pages = page["next"] and f"&after={page['next']}", pages + 1

    assert (seen, pages) == ([wanted], 3)


def test_cancel_and_retry_say_what_they_did(api):
    task = api.post("/tasks", TASK).body["id"]

    def told(answer: str, acted: bool, status: str) -> dict:
        return {"answer": answer, "acted": acted, "task_id": task, "status": status}

    assert api.post(f"/tasks/{task}/retry").body == told("planned", False, "INIT")
    assert api.post(f"/tasks/{task}/cancel", {"reason": "no more"}).body == told("cancelled", True, "CANCELLED")
    assert api.post(f"/tasks/{task}/cancel").body == told("finished", False, "CANCELLED")
    assert ScheduleTask.objects.get(id=task).error_msg == "no more"


def test_a_dead_task_can_be_retried_but_not_all_the_time(api):
    [task] = dead("a")

    answers = [api.post(f"/tasks/{task}/retry") for _ in range(6)]

    assert answers[0].body == {"answer": "replayed", "acted": True, "task_id": task, "status": "INIT"}
    assert [answer.status for answer in answers] == [200] * 5 + [429]
    assert (answers[-1].code, answers[-1].headers["Retry-After"]) == ("SCH_429_RETRY_LIMITED", "60")


def test_a_reschedule_by_unit_or_id_says_what_became_of_it(api):
    unit = {"task_type": "T_QUIET", "key": "article-1"}
    first = api.post("/tasks/reschedule", unit | {"at": "2090-01-02T09:00:00Z"}).body
    second = api.post(f"/tasks/{first['task_id']}/reschedule", {"at": "2090-01-03T09:00:00Z"}).body
    make_due(first["task_id"])
    claim_due()
    third = api.post("/tasks/reschedule", unit | {"at": "2090-01-04T09:00:00Z"}).body
    old = api.post(f"/tasks/{first['task_id']}/reschedule", {"at": "2090-01-05T09:00:00Z"}).body

    assert [first["outcome"], second["outcome"], third["outcome"]] == ["CREATED", "UPDATED", "REPLACED"]
    assert old["outcome"] == "SUPERSEDED"
    assert ScheduleTask.objects.get(id=third["task_id"]).execute_time.day == 4


def test_a_reschedule_is_audited_with_its_reason(api):
    unit = {"task_type": "T_QUIET", "key": "article-1"}
    api.post("/tasks/reschedule", unit | {"at": "2090-01-02T09:00:00Z", "reason": "a new date", "revision": 2})
    moved = api.post("/tasks/reschedule", unit | {"at": "2090-01-03T09:00:00Z", "reason": "later", "revision": 3}).body
    api.post("/tasks/reschedule", unit | {"at": "2090-01-01T09:00:00Z", "revision": 1})

    created, updated = AuditEntry.objects.filter(verb="move").order_by("id")
    assert (created.outcome, created.reason, created.task_id) == ("created", "a new date", moved["task_id"])
    assert (updated.outcome, updated.reason, updated.actor) == ("moved", "later", "token of default")
    assert updated.detail == {"at": "2090-01-03T09:00:00+00:00", "revision": 3}


def test_changes_that_arrive_out_of_order_end_with_the_newest(api):
    unit = {"task_type": "T_QUIET", "key": "article-1"}

    def send(revision: int, day: int) -> str:
        return api.post("/tasks/reschedule", unit | {"at": f"2090-01-{day:02}T09:00:00Z", "revision": revision}).body[
            "outcome"
        ]

    assert [send(1, 1), send(3, 3), send(2, 2), send(3, 3), send(4, 4)] == [
        "CREATED",
        "UPDATED",
        "SUPERSEDED",
        "UPDATED",
        "UPDATED",
    ]
    assert ScheduleTask.objects.get(current=True).execute_time.day == 4


def test_health_tells_what_started_and_what_waits_apart(api):
    a_worker_is_alive("default", slots=2)
    well = api.get("/scheduler/health").body
    lanes.pause("low", reason="the warehouse", by="olga")
    ShardLease.objects.filter(shard__lt=3).update(holder=None)
    task = schedule("T_QUIET", "late").task_id
    make_due(task)
    ScheduleTask.objects.filter(id=task).update(due_at="2020-01-01T00:00:00Z")
    late = api.get("/scheduler/health").body

    assert well["problems"] == []
    assert (well["status"], well["triggerDelayP95Ms"], well["beats"], well["slots"]) == ("ok", None, 1, 2)
    assert (well["shards"], well["shardsWithoutDispatcher"], late["shardsWithoutDispatcher"]) == (16, 0, 3)
    assert {lane["lane"]: lane["paused"] for lane in late["lanes"]}["low"] == "paused"
    assert late["triggerDelayP95Ms"] is None and late["oldestOverdueMs"] > 100_000

    JobCursor.objects.create(every=60, shard=0, next_fire="2019-01-01T00:00:00Z")
    without_instance = api.get("/scheduler/health").body
    assert without_instance["planningBehindMs"] > late["oldestOverdueMs"]
    assert late["status"] == "trouble" and late["problems"]

    run_due()
    started = api.get("/scheduler/health").body
    assert started["triggerDelayP95Ms"] == started["startedP95Ms"] > 100_000 and started["oldestOverdueMs"] == 0


def test_health_names_the_safeguards_that_throttle_something_of_the_caller(api):
    Curb.objects.create(name="delay", subject="", kind="lane", target="low", rate=3.0)
    Curb.objects.create(name="breaker", subject="tenant:acme/T_PLAIN", kind="type", target="T_PLAIN", of_tenant="acme")
    Curb.objects.create(name="recovery", subject="INC-1", kind="lane", target="backfill", rate=0.0)

    health = api.get("/scheduler/health").body

    assert health["throttledBy"] == ["delay"]
    told = {one["lane"]: (one["paused"], one["safeguard"], one["rate"]) for one in health["lanes"]}
    assert told["low"] == ("slowed to 3 tasks a second", "delay", 3.0)
    assert told["backfill"] == ("paused", None, None) and told["default"] == (None, None, None)
    assert Api("acme").get("/scheduler/health").body["throttledBy"] == ["breaker", "delay"]
    status = StringIO()
    with suppress(SystemExit):  # no worker is alive
        call_command("scheduler_status", "--json", stdout=status)
    assert json.loads(status.getvalue())["throttles"] == {"breaker": ["acme"], "delay": [""]}


def test_anonymous_callers_get_liveness_only():
    nobody = Api(token="")
    nobody.token = ""

    assert nobody.get("/live").body == {"status": "ok"}
    assert nobody.get("/scheduler/health").code == "SCH_401_UNAUTHENTICATED"
    assert nobody.get("/jobs").headers["WWW-Authenticate"].startswith("Bearer")


def test_tasks_are_filtered_by_when_they_last_changed(api):
    done, waiting = schedule("T_QUIET", "done").task_id, schedule("T_QUIET", "waiting", at=MONDAY).task_id
    run_due()

    assert listed(api, "&changed_from=2020-01-01T00:00:00Z") == [waiting, done]
    assert listed(api, "&changed_from=2020-01-01T00:00:00Z&status=SUCCESS") == [done]
    assert listed(api, "&changed_to=2020-01-01T00:00:00Z") == []
    assert listed(api, "&changed_from=2090-01-01T00:00:00Z") == []


@pytest.mark.django_db(transaction=True)
def test_the_archive_is_listed_after_the_rest_if_asked_to(api, settings, tmp_path):
    assert api.get("/tasks?cold=true&key=k102").code == "SCH_422_INVALID"  # there is none
    settings.PUNCTUAL = settings.PUNCTUAL | {"ARCHIVE_URL": str(tmp_path)}
    fill_archive(tmp_path, tenant="default")
    live = schedule("T_QUIET", "k102", delay=60).task_id

    first = api.get("/tasks?cold=true&key=k102").body
    second = api.get(f"/tasks?cold=true&key=k102&after={quote(first['next'])}").body

    assert [task["id"] for task in first["items"]] == [live]
    assert [(task["id"], task["status"], task["worker"]) for task in second["items"]] == [(102, "SUCCESS", "w")]
    assert second["next"] is None
    assert api.get("/tasks?cold=true").code == "SCH_422_INVALID"
    assert api.get(f"/tasks?cold=true&key=k102&after={quote('cold|x')}").code == "SCH_422_INVALID"
    theirs = Api(tenant="acme").get(f"/tasks?cold=true&key=k102&after={quote(first['next'])}").body
    assert theirs == {"items": [], "next": None}


def test_a_task_shows_what_it_handed_on_and_the_effect_who_did(api):
    effect = {"task_type": "T_QUIET", "key": "capture", "for_": 3600}
    task = schedule("T_PLAIN", "order", payload={"defer": [effect]}).task_id
    run_due()

    parent = api.get(f"/tasks/{task}").body
    child = api.get(f"/tasks/{parent['deferred'][0]}").body

    assert (parent["deferred_from"], parent["retry_for"]) == (None, None)
    assert (child["deferred_from"], child["deferred"], child["token"]) == (task, [], parent["token"])
    assert (child["lane"], child["retry_for"]) == ("deferred", 3600.0)


# What is encrypted.

LOOK = {"reason": "a complaint"}


def hidden_task(tenant: str = "default") -> str:
    task = schedule("T_HIDDEN", "a", tenant=tenant, payload={"word": "zebra"}).task_id
    return f"/tasks/{task}"


def may_decrypt(tenant: str = "default", **rights: object) -> Api:
    """It needs no right to write."""
    return Api(token=issue("support", tenant, operator(), can_decrypt=True, **rights)[1])


def test_a_token_that_was_issued_for_it_sees_what_is_encrypted_and_each_look_is_audited(api):
    path = hidden_task()
    assert api.get(path).body["payload"] == "encrypted"

    answer = may_decrypt().post(f"{path}/decrypt", LOOK)

    task = int(path.removeprefix("/tasks/"))
    assert answer.body == {"task": task, "parts": [{"what": "payload", "attempt": None, "value": {"word": "zebra"}}]}
    assert "no-store" in answer.headers["Cache-Control"]
    [entry] = deeds().filter(verb="decrypt")
    assert (entry.actor, entry.reason, entry.task_id) == ("token support", "a complaint", task)
    assert entry.detail["shown"] == ["Payload"]


def test_nobody_else_does_and_no_look_is_audited(api):
    path, other = hidden_task(), hidden_task("acme")
    one = may_decrypt()

    assert api.post(f"{path}/decrypt", LOOK).code == "SCH_403_FORBIDDEN"  # it may write, but not this
    assert Api(can_write=False).post(f"{path}/decrypt", LOOK).code == "SCH_403_FORBIDDEN"
    assert one.post(f"{other}/decrypt", LOOK).code == "SCH_404_NOT_FOUND"
    assert may_decrypt(types=["T_QUIET"]).post(f"{path}/decrypt", LOOK).code == "SCH_404_NOT_FOUND"
    assert one.post(f"{path}/cancel").code == "SCH_403_FORBIDDEN"  # nor does it write
    for reason in ({}, {"reason": ""}, {"reason": "  "}):
        assert one.post(f"{path}/decrypt", reason).code == "SCH_422_INVALID"
    plain = f"/tasks/{schedule('T_QUIET', 'plain').task_id}"
    assert "nothing of task" in one.post(f"{plain}/decrypt", LOOK).body["detail"]
    tenant_keys.destroy("default", operator())
    assert "was destroyed" in one.post(f"{path}/decrypt", LOOK).body["detail"]
    assert not deeds().filter(verb="decrypt").exists()


def test_a_person_needs_the_permission_and_not_the_right_to_operate():
    path = f"/api/v1{hidden_task()}/decrypt"
    rights = ("punctual.view_scheduletask", "punctual.view_jobdefinition")
    asked = {"data": LOOK, "content_type": "application/json"}

    refused = client_of(person("vera", *rights)).post(path, **asked)
    assert refused.status_code == 403 and "punctual.decrypt_scheduletask" in refused.json()["detail"]
    assert client_of(person("tina", *rights, "punctual.decrypt_scheduletask")).post(path, **asked).status_code == 200
    assert deeds().get(verb="decrypt").actor == "tina"
