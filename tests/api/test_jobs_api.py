"""/jobs: what a caller can do, and what it hears when it can't."""

from datetime import datetime

import pytest

from tasks_app.lifecycle.jobs import verbs
from tasks_app.lifecycle.jobs.declared import remember
from tasks_app.models import AuditEntry, JobDefinition, ScheduleTask
from tests.support.api import JOB, Api
from tests.support.engine import run_due
from tests.support.jobs import by, make
from tests.support.live import nobody_is_alive

pytestmark = pytest.mark.django_db


def created(api: Api, **fields) -> dict:
    answer = api.post("/jobs", JOB | fields)
    assert answer.status == 201, answer.body
    return answer.body


def test_a_job_is_created_and_read_with_its_words(api):
    job = created(api, payload={"n": 1})

    read = api.get(f"/jobs/{job['id']}")

    assert job.pop("advice") is None and (read.status, read.body) == (200, job)
    assert job["words"] == "At 09:00 on Monday through Friday, Europe/Berlin time"
    assert (job["revision"], job["status"], job["payload"], job["every"]) == (1, "ACTIVE", {"n": 1}, None)
    assert read.headers["ETag"] == '"1"'
    assert created(api, name="yes", payload=True)["payload"] is True
    assert AuditEntry.objects.filter(verb="create").first().actor == "token of default"


@pytest.mark.parametrize(
    "when", [{"every": 60}, {"at": "2090-01-02T09:00:00+01:00"}, {"delay": 3600}, {"cron": "*/10 * * * * ?"}]
)
def test_a_job_may_be_an_interval_one_time_or_a_delay(api, when):
    answer = api.post("/jobs", {"name": "report", "task_type": "T_QUIET"} | when)

    assert answer.status == 201
    assert ScheduleTask.objects.filter(job=answer.body["id"]).exists()


NO_JOBS = [
    (JOB | {"cron": "0 0 30 2 *"}, "never fires"),
    (JOB | {"cron": "* * * *"}, "4 fields"),
    (JOB | {"timezone": "Mars/Olympus"}, "time zone"),
    (JOB | {"name": "a\0b"}, "name"),
    (JOB | {"name": "x" * 10_000}, "name"),
    (JOB | {"name": ""}, "name"),
    (JOB | {"name": None}, "name"),
    (JOB | {"every": 60}, "exactly one"),
    (JOB | {"start_at": "2026-01-01T00:00:00"}, "start_at"),
    (JOB | {"start_at": "20270101"}, "2027-03-01T09:00:00Z"),
    (JOB | {"every": 0}, "every"),
    (JOB | {"cron": None, "every": True}, "every: Value error, true is not a valid value"),
    (JOB | {"timeout": True}, "timeout"),
    (JOB | {"at": "2090-01-01T00:00:00Z", "delay": 5, "cron": None}, "both"),
    (JOB | {"lane": "fast"}, "lane"),
    (JOB | {"max_retry": 10**30}, "max_retry"),
    (JOB | {"max_retry": 10**6}, "max_retry"),
    (JOB | {"jitter": 10**6}, "jitter"),
    (JOB | {"evry": 5}, "evry"),
    (JOB | {"payload": {"a": "\0"}}, "NUL"),
    ({"name": "x"}, "task_type"),
    ([], "body"),
]


def test_a_job_that_makes_no_sense_is_a_problem_with_a_reason(api):
    for body, words in NO_JOBS:
        answer = api.post("/jobs", body)

        assert (answer.status, answer.code) == (422, "SCH_422_INVALID"), (body, answer.body)
        assert answer.headers["Content-Type"] == "application/problem+json"
        assert words in answer.body["detail"], (body, answer.body)
        assert not JobDefinition.objects.exists(), body


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"name": ', "line 1 column 10"),
        ('{"name": "a", "name": "b"}', "'name' appears twice in one object"),
        ('{"name": "a", "payload": {"n": NaN}}', "NaN is not a JSON number"),
        ('{"name": "a", "payload": ' + "[" * 100_000 + "]" * 100_000 + "}", "recursion"),
    ],
    ids=["cut", "twice", "NaN", "deep"],
)
def test_what_is_no_json_is_malformed_and_told_why(api, text, words):
    answer = api.call("POST", "/jobs", text=text)

    assert (answer.status, answer.code) == (400, "SCH_400_MALFORMED")
    assert words in answer.body["detail"]


def test_a_body_that_is_too_large_is_told_so(api):
    answer = api.post("/jobs", JOB | {"payload": "x" * 300_000})

    assert (answer.status, answer.code) == (413, "SCH_413_TOO_LARGE")
    assert "212,992" in answer.body["detail"]


