"""Reading ahead: what lies in the wheel is claimed just before its moment; what happened to it meanwhile decides."""

import time
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tasks_app.client import cancel, reschedule, schedule, schedule_many
from tasks_app.conf import conf
from tasks_app.engine import nodes
from tasks_app.engine.beat.dispatcher import LOCKED_POLL_SECONDS
from tasks_app.engine.beat.lead import HAIR_SECONDS, MOST_SECONDS
from tasks_app.engine.beat.listener import Listener, Woken
from tasks_app.engine.beat.read_ahead import ReadAheadDispatcher
from tasks_app.engine.operations import lanes
from tasks_app.models import ScheduleTask, ShardLease, TaskBatch
from tasks_app.sql import run
from tests.support.engine import anybodys, row
from tests.support.marks import commits
from tests.support.overlap import overlap
from tests.support.wait import wait_until

NEXT_LOOK_KEY = "punctual:next_look"
pytestmark = commits
AHEAD = timedelta(seconds=MOST_SECONDS + HAIR_SECONDS)
SOON = 3.0  # seconds: a busy machine takes less for the look that reads it ahead


@pytest.fixture(autouse=True)
def _reading_ahead(settings):
    # Long enough that a busy machine does not come to a moment before the test does.
    long = {"LOOK_SECONDS": 3.5, "READ_AHEAD_SECONDS": 4.0, "NODE_TTL_SECONDS": 60.0}
    settings.PUNCTUAL = settings.PUNCTUAL | long
    nodes.report_worker(nodes.new_node_id(), "w1", 2, ["critical", "high", "default", "low", "deferred", "backfill"])


