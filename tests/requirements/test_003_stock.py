"""Document 003: how the stock of every product is kept up to date by rolling tasks.

§1 the need: two systems, a query for a single product. §2 the method: one task for each product, the window, the
limit, what a claim and an outcome write. §3 the extension: a batch number for several instances.
"""

from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from django.db import connection, transaction
from django.utils import timezone

from inventory_app import lifecycle
from inventory_app.compensation import scan
from inventory_app.lifecycle import NewProduct, import_products
from inventory_app.models import Product
from tasks_app.engine.beat.batch_size import BatchSizes
from tasks_app.lifecycle.start import start
from tasks_app.models import ScheduleTask, TaskBatch
from tests.support.engine import batch_row, claim_due, make_due, run_due
from tests.support.marks import commits
from tests.support.overlap import overlap_results
from tests.support.stock import ANN, claim_product, known, many, product, run, stock_service, task_of

pytestmark = commits

STOCK_SYNC = "STOCK_SYNC"
TEN_DAYS = timedelta(days=10)


@pytest.fixture(scope="module")
def shared_service():
    with stock_service() as service:
        yield service


@pytest.fixture
def service(shared_service, settings):
    """A stock system in a process of its own; only its address is not the default."""
    shared_service.switch(failures=0, unknown=[], reset=True)
    settings.STOCK = settings.STOCK | {"STOCK_URL": shared_service.url}
    return shared_service


def task_row(code: str) -> ScheduleTask:
    return ScheduleTask.objects.get(task_type=STOCK_SYNC, biz_key=code, current=True)


def let_pass(time: timedelta) -> None:
    """Time is moved by writing it: all tasks are due so much earlier."""
    with connection.cursor() as cursor:
        cursor.execute("UPDATE punctual_task SET due_at = due_at - %s", [time])


def claimed() -> list[str]:
    """The codes of all that is claimed now."""
    ids = [id_ for batch in claim_due() for id_ in batch_row(batch).ids]
    return sorted(ScheduleTask.objects.filter(id__in=ids).values_list("biz_key", flat=True))


# §1


def test_s1_the_stock_system_is_asked_for_one_product_at_a_time(service):
    codes = many(3)

    run_due()

    assert service.asked()["answered"] == dict.fromkeys(codes, 1)


def test_s1_the_answer_becomes_the_quantity_of_the_product(service):
    lifecycle.add("A1", "A lamp")
    service.count("A1", 12)

    run_due()

    assert product("A1").stock_quantity == 12


# §2


def test_s2_an_import_creates_one_task_for_each_product():
    codes = many(20)

    tasks = ScheduleTask.objects.filter(task_type=STOCK_SYNC)

    assert sorted(tasks.values_list("biz_key", flat=True)) == codes
    assert set(tasks.values_list("status", flat=True)) == {"INIT"}


def test_s2_a_product_and_its_task_are_added_in_one_transaction():
    """In place of a trigger or a consumer of events; what was added past it, the scan finds."""
    with pytest.raises(KeyError), transaction.atomic():
        lifecycle.add("A1", "A lamp")
        assert task_of("A1").live
        raise KeyError("the request fails")
    assert (task_of("A1"), Product.objects.count()) == (None, 0)

    lifecycle.add("A1", "A lamp")
    assert (task_of("A1").status, product("A1").stock_quantity) == ("INIT", None)


def test_s2_a_removed_product_is_not_synced_again():
    lifecycle.add("A1", "A lamp")

    lifecycle.remove("A1", actor=ANN)

    assert (task_of("A1").status, task_of("A1").live, claimed()) == ("CANCELLED", False, [])


def test_s2_the_scan_adds_and_removes_what_was_added_and_removed_past_the_lifecycle():
    lifecycle.add("gone", "A lamp")
    Product.objects.filter(product_code="gone").delete()
    Product.objects.create(product_code="new", name="A lamp")

    list(scan(dry_run=False))

    assert (task_of("gone").status, task_of("new").status) == ("CANCELLED", "INIT")
    assert claimed() == ["new"]


def test_s2_a_new_product_is_synced_at_once_ahead_of_all_that_waits():
    """Step 4 of the document, and the default: the document's other way is to wait for the next timer."""
    many(5)

    lifecycle.add("NEW", "A lamp")

    first, *_ = claim_due(size=1)
    assert ScheduleTask.objects.get(batch_no=first.batch_no).biz_key == "NEW"


def test_s2_a_task_that_never_ran_is_loaded():
    import_products([NewProduct.of("A1", "A lamp")])

    assert claimed() == ["A1"]


@pytest.mark.parametrize(("unknown", "becomes"), [([], "SUCCESS"), (["A1"], "FAIL")])
def test_s2_a_task_is_loaded_again_10_days_after_it_finished_whatever_its_outcome(service, unknown, becomes):
    lifecycle.add("A1", "A lamp")
    service.switch(unknown=unknown)
    run_due()
    before = task_row("A1")
    assert (before.status, before.due_at) == (becomes, before.finish_time + TEN_DAYS)

    let_pass(TEN_DAYS - timedelta(hours=1))
    assert claimed() == []

    let_pass(timedelta(hours=1))
    assert claimed() == ["A1"]
    assert task_row("A1").id == before.id


