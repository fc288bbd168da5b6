"""The schema is one that tools can make a good client from, and the file in the repository is the same."""

import io
import json
import re

import pytest
import schemathesis
from django.core.management import CommandError, call_command

from tasks_app.api.problems import CODES
from tasks_app.core.lanes import LANES
from tasks_app.core.rules import Rule
from tasks_app.core.states import Status
from tasks_app.lifecycle.operate import Answer
from tests.support.schema import FILE, OPERATIONS, SCHEMA

COMPONENTS = SCHEMA["components"]["schemas"]
# Fields whose words have a list, wherever they are.
LISTED = {"status", "lane", "outcome", "answer", "rule", "code", "dst_gap", "dst_repeat", "catch_up", "on_resume"}
LISTED |= {"overlap"}
# A handler makes up its own codes; what became of a job or lane is written as it is said; a product has a code; what a
# receiver answers, or calls its own failure, is its own business.
FREE = {("ErrorOut", "code"), ("AuditOut", "outcome"), ("ProductOut", "code"), ("DeliveryOut", "answer")}
FREE |= {("TestedOut", "answer"), ("FailIn", "code")}


def inside(schema: object) -> list[dict]:
    """Every object in it, at every depth."""
    if isinstance(schema, list):
        return [one for part in schema for one in inside(part)]
    return [schema, *inside(list(schema.values()))] if isinstance(schema, dict) else []


def test_the_file_in_the_repository_is_what_the_command_writes():
    out = io.StringIO()
    call_command("api_schema", stdout=out)

    assert FILE.read_text() == out.getvalue(), "run: .venv/bin/python manage.py api_schema > docs/openapi.json"


def test_it_is_valid_openapi():
    assert SCHEMA["openapi"].startswith("3.1")
    schemathesis.openapi.from_dict(SCHEMA).validate()
    for one in inside(SCHEMA):
        if isinstance(one.get("$ref"), str):
            found = SCHEMA
            for part in one["$ref"].removeprefix("#/").split("/"):
                assert part in found, one["$ref"]
                found = found[part]
    for one in OPERATIONS:
        declared = {each["name"] for each in one.details["parameters"] if each["in"] == "path"}
        assert declared == set(re.findall(r"\{(\w+)\}", one.path)), one.id


def test_operations_have_short_names_of_their_own_a_summary_and_a_tag_that_is_explained():
    names = [one.id for one in OPERATIONS]

    assert len(names) == len(set(names)) >= 21
    assert {"create_task", "list_tasks", "read_job", "reschedule_unit"} <= set(names)
    explained = {tag["name"] for tag in SCHEMA["tags"] if tag["description"]}
    for one in OPERATIONS:
        assert re.fullmatch(r"[a-z]+(_[a-z]+){1,3}", one.id)
        assert one.details["summary"][0].isupper() and len(one.details["summary"]) < 60, one.id
        assert set(one.details["tags"]) <= explained, one.id


def test_paths_begin_where_the_api_begins():
    assert SCHEMA["servers"] == [{"url": "/api/v1"}]
    assert "/tasks" in SCHEMA["paths"]


def test_words_that_have_a_list_are_types_of_their_own():
    seen = 0
    for name, component in COMPONENTS.items():
        for field, schema in component.get("properties", {}).items():
            if field in LISTED and (name, field) not in FREE and schema.get("type") != "integer":
                one_of = schema.get("anyOf") or schema.get("allOf") or [schema]
                kinds = [one for one in one_of if one != {"type": "null"}]
                assert all("$ref" in one or "const" in one for one in kinds), (name, field)
                seen += 1
    assert seen >= 25
    for one in OPERATIONS:
        for parameter in one.details["parameters"]:
            if parameter["name"] in LISTED and parameter["schema"].get("type") != "integer":
                assert "$ref" in parameter["schema"], one.id


@pytest.mark.parametrize(
    ("name", "words"),
    [("TaskStatus", Status), ("Lane", LANES), ("Answer", Answer), ("Rule", Rule), ("ProblemCode", CODES)],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_a_list_is_complete(name, words):
    assert COMPONENTS[name]["enum"] == [str(one) for one in words]


def test_a_parameter_that_may_be_left_out_is_not_null():
    for one in OPERATIONS:
        for parameter in one.details["parameters"]:
            assert {"type": "null"} not in inside(parameter["schema"]), (one.id, parameter["name"])


def test_lists_have_the_same_parameters_and_pages_for_their_parts():
    lists = [one for one in OPERATIONS if one.id.startswith("list_")]
    shapes = set()
    for one in lists:
        page = COMPONENTS[one.component(one.details["responses"]["200"])]["properties"]
        given = {each["name"]: each["schema"] for each in one.details["parameters"]}
        assert page["items"]["type"] == "array"
        shapes.add(json.dumps([given["limit"], given["after"], page["next"]], sort_keys=True))

    assert len(lists) >= 3 and len(shapes) == 1


def test_the_command_says_what_is_missing_where_the_api_is_not_mounted(settings):
    settings.ROOT_URLCONF = "django.contrib.auth.urls"
    with pytest.raises(CommandError, match=r'path\("punctual/", include\("django_punctual.urls"\)\)'):
        call_command("api_schema", stdout=io.StringIO())
