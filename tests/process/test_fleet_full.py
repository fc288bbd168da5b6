"""What a fleet promises, at full size and with the leases that people have. Minutes long: `make prove`."""

import random
import shutil
import signal
import threading
import time
from contextlib import ExitStack, closing

import pytest
from django.db.models import Max

from django_punctual import reschedule, schedule_many
from tasks_app.conf import conf
from tasks_app.models import ScheduleTask, ShardLease
from tests.support.fleet import Load, most_at_once, most_in_a_second, percentile, shards_of, shared_by
from tests.support.stack import database_proxy, new_stack, redis_proxy, through
from tests.support.wait import wait_until

pytestmark = pytest.mark.scale


@pytest.fixture
def fleet(transactional_db, request):
    """Processes with the shipped leases."""
    if "scale" not in request.config.getoption("markexpr"):
        pytest.skip("minutes long: run with -m scale")
    stack = new_stack("tests.fleet_settings")
    yield stack
    stack.stop()
    shutil.rmtree(stack.folder, ignore_errors=True)


def say(request, words: str) -> None:
    """Figures that the claim prints, whether or not it holds."""
    plugins = request.config.pluginmanager
    with plugins.getplugin("capturemanager").global_and_fixture_disabled():
        plugins.getplugin("terminalreporter").write_line(f"\n    {words}")


def three_beats(fleet, *envs: dict) -> list:
    beats = [fleet.beat(**env) for env in (*envs, {}, {}, {})[:3]]
    wait_until(lambda: shared_by(*(beat.pid for beat in beats)), timeout=20, describe=fleet.logs)
    return beats


FAULTS = ("kill", "freeze", "cut from Redis", "cut from PostgreSQL", "stalled link to PostgreSQL")


@pytest.mark.parametrize("fault", FAULTS)
def test_a_beat_of_three_fails_at_500_a_second_and_nothing_is_lost_or_doubled(fleet, request, fault):
    with ExitStack() as proxies:
        broker, database = (proxies.enter_context(closing(one())) for one in (redis_proxy, database_proxy))
        victim, *others = three_beats(fleet, through(redis=broker, database=database))
        for _ in range(2):
            fleet.worker(concurrency=2)
        load = Load(500, 40, after=5)
        load.wait_for(5)
        its_shards, begun = shards_of(victim.pid), time.monotonic()
        begin_and_end = {
            "kill": (victim.kill, lambda: None),
            "freeze": (
                lambda: victim.signal_all(signal.SIGSTOP),
                lambda: victim.signal_all(signal.SIGCONT),
            ),
            "cut from Redis": (broker.cut, broker.heal),
            "cut from PostgreSQL": (database.cut, database.heal),
            "stalled link to PostgreSQL": (database.stall, database.heal),
        }
        begin, end = begin_and_end[fault]
        begin()
        wait_until(lambda: not shards_of(victim.pid) & its_shards, timeout=30, describe=fleet.logs)
        takeover = time.monotonic() - begun
        load.wait_for(25)
        end()
        load.wait_done(90, describe=fleet.logs)
    late = load.lateness_ms(first=5, last=25)
    say(
        request,
        f"{fault}: {len(its_shards)} shards taken over after {takeover:.1f} s; in the 20 s around it lateness p50 "
        f"{percentile(late, 0.5):.0f} ms, p99 {percentile(late, 0.99):.0f} ms, most {late[-1]:.0f} ms",
    )
    load.assert_each_ran_once()
    assert not ScheduleTask.objects.filter(retry_count__gt=0).exists()
    assert takeover <= 10
    assert all(other.alive for other in others)


def test_one_worker_with_a_bad_network_does_not_hold_up_critical_tasks(fleet, request):
    with closing(redis_proxy()) as broker, closing(database_proxy()) as database:
        fleet.beat()
        fleet.worker(concurrency=2)
        fleet.worker(concurrency=1, **through(redis=broker, database=database))
        load = Load(20, 30, lane="critical", after=3)
        load.wait_for(1)
        for proxy in (broker, database):
            proxy.delay(0.2)
        stop = threading.Event()
        dice = random.Random(1)

        def reset_at_random() -> None:
            while not stop.wait(dice.uniform(1, 4)):
                dice.choice((broker, database)).reset()

        thread = threading.Thread(target=reset_at_random)
        thread.start()
        try:
            load.wait_for(30)
        finally:
            stop.set()
            thread.join()
        for proxy in (broker, database):
            proxy.heal()
        load.wait_done(120, describe=fleet.logs)
    late = load.lateness_ms(first=2)
    say(
        request,
        f"critical beside a bad worker: p50 {percentile(late, 0.5):.0f} ms, p99 {percentile(late, 0.99):.0f} ms",
    )
    assert percentile(late, 0.99) <= 500