def test_s2_a_task_that_is_being_synced_is_not_loaded_again():
    lifecycle.add("A1", "A lamp")

    assert claimed() == ["A1"]
    assert claimed() == []


def test_s2_both_outcomes_roll_on_and_on(service):
    lifecycle.add("A1", "A lamp")
    seen = []
    for unknown in (["A1"], [], ["A1"], []):
        service.switch(unknown=unknown)
        make_due(task_row("A1").id)
        run_due()
        seen.append(task_row("A1").status)

    assert seen == ["FAIL", "SUCCESS"] * 2
    assert task_row("A1").due_at == task_row("A1").finish_time + TEN_DAYS


def test_s2_a_product_that_was_synced_before_its_import_is_loaded_within_10_days_of_that():
    """At its own place in what is left of the window, so that a catalogue is not due in one go."""
    now = timezone.now()
    import_products([known(f"P{n}", now - timedelta(days=4)) for n in range(50)])

    dues = list(ScheduleTask.objects.values_list("due_at", flat=True))

    assert now <= min(dues) and max(dues) <= now + timedelta(days=6, minutes=1)
    assert max(dues) - min(dues) > timedelta(days=3)


def test_s2_one_load_takes_at_most_1000_products():
    """However quick a sync is. The default RATE and BURST let 48 be claimed at once: a larger BURST reaches this."""
    times = dict.fromkeys(["claimed_at", "started_at", "lease_until", "finished_at"], timezone.now())
    TaskBatch.objects.create(batch_no=uuid4(), task_type=STOCK_SYNC, lane="low", ids=[1], ok=1, run_us=1, **times)
    sizes = BatchSizes()
    sizes.begin()
    many(1001)

    batches = claim_due(size=sizes.sizes[STOCK_SYNC])

    assert [batch.size for batch in batches] == [1000, 1]


def test_s2_a_claim_writes_running_and_a_batch_number_and_the_start_the_start_time(service):
    """The document clears the last run's times and remark at the claim. Here they stay until the next outcome is
    written, so that a claim that is given back loses nothing."""
    lifecycle.add("A1", "A lamp")
    service.switch(unknown=["A1"])
    run_due()
    last = task_row("A1")

    number = claim_product("A1")
    task = task_row("A1")
    assert (last.status, last.batch_no) == ("FAIL", None)
    assert (task.status, task.batch_no, task.due_at) == ("RUNNING", number, None)
    assert (task.finish_time, task.error_msg) == (last.finish_time, last.error_msg)
    assert batch_row(str(number)).started_at is None

    service.switch(unknown=[])
    run(number)
    assert last.finish_time < batch_row(str(number)).started_at <= task_row("A1").start_time


def test_s2_a_success_writes_the_status_the_finish_time_and_no_remark(service):
    """The document's remark of a success is always the same text. Here it is empty, and the status says it."""
    lifecycle.add("A1", "A lamp")
    service.switch(unknown=["A1"])
    run_due()
    before = task_row("A1")
    assert before.error_msg != ""

    service.switch(unknown=[])
    make_due(before.id)
    run_due()

    task = task_row("A1")
    assert (task.status, task.error_code, task.error_msg, task.batch_no) == ("SUCCESS", "", "", None)
    assert before.finish_time < task.start_time <= task.finish_time


def test_s2_a_failure_writes_the_status_the_finish_time_and_the_reason_as_the_remark(service):
    lifecycle.add("A1", "A lamp")
    service.switch(unknown=["A1"])

    run_due()

    task = task_row("A1")
    assert (task.status, task.error_code) == ("FAIL", "STOCK_NOT_FOUND")
    assert task.error_msg == "the stock system doesn't know product 'A1' (404)"
    assert task.start_time <= task.finish_time
    assert product("A1").stock_quantity is None


def test_s2_a_stock_system_that_is_away_is_asked_again_within_the_hour(service):
    """Before the window ends: docs/stock.md."""
    lifecycle.add("A1", "A lamp")
    service.switch(failures=1)

    run_due()

    task = task_row("A1")
    assert (task.status, task.error_code) == ("FAIL", "STOCK_UNAVAILABLE")
    assert task.due_at <= task.finish_time + timedelta(hours=1)


# §3


def test_s3_two_instances_that_load_at_the_same_time_share_no_product():
    codes = many(20)

    first, second = overlap_results(claim_due, claim_due)

    ids = [id_ for batch in first.value for id_ in batch_row(batch).ids]
    assert (len(ids), second.value, second.waited) == (len(codes), [], False)


def test_s3_each_load_has_a_random_batch_number_by_which_its_tasks_are_read():
    many(6)

    batches = [UUID(batch.batch_no) for batch in claim_due(size=3)]

    assert len(set(batches)) == 2 and {number.version for number in batches} == {4}
    for number in batches:
        mine = ScheduleTask.objects.filter(batch_no=number).order_by("id")
        assert mine.count() == 3
        assert [task.id for task in start(number, "worker").tasks] == [task.id for task in mine]