def nested(depth: int) -> list:
    value = []
    for _ in range(depth - 1):
        value = [value]
    return value


def test_a_payload_is_as_deep_as_it_can_be_shown(api):
    job = created(api, payload=nested(201))
    deeper = api.post("/jobs", JOB | {"name": "deeper", "payload": nested(202)})

    assert api.get(f"/jobs/{job['id']}").body["payload"] == api.get("/jobs").body["items"][0]["payload"] == nested(201)
    assert (deeper.status, deeper.code) == (422, "SCH_422_INVALID")
    assert api.get(f"/jobs/{job['id']}/instances").status == 200


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/nothing"), ("GET", "/jobs/"), ("POST", "/jobs/"), ("GET", "/jobs/1/x"), ("GET", "/")]
)
def test_an_address_with_nothing_at_it_is_a_problem_too(api, method, path):
    answer = api.call(method, path)

    assert (answer.status, answer.code) == (404, "SCH_404_NOT_FOUND")


def test_a_method_that_is_not_there_is_a_problem_too_and_head_is_a_short_get(api):
    answer = api.call("PUT", "/jobs", {})

    assert (answer.status, answer.code, answer.headers["Allow"]) == (
        405,
        "SCH_405_METHOD_NOT_ALLOWED",
        "GET, HEAD, POST",
    )
    assert api.call("OPTIONS", "/jobs/1/pause").headers["Allow"] == "POST"
    for path in ("/live", "/jobs"):
        head = api.call("HEAD", path)
        assert (head.status, head.body) == (200, None)


def test_a_name_is_taken_once(api):
    created(api)

    answer = api.post("/jobs", JOB)

    assert (answer.status, answer.code) == (409, "SCH_409_DUPLICATE")
    assert Api("acme").post("/jobs", JOB).status == 201


def test_an_edit_names_the_revision_it_saw(api):
    job = created(api)
    path = f"/jobs/{job['id']}"

    assert api.patch(path, {"cron": "0 8 * * *"}).code == "SCH_428_IF_MATCH_MISSING"
    edited = api.patch(path, {"cron": "0 8 * * *", "end_at": None, "reason": "earlier"}, If_Match='"1"')
    stale = api.patch(path, {"cron": "0 7 * * *"}, If_Match="1")

    assert (edited.status, edited.body["revision"], edited.body["cron"]) == (200, 2, "0 8 * * *")
    assert (stale.status, stale.code) == (412, "SCH_412_STALE")
    assert api.patch(path, {"every": 60}, If_Match="2").body["cron"] is None
    assert AuditEntry.objects.filter(verb="edit", reason="earlier").count() == 1


def test_if_match_may_be_weak_but_is_one_revision(api):
    """A proxy that compresses makes a weak one of the ETag that it passes on."""
    path = f"/jobs/{created(api)['id']}"

    for wrong in ("*", '"1", "2"', '"1', "x", ""):
        answer = api.patch(path, {"max_retry": 1}, If_Match=wrong)
        assert (answer.status, answer.code) == (422, "SCH_422_INVALID")
        assert "one revision" in answer.body["detail"]
    assert api.patch(path, {"max_retry": 1}, If_Match='W/"1"').body["revision"] == 2


def test_a_delete_that_names_a_revision_deletes_no_other(api):
    path = f"/jobs/{created(api)['id']}"
    api.patch(path, {"max_retry": 1}, If_Match="1")

    stale = api.delete(path, If_Match='"1"')

    assert (stale.status, stale.code) == (412, "SCH_412_STALE")
    assert api.get(path).status == 200
    assert api.delete(path, If_Match='"2"').status == 204


def test_pause_resume_and_delete(api):
    job = created(api)
    path = f"/jobs/{job['id']}"

    assert api.post(f"{path}/pause", {}).code == "SCH_422_INVALID"
    paused = api.post(f"{path}/pause", {"reason": "holidays", "until": "2090-01-01T00:00:00Z", "on_resume": "latest"})
    assert (paused.body["status"], paused.body["pause_reason"]) == ("PAUSED", "holidays")
    assert paused.body["paused_by"] == "token of default"
    assert "Paused by token of default" in api.get(f"{path}/preview").body["state"]
    assert api.post(f"{path}/resume", {"on_resume": "skip"}).body["status"] == "ACTIVE"
    assert api.delete(path).status == 204
    assert api.get(path).code == api.delete(path).code == "SCH_404_NOT_FOUND"


