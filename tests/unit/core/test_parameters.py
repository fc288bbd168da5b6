"""What a typed handler takes: told by its signature, refused where nobody could store it."""

import functools
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

import pytest

from tasks_app.core.errors import InvalidConfiguration, InvalidTask, UnrecoverableError
from tasks_app.core.handlers import REGISTRY, Handler, handler
from tasks_app.core.task import Task
from tests.support.testapp import own_task

if TYPE_CHECKING:
    from decimal import Decimal as Unimported


@pytest.fixture(autouse=True)
def _forget():
    yield
    REGISTRY.discard("UNIT_TYPED")


def declare(call, **options) -> Handler:
    REGISTRY.discard("UNIT_TYPED")
    handler("UNIT_TYPED", **options)(call)
    return REGISTRY.get("UNIT_TYPED")


@dataclass
class Order:
    id: int
    note: str = ""


@dataclass
class Basket:
    id: int
    lines: list[str] = field(default_factory=list)


class Address(TypedDict):
    city: str
    zip: NotRequired[int]


def task_alone(task: Task): ...
def task_by_name(task: "Task"): ...
def task_and_default(task: Task, retries=3): ...
def untyped(anything, more=1): ...
def any_value(task: Any): ...


@pytest.mark.parametrize("call", [task_alone, task_by_name, task_and_default, untyped, any_value])
def test_a_handler_that_takes_the_task_alone_is_called_as_it_is(call):
    declared = declare(call)

    assert declared.parameters is None
    assert declared.call is call


def test_a_task_of_another_name_space_is_what_that_says():
    parameters = declare(own_task.do).parameters

    assert parameters.load({"title": "a"}) == ([own_task.Task("a")], {})


def passes_on(call):
    @functools.wraps(call)
    def around(*args, **kwargs):
        return call(*args, **kwargs)

    return around


def test_a_decorator_that_passes_on_what_it_gets_is_as_typed_as_what_it_wraps():
    @passes_on
    def typed(number: int): ...

    @passes_on
    def adds(task: Task, connection: object, socket: bytes): ...

    assert declare(typed).parameters.names == ("number",)
    assert declare(passes_on(task_alone)).parameters is None
    assert declare(adds).parameters is None  # as ever: such a decorator may add arguments


def no_type(number: int, colour): ...
def any_number(*numbers: int): ...
def any_name(number: int, **more: int): ...
def task_last(number: int, task: Task): ...
def no_json(socket: bytes): ...
def wrong_default(number: int = "x"): ...
def unimported(price: "Unimported"): ...
def twice(number: int | float | Order | dict): ...


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (no_type, "parameter 'colour' of no_type has no type, so nobody can tell what to store for it"),
        (any_number, "parameter 'numbers' of any_number takes any number of arguments"),
        (any_name, "parameter 'more' of any_name takes any number of arguments"),
        (task_last, "parameter 'task' of task_last is the task; a function has it first"),
        (no_json, "parameter 'socket' of no_json: bytes has no form in JSON"),
        (wrong_default, "the default of number='x' must be a whole number"),
        (unimported, "has a type that isn't there at run time: name 'Unimported' is not defined"),
        (twice, "can't be told apart in JSON: dict looks like another of them"),
    ],
)
def test_a_signature_that_can_not_be_stored_is_refused(call, words):
    with pytest.raises(InvalidConfiguration) as refused:
        declare(call)
    assert words in str(refused.value)
    assert "handler 'UNIT_TYPED'" in str(refused.value)
    assert REGISTRY.get("UNIT_TYPED") is None


def two(order_id: int, name: str = "x", *, loud: bool = False): ...


