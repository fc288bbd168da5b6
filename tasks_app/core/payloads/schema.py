"""The JSON schema of a payload, for those who send one from another language: what keeps to it is taken by `dump`."""

import json
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .kind import Field

Schema = dict[str, Any]
DIALECT = "https://json-schema.org/draft/2020-12/schema"

REQUIRED = object()  # the default of what has none
MADE_ANEW = object()  # a default that a factory makes, or an entry that may be missing
INTEGER_AS_NAME = r"^(0|-?[1-9][0-9]*)$"


class Definitions:
    """What a schema refers to: objects that contain themselves. All others stand where they are used."""

    def __init__(self) -> None:
        self.made: dict[str, Schema] = {}
        self._names: dict[type, str] = {}  # of those that are being written, or made
        self._referred: set[type] = set()
        self._adopted: dict[type, Schema] = {}

    def of(self, cls: type, write: Callable[[], Schema]) -> Schema:
        if cls in self._names:
            self._referred.add(cls)
            return {"$ref": f"#/$defs/{self._names[cls]}"}
        name = self._names[cls] = self._free_name(cls)
        schema = write()
        if cls not in self._referred:
            del self._names[cls]
            return schema
        self.made[name] = schema
        return {"$ref": f"#/$defs/{name}"}

    def adopt(self, cls: type, write: Callable[[str], Schema]) -> Schema:
        """A schema with definitions of its own: `write` is told how to refer to them."""
        if cls not in self._adopted:
            name = self._free_name(cls)
            schema = write(f"#/$defs/{name}.{{model}}")
            self.made |= {f"{name}.{one}": inner for one, inner in schema.pop("$defs", {}).items()}
            self._adopted[cls] = schema
        return self._adopted[cls]

    def _free_name(self, cls: type) -> str:
        name = plain = re.sub(r"[^A-Za-z0-9_]", "_", cls.__name__)
        taken, number = {one.partition(".")[0] for one in (*self._names.values(), *self.made)}, 1
        while name in taken:
            number += 1
            name = f"{plain}_{number}"
        return name


def whole_schema(write: Callable[[Definitions], Schema]) -> Schema:
    """A schema that stands alone."""
    definitions = Definitions()
    schema = {"$schema": DIALECT} | write(definitions)
    return schema | {"$defs": definitions.made} if definitions.made else schema


def object_schema(fields: Mapping[str, "Field"], definitions: Definitions) -> Schema:
    required = [name for name, field in fields.items() if field.default is REQUIRED]
    return {
        "type": "object",
        "properties": {name: _property(field, definitions) for name, field in fields.items()},
        **({"required": required} if required else {}),
        "additionalProperties": False,
    }


def nullable(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _property(field: "Field", definitions: Definitions) -> Schema:
    schema = field.kind.schema(definitions)
    if field.default is None and "null" not in field.kind.forms:
        schema = nullable(schema)
    return schema | {"default": field.default} if _is_json(field.default) else schema


def _is_json(default: object) -> bool:
    """Neither one of the marks above, nor an object as the default of what may be anything."""
    try:
        json.dumps(default, allow_nan=False)
    except (TypeError, ValueError):
        return False
    return True
