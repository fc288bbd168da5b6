"""What differs between two sets of fields, told field by field: inside of an object, by the path to it."""

import json
from collections.abc import Iterator, Mapping
from typing import NamedTuple

ABSENT = object()  # the old or the new value of what is only in one of them
_LONGEST = 200  # characters of a value


class Difference(NamedTuple):
    field: str  # payload.customer, say
    old: object
    new: object

    def __str__(self) -> str:
        return f"{self.field}: {shown_value(self.old)} -> {shown_value(self.new)}"

    @property
    def plain(self) -> dict[str, object]:
        """For JSON: what is absent has no key."""
        given = {"field": self.field, "old": self.old, "new": self.new}
        return {name: value for name, value in given.items() if value is not ABSENT}


def differences(old: Mapping[str, object], new: Mapping[str, object], path: str = "") -> Iterator[Difference]:
    """In the order of `old`, and then what only `new` has."""
    for name in dict.fromkeys((*old, *new)):
        before, after = old.get(name, ABSENT), new.get(name, ABSENT)
        if isinstance(before, Mapping) and isinstance(after, Mapping):
            yield from differences(before, after, f"{path}{name}.")
        elif not same(before, after):
            yield Difference(f"{path}{name}", before, after)


def same(one: object, other: object) -> bool:
    """Equal as JSON is: 1 is 1.0, but not true."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def shown_value(value: object) -> str:
    if value is ABSENT:
        return "(none)"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
