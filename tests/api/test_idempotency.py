"""Idempotency-Key: a request that is sent again, at once or at the same time, happens once."""

import json
import threading

import pytest
from django.contrib.auth.models import Permission
from django.db import connection, connections
from django.http import HttpResponse

from tasks_app.engine.operations.api_tokens import change, issue
from tasks_app.engine.operations.members import ADMINISTER, OPERATE, VIEW
from tasks_app.lifecycle.jobs import lock
from tasks_app.models import AuditEntry, IdempotencyRecord, JobDefinition, ScheduleTask
from tests.support.api import JOB, Api
from tests.support.browser import person
from tests.support.clients import client_of
from tests.support.jobs import make
from tests.support.live import a_beat_is_alive, nobody_is_alive
from tests.support.marks import commits
from tests.support.operators import operator
from tests.support.overlap import overlap_results

pytestmark = commits


@pytest.fixture
def caller():
    a_beat_is_alive()
    return Api()


def test_a_repeated_request_gets_the_stored_answer_and_does_nothing(caller):
    first = caller.post("/jobs", JOB, Idempotency_Key="abc")
    second = caller.post("/jobs", JOB, Idempotency_Key="abc")

    assert (first.status, second.status, second.body) == (201, 201, first.body)
    assert JobDefinition.objects.count() == AuditEntry.objects.filter(verb="create").count() == 1


def test_a_repeated_request_gets_the_same_bytes(caller):
    """Of what it has made, of a refusal with its fields, and of an answer without a body."""
    job = caller.post("/jobs", JOB).body["id"]
    asked = [
        ("POST", "/tasks", TASK | {"payload": {"zebra": 1, "ant": 2.50}}, 201),
        ("POST", "/tasks", TASK, 409),
        ("POST", "/tasks", TASK | {"key": "b", "repeat_after": 60, "expires_after": 60}, 422),
        ("DELETE", f"/jobs/{job}", None, 204),
    ]
    for number, (method, path, body, status) in enumerate(asked):
        first, second = (caller.raw(method, path, body, Idempotency_Key=f"k{number}") for _ in range(2))

        assert first.status_code == second.status_code == status, first.content
        assert second["Idempotency-Replayed"] == "true"
        assert (second.content, second["Content-Type"]) == (first.content, first["Content-Type"])


def test_an_answer_has_the_same_content_type_with_a_key_and_without(caller):
    without, with_key = (
        caller.raw("POST", "/tasks", TASK | {"key": key}, **headers)
        for key, headers in (("a", {}), ("b", {"Idempotency_Key": "k"}))
    )

    assert without["Content-Type"] == with_key["Content-Type"] == "application/json; charset=utf-8"
    assert list(without.json()) == list(with_key.json())


def test_a_refusal_of_the_operation_is_kept_for_its_key_and_another_body_is_refused(caller):
    wrong = TASK | {"repeat_after": 60, "expires_after": 60}
    first, second = (caller.post("/tasks", wrong, Idempotency_Key="abc") for _ in range(2))
    corrected = caller.post("/tasks", TASK, Idempotency_Key="abc")

    assert (first.status, second.body, second.headers["Idempotency-Replayed"]) == (422, first.body, "true")
    assert corrected.code == "SCH_422_KEY_REUSED"


def test_a_request_that_does_not_fit_the_schema_uses_up_no_key(caller):
    """Nothing began to be carried out: the corrected request may take the same key."""
    for wrong in ({"task_type": "T_QUIET"}, TASK | {"key": ["a"]}):
        assert caller.post("/tasks", wrong, Idempotency_Key="abc").status == 422
    corrected = caller.post("/tasks", TASK, Idempotency_Key="abc")

    assert corrected.status == 201 and "Idempotency-Replayed" not in corrected.headers


def test_a_key_belongs_to_one_request_of_one_tenant(caller):
    caller.post("/jobs", JOB, Idempotency_Key="abc")

    other = caller.post("/jobs", JOB | {"name": "other"}, Idempotency_Key="abc")
    elsewhere = caller.post("/tasks", {"task_type": "T_QUIET", "key": "k"}, Idempotency_Key="abc")
    acme = Api("acme").post("/jobs", JOB, Idempotency_Key="abc")

    assert (other.status, other.code) == (422, "SCH_422_KEY_REUSED")
    assert elsewhere.code == "SCH_422_KEY_REUSED"
    assert acme.status == 201
    assert set(JobDefinition.objects.values_list("tenant", flat=True)) == {"default", "acme"}


