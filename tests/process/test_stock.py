"""A catalogue with real processes: one of two workers is killed, and the stock system goes away and comes back."""

import pytest
from django.utils import timezone

from inventory_app.coverage import read_coverage
from inventory_app.models import Product
from inventory_app.units import STOCK_SYNC
from tasks_app.models import ScheduleTask, TaskBatch
from tests.support.stock import ask, forget_writes, log_writes, many, stock_service
from tests.support.wait import wait_until

CONCURRENCY = 16


@pytest.fixture
def writes(transactional_db):
    log_writes()
    yield
    forget_writes()


def environment(service, window: float, rate: int, burst: int) -> dict[str, str]:
    return {
        "STOCK_URL": service.url,
        "STOCK_WINDOW_SECONDS": str(window),
        "STOCK_RATE": str(rate),
        "STOCK_BURST": str(burst),
        "STOCK_CONCURRENCY": str(CONCURRENCY),
        # The service counts an answer that comes later, too; so this is more than a busy machine takes for one.
        "STOCK_TIMEOUT_SECONDS": "2",
        "STOCK_RETRY_MAX_SECONDS": "1",
    }


def synced_times() -> int:
    """How often the product that was written least was written."""
    return ask(
        "SELECT coalesce(min(n), 0) FROM (SELECT count(w.code) AS n FROM product p"
        " LEFT JOIN stock_write w ON w.code = p.product_code GROUP BY p.product_code) AS each"
    )[0]


def in_flight(worker) -> int:
    """Tasks in the batches that this worker's children run."""
    names = [f":{pid}" for pid in (worker.pid, *worker.children())]
    open_ones = TaskBatch.objects.filter(finished_at=None, started_at__isnull=False, task_type=STOCK_SYNC)
    return sum(len(b.ids) - b.ok - b.failed for b in open_ones if b.worker.endswith(tuple(names)))


def roll_twice(stack, service, settings, *, products: int, window: float, rate: int, burst: int, timeout: float):
    """Two windows of a catalogue; a worker is killed in the first."""
    settings.STOCK = {"WINDOW_SECONDS": window, "RATE": rate}
    env = environment(service, window, rate, burst)
    many(products)
    stack.beat(**env)
    victim = stack.worker(concurrency=1, **env)
    stack.worker(concurrency=1, **env)
    wait_until(lambda: ask("SELECT count(*) FROM stock_write")[0] > products // 5, timeout, describe=stack.logs)
    wait_until(lambda: in_flight(victim) > 0, timeout, describe=stack.logs)
    most_lost = max(in_flight(victim), CONCURRENCY)
    victim.kill()
    wait_until(lambda: synced_times() >= 2, timeout, describe=lambda: f"{synced_times()}\n{stack.logs()}")
    return most_lost


def assert_rolled(service, *, products: int, window: float, rate: int, burst: int, most_lost: int) -> None:
    closest = ask(
        "SELECT min(extract(epoch FROM written - before)) FROM (SELECT written,"
        " lag(asked) OVER (PARTITION BY code ORDER BY asked) AS before FROM stock_write) AS w"
    )[0]
    assert closest >= window  # never twice within a window
    assert ScheduleTask.objects.filter(task_type=STOCK_SYNC, current=True).count() == products
    told, (written,) = service.asked(), ask("SELECT count(*) FROM stock_write")
    running = ScheduleTask.objects.filter(task_type=STOCK_SYNC, status="RUNNING").count()
    assert sum(told["answered"].values()) - written <= most_lost + running
    assert told["busiest_second"] <= rate + burst


def goes_away_and_comes_back(stack, service, *, products: int, rate: int, burst: int, timeout: float) -> None:
    """It stays away until a whole window has passed for everybody."""
    wait_until(lambda: read_coverage().never == 0, timeout, describe=stack.logs)
    service.switch(down=True)
    wait_until(
        lambda: (
            read_coverage().fresh == 0 and read_coverage().outlook.failing.get("STOCK_UNAVAILABLE", 0) > products / 2
        ),
        timeout,
        describe=lambda: f"{read_coverage()}\n{stack.logs()}",
    )
    back = timezone.now()
    service.switch(down=False, reset=True)
    wait_until(
        lambda: not Product.objects.filter(stock_synced_at__lt=back).exists(),
        timeout,
        describe=lambda: f"{read_coverage()}\n{stack.logs()}",
    )
    assert ScheduleTask.objects.filter(task_type=STOCK_SYNC, current=True).count() == products
    assert service.asked()["busiest_second"] <= rate + burst


def test_every_product_is_written_once_a_window_although_a_worker_is_killed_and_recovers_after_an_outage(
    stack, writes, settings
):
    """One fleet for both: starting one takes longest."""
    size = {"products": 240, "rate": 120, "burst": 40}
    with stock_service(latency_ms=5, failures=0.02, timeouts=0.001) as service:
        most_lost = roll_twice(stack, service, settings, timeout=90, window=3.0, **size)
        assert service.told()["statuses"]["503"] > 0
        assert_rolled(service, most_lost=most_lost, window=3.0, **size)
        goes_away_and_comes_back(stack, service, timeout=60, **size)


@pytest.mark.scale
def test_a_hundred_thousand_products_are_written_once_a_window(stack, writes, settings):
    size = {"products": 100_000, "window": 240.0, "rate": 600, "burst": 200}
    with stock_service(latency_ms=5, failures=0.01, timeouts=0.0005) as service:
        most_lost = roll_twice(stack, service, settings, timeout=900, **size)
        assert_rolled(service, most_lost=most_lost, **size)


@pytest.mark.scale
def test_after_an_outage_twenty_thousand_products_recover_at_the_allowed_rate(stack, settings):
    size = {"products": 20_000, "rate": 500, "burst": 100}
    with stock_service(latency_ms=5) as service:
        settings.STOCK = {"WINDOW_SECONDS": 60.0, "RATE": size["rate"]}
        env = environment(service, 60.0, size["rate"], size["burst"])
        many(size["products"])
        stack.beat(**env)
        stack.worker(concurrency=1, **env)
        goes_away_and_comes_back(stack, service, timeout=600, **size)
