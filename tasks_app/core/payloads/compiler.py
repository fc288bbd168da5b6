"""From an annotation to its Kind, once, when a handler is declared."""

import dataclasses
import enum
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .kind import ANY_FORM, OBJECT, Field, Kind, Unstorable, name_of
from .objects import (
    JsonObject,
    field_default,
    fields_of,
    is_pydantic,
    pydantic_kind,
    refuse_what_is_not_kept,
    without_required,
)
from .several import items, mapping, one_of, optional, record
from .values import ANYTHING, NULL, SCALARS, enum_kind, literal_kind

_CONTAINERS: dict[Any, type] = {
    list: list,
    Sequence: list,
    tuple: tuple,
    set: set,
    frozenset: frozenset,
    dict: dict,
    Mapping: dict,
}
MakeKind = Callable[[Any], Kind | None]
_makers: list[MakeKind] = []


def add_kind(make: MakeKind) -> None:
    """Know more types: `make(annotation)` gives their Kind, or None for a type that is not its business."""
    if make not in _makers:
        _makers.append(make)


def kind_of(annotation: Any) -> Kind:
    """How values of this type are stored; Unstorable if they can't be."""
    return _Compiler().kind_of(annotation)


class _Compiler:
    """Compiles one annotation; knows what it is compiling already, since a dataclass may contain itself."""

    def __init__(self) -> None:
        self._begun: dict[type, JsonObject] = {}

    def kind_of(self, annotation: Any) -> Kind:
        if isinstance(annotation, typing.NewType):
            return self.kind_of(annotation.__supertype__)
        if hasattr(annotation, "__value__") and type(annotation).__name__ == "TypeAliasType":
            return self.kind_of(annotation.__value__)
        if annotation is Any or annotation is object:
            return ANYTHING
        if annotation is None or annotation is type(None):
            return NULL
        origin, args = typing.get_origin(annotation), typing.get_args(annotation)
        if origin is typing.Annotated:
            return self.kind_of(args[0])
        if origin is typing.Literal:
            return literal_kind(args)
        if origin in (typing.Union, types.UnionType):
            return self._union(args)
        if origin is not None or annotation in _CONTAINERS:
            return self._container(origin or annotation, args)
        if isinstance(annotation, type):
            return self._class(annotation)
        raise Unstorable(f"{name_of(annotation)} is not a type that can be stored")

    def _class(self, cls: type) -> Kind:
        for make in _makers:
            if (made := make(cls)) is not None:
                return made
        if issubclass(cls, enum.Enum):
            return enum_kind(cls)
        if cls in SCALARS:
            return SCALARS[cls]
        if is_pydantic(cls):
            return pydantic_kind(cls)
        if dataclasses.is_dataclass(cls) or typing.is_typeddict(cls):
            return self._object(cls)
        if issubclass(cls, bytes | bytearray | memoryview):
            raise Unstorable(f"{cls.__name__} has no form in JSON; use str, in base64 for example")
        raise Unstorable(
            f"{name_of(cls)} has no form in JSON. Make it a dataclass or a pydantic model, or schedule its id"
        )

    def _object(self, cls: type) -> Kind:
        if cls in self._begun:
            made = self._begun[cls]
            return Kind(made.dump, made.load, OBJECT, made.schema, made.fields)
        made = self._begun[cls] = JsonObject(cls)
        try:
            hints = typing.get_type_hints(cls, include_extras=True)
        except NameError as error:
            raise Unstorable(f"{name_of(cls)}: {error}; a type in it must be there at run time") from None
        refuse_what_is_not_kept(cls)
        kinds: dict[str, Field] = {}
        for name, default in fields_of(cls, hints):
            kind = self.kind_of(without_required(hints[name]))
            kinds[name] = Field(kind, field_default(cls, name, kind, default))
        made.fields.update(kinds)
        made.fetches = any(field.kind.fetches for field in kinds.values())
        return Kind(made.dump, made.load, OBJECT, made.schema, made.fields, fetches=made.fetches)

    def _union(self, args: tuple[Any, ...]) -> Kind:
        kinds = [self.kind_of(arg) for arg in args]
        if len(kinds) == 2 and NULL in kinds:
            [inner] = [kind for kind in kinds if kind is not NULL]
            return optional(inner)
        seen: set[str] = set()
        for arg, kind in zip(args, kinds, strict=True):
            if seen & kind.forms or (len(kinds) > 1 and kind.forms == ANY_FORM):
                words = " | ".join(name_of(one) for one in args)
                raise Unstorable(
                    f"{words} can't be told apart in JSON: {name_of(arg)} looks like another of them. Use one, or a "
                    "dataclass with a field that says which"
                )
            seen |= kind.forms
        return one_of(kinds, " or ".join(name_of(arg) for arg in args))

    def _container(self, origin: Any, args: tuple[Any, ...]) -> Kind:
        if origin not in _CONTAINERS:
            if isinstance(origin, type) and dataclasses.is_dataclass(origin):
                raise Unstorable(f"{name_of(origin)} is generic; give it its types in a subclass")
            raise Unstorable(f"{name_of(origin)} has no form in JSON; use list, dict or tuple")
        build = _CONTAINERS[origin]
        if build is dict:
            key, value = (self.kind_of(arg) for arg in args or (str, Any))
            return mapping(key, value, name_of(args[0]) if args else "str")
        if build is tuple and args and args[-1] is not Ellipsis:
            return record([self.kind_of(arg) for arg in args if arg != ()])
        return items(self.kind_of(args[0] if args else Any), build)