def test_the_same_body_may_be_written_otherwise(caller):
    """Not every client writes the names of an object in the same order twice."""
    first = caller.call("POST", "/jobs", text=json.dumps(JOB), Idempotency_Key="abc")
    second = caller.call("POST", "/jobs", text=json.dumps(dict(reversed(JOB.items())), indent=1), Idempotency_Key="abc")

    assert (first.status, second.status, second.body) == (201, 201, first.body)


def test_a_delete_with_a_body_that_nobody_reads_is_the_same_as_long_as_that_is(caller):
    job = make()
    answers = [caller.call("DELETE", f"/jobs/{job.id}", text=text, Idempotency_Key="abc") for text in ("{", "{", "}")]

    assert [answer.status for answer in answers] == [204, 204, 422]


def test_a_key_may_have_spaces_slashes_and_numbers(caller):
    job = make()
    for key in ("order 7/a: 50%", "7", "x" * 150):
        first, second = (caller.post(f"/jobs/{job.id}/trigger", Idempotency_Key=key) for _ in range(2))

        assert (first.status, second.body) == (201, first.body), first.body
        assert ScheduleTask.objects.get(id=first.body["task_id"]).biz_key == f"{job.id}:m:{key}"


@pytest.mark.parametrize("key", ["", "ü", "a\tb", "x" * 151])
def test_a_key_has_printable_characters(caller, key):
    answer = caller.post("/jobs", JOB, Idempotency_Key=key)

    assert (answer.status, answer.code) == (422, "SCH_422_INVALID")
    assert not JobDefinition.objects.exists()


def test_a_callers_mistake_is_kept_and_what_it_did_before_is_undone(caller):
    job = make()
    first = caller.patch(f"/jobs/{job.id}", {"every": 5}, If_Match="9", Idempotency_Key="abc")
    JobDefinition.objects.update(revision=9)
    second = caller.patch(f"/jobs/{job.id}", {"every": 5}, If_Match="9", Idempotency_Key="abc")

    assert (first.status, second.status, second.body) == (412, 412, first.body)
    assert JobDefinition.objects.get().every == 60


def test_a_server_error_is_not_kept(caller):
    job = make()
    nobody_is_alive()
    down = caller.post(f"/jobs/{job.id}/trigger", Idempotency_Key="abc")
    a_beat_is_alive()
    up = caller.post(f"/jobs/{job.id}/trigger", Idempotency_Key="abc")

    assert (down.status, up.status) == (503, 201)


def test_what_may_well_succeed_the_next_time_is_not_kept(caller, monkeypatch):
    """Others kept changing it: the caller is told to send it again, and does, with the same key."""
    job = make()
    monkeypatch.setattr(lock, "ROUNDS", 0)
    lost = caller.patch(f"/jobs/{job.id}", {"every": 5}, If_Match="1", Idempotency_Key="abc")
    monkeypatch.undo()
    again = caller.patch(f"/jobs/{job.id}", {"every": 5}, If_Match="1", Idempotency_Key="abc")

    assert (lost.status, lost.code, again.status) == (409, "SCH_409_CONFLICT", 200)


def test_what_one_token_may_not_do_another_of_the_tenant_may_with_the_same_key(caller):
    narrow = Api(token=issue("narrow", "default", operator(), can_write=True, types=["T_PLAIN"])[1])
    task = {"task_type": "T_QUIET", "key": "order 4711"}

    refused = narrow.post("/tasks", task, Idempotency_Key="order 4711")
    done = caller.post("/tasks", task, Idempotency_Key="order 4711")

    assert (refused.code, done.status) == ("SCH_403_TYPE_CLOSED", 201)


TASK = {"task_type": "T_QUIET", "key": "order 4711"}


@pytest.mark.parametrize(
    "narrower",
    [{"types": ["T_PLAIN"]}, {"lanes": ["low"]}, {"rights": ["schedule"]}],
    ids=["types", "lanes", "rights"],
)
def test_an_answer_is_not_replayed_to_who_may_do_less_than_its_first_caller(narrower):
    """Another token of the tenant, or the same one after its rights have shrunk."""
    row, text = issue("one", "default", operator(), can_write=True)
    one, other = Api(token=text), Api(token=issue("other", "default", operator(), **{"can_write": True} | narrower)[1])
    done = one.post("/tasks", TASK, Idempotency_Key="order 4711")
    to_other = other.post("/tasks", TASK, Idempotency_Key="order 4711")
    change(row.id, operator(), **narrower)
    later = one.post("/tasks", TASK, Idempotency_Key="order 4711")

    assert done.status == 201
    for refused in (to_other, later):
        assert (refused.status, refused.code) == (403, "SCH_403_FORBIDDEN")
        assert "Use a token that has them all, or another key." in refused.body["detail"]


