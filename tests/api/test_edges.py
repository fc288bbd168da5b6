"""At the edges of every endpoint, taken from the schema: what was not asked for, and what need not be sent."""

import re
from uuid import uuid4

import pytest
from django.test import Client

from django_punctual import Operator, ToWebhook, schedule, subscribe
from django_punctual.jobs import skip_firing
from tasks_app.engine.watch.browse import Filter
from tasks_app.engine.web import throttle
from tasks_app.lifecycle.jobs.view import coming
from tasks_app.lifecycle.operate import Verb
from tasks_app.models import AwayTask, JobDefinition
from tests.support import schema
from tests.support.api import Api
from tests.support.campaigns import begun_for, carried_out
from tests.support.jobs import make
from tests.support.moves import away, dead
from tests.support.ready import failed_run, rolled_back

pytestmark = pytest.mark.django_db

OPERATIONS = [(one.method, one.path, one.details) for one in schema.OPERATIONS]


def test_the_nearest_parameter_is_named(api):
    """That every operation refuses one that it does not know, test_declared_problems.py shows."""
    assert "There is no parameter 'statsu'" in api.get("/tasks?statsu=DEAD").body["detail"]
    assert "Did you mean 'status'?" in api.get("/tasks?statsu=DEAD").body["detail"]
    assert "The query takes no parameters" in api.get("/scheduler/health?limit=1").body["detail"]


def test_the_parameters_that_are_there_are_taken(api, redis):
    for method, path, operation in OPERATIONS:
        redis.flushall()  # so many calls in a minute are too many
        known = [one["name"] for one in operation.get("parameters", []) if one["in"] == "query"]
        url = re.sub(r"\{\w+\}", "1", path) + "?" + "&".join(f"{name}=1" for name in known)

        with rolled_back():
            answer = api.call(method, url, {}, If_Match="1", Idempotency_Key="k")

        assert "parameter" not in str(answer.body), (method, path)


def test_a_stranger_is_told_nothing_of_parameters():
    assert Api(token="pnc_wrong").get("/tasks?x=1").status == 401


def may_have_no_body(operation: dict) -> bool:
    return not operation.get("requestBody", {"required": True})["required"]


ONE_OF_SEVERAL = ("RescheduleIn", "ReplayIn", "LettersIn")  # each can be left out, but not all of them


def test_a_body_that_must_be_sent_needs_something_in_it():
    for one in schema.OPERATIONS:
        body = one.component(one.details.get("requestBody", {}))
        if one.method == "POST" and body and not schema.SCHEMA["components"]["schemas"][body].get("required"):
            assert may_have_no_body(one.details) or body in ONE_OF_SEVERAL, one.id


@pytest.mark.parametrize("path", [path for verb, path, one in OPERATIONS if verb == "POST" and may_have_no_body(one)])
def test_a_body_of_which_nothing_is_needed_may_be_left_out(api, path):
    ids = {"job_id": make().id, "task_id": schedule("T_QUIET", "a", delay=3600).task_id}
    if "campaign_id" in path:
        campaign = begun_for(Verb.CANCEL, Filter(tenant="default"))
        ids["campaign_id"] = (carried_out(campaign) if path.endswith("/undo") else campaign).id
    if "subscription_id" in path:
        to = ToWebhook("https://hooks.example.com")
        ids["subscription_id"] = subscribe("there", events=["*"], to=to, tenant="default").id
    if "fire_time" in path:
        ids["fire_time"] = f"{coming(JobDefinition.objects.get(), 1)[0]:%Y-%m-%dT%H:%M:%SZ}"
    if path.endswith("/restore"):
        skip_firing(ids["job_id"], Operator("olga", "for the test"))
    if "run_id" in path:
        ids["run_id"] = failed_run()
    if "token" in path:
        [gone] = away("gone").tasks
        path = f"{path}?task={gone.id}&run={AwayTask.objects.get().run}"
        ids["token"] = gone.token

    answer = api.call("POST", path.format(**ids), Idempotency_Key="k")

    assert answer.status in (200, 201), answer.body


def test_the_verbs_work_without_a_body(api):
    job = api.post("/jobs", {"name": "a", "task_type": "T_QUIET", "every": 60}).body["id"]
    api.post(f"/jobs/{job}/pause", {"reason": "x"})
    [gone] = dead("gone")

    assert api.call("POST", f"/jobs/{job}/resume").body["status"] == "ACTIVE"
    assert api.call("POST", f"/jobs/{job}/trigger", Idempotency_Key="k").status == 201
    assert api.call("POST", f"/tasks/{gone}/retry").body["answer"] == "replayed"
    assert api.call("POST", f"/tasks/{schedule('T_QUIET', 'a', delay=60).task_id}/cancel").body["answer"] == "cancelled"


@pytest.mark.parametrize("address", ["/openapi.json", "/docs"])
def test_the_schema_and_its_page_are_for_tokens_too(api, address):
    answer = Client().get(f"/api/v1{address}", headers={"Authorization": f"Bearer {api.token}"})

    assert answer.status_code == 200
    assert "Punctual" in answer.content.decode()


def test_a_program_without_a_valid_token_is_not_sent_to_the_login_page():
    answer = Client().get("/api/v1/openapi.json")
    wrong = Client().get("/api/v1/docs", headers={"Authorization": "Bearer pnc_wrong"})

    assert (answer.status_code, answer.json()["code"]) == (401, "SCH_401_UNAUTHENTICATED")
    assert (wrong.status_code, wrong.json()["code"]) == (401, "SCH_401_UNAUTHENTICATED")
    assert Client().get("/api/v1/docs").status_code == 302  # a person, who can log in


def test_a_wrong_token_for_the_schema_is_counted_as_everywhere(db):
    address = f"address of {uuid4()}"  # one that nobody has failed from
    for _ in range(throttle.API_FAILURES.free - 1):
        throttle.failed_call(address)

    last, refused = (
        Client().get("/api/v1/openapi.json", headers={"Authorization": "Bearer pnc_wrong"}, REMOTE_ADDR=address)
        for _ in range(2)
    )

    assert last.status_code == 401
    assert (refused.status_code, refused.json()["code"]) == (429, "SCH_429_TOO_MANY")
