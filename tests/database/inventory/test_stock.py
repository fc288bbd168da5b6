"""Products and their rolling tasks: added, imported, spread, synced, told apart when it fails, removed."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from threading import Thread
from time import monotonic
from urllib.error import HTTPError

import pytest
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from django_punctual import RetryableError, UnrecoverableError
from inventory_app import lifecycle, stock
from inventory_app.compensation import scan
from inventory_app.coverage import read_coverage, step_for
from inventory_app.coverage_history import coverage_of, note_coverage
from inventory_app.errors import DuplicateProduct, InvalidProduct, UnknownProduct
from inventory_app.handlers import write_quantity
from inventory_app.lifecycle import NewProduct, import_products, window
from inventory_app.lifecycle.spread import next_sync, place_of
from inventory_app.models import CoverageHour, Product
from inventory_app.units import STOCK_SYNC
from tasks_app.core.handlers import REGISTRY
from tasks_app.models import ScheduleTask, TaskAttempt
from tests.support.engine import claim_due, make_due, run_due
from tests.support.marks import commits
from tests.support.stock import ANN, aged, claim_product, known, many, product, run, stock_service, task_of

NOW = datetime(2027, 3, 1, tzinfo=UTC)
WINDOW = timedelta(days=10)


@pytest.fixture(scope="module")
def shared_service():
    with stock_service() as service:
        yield service


@pytest.fixture
def service(shared_service, settings):
    shared_service.switch(
        latency_ms=0, failures=0, timeouts=0, malformed=0, unknown=[], rate=None, down=False, reset=True
    )
    # Nothing is waited for so long, unless the machine is very busy.
    settings.STOCK = {"STOCK_URL": shared_service.url, "TIMEOUT_SECONDS": 30.0, "ANSWER_MAX_BYTES": 1000}
    return shared_service


def elsewhere(action) -> None:
    """On a connection of its own, committed before we go on."""

    def act() -> None:
        action()
        connections.close_all()

    thread = Thread(target=act)
    thread.start()
    thread.join()


@pytest.fixture
def applying():
    """Lets something else be done between the two phases of a batch: answered, and not yet written."""
    declared = REGISTRY.get(STOCK_SYNC)

    def install(apply) -> None:
        REGISTRY.discard(STOCK_SYNC)
        REGISTRY.add(replace(declared, apply=apply))

    yield install
    REGISTRY.discard(STOCK_SYNC)
    REGISTRY.add(declared)


# Which products there are.


@pytest.mark.django_db
def test_a_new_product_is_due_at_once_and_rolls_by_the_window():
    lifecycle.add("A1", "A thing")
    task = ScheduleTask.objects.get(task_type=STOCK_SYNC)
    assert (task.biz_key, task.status, task.repeat_after, task.limited) == ("A1", "INIT", WINDOW, True)
    assert task.due_at <= timezone.now()


@pytest.mark.django_db
def test_a_new_product_comes_before_everything_that_waits():
    many(5)
    lifecycle.add("NEW", "A new one")
    [batch] = claim_due(size=1, batches=1)[:1]
    assert ScheduleTask.objects.get(batch_no=batch.batch_no).biz_key == "NEW"


@pytest.mark.django_db
def test_a_removed_product_is_never_synced_again_and_re_added_it_has_a_new_task():
    lifecycle.add("A1", "A thing")
    first = task_of("A1")
    lifecycle.remove("A1", actor=ANN)
    assert (task_of("A1").status, task_of("A1").error_msg) == ("CANCELLED", "the product was removed by ann")
    assert claim_due() == [] and not Product.objects.exists()

    lifecycle.add("A1", "A thing again")
    assert task_of("A1").id != first.id and task_of("A1").live


@pytest.mark.django_db
def test_a_code_that_is_taken_is_refused_and_changes_nothing():
    lifecycle.add("A1", "A thing")
    task = task_of("A1")
    with pytest.raises(DuplicateProduct, match="already a product 'A1'"):
        lifecycle.add("A1", "Another")
    assert product("A1").name == "A thing" and task_of("A1") == task


@pytest.mark.django_db
@pytest.mark.parametrize("code", ["A1", "A\0", "", None, "x" * 10_000])
def test_what_is_not_there_can_not_be_removed_or_renamed(code):
    for act in (lambda: lifecycle.remove(code, actor=ANN), lambda: lifecycle.rename(code, "B")):
        with pytest.raises(UnknownProduct, match="there is no"):
            act()


@pytest.mark.django_db
@pytest.mark.parametrize("code", ["", "A\0", "x" * 201, "\ud800", "a\nb", " A1", 7, None])
def test_a_code_that_is_none_is_refused(code):
    with pytest.raises(InvalidProduct, match="code"):
        lifecycle.add(code, "A thing")
    assert not Product.objects.exists() and not ScheduleTask.objects.exists()


@pytest.mark.django_db
def test_any_printable_code_will_do():
    for code in ("😀", "<script>alert(1)</script>", "a/b?c=d#e%20", "'; DROP TABLE product; --", "商品"):
        lifecycle.add(code, "A thing")
        assert task_of(code).live


# Many at once.


@pytest.mark.django_db
def test_an_import_schedules_new_products_and_renames_known_ones_in_few_statements():
    lifecycle.add("P000000", "Old name")
    task = task_of("P000000")
    products = [NewProduct.of(f"P{n:06}", "New name") for n in range(500)]
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert import_products(products) == (499, 1)
    assert len(queries) <= 8
    assert ScheduleTask.objects.count() == 500 and product("P000000").name == "New name"
    assert task_of("P000000") == task


@pytest.mark.django_db
@pytest.mark.parametrize("how", ["add", "import"])
def test_products_that_were_deleted_past_the_lifecycle_are_new_when_they_come_back(how):
    """Their tasks are still there, wait for days, and may roll by a window of long ago."""
    many(2)
    days = timedelta(days=9)
    ScheduleTask.objects.update(status="SUCCESS", due_at=timezone.now() + days, repeat_after=2 * days)
    Product.objects.all().delete()
    if how == "add":
        lifecycle.add("P000000", "Back again")
        lifecycle.add("P000001", "Back again")
    else:
        many(2)
    assert ScheduleTask.objects.filter(due_at__lte=timezone.now(), repeat_after=WINDOW).count() == 2


@pytest.mark.django_db
def test_of_a_code_that_is_given_twice_the_later_one_counts():
    assert import_products([NewProduct.of("A", "first"), NewProduct.of("A", "second")]) == (1, 0)
    assert product("A").name == "second"


@pytest.mark.django_db
def test_an_imported_quantity_is_written_only_if_it_is_newer():
    now = timezone.now()
    import_products([known("A", now - timedelta(hours=1), quantity=5)])
    import_products([known("A", now - timedelta(hours=2), quantity=9)])
    assert product("A").stock_quantity == 5
    import_products([known("A", now, quantity=9)])
    assert (product("A").stock_quantity, product("A").stock_synced_at) == (9, now)


@pytest.mark.django_db
def test_a_sync_date_in_the_future_is_taken_as_now():
    import_products([known("A", timezone.now() + timedelta(days=5))])
    assert product("A").stock_synced_at <= timezone.now()


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (("A", "x", 1, None), "both, or neither"),
        (("A", "x", None, NOW), "both, or neither"),
        (("A", "x", -1, NOW), "must be a whole number, 0 or more"),
        (("A", "x", 2**63, NOW), "must be a whole number, 0 or more"),
        (("A", "x", 7.5, NOW), "must be a whole number, 0 or more"),
        (("A", "x", "7", NOW), "must be a whole number, 0 or more"),
        (("A", "x", True, NOW), "must be a whole number, 0 or more"),
        ((7, "x", 1, None), "must be a string"),
        (("A", "x", 1, datetime(2027, 1, 1)), "naive"),  # noqa: DTZ001
        (("A", "", 1, NOW), "name is empty"),
    ],
)
def test_a_product_that_is_none_is_refused(values, words):
    with pytest.raises(InvalidProduct, match=words):
        NewProduct.of(*values)


# Spread.


def test_a_product_is_next_synced_between_now_and_a_window_after_its_last_sync():
    for n in range(1000):
        synced = NOW - timedelta(days=n % 12)
        at = next_sync(f"P{n}", synced, NOW, WINDOW)
        assert NOW <= at <= max(NOW, synced + WINDOW)


def test_places_are_even_for_codes_that_count_up_and_stay_the_same():
    tenths = Counter(int(place_of(f"P{n:06}") * 10) for n in range(10_000))
    assert len(tenths) == 10 and all(850 < count < 1150 for count in tenths.values())
    assert place_of("P000001") == pytest.approx(0.6792, abs=1e-4)


@pytest.mark.django_db
def test_a_catalogue_that_was_synced_in_one_go_is_spread_over_the_window():
    import_products([known(f"P{n}") for n in range(1000)])
    coverage = read_coverage()
    days = [sum(coverage.outlook.steps[day * 24 : day * 24 + 24]) for day in range(10)]
    assert sum(days) == 1000 and all(60 < count < 145 for count in days)


# The sync.


@commits
def test_a_sync_writes_the_quantity_and_rolls(service):
    lifecycle.add("A1", "A thing")
    service.count("A1", 12)
    run_due()

    task = task_of("A1")
    assert product("A1").stock_quantity == 12
    assert (task.status, task.error_code) == ("SUCCESS", "")
    assert task.due_at == task.finish_time + WINDOW
    assert abs(product("A1").stock_synced_at - task.start_time) < timedelta(seconds=20)


@commits
@pytest.mark.parametrize("code", ["a/b?c=d#e", "商品 1", "<script>"])
def test_any_code_reaches_the_stock_system_as_it_is(service, code):
    lifecycle.add(code, "A thing")
    run_due()
    assert service.asked()["answered"] == {code: 1}


@commits
def test_an_answer_older_than_what_is_there_is_not_written(service):
    lifecycle.add("A1", "A thing")
    newer = timezone.now() + timedelta(minutes=1)
    Product.objects.update(stock_quantity=5, stock_synced_at=newer)
    run_due()
    assert (product("A1").stock_quantity, product("A1").stock_synced_at) == (5, newer)
    assert task_of("A1").status == "SUCCESS"


@commits
def test_an_answer_is_not_newer_because_it_had_to_wait_before_it_was_written(service, applying):
    """The engine sends the writes of a batch together, and each may have to wait for a lock of another's."""

    def overtaken(task, counted) -> None:
        write_quantity(task, counted._replace(asked=monotonic()))
        elsewhere(lambda: import_products([known("A1", timezone.now(), quantity=9_999)]))

    applying(overtaken)
    lifecycle.add("A1", "A thing")
    run_due()
    assert task_of("A1").status == "SUCCESS" and product("A1").stock_quantity == 9_999


