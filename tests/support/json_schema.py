"""JSON schemas as somebody uses them who has no Python: does a value keep to this one?"""

from typing import Any

import jsonschema_rs

from tasks_app.core.payloads import Schema, kind_of, whole_schema


def schema_of(annotation: Any) -> Schema:
    return whole_schema(kind_of(annotation).schema)


def keeps_to(schema: Schema, value: object) -> bool:
    """Formats are looked at too; a schema that is none is an error."""
    jsonschema_rs.meta.validate(schema)
    return jsonschema_rs.validator_for(schema, validate_formats=True).is_valid(value)
