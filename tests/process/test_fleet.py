"""A fleet of real beats and workers that are killed, frozen and cut off; test_fleet_full.py is the full size."""

import signal

from django_punctual import schedule_many
from tasks_app.models import ScheduleTask, TaskBatch
from tests.support.fleet import Load, most_at_once, most_in_a_second, shards_of, shared_by
from tests.support.processes import wait_for
from tests.support.stack import database_proxy, redis_proxy, through
from tests.support.testapp.models import Effect
from tests.support.wait import wait_until


def test_beats_that_are_killed_frozen_and_cut_off_lose_and_double_nothing_and_keep_the_limits(stack):
    broker, database = redis_proxy(), database_proxy()
    killed, frozen = stack.beat(), stack.beat()
    third = stack.beat(**through(redis=broker, database=database))
    for _ in range(2):
        stack.worker(concurrency=1)
    pids = [beat.pid for beat in (killed, frozen, third)]
    wait_until(lambda: shared_by(*pids), describe=stack.logs)
    load = Load(50, 8)
    schedule_many("T_RATED", [{"key": n} for n in range(300)])
    schedule_many("T_THREE", [{"key": n, "payload": {"do": "sleep", "seconds": 0.1}} for n in range(50)])

    load.wait_for(0.5)
    killed.kill()
    frozen.signal_all(signal.SIGSTOP)
    wait_until(lambda: shared_by(third.pid), timeout=20, describe=stack.logs)
    frozen.signal_all(signal.SIGCONT)
    wait_until(lambda: shared_by(third.pid, frozen.pid), timeout=20, describe=stack.logs)
    broker.cut()  # it can't publish, so it gives its shards away
    wait_until(lambda: shared_by(frozen.pid), timeout=30, describe=stack.logs)
    broker.heal()
    wait_until(lambda: shared_by(third.pid, frozen.pid), timeout=30, describe=stack.logs)
    database.cut()
    wait_until(lambda: shared_by(frozen.pid), timeout=20, describe=stack.logs)
    database.heal()
    wait_until(lambda: shared_by(third.pid, frozen.pid), timeout=20, describe=stack.logs)
    assert frozen.terminate() == 0
    assert shards_of(frozen.pid) == set()  # handed over before its process has ended

    load.wait_done(30, describe=stack.logs)
    load.assert_each_ran_once()
    done = ScheduleTask.objects.filter(task_type__in=["T_RATED", "T_THREE"], status="SUCCESS")
    wait_until(lambda: done.count() == 350, timeout=30, describe=stack.logs)
    assert most_in_a_second("T_RATED") <= 150
    assert most_at_once("T_THREE") <= 3
    assert not ScheduleTask.objects.filter(retry_count__gt=0).exists()
    broker.close()
    database.close()


def test_what_beats_claimed_and_could_not_publish_runs_without_waiting_for_its_lease(stack):
    """One is killed in between, the other loses its connection before it has the answer."""
    stack.knobs = {"DISPATCH_LEASE_SECONDS": 3600.0}
    killed, forgetful = (stack.beat("-S", f"tests.support.failing_beats:{name}") for name in ("Dying", "Forgetful"))
    stack.worker(concurrency=1)
    wait_until(lambda: shared_by(killed.pid, forgetful.pid), describe=stack.logs)
    schedule_many("T_PLAIN", [{"key": n} for n in range(50)])

    wait_for(stack)

    for beat in (killed, forgetful):
        claimed = TaskBatch.objects.filter(dispatcher__endswith=f":{beat.pid}")
        assert claimed.filter(started_at=None, finished_at__isnull=False, reaped=False).exists()
    assert not killed.alive
    assert ScheduleTask.objects.filter(status="SUCCESS", retry_count=0).count() == Effect.objects.count() == 50