class Beat:
    """A dispatcher that reads ahead, as a beat drives it."""

    def __init__(self) -> None:
        self.batches = []
        self.listener = Listener(nodes.new_node_id())
        self.dispatcher = ReadAheadDispatcher("test", self.batches.extend, self.listener)

    def look(self):
        """Look until there is nothing to do at once."""
        for _ in range(50):
            look = self.dispatcher.run_once(anybodys(), conf().SHARDS)
            if look.wait_seconds > 0:
                return look
        raise AssertionError("it spins")

    def run(self, seconds: float) -> None:
        """As the beat does, for so long."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            look = self.look()
            if self.listener.wait(min(look.wait_seconds, deadline - time.monotonic())) is not Woken.NO:
                self.dispatcher.wake()


@pytest.fixture
def beat():
    beat = Beat()
    yield beat
    beat.listener.close()


def claimed() -> set[str]:
    return set(ScheduleTask.objects.filter(status="RUNNING").values_list("biz_key", flat=True))


def test_what_was_read_ahead_is_claimed_just_before_its_moment_and_not_earlier(beat):
    beat.look()
    schedule("T_QUIET", "soon", delay=SOON)
    beat.dispatcher.wake()

    look = beat.look()
    assert 0 < look.wait_seconds <= SOON
    assert claimed() == set()

    wait_until(lambda: beat.run(0.1) or claimed() == {"soon"}, describe=claimed)
    task = ScheduleTask.objects.get()
    assert TaskBatch.objects.get().claimed_at >= task.claimed_due - AHEAD


def test_firing_from_the_wheel_is_one_statement(beat):
    connection.close()
    schedule("T_QUIET", "soon", delay=SOON)
    beat.look()
    due = ScheduleTask.objects.get().due_at.timestamp()
    wait_until(lambda: beat.dispatcher._clock.now() >= due)

    with CaptureQueriesContext(connection) as counted:
        beat.dispatcher.run_once(anybodys(), conf().SHARDS)

    assert claimed() == {"soon"}
    # And one that learns from what has ended, afterwards. It ran before, so it is prepared and its text is not noted.
    assert [query["sql"] and query["sql"][:13] for query in counted] == ["-- claim_ids:", None]


def test_a_task_that_was_moved_after_it_was_read_fires_at_its_new_time(beat):
    schedule("T_QUIET", "later", delay=SOON)
    schedule("T_QUIET", "never", delay=SOON)
    read_for = row(schedule("T_QUIET", "sooner", delay=3.9).task_id).due_at
    beat.look()
    reschedule("T_QUIET", "later", delay=SOON + 0.5)
    reschedule("T_QUIET", "sooner", delay=0.2)
    cancel("T_QUIET", "never")

    wait_until(lambda: beat.run(0.1) or claimed() == {"sooner", "later"}, describe=claimed)
    sooner, later = (ScheduleTask.objects.get(biz_key=key) for key in ("sooner", "later"))
    assert sooner.claimed_due - AHEAD <= TaskBatch.objects.get(ids__contains=[sooner.id]).claimed_at < read_for
    assert later.claimed_due - AHEAD <= TaskBatch.objects.get(ids__contains=[later.id]).claimed_at


def test_a_task_of_a_lane_that_was_paused_after_it_was_read_does_not_start(beat):
    schedule("T_QUIET", "a", delay=0.2)
    beat.look()
    lanes.pause("default", reason="test", by="test")

    beat.run(1.3)

    # Claimed perhaps, since the wheel did not know; but a start gives it back, and no more is claimed.
    from tasks_app.engine.worker.executor import run_batch

    for batch in beat.batches:
        run_batch(batch.batch_no, guarded=False)
    assert set(ScheduleTask.objects.values_list("status", flat=True)) == {"INIT"}


def test_a_task_that_somebody_holds_at_its_moment_is_claimed_soon_after(beat):
    task = schedule("T_QUIET", "a", delay=SOON)
    due = row(task.task_id).due_at.timestamp()
    beat.look()

    def lock():
        ScheduleTask.objects.select_for_update().get(id=task.task_id)

    wait_until(lambda: beat.dispatcher._clock.now() >= due)
    overlap(lock, lambda: beat.run(0.1))
    assert claimed() == set()

    wait_until(lambda: beat.run(0.1) or claimed() == {"a"}, describe=claimed)


def test_after_a_firing_that_found_less_than_it_had_read_it_looks_again_soon(beat):
    task = schedule("T_QUIET", "a", delay=SOON)
    due = row(task.task_id).due_at.timestamp()
    beat.look()
    cancel("T_QUIET", "a")
    wait_until(lambda: beat.dispatcher._clock.now() >= due)

    look = beat.dispatcher.run_once(anybodys(), conf().SHARDS)

    assert look.wait_seconds <= LOCKED_POLL_SECONDS


def test_two_that_read_the_same_ahead_claim_it_once():
    one, two = Beat(), Beat()
    schedule_many("T_QUIET", [{"key": n} for n in range(20)], delay=0.7)
    one.look()
    two.look()

    overlap(lambda: one.run(1.5), lambda: two.run(1.4))

    ids = [task_id for batch in TaskBatch.objects.all() for task_id in batch.ids]
    assert len(ids) == len(set(ids)) == 20


def test_the_wheel_is_bounded_and_what_did_not_fit_is_read_in_time(beat, redis, monkeypatch):
    monkeypatch.setattr("tasks_app.engine.beat.read_ahead.MOST", 5)
    nodes.report_worker(nodes.new_node_id(), "w2", 50, ["default"])
    schedule_many("T_QUIET", [{"key": n, "delay": SOON + n / 50} for n in range(20)])
    beat.look()
    assert len(beat.dispatcher._wheel) <= 5
    fifth = ScheduleTask.objects.order_by("due_at")[4].due_at.timestamp()
    assert all(float(look) == pytest.approx(fifth, abs=0.001) for look in redis.hvals(NEXT_LOOK_KEY))

    wait_until(lambda: beat.run(0.2) or len(claimed()) == 20, describe=claimed)


def test_a_backlog_is_claimed_the_plain_way_and_within_its_bound(beat):
    schedule_many("T_QUIET", [{"key": n} for n in range(2000)])

    beat.look()

    assert TaskBatch.objects.filter(started_at__isnull=True).count() == 2 * conf().BATCHES_AHEAD


def test_a_shard_that_was_lost_is_not_in_the_wheel_any_more(beat):
    task = schedule("T_QUIET", "a", delay=SOON)
    beat.look()
    due = row(task.task_id).due_at.timestamp()
    others = {shard: None for shard in anybodys() if shard != row(task.task_id).shard}
    wait_until(lambda: beat.dispatcher._clock.now() >= due)

    beat.dispatcher.run_once(others, conf().SHARDS)

    assert claimed() == set()


def test_a_shard_that_was_taken_is_read_at_once(beat):
    task = schedule("T_QUIET", "a").task_id
    others = {shard: None for shard in anybodys() if shard != row(task).shard}
    for _ in range(3):
        beat.dispatcher.run_once(others, conf().SHARDS)
    assert claimed() == set()

    beat.look()

    assert claimed() == {"a"}


def test_a_shard_that_has_another_holder_gives_the_wheel_of_its_old_one_nothing_even_before_he_has_noticed(beat):
    mine, other = (schedule("T_QUIET", key, delay=SOON).task_id for key in ("mine", "other's"))
    assert row(mine).shard != row(other).shard
    run("declare_shards", {"shards": conf().SHARDS})
    held = dict.fromkeys(range(conf().SHARDS), 7)
    ShardLease.objects.update(fence=7)
    beat.dispatcher.run_once(held, conf().SHARDS)
    due = max(row(task).due_at.timestamp() for task in (mine, other))
    ShardLease.objects.filter(shard=row(other).shard).update(fence=8)
    wait_until(lambda: beat.dispatcher._clock.now() >= due)

    beat.dispatcher.run_once(held, conf().SHARDS)

    assert claimed() == {"mine"}


def test_a_task_that_comes_between_two_readings_sends_a_signal_although_the_wheel_turns_earlier(beat, redis):
    schedule("T_QUIET", "read", delay=0.1)
    beat.look()

    schedule("T_QUIET", "unread", delay=0.4)

    assert redis.keys("punctual:signal:*") or beat.listener.wait(20) is Woken.TASKS


def test_a_clock_that_was_set_back_puts_off_no_reading(beat):
    """What was due at any moment of the time that comes again is found without a signal."""
    beat.look()
    beat.dispatcher._next_read += 3600  # as it was read off a clock that was an hour ahead
    beat.dispatcher._clock._offset += 3600
    task = schedule("T_QUIET", "a").task_id
    wait_until(lambda: beat.dispatcher._clock.now() >= beat.dispatcher._next_read)

    beat.look()

    assert row(task).status == "RUNNING"
