"""Two at the same product: whoever comes second decides on what the first one left."""

from datetime import timedelta
from time import monotonic

import pytest
from django.db import transaction
from django.utils import timezone

from django_punctual.compensation import Found
from inventory_app import lifecycle
from inventory_app.compensation import scan
from inventory_app.errors import DuplicateProduct, UnknownProduct
from inventory_app.handlers import Counted, write_quantity
from inventory_app.lifecycle import NewProduct, import_products
from inventory_app.models import Product
from inventory_app.units import STOCK_SYNC
from tasks_app.core.handlers import REGISTRY
from tasks_app.core.task import SUCCEEDED
from tasks_app.lifecycle.settle import BatchLost, Settled, settle
from tasks_app.lifecycle.start import start
from tasks_app.models import ScheduleTask
from tests.support.contend import contend
from tests.support.engine import claim_due
from tests.support.marks import commits
from tests.support.overlap import overlap, overlap_results
from tests.support.stock import ANN, claim_product, known, many, product, task_of

pytestmark = commits


def answered(code: str):
    """A worker that has asked and is about to write: effect and outcome in one transaction, as the engine does it."""
    batch = start(claim_product(code), "worker")

    def write() -> int:
        with transaction.atomic():
            write_quantity(batch.tasks[0], Counted(42, monotonic()))
            moved = settle(batch.batch_no, REGISTRY.get(STOCK_SYNC), [Settled(batch.tasks[0], SUCCEEDED)], finish=True)
            if not moved:
                raise BatchLost("nothing of it is ours")
        return moved

    return write


def test_a_removal_that_comes_first_leaves_nothing_to_write():
    lifecycle.add("A", "A thing")
    write = answered("A")
    removal, worker = overlap_results(lambda: lifecycle.remove("A", actor=ANN), write)
    assert removal.error is None and worker.waited and isinstance(worker.error, BatchLost)
    assert not Product.objects.exists() and task_of("A").status == "CANCELLED"


def test_a_removal_that_is_rolled_back_stops_nobody():
    lifecycle.add("A", "A thing")
    write = answered("A")
    _, worker = overlap_results(lambda: lifecycle.remove("A", actor=ANN), write, commit=False)
    assert worker.value == 1 and product("A").stock_quantity == 42 and task_of("A").status == "SUCCESS"


def test_a_removal_that_comes_second_ends_the_rolling():
    lifecycle.add("A", "A thing")
    overlap(answered("A"), lambda: lifecycle.remove("A", actor=ANN))
    assert not Product.objects.exists() and task_of("A").status == "CANCELLED"


def test_two_who_add_the_same_product_make_one():
    one, two = overlap_results(lambda: lifecycle.add("A", "first"), lambda: lifecycle.add("A", "second"))
    assert one.error is None and two.waited and isinstance(two.error, DuplicateProduct)
    assert product("A").name == "first" and ScheduleTask.objects.count() == 1


def test_two_who_remove_the_same_product_remove_it_once():
    lifecycle.add("A", "A thing")
    remove = lambda: lifecycle.remove("A", actor=ANN)  # noqa: E731
    one, two = overlap_results(remove, remove)
    assert one.error is None and isinstance(two.error, UnknownProduct)


def test_two_imports_of_the_same_products_schedule_each_once():
    products = [NewProduct.of(f"P{n}", "A thing") for n in range(20)]
    one, two = overlap(lambda: import_products(products), lambda: import_products(products[::-1]))
    assert (one, two) == ((20, 0), (0, 20))
    assert ScheduleTask.objects.filter(current=True).count() == 20


@pytest.mark.parametrize("second", ["sync now", "scan"])
def test_products_are_locked_in_one_order_by_everybody(second):
    """A10 is before A9 in the alphabet, and after it by length; two orders would meet in a deadlock."""
    products = [NewProduct.of(code, "A thing") for code in ("A9", "A10")]
    import_products(products)
    if second == "scan":
        ScheduleTask.objects.all().delete()
    lock = lambda: Product.objects.select_for_update().get(product_code="A9")  # noqa: E731
    others = {"sync now": lambda: lifecycle.sync_now(["A9", "A10"], actor=ANN), "scan": lambda: list(scan(False))}
    results = contend(lock, lambda: import_products(products), others[second])
    assert [one.error for one in results] == [None, None] and all(one.waited for one in results)


def test_sync_now_leaves_alone_what_is_claimed_at_that_moment():
    many(2)
    ScheduleTask.objects.filter(biz_key="P000001").update(due_at=timezone.now() + timedelta(days=1))
    claimed, hurried = overlap_results(claim_due, lambda: lifecycle.sync_now(["P000000", "P000001"], actor=ANN))
    assert len(claimed.value) == 1 and hurried.waited and hurried.value == 1
    assert task_of("P000000").status == "RUNNING" and ScheduleTask.objects.count() == 2


def test_two_scans_mend_a_product_once():
    many(3)
    ScheduleTask.objects.filter(biz_key="P000001").delete()

    def mended() -> list[str]:
        return [one.key for one in scan(dry_run=False) if isinstance(one, Found)]

    assert overlap(mended, mended) == (["P000001"], [])
    assert ScheduleTask.objects.filter(biz_key="P000001").count() == 1


@pytest.mark.parametrize("commit", [True, False])
def test_a_scan_leaves_alone_what_is_removed_meanwhile(commit):
    many(2)
    ScheduleTask.objects.filter(biz_key="P000001").delete()
    overlap(
        lambda: Product.objects.filter(product_code="P000001").delete(),
        lambda: list(scan(dry_run=False)),
        commit=commit,
    )
    assert (task_of("P000001") is None) == commit


def test_a_product_added_while_the_window_changes_rolls_by_the_new_one():
    lifecycle.import_products([known("A")])

    def change() -> int:
        lifecycle.change_window(timedelta(days=1), actor=ANN)
        return lifecycle.apply_window()

    overlap(lambda: lifecycle.add("B", "A thing"), change)
    assert set(ScheduleTask.objects.values_list("repeat_after", flat=True)) == {timedelta(days=1)}


def test_of_two_who_change_the_window_the_later_one_has_the_last_word():
    lifecycle.import_products([known("A")])
    one, two = overlap_results(
        lambda: lifecycle.change_window(timedelta(days=1), actor=ANN),
        lambda: lifecycle.change_window(timedelta(days=2), actor="bob"),
    )
    assert one.error is None and two.error is None and two.waited
    assert lifecycle.apply_window() == 1
    assert lifecycle.current_window() == lifecycle.Window(timedelta(days=2), True, "bob")


def test_a_product_added_after_the_window_changed_waits_for_the_change():
    lifecycle.import_products([known("A")])
    one, two = overlap_results(
        lambda: lifecycle.change_window(timedelta(days=1), actor=ANN), lambda: lifecycle.add("B", "A thing")
    )
    assert one.error is None and two.error is None and two.waited
    assert ScheduleTask.objects.get(biz_key="B").repeat_after == timedelta(days=1)
