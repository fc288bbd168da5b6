"""/task-types, /lanes, /limits, /version, and the attempts and logs of a task."""

from dataclasses import replace

import pytest
from django.contrib.auth.models import Permission, User

import tasks_app
from django_punctual import schedule
from tasks_app.api.task_types import Mode
from tasks_app.core.handlers import REGISTRY
from tasks_app.core.lanes import LANES
from tasks_app.engine.operations import lanes
from tasks_app.engine.operations.api_tokens import issue
from tasks_app.lifecycle.limited import declare_limits
from tasks_app.lifecycle.logs import Lines, keep_logs
from tasks_app.lifecycle.progress import Told, tell_progress
from tasks_app.models import LanePause, ScheduleTask
from tests.support.api import Api
from tests.support.audit import deeds
from tests.support.clients import client_of
from tests.support.engine import make_due, run_due
from tests.support.moves import settled, started
from tests.support.operators import operator

pytestmark = pytest.mark.django_db

RIGHTS = ("view_jobdefinition", "view_scheduletask", "operate_jobdefinition", "operate_scheduletask")


def token(tenant: str = "default", **scope) -> Api:
    return Api(token=issue("scoped", tenant, operator(), can_write=True, **scope)[1])


@pytest.fixture
def person():
    user = User.objects.create_user("olga", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=RIGHTS))
    return client_of(user)


def test_the_task_types_are_those_that_the_caller_may_use_with_their_options(api, person):
    types = {one["name"]: one for one in api.get("/task-types").body["items"]}

    assert {"T_QUIET", "T_PLAIN"} <= set(types) and not {"T_ACME", "T_CLOSED", "T_RATED"} & set(types)
    assert types["T_PLAIN"] == {
        "name": "T_PLAIN",
        "lane": "default",
        "max_retry": 3,
        "backoff": [0.1, 0.1, 0.1],
        "timeout": 30.0,
        "mode": "plain",
        "concurrency": 1,
        "rate": None,
        "burst": None,
        "max_running": None,
        "payload_schema": None,
    }
    assert api.get("/task-types/T_PLAIN").body == types["T_PLAIN"]
    assert "T_ACME" in {one["name"] for one in token("acme").get("/task-types").body["items"]}
    only = token(types=["T_PLAIN"])
    assert [one["name"] for one in only.get("/task-types").body["items"]] == ["T_PLAIN"]
    for name in ("T_QUIET", "T_NOBODY_KNOWS", "a/b", "x" * 500):
        assert only.get(f"/task-types/{name}").code == "SCH_404_NOT_FOUND"

    everything = person.get("/api/v1/task-types").json()["items"]
    assert [one["name"] for one in everything] == sorted(one.name for one in REGISTRY)
    assert {one["mode"] for one in everything} == set(Mode)
    assert {one["name"]: one["rate"] for one in everything}["T_RATED"] == 100


def test_lanes_tell_what_is_due_and_only_operators_who_paused_them(api, person):
    make_due(schedule("T_QUIET", "a", lane="low").task_id)
    lanes.pause("low", reason="the warehouse", by="olga")

    seen = {lane["name"]: lane for lane in api.get("/lanes").body["items"]}
    assert tuple(seen) == LANES
    low, critical = seen["low"], seen["critical"]
    assert (low["due"], low["due_exact"], low["running"], low["paused"], low["pause"]) == (1, True, 0, True, None)
    assert (low["usable"], critical["usable"], critical["paused"]) == (True, False, False)
    for told in (person.get("/api/v1/lanes").json(), token("internal", internal=True).get("/lanes").body):
        pause = {lane["name"]: lane["pause"] for lane in told["items"]}["low"]
        assert (pause["by"], pause["reason"]) == ("olga", "the warehouse")


@pytest.mark.parametrize("verb", ["pause", "resume"])
def test_a_lane_is_paused_and_resumed_by_operators_alone(api, verb):
    narrow = token("internal", internal=True, types=["T_QUIET"])

    for outsider in (api, narrow):
        answer = outsider.post(f"/lanes/low/{verb}", {"reason": "because"})
        assert (answer.status, answer.code) == (403, "SCH_403_FORBIDDEN")
        assert "All tenants share a lane" in answer.body["detail"]
    answer = token("internal", internal=True).post(f"/lanes/critical/{verb}", {"reason": "because"})
    assert (answer.status, answer.code) == (403, "SCH_403_LANE_CLOSED")
    assert not LanePause.objects.exists()


