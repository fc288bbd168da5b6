"""What answers say beside the thing itself: headers, and what is in the way of a request."""

import json
from urllib.parse import quote

import pytest

from django_punctual import schedule
from tasks_app.engine.operations.api_tokens import issue
from tasks_app.models import IdempotencyRecord, JobDefinition, ScheduleTask
from tests.support.api import JOB, Answer, Api
from tests.support.engine import claim_due, make_due, row
from tests.support.jobs import make
from tests.support.live import nobody_is_alive
from tests.support.moves import RETRY, ids_of, settled, started
from tests.support.operators import operator

pytestmark = pytest.mark.django_db

UNIT = {"task_type": "T_QUIET", "key": "a"}


def revision_of(answer: Answer) -> tuple[str, str]:
    return answer.headers["ETag"], f'"{answer.body["revision"]}"'


# Headers.


def test_every_answer_that_is_a_job_has_its_revision_as_the_etag(api):
    made = api.post("/jobs", JOB)
    path = f"/jobs/{made.body['id']}"
    edited = api.patch(path, {"max_retry": 1}, If_Match=made.headers["ETag"])
    paused = api.post(f"{path}/pause", {"reason": "x"})
    resumed = api.post(f"{path}/resume")
    read = api.get(path)

    for answer, revision in ((made, 1), (edited, 2), (paused, 3), (resumed, 4), (read, 4)):
        assert revision_of(answer) == (f'"{revision}"', f'"{revision}"')
    assert api.call("HEAD", path).headers["ETag"] == '"4"'
    assert "ETag" not in api.get("/jobs").headers
    assert api.delete(path, If_Match=read.headers["ETag"]).status == 204


def test_an_answer_that_is_given_again_says_so(api):
    def twice(method: str, path: str, body: object, key: str) -> tuple[Answer, Answer]:
        first, second = (api.call(method, path, body, Idempotency_Key=key) for _ in range(2))
        assert second.body == first.body
        return first, second

    made, again = twice("POST", "/jobs", JOB, "one")
    refused = twice("POST", "/jobs", JOB, "two")
    deleted = twice("DELETE", f"/jobs/{made.body['id']}", None, "three")

    for (first, second), status in (((made, again), 201), (refused, 409), (deleted, 204)):
        assert (first.status, second.status) == (status, status)
        assert ("Idempotency-Replayed" in first.headers, second.headers["Idempotency-Replayed"]) == (False, "true")
    assert again.headers["ETag"] == made.headers["ETag"] == '"1"'
    assert refused[1].body["job"] == refused[0].body["job"]


def test_an_answer_from_before_an_upgrade_is_given_as_it_was(api):
    """It lacks the fields that such answers have had since."""
    api.post("/tasks", UNIT, Idempotency_Key="old")
    record = IdempotencyRecord.objects.get()
    record.body = json.dumps({name: json.loads(record.body)[name] for name in ("id", "status")})
    record.save()

    again = api.post("/tasks", UNIT, Idempotency_Key="old")

    assert (again.status, again.body) == (201, json.loads(record.body))


def test_every_answer_tells_how_many_calls_are_left(api, settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"API_CALLS_PER_MINUTE": 5}
    calls = [api.get("/tasks/1") for _ in range(12)]  # a minute may end in between

    assert [call.status for call in calls].count(404) in range(5, 11)
    for call in calls:
        left = int(call.headers["RateLimit-Remaining"])
        assert call.headers["RateLimit-Limit"] == "5"
        assert 0 < int(call.headers["RateLimit-Reset"]) <= 60
        assert 0 <= left < 5 and (left == 0 or call.status == 404)
    assert {call.headers["RateLimit-Remaining"] for call in calls} == set("01234")
    assert not any(name.startswith("RateLimit") for name in api.get("/live").headers)


def test_the_limit_that_is_nearer_is_told(api, settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"API_CALLS_PER_MINUTE": 500, "API_ADDRESS_CALLS_PER_MINUTE": 400}
    assert api.get("/tasks").headers["RateLimit-Limit"] == "400"
    settings.PUNCTUAL = settings.PUNCTUAL | {"API_CALLS_PER_MINUTE": 0, "API_ADDRESS_CALLS_PER_MINUTE": 0}
    assert "RateLimit-Limit" not in api.get("/tasks").headers


def test_what_passes_by_itself_says_when_to_try_again(api):
    job = make()
    nobody_is_alive()

    assert api.post(f"/jobs/{job.id}/trigger", Idempotency_Key="k").headers["Retry-After"] == "5"
    assert "Retry-After" not in api.post("/jobs", JOB | {"name": job.name}).headers


# What is in the way.