def test_a_trigger_needs_a_key_and_a_dispatcher(api):
    path = f"/jobs/{created(api)['id']}/trigger"

    assert api.post(path).code == "SCH_400_IDEMPOTENCY_KEY_MISSING"
    first = api.post(path, {"payload": {"n": 2}}, Idempotency_Key="k1")
    assert (first.status, first.body["new"]) == (201, True)
    nobody_is_alive()
    answer = api.post(path, Idempotency_Key="k2")
    assert (answer.status, answer.code) == (503, "SCH_503_DISPATCHER_DOWN")
    assert api.post("/jobs", JOB | {"name": "still accepted"}).status == 201


def test_a_job_says_what_it_does_about_overlap_and_a_trigger_may_do_otherwise(api):
    job = api.post("/jobs", JOB | {"overlap": "skip"}).body
    path = f"/jobs/{job['id']}"
    assert job["overlap"] == "skip"

    waits = api.post(f"{path}/trigger", Idempotency_Key="k1").body
    beside = api.post(f"{path}/trigger", {"overlap": "allow"}, Idempotency_Key="k2").body

    assert (waits["status"], beside["status"]) == ("BLOCKED", "INIT")
    assert api.get(f"/tasks/{waits['task_id']}/why").body["rule"] == "waits_for_turn"
    assert api.post(f"{path}/trigger", {"overlap": "maybe"}, Idempotency_Key="k3").status == 422
    edited = api.patch(path, {"overlap": None}, If_Match=str(job["revision"]))
    assert edited.body["overlap"] == "allow"


def test_the_history_comes_in_pages_the_newest_first(api):
    job = make("history", every=600)
    ids = [verbs.trigger(job.id, f"k{n}", by()).task_id for n in range(7)]
    run_due()

    seen, after = [], ""
    while True:
        page = api.get(f"/jobs/{job.id}/instances?limit=3&status=SUCCESS{after}").body
        seen += [task["id"] for task in page["items"]]
        if page["next"] is None:
            break
        after = f"&after={page['next']}".replace("+", "%2B").replace(" ", "%20").replace('"', "%22")

    assert seen == ids[::-1]
    noon = "2026-01-01T12:00:00"
    wrong = ["nonsense", "0:0001-01-01T00:00:00%2B23:59/1", "0:9999-12-31T23:59:59-23:59/1", f"0:{noon}/1"]
    wrong += [f"0:{noon}Z", f"0:{noon}Z/0", f"0:{noon}Z/x", f"0:{noon}Z/9999999999999999999", f"-1:{noon}Z/1"]
    for one in wrong:
        assert api.get(f"/jobs/{job.id}/instances?after={one}").code == "SCH_422_INVALID", one
    odd = "0:2026-01-01T00:00:00%2B23:59:59.999999/1"
    assert api.get(f"/jobs/{job.id}/instances?after={odd}").status == 200


def test_jobs_are_listed_by_name_in_pages_and_filtered(api):
    for n in range(5):
        make(f"job-{n}")
    make("other tenant's", tenant="acme")
    verbs.pause(make("paused").id, by())

    first = api.get("/jobs?limit=4").body
    second = api.get(f"/jobs?limit=4&after={first['next']}").body

    assert [job["name"] for job in first["items"] + second["items"]] == [*(f"job-{n}" for n in range(5)), "paused"]
    assert second["next"] is None
    assert [job["name"] for job in api.get("/jobs?status=PAUSED").body["items"]] == ["paused"]
    assert [job["name"] for job in api.get("/jobs?name=job-3").body["items"]] == ["job-3"]
    assert api.get("/jobs?limit=100000").status == 422
    assert api.get("/jobs?name=%00").status == 422


def test_a_job_says_which_file_declares_it(api):
    job = make("report")
    assert api.get(f"/jobs/{job.id}").body["declared"] is None
    remember(None, job, "report", "jobs.yaml", by())
    verbs.edit(job.id, {"lane": "high"}, by())
    make("other")

    told = api.get(f"/jobs/{job.id}").body["declared"]

    assert (told["source"], told["drift"]) == ("jobs.yaml", ["lane"])
    assert [one["declared"] for one in api.get("/jobs").body["items"]] == [None, told]


def test_a_preview_shows_the_next_times_in_the_jobs_zone(api):
    job = created(api)

    preview = api.get(f"/jobs/{job['id']}/preview?count=3").body

    assert len(preview["times"]) == 3
    assert all("09:00 CE" in one["words"] for one in preview["times"])
    assert datetime.fromisoformat(preview["times"][0]["at"]).tzinfo is not None
    assert preview["state"].startswith("Fires next on")
