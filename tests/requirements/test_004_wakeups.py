"""Document 004: many wake-ups for tasks of the future must not cause as many queries.

§1 20 schedules and 20 wake-ups, §2 the ideal course with its 24 queries, §3 the two questions, §4 why a signal that is
dropped loses no task. The document has a signal and a worker for each task type, and a worker handles one task after
the other. Here there is a signal for each shard, since several beats share the shards, and workers run tasks in
batches: docs/dispatcher.md.
"""

import time
from collections import Counter
from contextlib import closing
from datetime import timedelta
from itertools import count, islice
from math import inf
from pathlib import Path

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from django_punctual import schedule, schedule_many
from tasks_app import sql
from tasks_app.conf import conf
from tasks_app.core.lanes import LANES
from tasks_app.core.sharding import shard_of
from tasks_app.engine import nodes
from tasks_app.engine.beat.dispatcher import Dispatcher, Poll
from tasks_app.engine.beat.listener import Listener, Woken
from tasks_app.engine.canary import send_canaries
from tasks_app.engine.worker.executor import run_batch
from tasks_app.lifecycle.claim import ClaimedBatch
from tasks_app.models import ScheduleTask
from tests.support.counting_proxy import CountingProxy
from tests.support.engine import anybodys, make_due, row
from tests.support.marks import commits
from tests.support.processes import wait_for
from tests.support.stack import database_proxy, through
from tests.support.wait import wait_until

pytestmark = commits

TYPE = "T_QUIET"
HOUR = 3600


class Beat:
    """A beat's dispatcher and what it hears, step by step; all shards are its own."""

    def __init__(self) -> None:
        self.batches: list[ClaimedBatch] = []
        self.listener = Listener(nodes.new_node_id())
        self._dispatcher = Dispatcher("test", self.batches.extend, self.listener)

    def poll(self) -> Poll:
        return self._dispatcher.run_once(anybodys(), conf().SHARDS)

    def work(self) -> None:
        """Poll until there is nothing more to do, and let a worker run what is claimed."""
        while self.poll().wait_seconds == 0 or self.batches:
            for batch in self.batches:
                run_batch(batch.batch_no, guarded=False)
            self.batches.clear()

    def wait(self, seconds: float = 0) -> Woken:
        woken = self.listener.wait(seconds)
        if woken is Woken.TASKS:
            self._dispatcher.wake(self.listener.heard())
        return woken

    def announce_an_hour(self) -> None:
        """However slow the machine, its next poll is far away: what is due before then needs a signal."""
        self.listener.announce(time.time() + HOUR)


@pytest.fixture
def beat(settings):
    """It has polled, and does not wait yet: signals stay where they are. There is a worker with two slots."""
    # The one setting that differs: with the 50 ms of the default a busy machine loses signals, and not by our rules.
    settings.PUNCTUAL = settings.PUNCTUAL | {"WAKEUP_MS": 5000.0}
    nodes.report_worker(nodes.new_node_id(), "w1", 2, list(LANES))
    beat = Beat()
    beat.poll()
    yield beat
    beat.listener.close()


def pending(redis) -> list[int]:
    """How many signals are pending in each shard that has any."""
    return [redis.llen(key) for key in redis.keys("punctual:signal:*")]


def asked(redis) -> int:
    """How often Redis was asked to send signals."""
    return redis.info("commandstats").get("cmdstat_eval", {}).get("calls", 0)


def keys_of_one_shard(number: int) -> list[int]:
    return list(islice((key for key in count() if shard_of("default", TYPE, str(key), conf().SHARDS) == 3), number))


def succeeded() -> int:
    return ScheduleTask.objects.filter(status="SUCCESS").count()


# §1


def test_s1_20_tasks_of_an_hour_ahead_send_no_signal_and_redis_is_not_even_asked(beat, redis):
    before = asked(redis)

    for n in range(20):
        schedule(TYPE, n, delay=HOUR)

    assert (asked(redis) - before, pending(redis), beat.wait()) == (0, [], Woken.NO)


def test_s1_20_tasks_that_are_due_after_the_next_poll_send_no_signal(beat, redis):
    for n in range(20):
        schedule(TYPE, n, delay=60)

    assert (pending(redis), beat.wait()) == ([], Woken.NO)


def test_s1_20_schedules_of_future_tasks_cause_one_poll_of_at_most_2_queries(beat, redis):
    """Those that need a signal, since they are due before the next poll. In the document they came to 40 queries."""
    beat.announce_an_hour()
    for n in range(20):
        schedule(TYPE, n, delay=60)
    assert set(pending(redis)) == {1}

    with CaptureQueriesContext(connection) as queries:
        assert beat.wait(60) is Woken.TASKS
        beat.poll()

    assert (len(queries) <= 2, beat.wait(), pending(redis), beat.batches) == (True, Woken.NO, [], [])


# §2


# Every statement on the way of a task; the others of these folders are for leases that run out and for what is undone.
FOLDERS = [Path(sql.__file__).parent / name for name in ("claim", "settle")]
BESIDES = {"reap", "lose", "rescue_stranded", "limited_types", "declare_limits", "gates", "pass_entries", "pace_before"}
PATH = {path.stem for folder in FOLDERS for path in folder.glob("*.sql")} - BESIDES
COURSE = {"claim": 1, "pace": 1, "start": 3, "mark_success": 3}


