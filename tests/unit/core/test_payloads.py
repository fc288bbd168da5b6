"""Typed payloads: what fits a type goes to JSON and comes back, and what doesn't is refused by name."""

import enum
import json
from dataclasses import InitVar, dataclass, field
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Annotated, Any, Literal, NewType, NotRequired, Optional, TypedDict, Union
from uuid import UUID

import pytest
from pydantic import BaseModel, ConfigDict, Field

from tasks_app.core.payloads import Unfit, Unstorable, kind_of
from tests.support.json_schema import keeps_to, schema_of
from tests.support.testapp import later

ID = UUID("6f9619ff-8b86-d011-b42d-00c04fc964ff")
OrderId = NewType("OrderId", int)


class Size(enum.Enum):
    SMALL = "s"
    LARGE = "l"


class Colour(str, enum.Enum):  # noqa: UP042  (as people wrote it before StrEnum)
    RED = "red"


class Answer(enum.Enum):
    YES = True
    UNSURE = "?"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Rights(enum.Flag):
    READ = 1
    WRITE = 2


@dataclass(frozen=True)
class Line:
    product: str
    price: Decimal
    count: int = 1


@dataclass
class Order:
    id: OrderId
    lines: list[Line]
    due: datetime | None = None
    tags: set[str] = field(default_factory=set)

    def __post_init__(self):
        if self.id < 0:
            raise ValueError("an id is never negative")


@dataclass
class Tree:
    name: str
    children: list["Tree"] = field(default_factory=list)


@dataclass
class Grown:
    name: str
    seed: InitVar[int]


class Address(TypedDict):
    city: str
    zip: NotRequired[int]


class Invoice(BaseModel):
    number: int = Field(gt=0)
    at: datetime
    size: Size = Size.SMALL
    total: Decimal = Field(default=Decimal("0"), alias="sum")


class Strict(BaseModel):
    model_config = ConfigDict(strict=True)
    on: date


AT = datetime(2027, 3, 1, 9, 0, tzinfo=timezone(timedelta(hours=1)))
THERE_AND_BACK = [
    (int, 5, 5),
    (int, 2**80, 2**80),
    (float, 1.5, 1.5),
    (float, 2, 2),
    (bool, True, True),
    (str, "ä", "ä"),
    (None, None, None),
    (Any, {"a": [1]}, {"a": [1]}),
    (Decimal, Decimal("9.990"), "9.990"),
    (UUID, ID, str(ID)),
    (datetime, AT, "2027-03-01T09:00:00+01:00"),
    (date, date(2027, 3, 1), "2027-03-01"),
    (time, time(9, 30), "09:30:00"),
    (timedelta, timedelta(days=2), 172800),
    (timedelta, timedelta(microseconds=1), 0.000001),
    (Size, Size.LARGE, "l"),
    (Answer, Answer.YES, True),
    (Answer, Answer.UNSURE, "?"),
    (Level, Level.HIGH, 2),
    (Rights, Rights.READ | Rights.WRITE, 3),
    (Literal["a", 1, None], 1, 1),
    (Literal[Size.SMALL], Size.SMALL, "s"),
    (OrderId, 7, 7),
    (Annotated[int, "an id"], 7, 7),
    (Optional[Decimal], None, None),  # noqa: UP045
    (Union[int, str], "5", "5"),  # noqa: UP007
    (int | float, 2.5, 2.5),
    (int | float, 2, 2),
    (UUID | int | None, ID, str(ID)),
    (list[Decimal], [Decimal(1)], ["1"]),
    (list, [1, "a"], [1, "a"]),
    (tuple[int, ...], (1, 2), [1, 2]),
    (tuple[int, Size], (1, Size.SMALL), [1, "s"]),
    (set[int], {1}, [1]),
    (frozenset[str], frozenset({"a"}), ["a"]),
    (dict[str, date], {"a": date(2027, 3, 1)}, {"a": "2027-03-01"}),
    (dict[int, str], {5: "a"}, {"5": "a"}),
    (dict[UUID, int], {ID: 1}, {str(ID): 1}),
    (dict, {"a": 1}, {"a": 1}),
    (Line, Line("tea", Decimal("2.50")), {"product": "tea", "price": "2.50", "count": 1}),
    (
        Order,
        Order(OrderId(1), [Line("tea", Decimal(2))], AT, {"new"}),
        {
            "id": 1,
            "lines": [{"product": "tea", "price": "2", "count": 1}],
            "due": "2027-03-01T09:00:00+01:00",
            "tags": ["new"],
        },
    ),
    (Tree, Tree("a", [Tree("b")]), {"name": "a", "children": [{"name": "b", "children": []}]}),
    (Address, {"city": "Kiel"}, {"city": "Kiel"}),
    (later.Address, {"city": "Kiel"}, {"city": "Kiel"}),
    (
        Invoice,
        Invoice(number=1, at=datetime(2027, 3, 1, tzinfo=UTC), sum=Decimal("1.5")),
        {"number": 1, "at": "2027-03-01T00:00:00Z", "size": "s", "sum": "1.5"},
    ),
    (Strict, Strict(on=date(2027, 3, 1)), {"on": "2027-03-01"}),
]


@pytest.mark.parametrize(("annotation", "value", "stored"), THERE_AND_BACK)
def test_a_value_is_stored_as_json_and_built_again(annotation, value, stored):
    kind = kind_of(annotation)

    dumped = kind.dump(value)
    assert json.loads(json.dumps(dumped)) == dumped == stored
    built = kind.load(json.loads(json.dumps(dumped)))
    assert built == value
    assert type(built) is type(value) or annotation in (float, Address, later.Address)
    assert kind.dump(dumped) == stored  # what it looks like as JSON is taken as well
    assert keeps_to(schema_of(annotation), stored)


