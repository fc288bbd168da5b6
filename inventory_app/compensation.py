"""The stock's compensation scan: products without a live rolling task, tasks without a product, and a window that has
not been applied to all tasks are found, and mended once.

Found in one statement, without locks; mended with the products locked and the finding looked at again. What a person
has cancelled is their decision: it is told, not revived. What a token of another tenant cancelled is scheduled again.
"""

from collections.abc import Iterator

from django.db import connection, transaction

from django_punctual import Status, cancel
from django_punctual.compensation import (
    Difference,
    Finding,
    Found,
    Walked,
    compare_keys,
    differing,
    register_scan,
)

from .coverage_history import note_coverage
from .lifecycle import apply_window, current_window, schedule_syncs
from .models import Product
from .units import COMPENSATION, INVENTORY, STOCK_SYNC

PAGE = 20_000
OURS = ("handler", INVENTORY, COMPENSATION)  # who cancels without being a person

_LOCK = """
SELECT product_code, stock_synced_at FROM product WHERE product_code = ANY (%s)
ORDER BY length(product_code), product_code FOR NO KEY UPDATE
"""


def scan(dry_run: bool) -> Iterator[Found | Walked]:
    compared = compare_keys(STOCK_SYNC, Product.objects.all())
    for first in range(0, len(compared.not_waiting), PAGE):
        yield from _without_task(compared.not_waiting[first : first + PAGE], dry_run)
    yield from _without_product(compared.unwanted, dry_run)
    yield Walked(compared.wanted)
    yield from _window(dry_run)
    if not dry_run:
        note_coverage()


register_scan("stock", scan)


def _without_task(codes: list[str], dry_run: bool) -> list[Found]:
    """Looked at again under the products' locks: what was removed or has its task by now is left out."""
    if not differing(STOCK_SYNC, dict.fromkeys(codes)):
        return []  # they are being synced right now, and need not be locked for that
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(_LOCK, [codes])
            products = dict(cursor.fetchall())
        without = differing(STOCK_SYNC, dict.fromkeys(products))
        mend = [code for code, difference in without.items() if not _for_a_person(difference)]
        if mend and not dry_run:
            schedule_syncs([(code, products[code]) for code in mend])
    done = Finding.REPAIRABLE if dry_run else Finding.REPAIRED
    return [
        Found(_words(one), code, Finding.NEEDS_PERSON if _for_a_person(one) else done)
        for code, one in sorted(without.items())
    ]


def _for_a_person(difference: Difference) -> bool:
    return difference.status == Status.DEAD or (
        difference.status == Status.CANCELLED and difference.cancelled_by not in OURS and not difference.by_outsider
    )


def _words(difference: Difference) -> str:
    if difference.task_id is None:
        return "is never synced: it has no task"
    if difference.status == Status.CANCELLED and _for_a_person(difference):
        return "is never synced: its task was cancelled by a person"
    return f"is never synced: its task is {difference.status}"


def _without_product(keys: list[str], dry_run: bool) -> Iterator[Found]:
    words = "is synced, but there is no such product"
    for key in sorted(keys):
        if _is_product(key):
            continue  # it was added while we looked
        if dry_run:
            yield Found(words, key, Finding.REPAIRABLE)
        elif cancel(STOCK_SYNC, key, reason="there is no such product", by=COMPENSATION).cancelled:
            yield Found(words, key, Finding.REPAIRED)


def _is_product(key: str) -> bool:
    return bool(Product.objects.filter(product_code=key).exists())


def _window(dry_run: bool) -> Iterator[Found | Walked]:
    """A change that was interrupted, or a new value in the settings."""
    window = current_window()
    if window.applied:
        return
    if not dry_run:
        yield Walked(apply_window())
    finding = Finding.REPAIRABLE if dry_run else Finding.REPAIRED
    yield Found("the window was not applied to all tasks", str(window.length), finding)
