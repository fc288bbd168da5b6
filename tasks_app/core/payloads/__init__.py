"""What a payload is made of: from Python values to JSON and back, by their types. Compiled once, when declared.

`dump` takes a value of the type, or what it looks like as JSON; `load` builds the value again. What has no JSON form is
refused where it is declared. Other kinds of values (rows of Django models) are added with `add_kind`.
"""

from .compiler import add_kind, kind_of
from .kind import Field, Kind, Unfit, Unstorable, is_object, json_default
from .objects import dump_fields, load_fields
from .schema import MADE_ANEW, REQUIRED, Schema, object_schema, whole_schema

__all__ = [
    "MADE_ANEW",
    "REQUIRED",
    "Field",
    "Kind",
    "Schema",
    "Unfit",
    "Unstorable",
    "add_kind",
    "dump_fields",
    "is_object",
    "json_default",
    "kind_of",
    "load_fields",
    "object_schema",
    "whole_schema",
]