REFUSED = [
    (int, "5", "='5' must be a whole number"),
    (int, True, "=True must be a whole number"),
    (int, 5.0, "=5.0 must be a whole number"),
    (float, float("nan"), "=nan must be a finite number"),
    (float, 10**400, "must be a finite number"),
    (timedelta, 10**400, "must be a timedelta"),
    (bool, 1, "=1 must be True or False"),
    (str, 5, "=5 must be a string"),
    (Decimal, 0.1, "=0.1 must be a Decimal, or its digits as a string such as '9.99'"),
    (Decimal, "NaN", "='NaN' must be a Decimal"),
    (UUID, "5", "='5' must be a UUID"),
    (UUID, 5, "=5 must be a UUID"),
    (datetime, datetime(2027, 3, 1), "is naive, so the instant meant is unknown"),  # noqa: DTZ001
    (datetime, "2027-03-01T00:00:00", "is naive"),
    (datetime, "soon", "='soon' must be a datetime, or an ISO 8601 string"),
    (date, AT, "is a datetime; it must be a date"),
    (time, "9", "must be a time"),
    (timedelta, "1 h", "must be a timedelta, or a number of seconds"),
    (timedelta, 1e300, "must be a timedelta"),
    (Size, "x", "='x' must be one of Size: 's', 'l'"),
    (Level, True, "=True must be one of Level"),
    (Answer, 1, "=1 must be one of Answer"),
    (Literal["a", 1], True, "=True must be one of 'a', 1"),
    (Literal["a"], [], "must be one of 'a'"),
    (int | None, "x", "='x' must be a whole number"),
    (int | str, 1.5, "=1.5 must be int or str"),
    (list[int], [1, "x"], "[1]='x' must be a whole number"),
    (list[int], "12", "='12' must be a list"),
    (tuple[int, str], (1,), "must be a tuple of 2"),
    (dict[str, int], {"a": "x"}, "['a']='x' must be a whole number"),
    (dict[str, int], [1], "must be a dict"),
    (Line, {"product": "tea", "prise": "1"}, "prise is not a field of Line. Did you mean 'price'?"),
    (later.Address, {"zip": 24103}, "city is missing, and has no default"),
    (later.Partial, {"zip": 24103}, "city is missing, and has no default"),
    (Line, {"product": "tea"}, "price is missing, and has no default"),
    (Line, Order(OrderId(1), []), "must be an instance of Line"),
    (Order, {"id": 1, "lines": [{"product": "tea", "price": 0.5}]}, "lines[0].price=0.5 must be a Decimal"),
    (Order, {"id": -1, "lines": []}, "does not make an instance of Order: an id is never negative"),
    (Invoice, {"number": 0, "at": "2027-03-01T00:00:00Z"}, "number=0 is refused: Input should be greater than 0"),
    (Invoice, {"number": 1}, "at is refused: Field required"),
    (Invoice, 5, "must be an instance of Invoice"),
]
# To JSON Schema 5.0 is a whole number, and 10**400 a number; nor does it know what a class says to itself.
NO_SCHEMA_CAN_TELL = [(int, 5.0), (float, 10**400), (Order, {"id": -1, "lines": []})]


def is_json(value: object) -> bool:
    try:
        return json.loads(json.dumps(value, allow_nan=False)) == value
    except (TypeError, ValueError):
        return False


@pytest.mark.parametrize(("annotation", "value", "words"), REFUSED)
def test_what_does_not_fit_is_refused_with_its_place_its_value_and_the_rule(annotation, value, words):
    with pytest.raises(Unfit) as refused:
        kind_of(annotation).dump(value)
    assert words in str(refused.value)
    if (annotation, value) not in NO_SCHEMA_CAN_TELL and is_json(value):
        assert not keeps_to(schema_of(annotation), value)


UNSTORABLE = [
    (bytes, "bytes has no form in JSON; use str"),
    (complex, "complex has no form in JSON. Make it a dataclass"),
    (Decimal | str, "can't be told apart in JSON: str looks like another of them"),
    (date | datetime | None, "can't be told apart"),
    (int | Any, "can't be told apart"),
    (int | timedelta, "can't be told apart in JSON: timedelta looks like another of them"),
    (Grown, "Grown is made with seed, which is no field of it, so it can't be built again"),
    (dict[int | str, str], "a dict with keys of int | str has no form in JSON"),
    (dict[tuple[int, int], str], "a dict with keys of"),
    (enum.Enum("Odd", {"A": (1, 2)}), "only strings and numbers can be stored"),
    (list[bytes], "bytes has no form in JSON"),
    (iter, "is not a type that can be stored"),
]


@pytest.mark.parametrize(("annotation", "words"), UNSTORABLE)
def test_a_type_without_a_form_in_json_is_refused(annotation, words):
    with pytest.raises(Unstorable) as refused:
        kind_of(annotation)
    assert words in str(refused.value)


def test_what_was_stored_by_older_code_is_built_with_defaults_and_without_what_is_gone():
    assert kind_of(Line).load({"product": "tea", "price": "2", "colour": "green"}) == Line("tea", Decimal(2))


def test_an_enum_that_is_a_string_is_stored_as_its_value_wherever_a_string_is_taken():
    assert kind_of(str).dump(Colour.RED) == kind_of(Any).dump(kind_of(Colour).dump("red")) == "red"


def test_a_default_that_does_not_fit_is_refused_where_it_is_declared():
    @dataclass
    class Wrong:
        count: int = "1"

    with pytest.raises(Unstorable, match=r"Wrong: the default of count='1' must be a whole number"):
        kind_of(Wrong)