def test_a_pause_and_a_resume_are_audited_and_say_whether_they_changed_something():
    boss = token("internal", internal=True)

    def send(verb: str, reason: str = "the warehouse") -> tuple:
        answer = boss.post(f"/lanes/low/{verb}", {"reason": reason}).body
        return answer["name"], answer["paused"], answer["changed"]

    assert [send("pause"), send("pause")] == [("low", True, True), ("low", True, False)]
    assert LanePause.objects.get().reason == "the warehouse"
    assert [send("resume"), send("resume")] == [("low", False, True), ("low", False, False)]
    entries = deeds().filter(subject="lane low").order_by("id")
    assert [(one.verb, one.actor, one.reason) for one in entries] == [
        ("pause", "token scoped", "the warehouse"),
        ("resume", "token scoped", "the warehouse"),
    ]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/lanes/low/pause", {}),
        ("/lanes/low/pause", {"reason": ""}),
        ("/lanes/low/pause", {"reason": "  "}),
        ("/lanes/low/pause", {"reason": "x", "until": "2090-01-01T00:00:00Z"}),
        ("/lanes/fast/pause", {"reason": "x"}),
        ("/lanes/fast/resume", {"reason": "x"}),
        ("/lanes/low/resume", {"reason": "a\u0007"}),
    ],
)
def test_a_pause_that_makes_no_sense_is_refused(path, body):
    answer = token("internal", internal=True).post(path, body)

    assert (answer.status, answer.code) == (422, "SCH_422_INVALID")
    assert not LanePause.objects.exists()


def test_limits_are_told_with_their_load_to_operators_alone(api, person, monkeypatch):
    rated = REGISTRY.require("T_RATED")
    declare_limits([rated])
    make_due(schedule("T_RATED", "a").task_id)

    assert api.get("/limits").body == {"items": []}
    [limit] = [one for one in person.get("/api/v1/limits").json()["items"] if one["task_type"] == "T_RATED"]
    assert (limit["declared"], limit["rate"], limit["burst"], limit["max_running"]) == (True, 100, 50, None)
    assert (limit["load"]["due"], limit["load"]["running"], limit["load"]["permits"]) == (1, 0, 50)

    monkeypatch.setitem(REGISTRY._handlers, "T_RATED", replace(rated, api=True))
    [limit] = api.get("/limits").body["items"]
    assert (limit["task_type"], limit["rate"], limit["load"]) == ("T_RATED", 100, None)


def test_the_attempts_of_a_task_come_the_latest_first(api):
    task = schedule("T_PLAIN", "a", payload={"do": "crash", "message": "in /srv/secret/path.py"}).task_id
    other = schedule("T_PLAIN", "b", payload={"do": "retry"}, max_retry=0).task_id
    for _ in range(3):
        run_due()
        make_due(task)
    assert ScheduleTask.objects.get(id=task).retry_count == 3

    first = api.get(f"/tasks/{task}/attempts?limit=2").body
    second = api.get(f"/tasks/{task}/attempts?limit=2&after={first['next']}").body
    assert [one["attempt"] for one in first["items"] + second["items"]] == [3, 2, 1]
    assert second["next"] is None
    [latest, _] = first["items"]
    assert (latest["error_code"], "/srv" in latest["error_msg"]) == ("KeyError", False)
    assert latest["worker"] and latest["started_at"] <= latest["finished_at"]
    assert len(api.get(f"/tasks/{other}/attempts").body["items"]) == 1
    assert api.get("/tasks/987654321/attempts").code == "SCH_404_NOT_FOUND"
    assert api.get(f"/tasks/{task}/attempts?after=0").status == 422
    assert token(types=["T_QUIET"]).get(f"/tasks/{task}/attempts").code == "SCH_404_NOT_FOUND"


def test_how_far_a_run_is_and_what_tries_have_logged(api):
    batch = started("long", "silent")
    task, silent = sorted(batch.tasks, key=lambda one: one.key)
    tell_progress(batch.batch_no, [Told(task.id, 0.4, "page 4")])
    text = 'lost\nTraceback (most recent call last):\n  File "/srv/secret/path.py", line 1'
    keep_logs(
        batch.batch_no, [Lines(task.id, 1, 5, [(1_800_000_000.25, "", "a line"), (1_800_000_001, "ERROR", text)])]
    )

    told = api.get(f"/tasks/{task.id}").body["progress"]
    assert (told["fraction"], told["note"]) == (0.4, "page 4")
    [log] = api.get(f"/tasks/{task.id}/logs").body["items"]
    assert (log["attempt"], log["worker"], log["dropped"]) == (1, "worker", 5)
    assert log["lines"] == [
        {"at": "2027-01-15T08:00:00.250Z", "level": "", "text": "a line"},
        {"at": "2027-01-15T08:00:01Z", "level": "ERROR", "text": "lost"},
    ]
    assert api.get(f"/tasks/{silent.id}").body["progress"] is None
    assert api.get(f"/tasks/{silent.id}/logs").body == {"items": [], "next": None}
    assert token(types=["T_PLAIN"]).get(f"/tasks/{task.id}/logs").code == "SCH_404_NOT_FOUND"

    settled(batch)
    assert api.get(f"/tasks/{task.id}").body["progress"] is None
    assert len(api.get(f"/tasks/{task.id}/logs").body["items"]) == 1


def test_the_version_is_told_to_whoever_has_a_token(api, settings):
    assert api.get("/version").body == {"version": tasks_app.__version__, "api": "v1", "redis": True}

    settings.PUNCTUAL = settings.PUNCTUAL | {"REDIS_URL": "redis://127.0.0.1:1/0"}
    assert api.get("/version").body["redis"] is False