@pytest.mark.parametrize(
    ("args", "kwargs", "words"),
    [
        ((), {}, "order_id is missing, and has no default. It takes order_id, name, loud."),
        (("5",), {}, "order_id='5' must be a whole number."),
        ((5, "a", True), {}, "takes 2 arguments by position (order_id, name), but 3 were given."),
        ((5,), {"order_id": 6}, "order_id=6 is given twice."),
        ((5,), {"nmae": "y"}, "nmae is not a field of handler 'UNIT_TYPED'. Did you mean 'name'? It takes order_id,"),
        ((5, None), {}, "name=None must be a string"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(args, kwargs, words):
    with pytest.raises(InvalidTask) as refused:
        declare(two).parameters.dump(args, kwargs)
    assert words in str(refused.value)
    assert "handler 'UNIT_TYPED'" in str(refused.value)


def test_arguments_are_stored_as_given_and_defaults_are_left_to_the_handler():
    parameters = declare(two).parameters

    assert parameters.dump((5,), {}) == {"order_id": 5}
    assert parameters.load({"order_id": 5, "loud": True}) == ([5], {"loud": True})
    assert parameters.load({"order_id": 5, "gone": 1, "name": "y"}) == ([5, "y"], {})
    with pytest.raises(UnrecoverableError, match="order_id is missing") as final:
        parameters.load({})
    assert final.value.code == "BAD_PAYLOAD"
    with pytest.raises(UnrecoverableError, match="payload=5 must be an object"):
        parameters.load(5)


def none_at_first(note: str = None): ...  # noqa: RUF013  (as people write it)


def test_none_is_taken_wherever_it_is_the_default():
    parameters = declare(none_at_first).parameters

    assert parameters.dump((None,), {}) == parameters.part({"note": None}) == {"note": None}
    assert parameters.load({"note": None}) == ([None], {})


def positional(number: int, /, name: str = ""): ...
def whole(order: Order): ...
def optional_whole(order: Order | None = None): ...


def test_positional_parameters_have_names_in_the_payload_and_none_in_a_call():
    parameters = declare(positional).parameters

    assert parameters.dump((5,), {"name": "a"}) == {"number": 5, "name": "a"}
    with pytest.raises(InvalidTask, match="number=5 can be given by position only"):
        parameters.dump((), {"number": 5})


def test_the_payload_of_one_dataclass_is_that_object_itself():
    parameters = declare(whole).parameters

    assert parameters.dump((Order(5),), {}) == {"id": 5, "note": ""}
    assert parameters.dump((), {"order": {"id": 5}}) == {"id": 5}
    assert parameters.load({"id": 5}) == ([Order(5)], {})
    with pytest.raises(InvalidTask, match="takes one argument, order; got none"):
        parameters.dump((), {})
    assert declare(optional_whole).parameters.dump((Order(5),), {}) == {"order": {"id": 5, "note": ""}}


def nothing(): ...
def text(word: str, more: int = 0): ...
def several(tenant_id: int, order_id: int, note: str = ""): ...


@pytest.mark.parametrize(
    ("call", "options", "args", "key"),
    [
        (nothing, {}, (), "-"),
        (two, {}, (5,), "5"),
        (two, {}, (5, "x"), "5"),  # at its default: so a parameter can be added, and units stay the same
        (two, {}, (5, "y"), '{"order_id":5,"name":"y"}'),
        (two, {"key": "order_id"}, (5, "y"), "5"),
        (two, {"key": "name"}, (5,), "x"),
        (several, {"key": ["tenant_id", "order_id"]}, (1, 2, "n"), '{"tenant_id":1,"order_id":2}'),
        (text, {}, ("a b",), "a b"),
        (text, {}, ("",), '{"word":""}'),
        (text, {}, ("-",), '{"word":"-"}'),
        (text, {}, ('{"word":""}',), '{"word":"{\\"word\\":\\"\\"}"}'),
        (text, {}, ("x" * 201,), "sha256:"),
        (whole, {}, (Order(5),), "5"),
        (whole, {"key": "id"}, (Order(5, "n"),), "5"),
    ],
)
def test_the_key_of_a_unit_is_what_its_arguments_say(call, options, args, key):
    parameters = declare(call, **options).parameters

    made = parameters.key_of(parameters.dump(args, {}))
    assert made == key if not key.startswith("sha256:") else made.startswith("sha256:") and len(made) == 71


def amount(of: Decimal): ...
def at(when: datetime, late: datetime | None = None): ...
def number(one: float): ...
def tags(these: set[int]): ...
def anything(what: dict): ...
def basket(it: Basket): ...
def address(to: Address): ...


BERLIN = datetime(2027, 3, 1, 9, tzinfo=timezone(timedelta(hours=1)))


@pytest.mark.parametrize(
    ("call", "options", "one", "other", "key"),
    [
        (amount, {}, Decimal("9.90"), Decimal("9.9"), "9.9"),
        (amount, {}, Decimal("1E+2"), 100, "100"),
        (amount, {}, Decimal("1E+99"), Decimal("10E+98"), "1E+99"),
        (at, {}, BERLIN, BERLIN.astimezone(UTC), "2027-03-01T08:00:00+00:00"),
        (number, {}, 5, 5.0, "5"),
        (tags, {}, {0, 8}, {8, 0}, '{"these":[0,8]}'),  # the two are equal, and not in the same order
        (tags, {}, [8, 0, 8], {0, 8}, '{"these":[0,8]}'),
        (
            anything,
            {},
            {"a": 1, "b": {"c": 2, "d": 3.0}},
            {"b": {"d": 3, "c": 2}, "a": 1},
            '{"what":{"a":1,"b":{"c":2,"d":3}}}',
        ),
        (basket, {}, Basket(5), {"id": 5}, '{"id":5,"lines":[]}'),
        (basket, {"key": ("id", "lines")}, Basket(5), {"id": 5}, '{"id":5,"lines":[]}'),
        (address, {"key": ("city", "zip")}, {"city": "Kiel"}, {"city": "Kiel"}, "Kiel"),
    ],
)
def test_equal_arguments_have_one_key(call, options, one, other, key):
    parameters = declare(call, **options).parameters

    assert [parameters.key_of(parameters.dump((value,), {})) for value in (one, other)] == [key, key]


@pytest.mark.parametrize(
    ("call", "key", "words"),
    [
        (two, "ordr_id", "it has no parameter 'ordr_id'. Did you mean 'order_id'?"),
        (two, (), "key=() names no parameter"),
        (task_alone, "id", "this handler takes the task alone"),
    ],
)
def test_a_key_that_can_not_be_made_is_refused(call, key, words):
    with pytest.raises(InvalidConfiguration) as refused:
        declare(call, key=key)
    assert words in str(refused.value)
