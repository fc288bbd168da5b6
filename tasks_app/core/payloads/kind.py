"""One type of value in a payload, and what is said when a value doesn't fit it."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from tasks_app.core.errors import shown

from .schema import MADE_ANEW, REQUIRED, Definitions, Schema  # noqa: F401  (MADE_ANEW: for others)


class Unfit(ValueError):
    """A value that doesn't fit its type: where it is, what it is and which rule it breaks."""

    def __init__(self, rule: str, value: object = REQUIRED, path: str = "") -> None:
        super().__init__(rule)
        self.rule = rule
        self.value = value
        self.path = path

    def inside(self, step: str) -> "Unfit":
        joint = "" if not self.path or self.path.startswith("[") else "."
        return Unfit(self.rule, self.value, f"{step}{joint}{self.path}")

    def __str__(self) -> str:
        return f"{self.path} {self.rule}" if self.value is REQUIRED else f"{self.path}={shown(self.value)} {self.rule}"


class Unstorable(TypeError):
    """A type that no payload can have; says why."""


class Kind(NamedTuple):
    """One type of value."""

    dump: Callable[[Any], Any]
    load: Callable[[Any], Any]
    forms: frozenset[str]  # what it looks like as JSON: a union can tell its members by nothing else
    schema: Callable[[Definitions], Schema]  # what may be sent for it from another language
    fields: Mapping[str, "Field"] | None = None  # of a dataclass or a model: what its JSON object has
    key_of: Callable[[Any], str] | None = None  # its text in the key of a unit, from its JSON; None: the JSON itself
    fetches: bool = False  # load asks the database
    canonical: Callable[[Any], Any] | None = None  # of equal values the same JSON; None: it is the same anyway


class Field(NamedTuple):
    kind: Kind
    default: object = REQUIRED  # as JSON


OBJECT = frozenset({"object"})
ANY_FORM = frozenset({"object", "list", "string", "int", "float", "bool", "null"})


def name_of(annotation: Any) -> str:
    if annotation is type(None):
        return "None"
    return annotation.__qualname__ if isinstance(annotation, type) else str(annotation).replace("typing.", "")


def is_object(kind: Kind) -> bool:
    """Whether it is a JSON object with fields of its own: a dataclass, a TypedDict or a pydantic model."""
    return kind.fields is not None


def json_default(kind: Kind, default: object) -> object:
    """A default as JSON; Unfit if it doesn't fit. None is a default of every type, as people write it."""
    return None if default is None else kind.dump(default)
