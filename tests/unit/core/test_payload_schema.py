"""The JSON schema of a payload: it takes what is taken, and refuses what is refused."""

import enum
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Literal
from uuid import UUID

import pytest
from pydantic import BaseModel

from tasks_app.core.parameters import parameters_of
from tasks_app.core.payloads import Unfit, kind_of
from tasks_app.core.payloads.schema import DIALECT
from tests.support.json_schema import keeps_to, schema_of


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Rights(enum.Flag):
    READ = 1
    WRITE = 2


@dataclass
class Wheel:
    car: "Car | None" = None


@dataclass
class Car:
    wheels: tuple[Wheel, Wheel]
    trailer: "Car | None" = None


class Node(BaseModel):
    name: str
    inner: "list[Node]" = []


@dataclass
class Pair:
    left: Node
    right: Node
    note: str = None  # as people write it


class Other:
    @dataclass
    class Car:
        tows: "Other.Car | None" = None


@dataclass
class Garage:
    own: Car
    other: Other.Car


class Opaque(BaseModel):
    model_config = {"arbitrary_types_allowed": True}
    what: Other


WHEEL = {"car": None}
TAKEN_AND_REFUSED = [
    (int, [0, -5, 2**70], ["1", 1.5, True, None]),
    (float, [0, 1.5, -1e30], ["1.5", True]),
    (Decimal, ["0", "-1.50", ".5", "5.", "1e3", "+7"], ["", ".", "1,5", "1e", "Infinity", "five", 1.5, True]),
    (UUID, ["6f9619ff-8b86-d011-b42d-00c04fc964ff"], ["6f9619ff", "", 5]),
    (datetime, ["2027-03-01T09:00:00Z", "2027-03-01T09:00:00.5+01:00"], ["2027-03-01", "2027-02-30T09:00:00Z", 0]),
    (date, ["2027-03-01"], ["2027-02-30", "2027-03-01T00:00:00Z", "1.3.2027"]),
    (time, ["09:30", "09:30:01", "23:59:59.5", "09:30Z", "09:30+01:00"], ["24:00:01", "9:30", "09:60", "", 9]),
    (timedelta, [0, 1.5, -60, 86_400 * 999_999_999], [86_400 * 1_000_000_000, -86_400 * 1_000_000_000, "1"]),
    (Rights, [0, 1, 3], [4, "READ", True]),
    (Literal[True], [True], [1, "true"]),
    (dict[int, str], [{}, {"5": "a", "-7": "b", "0": ""}], [{"a": "b"}, {"1.5": "b"}, {"5": 1}]),
    (dict[Level, int], [{"1": 5}], [{"3": 5}, {"LOW": 5}]),
    (dict[Rights, int], [{"3": 5}], [{"READ": 5}]),
    (list[dict[str, int | None]], [[{"a": None}], []], [[{"a": "b"}], {}]),
    (Car, [{"wheels": [WHEEL, {}]}, {"wheels": [{"car": {"wheels": [{}, {}]}}, {}]}], [{"wheels": [{}]}, {}]),
    (
        Pair,
        [
            {"left": {"name": "a", "inner": [{"name": "b"}]}, "right": {"name": "c"}},
            {"left": {"name": "a"}, "right": {"name": "c"}, "note": None},
        ],
        [
            {"left": {"name": "a", "inner": [{"name": 5}]}, "right": {"name": "c"}},
            {"left": {"name": "a"}},
            {"left": {"name": "a"}, "right": {"name": "c"}, "note": 5},
            {"left": {"name": "a"}, "right": {"name": "c"}, "nose": "x"},
        ],
    ),
]


def is_taken(annotation: Any, value: object) -> bool:
    try:
        kind_of(annotation).dump(value)
    except Unfit:
        return False
    return True


@pytest.mark.parametrize(("annotation", "taken", "refused"), TAKEN_AND_REFUSED)
def test_the_schema_and_the_scheduler_are_of_one_mind(annotation, taken, refused):
    schema = schema_of(annotation)

    seen = {str(value): (keeps_to(schema, value), is_taken(annotation, value)) for value in (*taken, *refused)}

    assert seen == {str(value): (True, True) for value in taken} | {str(value): (False, False) for value in refused}


def test_what_contains_itself_is_defined_once_and_all_else_stands_where_it_is_used():
    car = schema_of(Car)
    assert (car["$ref"], [*car["$defs"]]) == ("#/$defs/Car", ["Car"])

    pair = schema_of(Pair)
    assert pair["properties"]["left"] == pair["properties"]["right"] == {"$ref": "#/$defs/Node.Node"}
    assert [*pair["$defs"]] == ["Node.Node"]


def test_two_classes_of_one_name_have_two_definitions():
    schema, own = schema_of(Garage), {"wheels": [{}, {}]}

    assert keeps_to(schema, {"own": own, "other": {"tows": {"tows": None}}})
    assert not keeps_to(schema, {"own": own, "other": {"tows": own}})
    assert [*schema["$defs"]] == ["Car", "Car_2"]


def test_a_model_that_pydantic_has_no_schema_for_is_an_object():
    assert schema_of(Opaque) == {"$schema": DIALECT, "title": "Opaque", "type": "object"}


def properties(call: Any) -> dict[str, Any]:
    schema = parameters_of("T", call, None, typed=True).schema()
    assert schema["additionalProperties"] is False
    return schema["properties"] | {"required": schema.get("required", [])}


def test_parameters_have_their_defaults_and_those_without_are_required():
    def call(a: int, b: str | None, c: Decimal = Decimal("1.50"), d: str = None, e: Any = UUID, *, f: set = ()): ...  # noqa: RUF013

    decimal = {name: one for name, one in schema_of(Decimal).items() if name != "$schema"}
    assert properties(call) == {
        "a": {"type": "integer"},
        "b": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "c": decimal | {"default": "1.50"},
        "d": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
        "e": {},  # a default that is no JSON can't be told
        "f": {"type": "array", "items": {}, "default": []},
        "required": ["a", "b"],
    }


def test_a_default_that_is_made_anew_is_not_told():
    @dataclass
    class Basket:
        lines: list[int] = field(default_factory=list)

    def call(basket: Basket, note: str): ...

    assert properties(call)["basket"] == {
        "title": "Basket",
        "type": "object",
        "properties": {"lines": {"type": "array", "items": {"type": "integer"}}},
        "additionalProperties": False,
    }


def test_a_handler_without_parameters_takes_an_empty_object():
    def call(): ...

    assert properties(call) == {"required": []}
