"""Values that are an object in JSON: dataclasses, TypedDicts, and models of pydantic, if the project has it."""

import dataclasses
import inspect
import json
import typing
from collections.abc import Callable, Mapping
from typing import Any

from tasks_app.core.errors import nearest

from .kind import OBJECT, Field, Kind, Unfit, Unstorable, json_default, name_of
from .schema import MADE_ANEW, REQUIRED, Definitions, Schema, object_schema
from .values import ANYTHING


class JsonObject:
    """A dataclass or a TypedDict: an object in JSON, one entry for each field."""

    def __init__(self, cls: type) -> None:
        self._cls = cls
        self._typed_dict = typing.is_typeddict(cls)
        self.fields: dict[str, Field] = {}
        self.fetches = False

    def dump(self, value: Any) -> dict[str, Any]:
        if type(value) is self._cls:
            return {name: self._dumped(name, field, getattr(value, name)) for name, field in self.fields.items()}
        if not isinstance(value, Mapping):
            raise Unfit(f"must be an instance of {self._cls.__qualname__}", value)
        made = dump_fields(self.fields, value, self._cls.__qualname__)
        if self.fetches or self._typed_dict:
            return made
        built = self.load(made)  # what its own __post_init__ refuses is refused now
        # What a factory makes is the same task's from now on, as if the object had been given.
        return (
            self.dump(built)
            if any(self.fields[name].default is MADE_ANEW for name in self.fields.keys() - made)
            else made
        )

    def load(self, value: Any) -> Any:
        if type(value) is self._cls and not self._typed_dict:
            return value
        if not isinstance(value, Mapping):
            raise Unfit(f"must be an object with the fields of {self._cls.__qualname__}", value)
        made = load_fields(self.fields, value)
        try:
            return self._cls(**made)
        except (TypeError, ValueError) as error:
            raise Unfit(f"does not make an instance of {self._cls.__qualname__}: {error}") from error

    def schema(self, definitions: Definitions) -> Schema:
        titled = {"title": self._cls.__name__}
        return definitions.of(self._cls, lambda: titled | object_schema(self.fields, definitions))

    def _dumped(self, name: str, field: Field, value: Any) -> Any:
        try:
            return field.kind.dump(value)
        except Unfit as error:
            if value is None and field.default is None:
                return None
            raise error.inside(name) from None


def dump_fields(fields: Mapping[str, Field], given: Mapping[str, Any], whose: str) -> dict[str, Any]:
    """The given values as JSON; what is unknown or missing is refused."""
    made = {}
    for name, value in given.items():
        field = fields.get(name)
        if field is None:
            raise Unfit(f"is not a field of {whose}.{nearest(str(name), fields)}", path=str(name))
        try:
            made[name] = None if value is None and field.default is None else field.kind.dump(value)
        except Unfit as error:
            raise error.inside(name) from None
    if len(made) < len(fields):
        _refuse_missing(fields, made)
    return made


def load_fields(fields: Mapping[str, Field], stored: Mapping[str, Any]) -> dict[str, Any]:
    """The values of what was stored. What is not there takes its default where it is used, and what is no field any
    more is left out: between scheduling and running the code may have changed."""
    made = {}
    for name, field in fields.items():
        if name in stored:
            value = stored[name]
            try:
                made[name] = None if value is None and field.default is None else field.kind.load(value)
            except Unfit as error:
                raise error.inside(name) from None
    if len(made) < len(fields):
        _refuse_missing(fields, made)
    return made


def _refuse_missing(fields: Mapping[str, Field], made: Mapping[str, Any]) -> None:
    for name, field in fields.items():
        if field.default is REQUIRED and name not in made:
            raise Unfit("is missing, and has no default", path=name)


def fields_of(cls: Any, hints: Mapping[str, Any]) -> list[tuple[str, object]]:
    """Each with its default, before it is JSON. `hints` are its types, those written as strings looked up."""
    if typing.is_typeddict(cls):
        return [(name, REQUIRED if _is_required(cls, name, hints[name]) else MADE_ANEW) for name in cls.__annotations__]
    found = []
    for field in dataclasses.fields(cls):
        if field.init:
            factory = field.default_factory is not dataclasses.MISSING
            plain = REQUIRED if field.default is dataclasses.MISSING else field.default
            found.append((field.name, MADE_ANEW if factory else plain))
    return found


def _is_required(cls: Any, name: str, hint: Any) -> bool:
    # Where annotations are strings, __required_keys__ knows only what is said of all of them.
    said = typing.get_origin(hint)
    return said is typing.Required or (said is not typing.NotRequired and name in cls.__required_keys__)


def refuse_what_is_not_kept(cls: Any) -> None:
    """An InitVar, or an argument of an __init__ of its own, is gone once the object is there."""
    if typing.is_typeddict(cls):
        return
    kept = {field.name for field in dataclasses.fields(cls)}
    for one in inspect.signature(cls).parameters.values():
        variadic = one.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        if one.name not in kept and one.default is inspect.Parameter.empty and not variadic:
            raise Unstorable(
                f"{name_of(cls)} is made with {one.name}, which is no field of it, so it can't be built again. Give "
                f"{one.name} a default, or make it a field"
            )


def field_default(cls: type, name: str, kind: Kind, default: object) -> object:
    if default is REQUIRED or default is MADE_ANEW:
        return default
    try:
        return json_default(kind, default)
    except Unfit as error:
        raise Unstorable(f"{name_of(cls)}: the default of {error.inside(name)}") from None


def without_required(hint: Any) -> Any:
    return typing.get_args(hint)[0] if typing.get_origin(hint) in (typing.Required, typing.NotRequired) else hint


# pydantic's models bring their own rules. It is not imported here.


def is_pydantic(cls: type) -> bool:
    return hasattr(cls, "__pydantic_validator__") and hasattr(cls, "model_validate_json")


def pydantic_kind(cls: Any) -> Kind:
    def dump(value: Any) -> Any:
        if type(value) is not cls:
            if not isinstance(value, Mapping):
                raise Unfit(f"must be an instance of {cls.__qualname__}", value)
            value = load(value)
        return value.model_dump(mode="json", by_alias=True, round_trip=True)

    def load(value: Any) -> Any:
        try:
            # Through its JSON, which strict models read as well: a date in a strict model is a string only there.
            text = json.dumps(value)
        except (TypeError, ValueError):
            return _validated(cls.model_validate, value)  # of Python values, before it is stored
        return _validated(cls.model_validate_json, text)

    def schema(definitions: Definitions) -> Schema:
        try:
            return definitions.adopt(cls, lambda refer: cls.model_json_schema(ref_template=refer))
        except (RuntimeError, TypeError):  # a type in it has none
            return {"title": cls.__name__, "type": "object"}

    fields = {
        field.serialization_alias or field.alias or name: Field(
            ANYTHING, REQUIRED if field.is_required() else MADE_ANEW
        )
        for name, field in cls.model_fields.items()
    }
    return Kind(dump, load, OBJECT, schema, fields)


def _validated(validate: Callable[[Any], Any], value: Any) -> Any:
    try:
        return validate(value)
    except ValueError as error:
        first = error.errors()[0] if hasattr(error, "errors") else {"loc": (), "msg": str(error)}
        path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in first["loc"]).lstrip(".")
        known = {} if first.get("type") == "missing" or not path else {"value": first.get("input")}
        raise Unfit(f"is refused: {first['msg']}", path=path, **known) from None
