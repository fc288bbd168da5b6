"""/tasks/bulk and /tasks/bulk/cancel: an answer for each task, one statement for all."""

import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from django_punctual import schedule, schedule_many
from tasks_app.api.bulk import MOST
from tasks_app.engine.operations.api_tokens import issue
from tasks_app.models import AuditEntry, ScheduleTask
from tests.support.api import Api
from tests.support.engine import run_due
from tests.support.operators import operator

pytestmark = pytest.mark.django_db

GOOD = {"task_type": "T_QUIET", "delay": 3600}
BAD = [
    ({"task_type": "T_QUIET"}, "SCH_422_INVALID", "key: Field required"),
    ("task", "SCH_422_INVALID", ""),
    (None, "SCH_422_INVALID", ""),
    (GOOD | {"key": "x", "at": "2090-01-02"}, "SCH_422_INVALID", "at: "),
    (GOOD | {"key": "x", "at": "2090-01-02T09:00:00Z"}, "SCH_422_INVALID", "both given"),
    (GOOD | {"key": "x", "colour": "red"}, "SCH_422_INVALID", "colour"),
    (GOOD | {"key": "x", "delay": -1}, "SCH_422_INVALID", "delay: "),
    (GOOD | {"key": "x", "max_retry": True}, "SCH_422_INVALID", "true is not a valid value"),
    (GOOD | {"key": "x", "lane": "fast"}, "SCH_422_INVALID", "lane"),
    (GOOD | {"key": "x", "lane": "critical"}, "SCH_403_LANE_CLOSED", "It may use"),
    (GOOD | {"key": "x", "task_type": "T_CLOSED"}, "SCH_403_TYPE_CLOSED", "is not open"),
    (GOOD | {"key": "x", "task_type": "T_NOBODY_KNOWS"}, "SCH_403_TYPE_CLOSED", "is not open"),
    (GOOD | {"key": "x", "payload": {"a": "b\0"}}, "SCH_422_INVALID", "NUL"),
    ({"task_type": "T_URGENT", "key": "x"}, "SCH_403_LANE_CLOSED", "It may use"),
]


def keys() -> list[str]:
    return list(ScheduleTask.objects.order_by("id").values_list("biz_key", flat=True))


def test_one_bad_task_does_not_spoil_the_others(api):
    there = schedule("T_QUIET", "there").task_id
    run_due()
    schedule("T_QUIET", "planned", delay=60)
    wanted = [GOOD | {"key": "a"}, *(bad for bad, _, _ in BAD), GOOD | {"key": "planned"}, GOOD | {"key": "there"}]
    wanted += [{"task_type": "T_PLAIN", "key": "a", "lane": "low", "payload": {"n": 1}}, GOOD | {"key": "a"}]

    answer = api.post("/tasks/bulk", {"tasks": wanted})

    assert answer.status == 200
    assert (answer.body["created"], answer.body["existing"], answer.body["refused"]) == (3, 2, len(BAD))
    items = answer.body["items"]
    assert [one["index"] for one in items] == list(range(len(wanted)))
    for (_, code, words), one in zip(BAD, items[1:], strict=False):
        assert (one["outcome"], one["task_id"], one["error"]["code"]) == (None, None, code), one
        assert words in one["error"]["detail"]
    outcomes = [(one["outcome"], one["status"], one["error"]) for one in (items[0], *items[-4:])]
    created, exists = ("CREATED", "INIT", None), ("EXISTS", "INIT", None)
    assert outcomes == [created, exists, created, created, exists]
    assert items[-1]["task_id"] == items[0]["task_id"] and items[-3]["task_id"] != there
    plain = ScheduleTask.objects.get(id=items[-2]["task_id"])
    assert (plain.task_type, plain.lane, plain.payload, plain.tenant) == ("T_PLAIN", "low", {"n": 1}, "default")