@commits
@pytest.mark.parametrize(
    ("switch", "code", "rolls"),
    [
        ({"unknown": ["A1"]}, stock.NOT_FOUND, True),
        ({"malformed": 1}, stock.MALFORMED, False),
        ({"failures": 1}, stock.UNAVAILABLE, False),
        ({"down": True}, stock.UNAVAILABLE, False),
        ({"timeouts": 1}, stock.TIMEOUT, False),
        ({"rate": 0, "retry_after": 17}, stock.BUSY, False),
    ],
)
def test_what_goes_wrong_is_told_apart(service, settings, switch, code, rolls):
    if "timeouts" in switch:
        settings.STOCK = settings.STOCK | {"TIMEOUT_SECONDS": 0.3}
    lifecycle.add("A1", "A thing")
    service.switch(**switch)
    run_due()

    task = task_of("A1")
    assert (task.status, task.error_code) == ("FAIL", code) and task.error_msg
    assert (task.due_at > timezone.now() + timedelta(days=9)) == rolls
    assert product("A1").stock_quantity is None


@commits
def test_a_busy_stock_system_is_asked_again_when_it_says(service):
    lifecycle.add("A1", "A thing")
    service.switch(rate=0, retry_after=300)
    run_due()
    wait = task_of("A1").due_at - task_of("A1").finish_time
    assert timedelta(seconds=295) < wait < timedelta(seconds=305)


