"""The registry of links: where a person finds the thing that a task is about. Each app gives its own."""

from collections.abc import Callable
from typing import NamedTuple

from .errors import InvalidConfiguration


class Link(NamedTuple):
    url: str
    text: str


MakeLink = Callable[[str], Link | tuple[str, str] | None]


class Links:
    def __init__(self) -> None:
        self._makers: dict[str, MakeLink] = {}

    def add(self, task_type: str, make: MakeLink) -> None:
        known = self._makers.get(task_type)
        if known is not None and known is not make:
            raise InvalidConfiguration(f"the link of task type {task_type!r} is registered twice. Remove one.")
        self._makers[task_type] = make

    def discard(self, task_type: str) -> None:
        self._makers.pop(task_type, None)

    def find(self, task_type: str, key: str) -> Link | None:
        make = self._makers.get(task_type)
        made = make(key) if make else None
        return Link(*made) if made else None


LINKS = Links()
