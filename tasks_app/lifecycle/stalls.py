"""Stalls: what a beat hung on, and which items the beats skip since a beat hung on them twice.

The observer of a beat counts them (engine/beat/observer.py). An item is taken up again when an operator releases it,
and when it is changed.
"""

import json
import logging
from collections.abc import Iterable
from typing import Any, NamedTuple

from tasks_app.core.at_work import Kind
from tasks_app.core.errors import NotThere
from tasks_app.database import atomic
from tasks_app.models import Stall
from tasks_app.sql import run

from .audit import Entry, Operator, audit

log = logging.getLogger(__name__)

MOST_ENDS = 2  # of beats on one item; then it is skipped
FORGET_HOURS = 24  # an end that is older than this does not count


class Item(NamedTuple):
    kind: str
    place: str
    item: str
    skipped: bool


class Skipped:
    """What the beats skip, as this process has heard: with each renewal of its shards."""

    def __init__(self) -> None:
        self._known: frozenset[Item] = frozenset()

    def learn(self, items: Iterable[Iterable[Any]] | None) -> None:
        self._known = frozenset(Item(*one) for one in items or ())

    def forget(self, items: Iterable[tuple[str, str, str]]) -> None:
        """These are released: kind, place and item."""
        gone = set(items)
        self._known = frozenset(one for one in self._known if one[:3] not in gone)

    def __bool__(self) -> bool:
        """Whether beats hung on anything lately."""
        return bool(self._known)

    def of(self, kind: Kind, place: str | None = None) -> frozenset[str]:
        """The items of a kind; with a place, those that are skipped there."""
        if not self._known:
            return frozenset()
        return frozenset(
            one.item for one in self._known if one.skipped and one.kind == kind and place in (None, one.place)
        )


SKIPPED = Skipped()


def schedule_item(*columns: object) -> str:
    """A schedule as an item: what its cursors have in common, in every shard."""
    return json.dumps(columns, ensure_ascii=False, separators=(",", ":"))


def note_params(kind: Kind, item: str, place: str, beat: str, stack: str) -> dict[str, object]:
    """For note_stall, which an observer runs on a connection of its own."""
    about = {"kind": str(kind), "item": item, "place": place, "beat": beat, "stack": stack}
    return about | {"never": kind is Kind.PART, "most": MOST_ENDS, "forget": FORGET_HOURS}


def release_changed() -> int:
    """Release items that changed since a beat hung on them, and forget unskipped ones after a day; returns how many."""
    gone = run("release_changed", {"forget": FORGET_HOURS})
    SKIPPED.forget(gone)
    for kind, place, item in gone:
        log.info("stall.released kind=%s item=%r place=%s", kind, item, place)
    return len(gone)


def release(number: int, operator: Operator) -> Stall:
    """The beats take it up again within seconds. If a beat hangs on it twice more, they skip it again."""
    with atomic():
        row: Stall | None = Stall.objects.select_for_update().filter(id=number).first()
        if row is None:
            raise NotThere(f"there is no stall number {number}; `manage.py stalls list` shows which there are.")
        row.delete()
        row.id = number
        audit(operator, "release stall", [Entry(f"stall {number}", "released", detail={"item": str(row)})])
    return row
