"""At the edges of every endpoint, taken from the schema: what was not asked for, and what need not be sent."""

import re

import pytest
from django.test import Client

from tasks_app.api import api as the_api
from tasks_app.client import schedule
from tests.support.api import Api
from tests.support.jobs import make
from tests.support.moves import dead

pytestmark = pytest.mark.django_db

SCHEMA = the_api.get_openapi_schema()
OPERATIONS = [
    (method.upper(), path, operation)
    for path, operations in SCHEMA["paths"].items()
    for method, operation in operations.items()
]


@pytest.mark.parametrize(("method", "path"), [(method, path) for method, path, _ in OPERATIONS])
def test_a_query_parameter_that_is_not_there_is_refused_by_name(api, method, path):
    answer = api.call(method, re.sub(r"\{\w+\}", "1", path) + "?jbo=1", {}, If_Match="1", Idempotency_Key="k")

    assert (answer.status, answer.code) == (422, "SCH_422_INVALID")
    assert "'jbo'" in answer.body["detail"]


def test_the_nearest_parameter_is_named(api):
    assert "Did you mean 'status'?" in api.get("/tasks?statsu=DEAD").body["detail"]
    assert "there are none" in api.get("/scheduler/health?limit=1").body["detail"]


@pytest.mark.parametrize(("method", "path", "operation"), OPERATIONS)
def test_the_parameters_that_are_there_are_taken(api, method, path, operation):
    known = [one["name"] for one in operation.get("parameters", []) if one["in"] == "query"]
    query = "&".join(f"{name}=1" for name in known)

    answer = api.call(method, re.sub(r"\{\w+\}", "1", path) + f"?{query}", {}, If_Match="1", Idempotency_Key="k")

    assert "parameter" not in str(answer.body)


def test_a_stranger_is_told_nothing_of_parameters():
    assert Api(token="pnc_wrong").get("/tasks?x=1").status == 401


def needs_nothing(operation: dict) -> bool:
    """Whether it takes a body, none of whose fields is required."""
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    names = [one["$ref"].split("/")[-1] for one in [body, *body.get("anyOf", [])] if "$ref" in one]
    return bool(names) and not any(SCHEMA["components"]["schemas"][name].get("required") for name in names)


@pytest.mark.parametrize("path", [path for verb, path, one in OPERATIONS if verb == "POST" and needs_nothing(one)])
def test_a_body_of_which_nothing_is_needed_may_be_left_out(api, path):
    job, task = make(), schedule("T_QUIET", "a", delay=3600)
    url = path.replace("{job_id}", str(job.id)).replace("{task_id}", str(task.task_id))

    answer = api.call("POST", url, Idempotency_Key="k")

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
