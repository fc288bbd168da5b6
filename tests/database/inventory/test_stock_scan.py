"""The stock's compensation scan: what is lost is found and mended once, and people's decisions are left alone."""

import pytest

from django_punctual import cancel, schedule
from django_punctual.compensation import Finding, Found
from inventory_app import lifecycle
from inventory_app.compensation import scan
from inventory_app.models import Product
from inventory_app.units import STOCK_SYNC
from tasks_app.models import ScheduleTask
from tests.support.engine import claim_due
from tests.support.stock import ANN, known, many, task_of

pytestmark = pytest.mark.django_db


def found(*, dry_run: bool = False) -> list[tuple[str, str]]:
    return [(one.key, one.finding.name) for one in scan(dry_run) if isinstance(one, Found)]


def test_nothing_is_found_where_nothing_is_wrong():
    many(10)
    claim_due(size=3, batches=1)
    assert found() == []


def test_a_product_whose_task_is_gone_gets_a_new_one():
    many(3)
    ScheduleTask.objects.filter(biz_key="P000001").delete()
    assert found(dry_run=True) == [("P000001", "REPAIRABLE")] and task_of("P000001") is None
    assert found() == [("P000001", "REPAIRED")]
    assert task_of("P000001").live and ScheduleTask.objects.get(biz_key="P000001").repeat_after is not None
    assert found() == []


def test_a_mended_product_that_was_synced_before_waits_for_its_place():
    lifecycle.import_products([known("A")])
    place = task_of("A").due_at
    ScheduleTask.objects.all().delete()
    assert found() == [("A", "REPAIRED")]
    assert abs((task_of("A").due_at - place).total_seconds()) < 60


def test_a_product_written_past_the_lifecycle_is_synced_too():
    Product.objects.create(product_code="RAW", name="By hand")
    assert found() == [("RAW", "REPAIRED")] and task_of("RAW").live


def test_a_task_that_does_not_roll_any_more_is_scheduled_again():
    many(1)
    ScheduleTask.objects.update(status="SUCCESS", due_at=None)
    assert found() == [("P000000", "REPAIRED")] and task_of("P000000").live


def test_what_a_person_has_cancelled_is_told_and_left_alone():
    many(1)
    cancel(STOCK_SYNC, "P000000", by="olga", reason="not now")
    assert found() == [("P000000", Finding.NEEDS_PERSON.name)]
    assert task_of("P000000").status == "CANCELLED"


def test_what_was_cancelled_with_its_product_is_scheduled_when_the_product_is_back():
    many(1)
    lifecycle.remove("P000000", actor=ANN)
    Product.objects.create(product_code="P000000", name="By hand")
    assert found() == [("P000000", "REPAIRED")]


def test_a_task_without_a_product_is_cancelled():
    many(2)
    Product.objects.filter(product_code="P000000").delete()
    schedule(STOCK_SYNC, "NOBODY", repeat_after=60)
    assert found(dry_run=True) == [("NOBODY", "REPAIRABLE"), ("P000000", "REPAIRABLE")]
    assert found() == [("NOBODY", "REPAIRED"), ("P000000", "REPAIRED")]
    assert (task_of("NOBODY").status, task_of("NOBODY").cancelled_by) == ("CANCELLED", "compensation")
    assert found() == []