@pytest.mark.parametrize("switch", [{"rate": 0, "retry_after": 1}, {"rate": 0, "retry_after": 0}])
def test_a_stock_system_that_is_busy_for_long_is_asked_ever_later(service, switch):
    """Or else a few minutes of "in a second, please" would use up all tries of a window."""
    service.switch(**switch)
    waits = []
    for attempt in (1, 5, 250):
        with pytest.raises(RetryableError) as failed:
            stock.ask("A1", attempt)
        waits.append(failed.value.after)
    assert 1 <= waits[0] < 5 and 30 < waits[1] < 40 and waits[2] == 3600


def test_a_malformed_answer_is_asked_for_three_times(service):
    service.switch(malformed=1)
    for attempt in (1, 2):
        with pytest.raises(RetryableError):
            stock.ask("A1", attempt)
    with pytest.raises(UnrecoverableError):
        stock.ask("A1", 3)


def test_a_page_of_a_proxy_in_an_outage_does_not_end_its_tries(service):
    """The product would have to wait for a whole window more, although the stock system is coming back."""
    service.switch(malformed=1)
    with pytest.raises(RetryableError):
        stock.ask("A1", 4)


@pytest.mark.parametrize(
    "switch",
    [
        {"failures": "often"},
        {"failures": 2},
        {"latency_ms": -1},
        {"unknown": 5},
        {"unknown": [5]},
        {"down": 1},
        {"rate": True},
        {"colour": 1},
        [],
    ],
)
def test_a_switch_of_the_example_that_makes_no_sense_is_refused_and_nothing_changes(service, switch):
    before = service.told()
    with pytest.raises(HTTPError, match="400"):
        service._request("/switch", switch)
    assert service.told() == before


