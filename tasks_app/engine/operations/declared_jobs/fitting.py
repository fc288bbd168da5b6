"""A value from a file as a field takes it, by the type of the field; nothing here knows a field by its name."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from tasks_app.core.durations import seconds_of
from tasks_app.core.errors import InvalidTask, shown
from tasks_app.lifecycle.jobs.request import SECONDS


def fitting(hint: object, value: object) -> object:
    """The value as a field of this type takes it; InvalidTask says why it can't."""
    kind = get_origin(hint)
    if kind is Annotated:
        base, *marks = get_args(hint)
        return fitting(base, seconds_of(value) if SECONDS in marks and isinstance(value, str) else value)
    if kind in (Union, UnionType):
        return _one_of(get_args(hint), value)
    if kind is Literal:
        return _chosen(get_args(hint), value)
    if kind is not None:
        return _collection(kind, get_args(hint), value)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return hint(_chosen([one.value for one in hint], value))
    if hint in _SCALARS:
        return _SCALARS[hint](value)
    return value


def kind_of(value: object) -> str:
    """What it is, for a sentence."""
    match value:
        case None:
            return "empty"
        case bool():
            return f"{str(value).lower()}"
        case int() | float():
            return f"the number {value}"
        case str():
            return f"the text {shown(value)}"
        case list():
            return "a list"
        case dict():
            return "an object"
    return f"a {type(value).__name__}"


def _one_of(hints: Sequence[object], value: object) -> object:
    if value is None and NoneType in hints:
        return None
    refused: list[InvalidTask] = []
    for hint in hints:
        if hint is NoneType:
            continue
        try:
            return fitting(hint, value)
        except InvalidTask as error:
            refused.append(error)
    raise refused[0]


def _chosen(choices: Iterable[object], value: object) -> object:
    if value not in list(choices):
        raise InvalidTask(f"{shown(value)} is unknown; use {', '.join(map(str, choices))}.")
    return value


def _collection(kind: type, hints: Sequence[object], value: object) -> object:
    if issubclass(kind, Mapping):
        if not isinstance(value, Mapping):
            raise InvalidTask(f"it is {kind_of(value)}, but must be an object, such as {{a: 1}}.")
        of_name, of_value = hints or (Any, Any)
        return {fitting(of_name, name): fitting(of_value, one) for name, one in value.items()}
    made: Callable[[list[object]], object] = kind
    if not issubclass(kind, Iterable):
        return value
    if not isinstance(value, list | tuple | set | frozenset):
        raise InvalidTask(f"it is {kind_of(value)}, but must be a list, such as [a, b].")
    every = hints[0] if hints else Any
    read = [fitting(every, one) for one in value]
    return read if kind in (list, Sequence, Iterable) else made(read)


def text_of(value: object) -> str:
    if not isinstance(value, str):
        hint = " Put it in quotes." if isinstance(value, bool | int | float) else ""
        raise InvalidTask(f"it is {kind_of(value)}, but must be a text.{hint}")
    return value


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidTask(f"it is {kind_of(value)}, but must be a whole number.")
    return value


def _number(value: object) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidTask(f"it is {kind_of(value)}, but must be a number.")
    return value


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise InvalidTask(f"it is {kind_of(value)}, but must be true or false.")
    return value


def _instant(value: object) -> datetime:
    try:
        at = value if isinstance(value, datetime) else datetime.fromisoformat(text_of(value))
    except ValueError:  # InvalidTask is one
        raise InvalidTask(f"it is {kind_of(value)}, but must be a time like 2027-03-01T09:00:00+01:00.") from None
    if at.utcoffset() is None:
        raise InvalidTask(f"{shown(value)} has no offset from UTC; write it like 2027-03-01T09:00:00+01:00, or with Z.")
    return at


_SCALARS = {str: text_of, int: _whole, float: _number, bool: _flag, datetime: _instant}
