"""The registry of Python functions that events can be delivered to."""

from collections.abc import Callable, Iterator, Sequence

from .errors import InvalidConfiguration
from .events import Event

NAME_LENGTH = 100
Subscriber = Callable[[Sequence[Event]], object]


class Subscribers:
    def __init__(self) -> None:
        self._functions: dict[str, Subscriber] = {}

    def add(self, name: str, function: Subscriber) -> None:
        if not isinstance(name, str) or not 0 < len(name) <= NAME_LENGTH or not name.isprintable():
            raise InvalidConfiguration(
                f"subscriber {name!r} needs a name of 1 to {NAME_LENGTH} printable characters, such as 'billing'."
            )
        known = self._functions.get(name)
        if known is not None and known is not function:
            raise InvalidConfiguration(f"subscriber {name!r} is registered twice. Rename one.")
        self._functions[name] = function

    def discard(self, name: str) -> None:
        self._functions.pop(name, None)

    def find(self, name: str) -> Subscriber | None:
        return self._functions.get(name)

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._functions))


SUBSCRIBERS = Subscribers()