def test_a_stock_system_that_nobody_named_is_unavailable(settings):
    settings.STOCK = {}
    with pytest.raises(RetryableError, match="STOCK_URL is not set") as failed:
        stock.ask("A1")
    assert failed.value.code == stock.UNAVAILABLE


def test_one_that_can_not_be_reached_is_unavailable(settings):
    settings.STOCK = {"STOCK_URL": "http://127.0.0.1:9/stock"}
    with pytest.raises(RetryableError, match="can't be reached"):
        stock.ask("A1")


@commits
def test_many_are_synced_at_once_and_each_is_counted(service):
    codes = many(100)
    service.switch(latency_ms=5)
    run_due(size=50)
    assert service.asked()["answered"] == dict.fromkeys(codes, 1)
    assert not Product.objects.filter(stock_quantity=None).exists()


@commits
def test_a_product_removed_while_its_sync_runs_is_not_written_and_its_neighbours_are(service, applying):
    removed = []

    def removing(task, counted) -> None:
        if not removed:
            removed.append("P000001")
            elsewhere(lambda: lifecycle.remove("P000001", actor=ANN))
        write_quantity(task, counted)

    applying(removing)
    many(3)
    run_due()

    assert removed == ["P000001"] and service.asked()["answered"]["P000001"] == 1
    assert not Product.objects.filter(product_code="P000001").exists()
    assert task_of("P000001").status == "CANCELLED"
    assert Product.objects.filter(stock_quantity__isnull=False).count() == 2

    lifecycle.add("P000001", "Back again")
    run_due()
    assert product("P000001").stock_quantity is not None and task_of("P000001").status == "SUCCESS"