def test_a_rolling_restart_under_500_a_second_is_hardly_noticed(fleet, request):
    beats, workers = three_beats(fleet), [fleet.worker(concurrency=1) for _ in range(2)]
    load = Load(500, 45, task_type="T_WRITE", after=5)
    load.wait_for(3)
    for old in beats:
        fleet.beat()
        assert old.terminate() == 0
    for old in workers:
        fleet.worker(concurrency=1)
        old.terminate(30)
    load.wait_done(90, describe=fleet.logs)
    late = load.lateness_ms(first=3)
    say(request, f"rolling restart: p50 {percentile(late, 0.5):.0f} ms, p99 {percentile(late, 0.99):.0f} ms")
    load.assert_each_ran_once()
    assert not ScheduleTask.objects.filter(retry_count__gt=0).exists()
    assert percentile(late, 0.99) <= 1000


def test_with_all_workers_stopped_a_hundred_thousand_due_tasks_can_be_moved_and_drain_later(fleet, request):
    fleet.beat()
    worker = fleet.worker(concurrency=2)
    worker.kill()
    for first in range(0, 100_000, 10_000):
        schedule_many("T_QUIET", [{"key": n} for n in range(first, first + 10_000)])

    running = ScheduleTask.objects.filter(status="RUNNING").count()
    bound = 2 * conf().BATCHES_AHEAD * conf().BATCH_MAX
    assert running <= bound
    waiting = ScheduleTask.objects.filter(status="INIT").order_by("-id").values_list("biz_key", flat=True)[:200]
    assert {reschedule("T_QUIET", key, delay=1).outcome for key in waiting} == {"UPDATED"}

    fleet.worker(concurrency=2)
    done = ScheduleTask.objects.filter(status="SUCCESS")
    wait_until(lambda: done.count() == 100_000, timeout=150, describe=fleet.logs)
    say(request, f"all workers stopped: {running} RUNNING, at most {bound} allowed; all drained")


def test_a_backlog_in_low_does_not_hold_up_critical_and_gets_its_share(fleet, request):
    for first in range(0, 200_000, 10_000):
        schedule_many("T_QUIET", [{"key": n} for n in range(first, first + 10_000)], lane="low")
    fleet.worker(concurrency=2)
    fleet.beat()
    low = ScheduleTask.objects.filter(lane="low", status="SUCCESS")
    wait_until(lambda: low.count() > 2_000, timeout=60, describe=fleet.logs)
    before = low.count()
    load = Load(20, 15, lane="critical")
    load.wait_done(60, describe=fleet.logs)
    # The backlog may be gone before the load is: only what was due beside it counts.
    emptied = low.aggregate(last=Max("finish_time"))["last"]
    late = load.lateness_ms(last=(emptied - load.first).total_seconds())
    drained = low.count() - before
    say(
        request,
        f"critical beside a backlog: p50 {percentile(late, 0.5):.0f} ms, p99 {percentile(late, 0.99):.0f} ms of "
        f"{len(late)}; meanwhile {drained:,} of low",
    )
    assert len(late) >= 50
    assert percentile(late, 0.99) <= 250
    assert drained > 5_000


def test_a_limit_of_100_a_second_with_50_burst_and_one_of_3_at_once(fleet, request):
    schedule_many("T_RATED", [{"key": n} for n in range(5_000)])
    schedule_many("T_THREE", [{"key": n, "payload": {"do": "sleep", "seconds": 0.2}} for n in range(300)])
    for _ in range(2):
        fleet.worker(concurrency=4)
        fleet.beat()
    done = ScheduleTask.objects.filter(status="SUCCESS")
    begun = time.monotonic()
    wait_until(lambda: done.count() == 5_300, timeout=150, describe=fleet.logs)
    a_second, at_once = most_in_a_second("T_RATED"), most_at_once("T_THREE")
    rate = 5_000 / (time.monotonic() - begun)
    say(request, f"limits: at most {a_second} started within a second ({rate:.0f}/s), at most {at_once} ran at once")
    assert a_second <= 150
    assert at_once == 3


def test_redis_lost_for_half_a_minute_and_back(fleet, request):
    with closing(redis_proxy()) as broker:
        env = through(redis=broker)
        beats = [fleet.beat(**env) for _ in range(2)]
        workers = [fleet.worker(concurrency=2, **env) for _ in range(2)]
        load = Load(100, 60, after=3)
        load.wait_for(5)
        broker.cut()
        load.wait_for(35)
        broker.heal()
        healed = time.monotonic()
        after = ScheduleTask.objects.filter(id__in=load.ids, execute_time__gt=load.first, status="SUCCESS")
        before = after.count()
        wait_until(lambda: after.count() > before, timeout=60, describe=fleet.logs)
        resumed = time.monotonic() - healed
        load.wait_done(120, describe=fleet.logs)
    say(request, f"Redis away for 30 s: tasks finish again {resumed:.1f} s after it is back")
    load.assert_each_ran_once()
    assert all(process.alive for process in beats + workers)
    assert set(ShardLease.objects.values_list("holder", flat=True)) - {None}