def test_who_may_change_only_their_own_gets_no_answer_about_what_is_anothers():
    ann, bea = (Api(token=issue(name, "default", operator(), rights=["schedule"])[1]) for name in ("ann", "bea"))
    first, anothers, again = (one.post("/tasks", TASK, Idempotency_Key="order 4711") for one in (ann, bea, ann))

    assert (first.status, anothers.code, again.body) == (201, "SCH_403_FORBIDDEN", first.body)


def test_a_permission_that_was_taken_away_is_asked_for_again():
    """Of people with rights in all tenants, some operations ask for a permission of their own."""
    otto = person("otto", *VIEW, *OPERATE, *ADMINISTER, "punctual.operate_tenant")
    logged_in = client_of(otto)

    def suspend() -> HttpResponse:
        headers = {"Idempotency-Key": "once"}
        return logged_in.post(
            "/api/v1/tenants/acme/suspend", {"reason": "unpaid"}, content_type="application/json", headers=headers
        )

    first, again = suspend(), suspend()
    otto.user_permissions.remove(Permission.objects.get(codename="operate_tenant"))
    later = suspend()

    assert (first.status_code, again.json()) == (200, first.json())
    assert (later.status_code, later.json()["code"]) == (403, "SCH_403_FORBIDDEN")


def test_an_answer_is_replayed_to_those_who_may_do_as_much(caller):
    narrow = Api(token=issue("narrow", "default", operator(), can_write=True, types=["T_QUIET", "T_PLAIN"])[1])
    first = narrow.post("/tasks", TASK, Idempotency_Key="order 4711")
    again = caller.post("/tasks", TASK, Idempotency_Key="order 4711")

    assert (first.status, again.status, again.body) == (201, 201, first.body)


def test_the_record_and_the_deed_are_one_transaction(caller):
    """If the answer can't be stored, nothing was done."""
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE punctual_idempotency_record ADD CONSTRAINT no_more CHECK (key <> 'abc')")
    try:
        answer = caller.post("/jobs", JOB, Idempotency_Key="abc")
    finally:
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE punctual_idempotency_record DROP CONSTRAINT no_more")

    assert answer.status == 500
    assert not JobDefinition.objects.exists() and not IdempotencyRecord.objects.exists()


def test_a_request_while_the_first_is_running_is_told_so(caller):
    first, second = overlap_results(
        lambda: caller.post("/jobs", JOB, Idempotency_Key="abc"),
        lambda: Api(token=caller.token).post("/jobs", JOB, Idempotency_Key="abc"),
    )

    assert first.value.status == 201
    assert (second.value.status, second.value.code, second.waited) == (409, "SCH_409_IN_PROGRESS", False)


def test_the_same_trigger_fifty_times_at_once_is_one_instance(caller):
    job = make(every=3600)
    gate, answers = threading.Barrier(10), []

    def trigger() -> None:
        api = Api(token=caller.token)
        gate.wait(20)
        for _ in range(5):
            answers.append(api.post(f"/jobs/{job.id}/trigger", Idempotency_Key="once"))
        connections.close_all()

    threads = [threading.Thread(target=trigger) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert len(answers) == 50
    assert {answer.status for answer in answers} <= {201, 409}
    assert len({answer.body["task_id"] for answer in answers if answer.status == 201}) == 1
    assert ScheduleTask.objects.filter(biz_key__contains=":m:").count() == 1


def test_old_answers_are_pruned():
    from tasks_app.engine.beat.retention import prune

    IdempotencyRecord.objects.create(tenant="default", key="new", fingerprint="", status=200)
    old = IdempotencyRecord.objects.create(tenant="default", key="old", fingerprint="", status=200)
    IdempotencyRecord.objects.filter(id=old.id).update(created_at="2020-01-01T00:00:00Z")

    assert prune().answers == 1
    assert IdempotencyRecord.objects.get().key == "new"