@commits
def test_a_product_removed_and_added_again_while_its_sync_runs_gets_an_answer_of_its_own(service, applying):
    replaced = []

    def replacing(task, counted) -> None:
        if not replaced:
            replaced.append(task.key)
            elsewhere(lambda: lifecycle.remove("A1", actor=ANN))
            elsewhere(lambda: lifecycle.add("A1", "Another thing"))
            service.count("A1", 77)
        write_quantity(task, counted)

    applying(replacing)
    lifecycle.add("A1", "A thing")
    first = claim_product("A1")
    run(first)
    assert product("A1").stock_quantity is None and task_of("A1").status == "INIT"

    run_due()
    assert product("A1").stock_quantity == 77 and service.asked()["answered"] == {"A1": 2}


# By hand.


@pytest.mark.django_db
def test_sync_now_goes_to_the_front_and_leaves_alone_what_runs():
    import_products([known("A"), known("B"), known("C")])
    claim_product("A")
    aged("C", timedelta(0))
    ScheduleTask.objects.filter(biz_key="C").delete()

    assert lifecycle.sync_now(["A", "B", "C", "unknown", "A\0", None], actor=ANN) == 2

    assert task_of("A").status == "RUNNING"
    assert task_of("B").due_at <= timezone.now() and task_of("C").due_at <= timezone.now()
    assert set(ScheduleTask.objects.values_list("repeat_after", flat=True)) == {WINDOW}


# The window.


@pytest.mark.django_db
def test_another_window_moves_what_waits_and_holds_for_new_products():
    import_products([known(f"P{n}") for n in range(200)])
    before = dict(ScheduleTask.objects.values_list("biz_key", "due_at"))
    now = timezone.now()

    lifecycle.change_window(2 * WINDOW, actor=ANN)
    assert not lifecycle.current_window().applied
    assert lifecycle.apply_window() == 200

    after = dict(ScheduleTask.objects.values_list("biz_key", "due_at"))
    assert all(abs((after[code] - now) - 2 * (before[code] - now)) < timedelta(minutes=1) for code in before)
    assert lifecycle.current_window() == lifecycle.Window(2 * WINDOW, True, ANN)
    lifecycle.add("NEW", "A new one")
    assert ScheduleTask.objects.get(biz_key="NEW").repeat_after == 2 * WINDOW
    assert lifecycle.apply_window() == 0


@pytest.mark.django_db
@pytest.mark.parametrize("by", ["a person", "the settings"])
def test_a_window_that_is_changed_back_before_it_was_applied_to_all_is_applied_again(monkeypatch, settings, by):
    monkeypatch.setattr(window, "PAGE", 2)
    import_products([known(f"P{n}") for n in range(6)])

    def change(length: timedelta) -> None:
        if by == "a person":
            lifecycle.change_window(length, actor=ANN)
        else:
            settings.STOCK = {"WINDOW_SECONDS": length.total_seconds()}

    change(2 * WINDOW)
    assert lifecycle.apply_window(seconds=0) == 2
    change(WINDOW)

    assert not lifecycle.current_window().applied
    assert lifecycle.apply_window() == 2
    assert lifecycle.current_window().applied
    assert set(ScheduleTask.objects.values_list("repeat_after", flat=True)) == {WINDOW}


@pytest.mark.django_db
def test_a_window_in_the_settings_is_applied_by_the_scan(settings):
    many(3)
    settings.STOCK = {"WINDOW_SECONDS": 86_400}
    assert not lifecycle.current_window().applied
    list(scan(dry_run=True))
    assert not lifecycle.current_window().applied
    list(scan(dry_run=False))
    assert lifecycle.current_window().applied
    assert set(ScheduleTask.objects.values_list("repeat_after", flat=True)) == {timedelta(days=1)}


@pytest.mark.django_db
@pytest.mark.parametrize("length", [timedelta(0), timedelta(days=-1), timedelta(days=4000), 10, None])
def test_a_window_out_of_range_is_refused(length):
    with pytest.raises(InvalidProduct, match="out of range"):
        lifecycle.change_window(length, actor=ANN)
    assert lifecycle.current_window().length == WINDOW


# Coverage.