@pytest.mark.parametrize(
    ("bad", "code"),
    [(GOOD | {"key": ""}, "SCH_422_INVALID"), (GOOD | {"key": "planned"}, "SCH_409_DUPLICATE"), (BAD[9][0], BAD[9][1])],
)
def test_an_atomic_call_is_done_as_a_whole_or_not_at_all(api, bad, code):
    schedule("T_QUIET", "planned", delay=60)
    wanted = [GOOD | {"key": "a"}, bad, GOOD | {"key": "b"}]

    answer = api.post("/tasks/bulk", {"tasks": wanted, "atomic": True})

    assert (answer.status, answer.code) == (int(code.split("_")[1]), code)
    assert answer.body["detail"].startswith("1 of 3 tasks can't be scheduled, so none was (atomic). tasks.1: ")
    assert keys() == ["planned"]
    assert api.post("/tasks/bulk", {"tasks": [wanted[0], wanted[2]], "atomic": True}).body["created"] == 2


def test_many_are_planned_by_one_statement_and_cancelled_by_as_many_as_one(api):
    def statements(path: str, tasks: list) -> int:
        with CaptureQueriesContext(connection) as seen:
            assert api.post(path, {"tasks": tasks}).body["refused"] == 0
        return len(seen)

    units = [{"task_type": "T_QUIET", "key": str(n)} for n in range(300)]
    api.get("/version")  # notes the use of the token
    assert statements("/tasks/bulk", [GOOD | {"key": "one"}]) == 4  # who calls, and the insert in its transaction
    assert statements("/tasks/bulk", [GOOD | unit | {"payload": {"n": n}} for n, unit in enumerate(units)]) == 4
    one = statements("/tasks/bulk/cancel", [{"task_type": "T_QUIET", "key": "one"}])
    assert statements("/tasks/bulk/cancel", units) == one <= 8
    assert set(ScheduleTask.objects.values_list("status", flat=True)) == {"CANCELLED"}


def test_a_call_that_is_sent_again_does_nothing_and_has_the_same_answer(api):
    body = {"tasks": [GOOD | {"key": "a"}, GOOD | {"key": ""}]}

    first, second = (api.post("/tasks/bulk", body, Idempotency_Key="k") for _ in range(2))

    assert first.body == second.body and first.body["created"] == 1
    assert api.post("/tasks/bulk", {"tasks": body["tasks"][:1]}, Idempotency_Key="k").code == "SCH_422_KEY_REUSED"
    cancelled = [
        api.post("/tasks/bulk/cancel", {"tasks": [{"id": first.body["items"][0]["task_id"]}]}, Idempotency_Key="c").body
        for _ in range(2)
    ]
    assert cancelled[0] == cancelled[1] and cancelled[0]["cancelled"] == 1
    assert AuditEntry.objects.filter(verb="cancel").count() == 1


@pytest.mark.parametrize("path", ["/tasks/bulk", "/tasks/bulk/cancel"])
@pytest.mark.parametrize(
    "body", [{}, {"tasks": []}, {"tasks": {}}, {"tasks": [{}] * (MOST + 1)}, {"tasks": [{}], "atomic": "perhaps"}]
)
def test_a_call_that_makes_no_sense_is_refused_as_a_whole(api, path, body):
    answer = api.post(path, body)

    assert (answer.status, answer.code) == (422, "SCH_422_INVALID")


def test_a_body_may_be_as_large_as_many_tasks_need_and_no_larger(api):
    large = {"tasks": [GOOD | {"key": str(n), "payload": "x" * 60_000} for n in range(40)]}
    assert 2_400_000 < len(json.dumps(large)) < 2_621_440
    assert api.post("/tasks/bulk", large).body["created"] == 40

    assert api.post("/tasks/bulk", {"tasks": large["tasks"] * 2}).code == "SCH_413_TOO_LARGE"
    assert api.post("/tasks", large["tasks"][0] | {"payload": "x" * 300_000}).code == "SCH_413_TOO_LARGE"


def test_a_payload_may_be_as_deep_among_many_as_alone(api):
    payload = json.loads("[" * 201 + "]" * 201)

    assert api.post("/tasks", GOOD | {"key": "a", "payload": payload}).status == 201
    assert api.post("/tasks/bulk", {"tasks": [GOOD | {"key": "b", "payload": payload}]}).body["created"] == 1
    assert api.post("/tasks/bulk", {"tasks": [GOOD | {"key": "b", "payload": [payload]}]}).body["refused"] == 1


