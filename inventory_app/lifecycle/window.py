"""The window: how long after its last sync a product is synced again. Changed at run time, applied to all tasks.

One row says what is wanted and what has been applied. Whoever schedules a product's syncs locks that row, so that a
change and a new product never miss each other. Applying goes page by page; the scan finishes what was begun.
"""

import time
from dataclasses import dataclass
from datetime import timedelta

from django.db import connection, transaction
from django.db.models import Q

from django_punctual import checked_text
from django_punctual.rolling import change_interval
from inventory_app.conf import LONGEST_WINDOW, SHORTEST_WINDOW, conf
from inventory_app.errors import InvalidProduct
from inventory_app.events import tell_window
from inventory_app.models import SyncWindow
from inventory_app.units import STOCK_SYNC

PAGE = 5_000
_ONLY = 1  # the id of the row


@dataclass(frozen=True, slots=True)
class Window:
    length: timedelta
    applied: bool  # whether all tasks roll by it
    changed_by: str  # empty: it is what the settings say


def current_window(*, lock: bool = False) -> Window:
    """The window as it is; `lock` keeps it so until the transaction ends."""
    if lock:
        _make_row()
        row = SyncWindow.objects.raw("SELECT * FROM sync_window WHERE id = %s FOR SHARE", [_ONLY])[0]
    else:
        row = SyncWindow.objects.filter(id=_ONLY).first()
    if row is None:
        return Window(_by_settings(), True, "")
    length = row.chosen or _by_settings()
    return Window(length, row.applied == length, row.changed_by if row.chosen else "")


def change_window(length: timedelta, *, actor: str) -> Window:
    """Every product so long after its last sync, from now on; what waits is moved by apply_window, or by the scan."""
    if not isinstance(length, timedelta) or not SHORTEST_WINDOW <= length.total_seconds() <= LONGEST_WINDOW:
        raise InvalidProduct(f"a window of {length!r} is out of range; it must be from a second to ten years.")
    actor = checked_text("actor", actor, 150)
    _make_row()
    # No share lock first: two who do that, and then both want to write, wait for each other.
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "UPDATE sync_window SET chosen = %s, changed_by = %s, changed_at = clock_timestamp() WHERE id = %s",
            [length, actor, _ONLY],
        )
        tell_window(length.total_seconds(), actor)
    return current_window()


def apply_window(seconds: float = float("inf")) -> int:
    """Let the tasks roll by the window, page by page, for at most so long; returns how many changed.

    It begins anew after an interruption; what has been changed already is found as it should be.
    """
    window, changed, after = current_window(), 0, ""
    ends = time.monotonic() + seconds
    if not window.applied:
        # From here on some roll by it and some don't: even the one before is not applied to all any more.
        SyncWindow.objects.filter(id=_ONLY).update(applied=None)
    while not window.applied:
        with transaction.atomic():
            if current_window(lock=True).length != window.length:
                return changed  # somebody has changed it again, and applies that
            codes = _codes(after)
            changed += change_interval(STOCK_SYNC, codes, window.length) if codes else 0
        if len(codes) < PAGE:
            _note_applied(window.length)
            break
        after = codes[-1]
        if time.monotonic() > ends:
            break
    return changed


def _make_row() -> None:
    """Made by whoever comes first: a row that is not there can't be locked."""
    if not SyncWindow.objects.filter(id=_ONLY).exists():
        SyncWindow.objects.bulk_create([SyncWindow(id=_ONLY, applied=_by_settings())], ignore_conflicts=True)


def _note_applied(length: timedelta) -> None:
    """In a transaction of its own: whoever has locked the row for a new product may be waiting for one of our tasks."""
    wanted = Q(chosen=length) | Q(chosen=None) if length == _by_settings() else Q(chosen=length)
    SyncWindow.objects.filter(wanted, id=_ONLY).update(applied=length)


def _codes(after: str) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT product_code FROM product WHERE product_code > %s ORDER BY product_code LIMIT %s", [after, PAGE]
        )
        return [code for (code,) in cursor.fetchall()]


def _by_settings() -> timedelta:
    return timedelta(seconds=conf().WINDOW_SECONDS)