@pytest.mark.django_db
def test_coverage_is_noted_once_an_hour_and_the_least_of_it_is_shown():
    import_products([known("fresh"), known("late", timezone.now() - timedelta(days=11)), NewProduct.of("new", "New")])
    list(scan(dry_run=True))
    assert not CoverageHour.objects.exists()
    list(scan(dry_run=False))
    Product.objects.update(stock_synced_at=timezone.now(), stock_quantity=1)
    list(scan(dry_run=False))  # another beat

    noted = CoverageHour.objects.get()
    assert (noted.products, noted.fresh, noted.never, noted.length) == (3, 1, 1, WINDOW)
    for hours, fresh in ((1, 2), (2, 3), (32 * 24, 0)):
        at = noted.hour - timedelta(hours=hours)
        CoverageHour.objects.create(hour=at, products=3, fresh=fresh, never=0, length=WINDOW)
    by_hour = coverage_of(24, 1)
    assert (len(by_hour), [one.fresh for one in by_hour.values() if one]) == (24, [3, 2, 1])
    by_six = coverage_of(30 * 24, 6)
    assert len(by_six) in (120, 121) and min(one.fresh for one in by_six.values() if one) == 1
    CoverageHour.objects.filter(hour=noted.hour).delete()
    assert (note_coverage(), note_coverage()) == (True, False)
    assert (CoverageHour.objects.count(), CoverageHour.objects.get(hour=noted.hour).fresh) == (
        3,
        3,
    )  # the oldest is gone


@pytest.mark.django_db
def test_coverage_counts_fresh_never_synced_late_and_failing():
    import_products([known("fresh"), known("late", timezone.now() - timedelta(days=11)), NewProduct.of("new", "New")])
    ScheduleTask.objects.filter(biz_key="late").update(status="FAIL", error_code=stock.TIMEOUT)

    coverage = read_coverage()

    assert (coverage.products, coverage.fresh, coverage.never) == (3, 1, 1)
    assert coverage.share == pytest.approx(1 / 3)
    assert coverage.oldest == product("late").stock_synced_at
    assert (coverage.outlook.due, coverage.outlook.waiting, coverage.outlook.failing) == (2, 3, {stock.TIMEOUT: 1})
    assert coverage.problems() == ["1 product was last synced longer ago than the window allows."]
    assert coverage.as_dict()["share"] == 0.333333


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("age", "overdue"),
    [
        (WINDOW + timedelta(minutes=1), 0),  # its turn has come, and a sync takes its time
        (WINDOW + timedelta(hours=3), 1),
    ],
)
def test_a_product_whose_turn_has_just_come_is_no_problem(age, overdue):
    import_products([known("A")])
    aged("A", age)
    coverage = read_coverage()
    assert (coverage.fresh, coverage.overdue, len(coverage.problems())) == (0, overdue, overdue)


@pytest.mark.django_db
def test_only_all_products_are_a_hundred_percent():
    many(10_000)
    Product.objects.exclude(product_code="P000000").update(stock_quantity=1, stock_synced_at=timezone.now())
    assert read_coverage().share_words == "99.9%"
    aged("P000000", timedelta(0))
    assert read_coverage().share_words == "100.0%"


@pytest.mark.django_db
def test_coverage_says_when_the_window_can_not_be_kept(settings):
    settings.STOCK = {"RATE": 0.000001}
    import_products([known("A")])
    assert "the window can't be kept" in read_coverage().problems()[0]


@pytest.mark.parametrize(
    ("window", "step"),
    [(timedelta(days=10), 3600), (timedelta(days=30), 3 * 3600), (timedelta(hours=1), 60), (timedelta(seconds=10), 1)],
)
def test_the_steps_of_a_chart_fit_its_window(window, step):
    assert step_for(window) == timedelta(seconds=step)
    assert window / step_for(window) <= 241


@commits
def test_every_failure_leaves_its_remark(service):
    lifecycle.add("A1", "A thing")
    service.switch(failures=1)
    run_due()
    make_due(task_of("A1").id)
    run_due()
    assert [a.error_code for a in TaskAttempt.objects.order_by("id")] == [stock.UNAVAILABLE] * 2
