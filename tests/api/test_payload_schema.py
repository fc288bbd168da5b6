"""/task-types tells what a typed handler takes: a client that keeps to it is never refused for its payload."""

from dataclasses import replace

import pytest
from django.contrib.sessions.models import Session
from django.db import models
from django.test.utils import isolate_apps

from tasks_app.core.handlers import REGISTRY
from tasks_app.models import TaskBatch
from tests.support import json_schema
from tests.support.json_schema import keeps_to

pytestmark = pytest.mark.django_db

NAMES = ("TYPED_SEND", "TYPED_BOTH", "TYPED_PARCEL", "TYPED_LETTER", "TYPED_NOTHING", "TYPED_COUNT", "TYPED_MAIL")
PAYLOADS = [
    ("TYPED_SEND", {"order_id": 5}),
    ("TYPED_SEND", {"order_id": 5, "at_most": "9.90"}),
    ("TYPED_SEND", {"order_id": 5, "at_most": 9.9}),
    ("TYPED_SEND", {"order_id": "5"}),
    ("TYPED_SEND", {"order_id": None}),
    ("TYPED_SEND", {"order_id": 5, "at_least": "1"}),
    ("TYPED_SEND", {}),
    ("TYPED_SEND", [5]),
    ("TYPED_BOTH", {"order_id": 5, "loud": True}),
    ("TYPED_BOTH", {"order_id": 5, "loud": 1}),
    ("TYPED_BOTH", {"order_id": 5, "task": 7}),
    ("TYPED_PARCEL", {"order": 5, "weight": "2.5"}),
    ("TYPED_PARCEL", {"order": 5, "weight": "2.5", "at": "2027-03-01T09:00:00+01:00"}),
    ("TYPED_PARCEL", {"order": 5, "weight": "2.5", "at": "2027-03-01T09:00:00"}),
    ("TYPED_PARCEL", {"order": 5, "weight": "heavy"}),
    ("TYPED_PARCEL", {"parcel": {"order": 5, "weight": "2.5"}}),
    ("TYPED_LETTER", {"to": "a@b"}),
    ("TYPED_LETTER", {"to": "a@b", "copies": "many"}),
    ("TYPED_LETTER", {"copies": 2}),
    ("TYPED_NOTHING", {}),
    ("TYPED_NOTHING", {"a": 1}),
    ("TYPED_COUNT", {"counter": 5}),
    ("TYPED_COUNT", {"counter": None}),
    ("TYPED_COUNT", {"counter": True}),
    ("TYPED_MAIL", {"to": "a@b", "copies": 2}),
    ("TYPED_MAIL", {"to": 5}),
]


@pytest.fixture(autouse=True)
def _open_handlers():
    """The typed handlers of the tests, open to every token."""
    from tests.support.testapp import typed

    for one in typed.DECLARED:
        REGISTRY.add(replace(one, api=True))
    yield
    for one in typed.DECLARED:
        REGISTRY.discard(one.name)


def schema_of(api, name: str) -> dict | None:
    return api.get(f"/task-types/{name}").body["payload_schema"]


def test_what_keeps_to_the_schema_is_scheduled_and_all_else_is_refused(api):
    schemas = {name: schema_of(api, name) for name in NAMES}
    seen = set()
    for number, (name, payload) in enumerate(PAYLOADS):
        fits = keeps_to(schemas[name], payload)
        answer = api.post("/tasks", {"task_type": name, "key": number, "payload": payload, "delay": 3600})

        assert answer.status == (201 if fits else 422), (name, payload, answer.body)
        seen.add((name, fits))
    assert seen == {(name, fits) for name in NAMES for fits in (True, False)}, "both kinds are tried for every handler"


def test_a_parameter_has_its_name_its_type_and_its_default(api):
    assert schema_of(api, "TYPED_MAIL") == {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {"to": {"type": "string"}, "copies": {"type": "integer", "default": 1}},
        "required": ["to"],
        "additionalProperties": False,
    }
    assert schema_of(api, "TYPED_COUNT")["properties"] == {
        "counter": {"type": "integer", "description": "Primary key of a testapp.Counter"}
    }


@isolate_apps("tests.support.testapp")
def test_a_row_is_told_as_its_primary_key():
    class Day(models.Model):
        on = models.DateField(primary_key=True)

        class Meta:
            app_label = "testapp"

    class Vehicle(models.Model):
        class Meta:
            app_label = "testapp"

    class Lorry(Vehicle):
        class Meta:
            app_label = "testapp"

    told = {model.__name__: json_schema.schema_of(model) for model in (Session, TaskBatch, Day, Lorry)}

    assert {name: (one["type"], one.get("format")) for name, one in told.items()} == {
        "Session": ("string", None),
        "TaskBatch": ("string", "uuid"),
        "Day": (["string", "integer"], None),
        "Lorry": ("integer", None),
    }


def test_a_handler_that_takes_the_task_alone_says_that_it_has_no_schema(api):
    listed = {one["name"]: one["payload_schema"] for one in api.get("/task-types").body["items"]}

    assert listed["TYPED_TASK"] is listed["T_QUIET"] is None
    assert listed["TYPED_SEND"] == schema_of(api, "TYPED_SEND") != listed["TYPED_NOTHING"]


def test_the_payload_of_a_job_keeps_to_the_same_schema(api):
    job = {"name": "report", "task_type": "TYPED_SEND", "every": 3600}

    assert api.post("/jobs", job | {"payload": {"order_id": "5"}}).status == 422
    assert api.post("/jobs", job | {"payload": {"order_id": 5}}).status == 201
