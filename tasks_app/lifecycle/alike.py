"""Many tasks of one type that differ in nothing but key, time and payload: kept and checked column by column.

That costs a fraction of a request for each, and most calls with many tasks are like that.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from tasks_app.core.callbacks import HTTP_CALLBACK
from tasks_app.core.errors import EARLIEST, InvalidTask, latest_instant
from tasks_app.core.handlers import REGISTRY
from tasks_app.models.schedule_task import KEY_LENGTH

from .request import OF_ITS_OWN, Request, Unit, checked_json, fitting_payload, json_texts, new_key

PART = 1_000  # tasks that are sent at once: while PostgreSQL inserts them, the next are written out


class Unlike(Exception):
    """One of them is wrong, or has to be looked at by itself."""


class Part(NamedTuple):
    """Some of them, in the order of their keys."""

    keys: list[bytes]
    ats: list[datetime]  # none, if all have the same time
    payloads: list[bytes]  # none, if all have the same payload


class Alike(Sequence[Request]):
    """Requests that are made only where one is needed. `one_by_one` makes all of them, and says which one is wrong."""

    def __init__(
        self,
        like: Request,
        keys: list[str],
        ats: list[datetime] | None,
        payloads: list[object] | None,
        one_by_one: Callable[[], list[Request]],
    ) -> None:
        self.like, self.keys, self.one_by_one = like, keys, one_by_one
        self._ats, self._payloads = ats, payloads

    def __len__(self) -> int:
        return len(self.keys)

    def __getitem__(self, place: int) -> Request:  # type: ignore[override]  # no caller slices it
        tenant, task_type, _ = self.like.unit
        changed: dict[str, Any] = {"unit": (tenant, task_type, self.keys[place])}
        if self._ats is not None:
            changed["at"] = self._ats[place]
        if self._payloads is not None:
            changed["payload"] = checked_json("payload", self._payloads[place])
        return self.like._replace(**changed)

    def units(self) -> list[Unit]:
        tenant, task_type, _ = self.like.unit
        return [(tenant, task_type, key) for key in self.keys]

    def parts(self) -> Iterator[Part]:
        """Sorted by key, so that two callers can't deadlock. Each is checked when it is made: Unlike if something is
        wrong with it."""
        keys, ats, payloads, latest = self.keys, self._ats, self._payloads, latest_instant()
        order = sorted(range(len(keys)), key=keys.__getitem__)
        # Of several parts, the first is a quarter, so that PostgreSQL has something to do early.
        for first in range(0 if len(order) <= PART else (PART // 4 or 1) - PART, len(order), PART):
            places = order[max(first, 0) : first + PART]
            times = [] if ats is None else [ats[place] for place in places]
            try:
                if times and not EARLIEST <= min(times) <= max(times) <= latest:
                    raise Unlike
                texts = [] if payloads is None else json_texts([payloads[place] for place in places])
            except Exception as error:  # a TypeError if a time is naive; a payload's own class may raise anything
                raise Unlike from error
            yield Part([keys[place].encode() for place in places], times, texts)


def alike(like: Request, tasks: Sequence[Mapping[str, Any]], one_by_one: Callable[[], list[Request]]) -> Alike | None:
    """These tasks, of which `like` is the first; None if they differ in more, or if one is surely wrong."""
    _, task_type, _ = like.unit
    fields = tasks[0].keys()
    if not fields <= OF_ITS_OWN or like.idem_key is not None or task_type == HTTP_CALLBACK:
        return None
    if set(map(type, tasks)) != {dict} or set(map(len, tasks)) != {len(fields)}:
        return None
    try:
        given = [one["key"] for one in tasks]
        ats = [one["at"] for one in tasks] if "at" in fields else None
        payloads = [one["payload"] for one in tasks] if "payload" in fields else None
    except KeyError:
        return None
    if (ats is not None and set(map(type, ats)) != {datetime}) or any(one is None for one in payloads or ()):
        return None
    try:
        keys = _checked_keys(given)
        handler = REGISTRY.require(task_type)
        if payloads is not None and handler.parameters is not None:
            payloads = [fitting_payload(handler, payload) for payload in payloads]
    except (InvalidTask, TypeError):
        return None
    if len(set(keys)) < len(keys):
        return None
    return Alike(like, keys, ats, payloads, one_by_one)


def _checked_keys(keys: list[Any]) -> list[str]:
    """Together looked through for what few have, and one by one if one of them has it."""
    if (
        set(map(type, keys)) == {str}
        and all(keys)
        and max(map(len, keys)) <= KEY_LENGTH
        and "".join(keys).isprintable()
    ):
        return keys
    return [new_key(key) for key in keys]