def canaries_wait() -> bool:
    """They take the same way as tasks, every ten seconds. None does for an hour, if all of them wait now."""
    with transaction.atomic():  # no beat sees them due meanwhile
        send_canaries()
        waiting = ScheduleTask.objects.filter(due_at__isnull=False)
        return waiting.update(due_at=timezone.now() + timedelta(hours=1)) == len(LANES)


def test_s2_the_course_of_20_tasks_takes_fewer_than_24_queries(stack):
    """The document: 1 fetch that finds nothing, 1 query of the earliest time, 1 fetch that finds 20 tasks, 20 fetches
    that handle them, 1 that finds nothing and 1 of the earliest time.

    Here, statement by statement: none when the tasks are scheduled; one claim of all 20, by the beat's timer, since no
    signal comes; one that reads how long such tasks take; then one to start and one to settle each of the 3 batches,
    since 8 tasks are the largest batch of a type that is not known yet; and one poll more than the timer's. A beat
    polls once a second (`peek`), whether there are tasks or not, where the document's worker waits for an hour.
    """
    with closing(database_proxy(CountingProxy)) as beat, closing(database_proxy(CountingProxy)) as worker:
        stack.beat(**through(database=beat))
        stack.worker(**through(database=worker))
        wait_until(canaries_wait, describe=stack.logs)

        def counted() -> Counter[str]:
            """The statements of the path of a task, of both processes."""
            every = beat.counted() + worker.counted()
            return Counter({name: every[name] for name in every if name in PATH})

        def until_next_polls() -> Counter[str]:
            """What is executed until the beat has polled twice more."""
            before = counted()
            wait_until(lambda: counted()["peek"] >= before["peek"] + 2, describe=stack.logs)
            return counted() - before

        wait_until(lambda: set(until_next_polls()) == {"peek"}, describe=stack.logs)
        ids = [schedule(TYPE, n, delay=HOUR).task_id for n in range(20)]
        scheduled = until_next_polls()
        before, begun = counted(), time.monotonic()
        make_due(*ids)
        wait_for(stack, *ids)
        until_next_polls()
        executed, seconds = counted() - before, time.monotonic() - begun

    assert set(scheduled) == {"peek"}
    polls = executed.pop("peek")
    assert executed == COURSE
    caused = max(polls - int(seconds / conf().LOOK_SECONDS) - 1, 0)
    assert executed.total() + caused < 24


# §3


def test_s3_one_wake_up_is_enough_for_20_tasks(beat):
    for n in range(20):
        schedule(TYPE, n)

    assert beat.wait(60) is Woken.TASKS
    beat.work()

    assert (succeeded(), beat.wait()) == (20, Woken.NO)


def test_s3_a_task_for_now_ends_the_wait_and_is_handled_at_once(beat):
    beat.announce_an_hour()
    schedule(TYPE, "a")

    assert beat.wait(60) is Woken.TASKS
    beat.work()

    assert succeeded() == 1


def test_s3_a_task_of_the_future_is_not_handled_when_its_wake_up_comes(beat):
    beat.announce_an_hour()
    schedule(TYPE, "a", delay=60)

    assert beat.wait(60) is Woken.TASKS
    beat.work()

    assert succeeded() == 0


# §4


def test_s4_without_a_further_signal_tasks_are_handled_until_none_is_due(beat, redis):
    """More of them than one claim takes."""
    schedule_many(TYPE, [{"key": n} for n in range(100)])
    assert beat.wait(60) is Woken.TASKS
    redis.flushall()

    beat.work()

    assert (succeeded(), beat.wait()) == (100, Woken.NO)


def test_s4_the_timer_finds_tasks_whose_signals_are_lost(beat, redis):
    for n in range(20):
        schedule(TYPE, n)
    redis.flushall()
    assert beat.wait() is Woken.NO

    beat.work()

    assert succeeded() == 20


def test_s4_a_beat_waits_for_1_second_at_most_and_no_longer_than_until_the_next_task(beat):
    schedule(TYPE, "in an hour", delay=HOUR)
    assert beat.poll().wait_seconds == 1.0

    schedule(TYPE, "sooner", delay=0.5)
    assert beat.poll().wait_seconds <= 0.5


def test_s4_of_the_signals_of_a_shard_the_one_of_its_earliest_task_is_left(beat, redis):
    beat.announce_an_hour()
    keys = keys_of_one_shard(20)
    for key, delay in zip(keys, [50, 5, 20, *range(100, 117)], strict=True):
        schedule(TYPE, key, delay=delay)

    assert pending(redis) == [1]
    beat.listener.take_signals(time.time() + HOUR)
    earliest = ScheduleTask.objects.get(biz_key=keys[1]).due_at
    assert beat.listener.heard() == pytest.approx(earliest.timestamp(), abs=1e-3)
    assert (beat.listener.heard(), pending(redis)) == (inf, [])


def test_s4_a_transaction_asks_redis_once_for_the_earliest_of_its_tasks(beat, redis):
    beat.announce_an_hour()
    before = asked(redis)
    with transaction.atomic():
        ids = [schedule(TYPE, key, delay=100 - n).task_id for n, key in enumerate(keys_of_one_shard(20))]
        assert pending(redis) == []

    assert (asked(redis) - before, pending(redis)) == (1, [1])
    beat.listener.take_signals(time.time() + HOUR)
    assert beat.listener.heard() == pytest.approx(row(ids[-1]).due_at.timestamp(), abs=1e-3)
