"""Values made of others: lists, tuples, sets, dicts, and one type or another."""

import functools
import json
from collections.abc import Callable, Mapping
from typing import Any

from tasks_app.core.errors import shown

from .kind import OBJECT, Kind, Unfit, Unstorable
from .schema import INTEGER_AS_NAME, Definitions, Schema, nullable


def optional(inner: Kind) -> Kind:
    def dump(value: Any) -> Any:
        return None if value is None else inner.dump(value)

    def load(value: Any) -> Any:
        return None if value is None else inner.load(value)

    def schema(definitions: Definitions) -> Schema:
        return nullable(inner.schema(definitions))

    return inner._replace(dump=dump, load=load, forms=inner.forms | {"null"}, schema=schema, fields=None)


def one_of(kinds: list[Kind], words: str) -> Kind:
    def first(how: str, value: Any) -> Any:
        for kind in kinds:
            try:
                return getattr(kind, how)(value)
            except Unfit:
                continue
        raise Unfit(f"must be {words}", value)

    def schema(definitions: Definitions) -> Schema:
        return {"anyOf": [kind.schema(definitions) for kind in kinds]}

    forms = frozenset().union(*(kind.forms for kind in kinds))
    fetches = any(kind.fetches for kind in kinds)
    return Kind(functools.partial(first, "dump"), functools.partial(first, "load"), forms, schema, fetches=fetches)


def items(inner: Kind, build: type) -> Kind:
    def each(convert: Callable[[Any], Any], value: Any) -> list[Any]:
        if not isinstance(value, list | tuple | set | frozenset):
            raise Unfit("must be a list", value)
        made: list[Any] = []
        for one in value:
            try:
                made.append(convert(one))
            except Unfit as error:
                raise error.inside(f"[{len(made)}]") from None
        return made

    def dump(value: Any) -> list[Any]:
        made = each(inner.dump, value)
        return _in_order(made) if build in (set, frozenset) else made

    def load(value: Any) -> Any:
        made = each(inner.load, value)
        return made if build is list else build(made)

    def schema(definitions: Definitions) -> Schema:
        return {"type": "array", "items": inner.schema(definitions)}

    return Kind(dump, load, frozenset({"list"}), schema, fetches=inner.fetches)


def _in_order(made: list[Any]) -> list[Any]:
    """Each once, by its text: a set of strings has another order in every process."""
    by_text = {json.dumps(one, sort_keys=True, default=str): one for one in made}
    return [by_text[text] for text in sorted(by_text)]


def record(kinds: list[Kind]) -> Kind:
    def each(how: str, value: Any) -> list[Any]:
        if not isinstance(value, list | tuple) or len(value) != len(kinds):
            raise Unfit(f"must be a tuple of {len(kinds)}", value)
        made: list[Any] = []
        for kind, one in zip(kinds, value, strict=True):
            try:
                made.append(getattr(kind, how)(one))
            except Unfit as error:
                raise error.inside(f"[{len(made)}]") from None
        return made

    def schema(definitions: Definitions) -> Schema:
        places = [kind.schema(definitions) for kind in kinds]
        return {"type": "array", "prefixItems": places, "minItems": len(kinds), "maxItems": len(kinds)}

    fetches = any(kind.fetches for kind in kinds)
    return Kind(
        functools.partial(each, "dump"),
        lambda value: tuple(each("load", value)),
        frozenset({"list"}),
        schema,
        fetches=fetches,
    )


def mapping(key: Kind, inner: Kind, words: str) -> Kind:
    if key.forms not in ({"string"}, {"int"}):
        raise Unstorable(f"a dict with keys of {words} has no form in JSON; use strings, whole numbers or UUIDs")
    whole = key.forms == {"int"}

    def each(value: Any, key_of: Callable[[Any], Any], convert: Callable[[Any], Any]) -> dict[Any, Any]:
        if not isinstance(value, Mapping):
            raise Unfit("must be a dict", value)
        made = {}
        for name, one in value.items():
            try:
                made[key_of(name)] = convert(one)
            except Unfit as error:
                raise error.inside(f"[{shown(name)}]") from None
        return made

    def key_in(name: Any) -> str:
        return str(key.dump(_number(name)) if whole else key.dump(name))

    def key_out(name: Any) -> Any:
        return key.load(_number(name)) if whole else key.load(name)

    def names(definitions: Definitions) -> Schema:
        given = key.schema(definitions)
        if not whole:
            return given
        return {"enum": [str(one) for one in given["enum"]]} if "enum" in given else {"pattern": INTEGER_AS_NAME}

    def schema(definitions: Definitions) -> Schema:
        return {
            "type": "object",
            "propertyNames": names(definitions),
            "additionalProperties": inner.schema(definitions),
        }

    return Kind(
        lambda value: each(value, key_in, inner.dump),
        lambda value: each(value, key_out, inner.load),
        OBJECT,
        schema,
        fetches=inner.fetches,
    )


def _number(name: Any) -> Any:
    try:
        return int(name) if isinstance(name, str) else name
    except ValueError:
        return name