def test_a_unit_that_is_taken_tells_its_task_and_how_that_stands(api):
    task = api.post("/tasks", UNIT).body["id"]
    make_due(task)
    claim_due()

    answer = api.post("/tasks", UNIT)

    assert (answer.code, answer.body["task"]) == ("SCH_409_DUPLICATE", {"id": task, "status": "RUNNING", "live": True})
    assert "job" not in answer.body


def test_a_name_that_is_taken_tells_its_job_to_those_who_may_see_it(api):
    there = make("report", task_type="T_PLAIN")
    narrow = Api(token=issue("narrow", "default", operator(), can_write=True, types=["T_QUIET"])[1])
    other = make("other")

    for answer in (api.post("/jobs", JOB), api.patch(f"/jobs/{other.id}", {"name": "report"}, If_Match="1")):
        assert answer.code == "SCH_409_DUPLICATE"
        assert answer.body["job"] == {"id": there.id, "status": "ACTIVE", "revision": 1}
    hidden = narrow.post("/jobs", JOB)
    assert (hidden.code, "job" in hidden.body) == ("SCH_409_DUPLICATE", False)


def test_a_stale_revision_tells_the_newest(api):
    job = make()
    JobDefinition.objects.update(revision=7, status="PAUSED")

    for answer in (
        api.patch(f"/jobs/{job.id}", {"max_retry": 1}, If_Match="6"),
        api.delete(f"/jobs/{job.id}", If_Match="6"),
    ):
        assert (answer.code, answer.body["job"]["revision"]) == ("SCH_412_STALE", 7)
        assert answer.body["job"]["status"] == "PAUSED"


def test_what_others_keep_changing_is_told_as_it_stands(api, monkeypatch):
    from tasks_app.lifecycle import schedule as scheduling
    from tasks_app.lifecycle.jobs import lock

    job, task = make(), schedule("T_QUIET", "a", delay=3600).task_id
    monkeypatch.setattr(scheduling, "ROUNDS", 0)
    monkeypatch.setattr(scheduling, "_edit", scheduling._apply)
    monkeypatch.setattr(lock, "ROUNDS", 0)

    moved = api.post("/tasks/reschedule", UNIT | {"delay": 60})
    paused = api.post(f"/jobs/{job.id}/pause", {"reason": "x"})

    assert (moved.code, moved.body["task"]["id"]) == ("SCH_409_CONFLICT", task)
    assert (paused.code, paused.body["job"]["id"]) == ("SCH_409_CONFLICT", job.id)
    assert moved.headers["Retry-After"] == paused.headers["Retry-After"] == "1"


def test_a_change_that_came_too_late_tells_the_task_that_stands(api):
    first = api.post("/tasks/reschedule", UNIT | {"delay": 60, "revision": 5}).body
    late = api.post("/tasks/reschedule", UNIT | {"delay": 60, "revision": 4}).body
    make_due(first["task_id"])
    claim_due()
    second = api.post("/tasks/reschedule", UNIT | {"delay": 60}).body
    by_id = api.post(f"/tasks/{first['task_id']}/reschedule", {"delay": 60}).body

    assert first == {"outcome": "CREATED", "task_id": first["task_id"], "status": "INIT"}
    assert late == {"outcome": "SUPERSEDED", "task_id": first["task_id"], "status": "INIT"}
    assert (second["outcome"], second["status"]) == ("REPLACED", "INIT")
    assert by_id == {"outcome": "SUPERSEDED", "task_id": second["task_id"], "status": "INIT"}


def test_a_trigger_that_is_sent_again_tells_the_instance_as_it_stands(api):
    path = f"/jobs/{make(every=3600).id}/trigger"
    first = api.post(path, Idempotency_Key="k").body
    IdempotencyRecord.objects.all().delete()  # a day later
    ScheduleTask.objects.filter(id=first["task_id"]).update(status="SUCCESS", due_at=None)

    again = api.post(path, Idempotency_Key="k")

    assert first == {"task_id": first["task_id"], "new": True, "status": "INIT"}
    assert again.body == {"task_id": first["task_id"], "new": False, "status": "SUCCESS"}


# A task.


def test_a_task_tells_its_token_its_worker_its_tries_and_its_times(api):
    id_ = schedule("T_QUIET", "a", idem_key="mine").task_id
    fresh = api.get(f"/tasks/{id_}").body
    batch = started("b")
    running = api.get(f"/tasks/{ids_of(batch)[0]}").body
    settled(batch, RETRY)
    failed = api.get(f"/tasks/{ids_of(batch)[0]}").body

    assert (fresh["token"], fresh["idem_key"]) == (str(row(id_).token), "mine")
    assert (fresh["worker"], fresh["attempts"], fresh["created_at"]) == (None, 0, fresh["updated_at"])
    assert (running["status"], running["worker"], running["attempts"]) == ("RUNNING", "worker", 1)
    assert (failed["status"], failed["worker"], failed["attempts"]) == ("FAIL", "worker", 1)
    assert (failed["attempt"], failed["retry_count"]) == (1, 1)
    assert failed["updated_at"] > failed["created_at"]


