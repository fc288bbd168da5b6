"""What a handler returned, as far as it is kept: small JSON. Deciding that takes little time, whatever was returned."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from .confidential import RESERVED

LONGEST = 4_096  # bytes of its text
DEEPEST = 100  # lists and objects in one another
_SCALARS = (str, int, float, type(None))  # bool is an int


@dataclass(frozen=True, slots=True)
class Result:
    """What a batch handler returns for one task that succeeded: a value that is kept with it."""

    value: object


class NotKept(Exception):
    """Why what was returned is not kept."""


def result_text(value: object) -> str:
    """The value as the JSON that PostgreSQL stores; raises NotKept if there is no such JSON, or too much of it."""
    if isinstance(value, dict) and RESERVED in value:
        raise NotKept(f"it has the key {RESERVED!r}, which is reserved")
    try:
        _look_through(value)
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        size = len(text.encode())
    except NotKept:
        raise
    except Exception as error:
        raise NotKept(f"it can't be written as JSON: {error!r:.200}") from None
    if size > LONGEST:
        raise NotKept(_TOO_LONG)
    return text


def _look_through(value: object) -> None:
    """Refuse what is no JSON, and too much of it, without ever walking through more than may be kept.

    Handlers return what they like, and nobody used to care: it may be a million rows, or contain itself.
    """
    level, room = [value], LONGEST
    for _ in range(DEEPEST + 1):
        inner: list[object] = []
        for one in level:
            match one:
                case str():
                    room -= len(one)
                    if "\0" in one:
                        raise NotKept("it contains a NUL character, which PostgreSQL can't store")
                case dict():
                    room -= 2 * len(one)
                    parts: Sequence[object] = () if room < 0 else (*one.keys(), *one.values())
                    inner += parts
                case list() | tuple():
                    room -= len(one)
                    inner += () if room < 0 else one
                case _ if not isinstance(one, _SCALARS):
                    raise NotKept(f"a {type(one).__name__} is no JSON")
            if room < 0:
                raise NotKept(_TOO_LONG)
        if not inner:
            return
        level = inner
    raise NotKept(f"it has lists or objects more than {DEEPEST} levels deep")


_TOO_LONG = f"it has more than {LONGEST:,} bytes as JSON"
