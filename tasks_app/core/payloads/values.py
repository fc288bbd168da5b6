"""Values that are one string, number, boolean or null in JSON."""

import enum
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, InvalidOperation
from math import isfinite
from typing import Any, TypeVar
from uuid import UUID

from tasks_app.core.errors import shown

from .kind import ANY_FORM, Kind, Unfit, Unstorable
from .schema import Definitions, Schema

T = TypeVar("T", datetime, date, time)
_MOST_ZEROS = 40  # before or after the digits of a Decimal; beyond that its exponent is shorter


def _int_in(value: Any) -> int:
    if type(value) is int:
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return int(value)
    raise Unfit("must be a whole number", value)


def _float_in(value: Any) -> float:
    try:
        if isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value):
            return value
    except OverflowError:
        pass  # a whole number that no float is near to
    raise Unfit("must be a finite number", value)


def _bool_in(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise Unfit("must be True or False", value)


def _str_in(value: Any) -> str:
    if isinstance(value, str):
        return str.__str__(value)  # of an enum that is a string too, its value
    raise Unfit("must be a string", value)


def _none_in(value: Any) -> None:
    if value is not None:
        raise Unfit("must be None", value)


def _as_is(value: Any) -> Any:
    return value


def _decimal_out(value: Any) -> Decimal:
    # A float is not what people see: 0.1 would come back as 0.1000000000000000055….
    if isinstance(value, Decimal | str | int) and not isinstance(value, bool):
        try:
            made = Decimal(value)
        except InvalidOperation:
            made = Decimal("NaN")
        if made.is_finite():
            return made
    raise Unfit("must be a Decimal, or its digits as a string such as '9.99'", value)


def _uuid_out(value: Any) -> UUID:
    if isinstance(value, UUID):
        return value
    try:
        return UUID(value)
    except (TypeError, ValueError, AttributeError):
        raise Unfit("must be a UUID", value) from None


def _datetime_out(value: Any) -> datetime:
    made = _from_iso(datetime, value, "must be a datetime, or an ISO 8601 string such as '2027-03-01T09:00:00+01:00'")
    if made.utcoffset() is None:
        raise Unfit("is naive, so the instant meant is unknown; give it a time zone", value)
    return made


def _date_out(value: Any) -> date:
    if isinstance(value, datetime):
        raise Unfit("is a datetime; it must be a date", value)
    return _from_iso(date, value, "must be a date, or an ISO 8601 string such as '2027-03-01'")


def _time_out(value: Any) -> time:
    return _from_iso(time, value, "must be a time, or an ISO 8601 string such as '09:30:00'")


def _from_iso(cls: type[T], value: Any, rule: str) -> T:
    if isinstance(value, cls):
        return value
    try:
        return cls.fromisoformat(value)
    except (TypeError, ValueError):
        raise Unfit(rule, value) from None


def _timedelta_out(value: Any) -> timedelta:
    if isinstance(value, timedelta):
        return value
    try:
        return timedelta(seconds=_float_in(value))
    except (Unfit, OverflowError):
        raise Unfit("must be a timedelta, or a number of seconds", value) from None


def _seconds(value: timedelta) -> int | float:
    return value.days * 86_400 + value.seconds if not value.microseconds else value.total_seconds()


def _said(**schema: Any) -> Callable[[Definitions], Schema]:
    return lambda _: schema


def _in_utc(text: str) -> str:
    """One instant has one text, whatever the zone it was given in."""
    try:
        return datetime.fromisoformat(text).astimezone(UTC).isoformat()
    except OverflowError:
        return text  # so near the ends of time that there is no such instant in UTC


def _fewest_digits(text: str) -> str:
    """9.90 is 9.9: a form and a column may give one amount with more zeros than the other."""
    made = Decimal(text)
    exact = Context(prec=max(1, len(made.as_tuple().digits)), Emax=MAX_EMAX, Emin=MIN_EMIN)
    least = made.normalize(exact)
    return f"{least:f}" if abs(least.adjusted()) <= _MOST_ZEROS else str(least)


def _both(
    load: Callable[[Any], Any],
    write: Callable[[Any], Any],
    *forms: str,
    canonical: Callable[[Any], Any] | None = None,
    **schema: Any,
) -> Kind:
    def dump(value: Any) -> Any:
        return write(load(value))

    return Kind(dump, load, frozenset(forms), _said(**schema), canonical=canonical)


ANYTHING = Kind(_as_is, _as_is, ANY_FORM, _said())
NULL = Kind(_none_in, _none_in, frozenset({"null"}), _said(type="null"))
# Of several spellings that are taken (an exponent, a UUID in braces), the schema has the usual one.
_DIGITS = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?$"
_LONGEST_TIMEDELTA = timedelta.max.days * 86_400
_CLOCK = r"^([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,6})?)?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])?$"
SCALARS: dict[type, Kind] = {
    int: Kind(_int_in, _int_in, frozenset({"int"}), _said(type="integer")),
    float: Kind(_float_in, lambda value: float(_float_in(value)), frozenset({"float"}), _said(type="number")),
    bool: Kind(_bool_in, _bool_in, frozenset({"bool"}), _said(type="boolean")),
    str: Kind(_str_in, _str_in, frozenset({"string"}), _said(type="string")),
    Decimal: _both(
        _decimal_out, str, "string", canonical=_fewest_digits, type="string", format="decimal", pattern=_DIGITS
    ),
    UUID: _both(_uuid_out, str, "string", type="string", format="uuid"),
    datetime: _both(_datetime_out, datetime.isoformat, "string", canonical=_in_utc, type="string", format="date-time"),
    date: _both(_date_out, date.isoformat, "string", type="string", format="date"),
    # The format "time" wants an offset, which times of day seldom have.
    time: _both(_time_out, time.isoformat, "string", type="string", pattern=_CLOCK),
    timedelta: _both(
        _timedelta_out,
        _seconds,
        "float",
        "int",
        type="number",
        minimum=-_LONGEST_TIMEDELTA,
        maximum=_LONGEST_TIMEDELTA,
        description="Seconds",
    ),
}
_FORM_OF = {str: "string", int: "int", float: "float", bool: "bool", type(None): "null"}


def enum_kind(cls: type[enum.Enum]) -> Kind:
    members = list(cls)
    odd = next((one for one in members if not isinstance(one.value, str | int | float | bool)), None)
    if odd is not None:
        raise Unstorable(f"{odd} has the value {shown(odd.value)}, and only strings and numbers can be stored")
    rule = f"must be one of {cls.__qualname__}: {', '.join(repr(one.value) for one in members[:20])}"

    def load(value: Any) -> enum.Enum:
        try:
            found = cls(value)
        except ValueError:
            raise Unfit(rule, value) from None
        if isinstance(value, cls):
            return found
        # A bool equals 1, and would be taken for it. And Python 3.11.2 drops bits that a Flag does not have.
        same = found.value == value or not isinstance(found, enum.Flag)
        if same and isinstance(value, bool) == isinstance(found.value, bool):
            return found
        raise Unfit(rule, value)

    forms = {_FORM_OF[next(t for t in (bool, str, int, float) if isinstance(one.value, t))] for one in members}
    return Kind(lambda value: load(value).value, load, frozenset(forms or {"string"}), _said(**_enum_schema(cls)))


def _enum_schema(cls: type[enum.Enum]) -> Schema:
    if issubclass(cls, enum.Flag):
        return {"title": cls.__name__, "type": "integer", "minimum": 0, "maximum": sum(one.value for one in cls)}
    return {"title": cls.__name__, "enum": [one.value for one in cls]}


def literal_kind(values: tuple[Any, ...]) -> Kind:
    plain = [value.value if isinstance(value, enum.Enum) else value for value in values]
    allowed = {(type(one), one): value for one, value in zip(plain, values, strict=True)}
    forms = frozenset(_FORM_OF.get(type(one), "") for one in plain)
    if "" in forms:
        raise Unstorable(f"Literal{list(values)} has a value that can't be stored")
    rule = f"must be one of {', '.join(map(repr, plain))}"

    def load(value: Any) -> Any:
        value = value.value if isinstance(value, enum.Enum) else value
        try:
            return allowed[type(value), value]
        except (KeyError, TypeError):
            raise Unfit(rule, value) from None

    def dump(value: Any) -> Any:
        found = load(value)
        return found.value if isinstance(found, enum.Enum) else found

    return Kind(dump, load, forms, _said(enum=plain))