def test_each_task_is_cancelled_by_its_id_or_unit_and_says_what_became_of_it(api):
    done = schedule("T_QUIET", "done").task_id
    run_due()
    old = schedule("T_QUIET", "again").task_id
    run_due()
    again = schedule("T_QUIET", "again", delay=60).task_id
    by_id, by_unit = (schedule("T_QUIET", key, delay=60).task_id for key in ("by id", "by unit"))
    theirs = schedule("T_QUIET", "theirs", delay=60, tenant="acme").task_id
    closed = schedule("T_CLOSED", "closed", delay=60).task_id
    urgent = schedule("T_QUIET", "urgent", delay=60, lane="critical").task_id
    wanted = [
        ({"id": by_id}, by_id, "cancelled"),
        ({"id": by_id}, by_id, "cancelled"),
        ({"task_type": "T_QUIET", "key": "by unit"}, by_unit, "cancelled"),
        ({"id": done}, done, "finished"),
        ({"id": old}, old, "superseded"),
        ({"task_type": "T_QUIET", "key": "again"}, again, "cancelled"),
        ({"id": theirs}, None, "SCH_404_NOT_FOUND"),
        ({"task_type": "T_QUIET", "key": "theirs"}, None, "SCH_404_NOT_FOUND"),
        ({"id": 987654321}, None, "SCH_404_NOT_FOUND"),
        ({"id": closed}, None, "SCH_403_TYPE_CLOSED"),
        ({"id": urgent}, None, "SCH_403_LANE_CLOSED"),
        ({"id": 0}, None, "SCH_422_INVALID"),
        ({}, None, "SCH_422_INVALID"),
        ({"id": by_id, "key": "x"}, None, "SCH_422_INVALID"),
        ({"task_type": "T_QUIET"}, None, "SCH_422_INVALID"),
        (7, None, "SCH_422_INVALID"),
    ]

    answer = api.post("/tasks/bulk/cancel", {"tasks": [one for one, _, _ in wanted], "reason": "no more"}).body

    told = [(one["task_id"], one["answer"] or one["error"]["code"]) for one in answer["items"]]
    assert told == [(task, word) for _, task, word in wanted]
    assert (answer["cancelled"], answer["left"], answer["refused"]) == (4, 2, 10)
    live = ScheduleTask.objects.exclude(status__in=["CANCELLED", "SUCCESS"]).values_list("id", flat=True)
    assert sorted(live) == [theirs, closed, urgent]
    entries = AuditEntry.objects.filter(verb="cancel", reason="no more", actor="token of default")
    assert set(entries.values_list("task_id", flat=True)) == {None, by_id, by_unit, done, old, again}  # and the order


def test_an_atomic_cancel_cancels_nothing_if_one_is_not_there(api):
    task = schedule("T_QUIET", "a", delay=60).task_id

    answer = api.post("/tasks/bulk/cancel", {"tasks": [{"id": task}, {"id": 987654321}], "atomic": True})

    assert (answer.status, answer.code) == (404, "SCH_404_NOT_FOUND")
    assert "tasks.1: There is no task 987654321." in answer.body["detail"]
    assert ScheduleTask.objects.get(id=task).live
    assert not AuditEntry.objects.filter(task_id=task).exists()


def test_a_token_of_some_types_has_nothing_to_do_with_others():
    narrow = Api(token=issue("narrow", "default", operator(), can_write=True, types=["T_PLAIN"])[1])
    [quiet, plain] = schedule_many("T_QUIET", [{"key": "a"}], delay=60) + schedule_many(
        "T_PLAIN", [{"key": "a"}], delay=60
    )

    made = narrow.post("/tasks/bulk", {"tasks": [GOOD | {"key": "b"}, GOOD | {"key": "b", "task_type": "T_PLAIN"}]})
    gone = narrow.post("/tasks/bulk/cancel", {"tasks": [{"id": quiet.task_id}, {"id": plain.task_id}]})

    assert [one["error"] and one["error"]["code"] for one in made.body["items"]] == ["SCH_403_TYPE_CLOSED", None]
    assert [one["error"] and one["error"]["code"] for one in gone.body["items"]] == ["SCH_404_NOT_FOUND", None]