def test_a_task_may_repeat_itself(api):
    made = api.post("/tasks", UNIT | {"repeat_after": 90.5})

    assert (made.status, made.body["repeat_after"], made.body["expires_after"]) == (201, 90.5, None)
    assert row(made.body["id"]).repeat_after.total_seconds() == 90.5
    refused = api.post("/tasks", UNIT | {"key": "b", "repeat_after": 60, "expires_after": 60})
    assert (refused.code, "exclude each other" in refused.body["detail"]) == ("SCH_422_INVALID", True)
    for wrong in (0, -1, True, "soon", 10**12):
        assert api.post("/tasks", UNIT | {"key": "b", "repeat_after": wrong}).code == "SCH_422_INVALID"


@pytest.mark.parametrize("by_id", [True, False], ids=["by id", "by unit"])
def test_a_reschedule_takes_a_delay_instead_of_a_time(api, by_id):
    made = api.post("/tasks", UNIT | {"delay": 7200}).body
    path, body = (f"/tasks/{made['id']}/reschedule", {}) if by_id else ("/tasks/reschedule", UNIT)

    moved = api.post(path, body | {"delay": 3600})

    assert moved.body == {"outcome": "UPDATED", "task_id": made["id"], "status": "INIT"}
    task = row(made["id"])
    assert 3590 < (task.due_at - task.updated_at).total_seconds() < 3610
    for wrong, words in (
        ({}, "A new time is missing"),
        ({"at": None, "delay": None}, "A new time is missing"),
        ({"at": "2090-01-02T09:00:00Z", "delay": 1}, "both given"),
        ({"delay": -1}, "delay"),
        ({"delay": 10**12}, "delay"),
        ({"delay": True}, "delay"),
    ):
        refused = api.post(path, body | wrong)
        assert refused.code == "SCH_422_INVALID"
        assert words in refused.body["detail"], refused.body
    assert row(made["id"]) == task and row(made["id"]).due_at == task.due_at


# Keys and names of every kind.

KEYS = ["order 7/a", " spaces at both ends ", "?a=b&c#d", "50%+20%", "größe 雪 😀", '"quoted" \\ \'', "../..", "7"]


def test_a_key_may_be_any_text_or_number(api):
    for key in (*KEYS, -7, 10**40):
        made = api.post("/tasks", {"task_type": "T_QUIET", "key": key, "delay": 60})
        found = api.get(f"/tasks?task_type=T_QUIET&key={quote(str(key), safe='')}")
        moved = api.post("/tasks/reschedule", {"task_type": "T_QUIET", "key": key, "delay": 60})

        assert (made.status, made.body["key"]) == (201, str(key))
        assert [task["id"] for task in found.body["items"]] == [made.body["id"]], key
        assert (moved.body["outcome"], moved.body["task_id"]) == ("UPDATED", made.body["id"]), key
    assert api.post("/tasks/reschedule", UNIT | {"key": 7, "delay": 60}).body["outcome"] == "UPDATED", "it is '7'"


def test_what_can_be_no_key_is_refused(api):
    for key in (10**200, 7.5, True, None, "", "\x00", "a\tb", "x" * 201, [], {}):
        for path in ("/tasks", "/tasks/reschedule"):
            answer = api.post(path, {"task_type": "T_QUIET", "key": key, "delay": 60})
            assert answer.code == "SCH_422_INVALID", (path, key)


def test_jobs_of_every_name_are_found_and_paged(api):
    for name in KEYS:
        make(name)

    seen, after = [], ""
    while True:
        page = api.get(f"/jobs?limit=1{after}").body
        seen += [job["name"] for job in page["items"]]
        if page["next"] is None:
            break
        after = f"&after={quote(page['next'], safe='')}"

    assert sorted(seen) == sorted(KEYS)
    for name in KEYS:
        assert [job["name"] for job in api.get(f"/jobs?name={quote(name, safe='')}").body["items"]] == [name]


def test_a_place_in_a_list_that_nobody_gave_is_refused(api):
    for after in ("0", "-1", "x", "1.5", "", " 1", "１", "9" * 30, "%00"):
        assert api.get(f"/tasks?after={after}").code == "SCH_422_INVALID", after
