"""add, rename, remove, sync_now: one product or a few, each with its rolling task in the same transaction."""

from collections.abc import Collection, Iterable
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction

from django_punctual import InvalidTask, Outcome, cancel, checked_text, find_many, reschedule_many, schedule_many
from django_punctual.rolling import change_interval, front_of_line, timer_of
from inventory_app.errors import DuplicateProduct, InvalidProduct, UnknownProduct
from inventory_app.events import ADDED, REMOVED, RENAMED, tell
from inventory_app.models import CODE_LENGTH, LOCK_ORDER, NAME_LENGTH, Product
from inventory_app.units import INVENTORY, STOCK_SYNC

from .spread import next_sync
from .window import current_window

SYNC_NOW_MOST = 10_000
_ADD = "INSERT INTO product (product_code, name) VALUES (%s, %s) ON CONFLICT DO NOTHING RETURNING product_code"


def add(code: str, name: str) -> Product:
    """A new product, synced at once: before everything that waits, at the allowed rate."""
    code, name = checked("code", code, CODE_LENGTH), checked("name", name, NAME_LENGTH)
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(_ADD, [code, name])
            made = cursor.fetchone()
        if made is None:
            raise DuplicateProduct(f"there is already a product {code!r}. Rename it, or choose another code.")
        schedule_syncs([(code, None)])
        tell(ADDED, [code], [{"code": code, "name": name}])
    product: Product = Product.objects.get(product_code=code)
    return product


def schedule_syncs(products: Iterable[tuple[str, datetime | None]]) -> int:
    """Give these products, which the caller has just written or locked, their rolling tasks; returns how many are new.

    Those never synced go to the front of the line. Those that come with a sync date get their place in what is left of
    their window, or wait for the timer from there on.
    """
    window = current_window(lock=True).length
    never: list[str] = []
    known: list[tuple[str, datetime]] = []
    for code, synced_at in products:
        if synced_at is None:
            never.append(code)
        else:
            known.append((code, synced_at))
    new = 0
    if never:
        first = front_of_line(STOCK_SYNC)
        left_over = _schedule([{"key": code} for code in never], window, at=first)
        reschedule_many(STOCK_SYNC, left_over, at=first, leave_running=True)
        new += len(never) - len(left_over)
    if known:
        now = _database_now()
        moments = [next_sync(code, synced_at, now, window) for code, synced_at in known]
        timer = timer_of(STOCK_SYNC)
        moments = timer.at_or_after(moments) if timer else moments
        places = [{"key": code, "at": moment} for (code, _), moment in zip(known, moments, strict=True)]
        new += len(known) - len(_schedule(places, window))
    return new


def _schedule(places: list[dict[str, Any]], window: timedelta, **common: datetime) -> list[dict[str, Any]]:
    """Returns those that have a live task already, left over by a product that was deleted past us."""
    tasks = schedule_many(STOCK_SYNC, places, repeat_after=window, **common)
    left_over = [place for place, task in zip(places, tasks, strict=True) if task.outcome is Outcome.EXISTS]
    if left_over:
        change_interval(STOCK_SYNC, [place["key"] for place in left_over], window)
    return left_over


def rename(code: str, name: str) -> None:
    code, name = _known(code), checked("name", name, NAME_LENGTH)
    with transaction.atomic():
        if not Product.objects.filter(product_code=code).update(name=name):
            raise UnknownProduct(f"there is no product {code!r}.")
        tell(RENAMED, [code], [{"code": code, "name": name}])


def remove(code: str, *, actor: str) -> None:
    """Gone, and never synced again: an answer that is on its way is not written."""
    code, actor = _known(code), checked("actor", actor, 150)
    with transaction.atomic():
        gone, _ = Product.objects.filter(product_code=code).delete()
        if not gone:
            raise UnknownProduct(f"there is no product {code!r}.")
        cancel(STOCK_SYNC, code, reason=f"the product was removed by {actor}", by=INVENTORY)
        tell(REMOVED, [code], [{"code": code, "actor": actor}])


def sync_now(codes: Collection[str], *, actor: str) -> int:
    """Sync these before everything that waits; returns how many. One that is being synced right now is left alone."""
    if len(codes) > SYNC_NOW_MOST:
        raise InvalidProduct(f"{len(codes):,} products are too many at once; at most {SYNC_NOW_MOST:,} are allowed.")
    actor, codes = checked("actor", actor, 150), [code for code in codes if _could_be_known(code)]
    with transaction.atomic():
        locked = Product.objects.select_for_update(no_key=True).filter(product_code__in=codes).order_by(*LOCK_ORDER)
        wanted = list(locked.values_list("product_code", flat=True))
        tasks = {key: task for (_, key), task in find_many([STOCK_SYNC], wanted).items()}
        without = [code for code in wanted if code not in tasks or not tasks[code].live]
        scheduled = schedule_syncs([(code, None) for code in without]) if without else 0
        first = front_of_line(STOCK_SYNC)
        waiting = [{"key": code, "at": first} for code in wanted if code in tasks and tasks[code].live]
        moved = reschedule_many(STOCK_SYNC, waiting, by=actor, leave_running=True)
    return scheduled + sum(one.due is not None for one in moved)


def checked(name: str, value: object, longest: int) -> str:
    # What is printable has no NUL and no half characters, so that most values are done with here.
    if type(value) is str and 0 < len(value) <= longest and value.isprintable() and value == value.strip():
        return value
    try:
        text = checked_text(name, value, longest)
    except InvalidTask as error:
        raise InvalidProduct(str(error)) from None
    if not text.isprintable() or text != text.strip():
        raise InvalidProduct(f"{name} {text[:60]!r} has control characters, or spaces around it. Remove them.")
    return text


def _known(code: object) -> str:
    """A code that a product could have; nothing else has ever been added."""
    try:
        return checked("code", code, CODE_LENGTH)
    except InvalidProduct as error:
        raise UnknownProduct(f"there is no such product: {error}") from None


def _could_be_known(code: object) -> bool:
    with suppress(UnknownProduct):
        return bool(_known(code))
    return False


def _database_now() -> datetime:
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        now: datetime = cursor.fetchone()[0]
        return now
