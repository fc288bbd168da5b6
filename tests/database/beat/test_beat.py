"""A beat, tick by tick: what it does with what it has claimed when something on the way has failed."""

import signal
import sys
from datetime import timedelta

import pytest
from django.utils import timezone

from django_punctual import schedule, schedule_many
from tasks_app.core.lanes import LANES
from tasks_app.engine import nodes
from tasks_app.engine.beat.dispatcher import Dispatcher
from tasks_app.engine.beat.process import SWITCH_SECONDS, PunctualBeat
from tasks_app.lifecycle.claim import LaneShare, LaneView, claim
from tasks_app.models import ScheduleTask, TaskBatch, Turn
from tests.support.engine import anybodys, close_beat, row
from tests.support.marks import commits
from tests.support.turns import ids, one_at_a_time
from tests.support.wait import wait_until

pytestmark = commits


class Broker:
    """Where batches go; can refuse them."""

    def __init__(self) -> None:
        self.batches = []
        self.down = False

    def publish(self, batches) -> None:
        if self.down:
            raise ConnectionError("the broker is down")
        self.batches += batches


@pytest.fixture
def broker():
    return Broker()


@pytest.fixture
def beat(broker):
    from scheduler_project.celery import app

    handlers = {one: signal.getsignal(one) for one in (signal.SIGTERM, signal.SIGINT)}
    switch = sys.getswitchinterval()
    beat = PunctualBeat(app=app, lazy=True)
    beat.setup_schedule()
    beat._dispatcher = Dispatcher(beat._name, broker.publish, beat._listener)
    yield beat
    close_beat(beat)
    for one, handler in handlers.items():
        signal.signal(one, handler)
    sys.setswitchinterval(switch)


@pytest.fixture(autouse=True)
def _worker(settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"NODE_TTL_SECONDS": 3600.0, "DISPATCH_LEASE_SECONDS": 3600.0}
    nodes.report_worker(nodes.new_node_id(), "w1", 2, list(LANES))


def test_a_thread_that_computes_does_not_hold_up_a_look_for_five_milliseconds(beat):
    assert sys.getswitchinterval() == pytest.approx(SWITCH_SECONDS)


def test_a_beat_whose_broker_was_away_publishes_again_what_nobody_has_started(beat, broker):
    """The broker may have lost it, and nobody would tell."""
    first = schedule("T_QUIET", "first").task_id
    wait_until(lambda: beat.tick() or broker.batches)
    [lost] = broker.batches
    broker.down = True
    second = schedule("T_QUIET", "second").task_id
    wait_until(lambda: beat.tick() or beat._broker_lost)
    assert row(second).status == "INIT"

    broker.down = False
    wait_until(lambda: beat.tick() or sum(batch.size for batch in broker.batches) >= 3)

    assert TaskBatch.objects.get(batch_no=lost.batch_no).finished_at is not None
    assert {row(task).status for task in (first, second)} == {"RUNNING"}
    assert {str(row(task).batch_no) for task in (first, second)} <= {batch.batch_no for batch in broker.batches[1:]}


def hold_for_its_moment(beat: PunctualBeat) -> int:
    """A task of a mass that is due in an hour."""
    task = schedule("T_QUIET", "held").task_id
    later = LaneView("default", (timezone.now() + timedelta(hours=1)).timestamp(), 0, 1)
    beat._dispatcher._claims.masses._wheel.hold(claim([LaneShare("default", 1, 1)], {}, beat._name, anybodys()), later)
    return task


@pytest.mark.parametrize("down", [False, True], ids=["the broker is there", "the broker is away"])
def test_a_beat_that_ends_publishes_what_it_holds_for_its_moment_or_gives_it_back(beat, broker, down):
    task, broker.down = hold_for_its_moment(beat), down

    beat._end_dispatching()

    assert [batch.size for batch in broker.batches] == ([] if down else [1])
    assert row(task).status == ("INIT" if down else "RUNNING")


def test_a_beat_that_can_not_publish_gives_back_what_it_holds_for_its_moment(beat, broker):
    """It has no shard any more, and whoever has them may have a broker."""
    held = hold_for_its_moment(beat)
    broker.down = True
    schedule("T_QUIET", "due")

    wait_until(lambda: beat.tick() or beat._broker_lost)

    assert row(held).status == "INIT"


def test_a_beat_that_can_not_publish_holds_no_shard(beat, broker):
    wait_until(lambda: beat.tick() or beat._leases.held)
    broker.down = True
    schedule("T_QUIET", "a")

    wait_until(lambda: beat.tick() or beat._broker_lost)

    assert beat._leases.held == {}


def test_a_beat_that_is_busy_with_a_backlog_hears_of_a_task_in_another_lane(beat, settings):
    """Due before the last look, so that only a signal tells of it."""
    settings.PUNCTUAL = settings.PUNCTUAL | {"LOOK_SECONDS": 60.0, "BATCH_MAX": 8, "BATCHES_AHEAD": 100}
    schedule("T_QUIET", "first")
    wait_until(lambda: beat.tick() or TaskBatch.objects.exists())
    wait_until(lambda: beat.tick() or beat._listener._armed)
    schedule_many("T_QUIET", [{"key": f"backlog {number}"} for number in range(400)])
    wait_until(lambda: beat.tick() or "default" in beat._dispatcher._claims._backlog)

    task = schedule("T_QUIET", "urgent", at=timezone.now() - timedelta(seconds=10), lane="critical").task_id
    for _ in range(3):
        beat.tick()

    assert row(task).status == "RUNNING"
    assert ScheduleTask.objects.filter(status="INIT").count() > 200


def test_a_look_tells_the_giver_of_turns_whether_anybody_waits_for_one(beat):
    wait_until(lambda: beat.tick() or beat._turns.quiet)

    first, *_ = ids(one_at_a_time("skip"))
    Turn.objects.filter(task=first).update(at=timezone.now())

    wait_until(lambda: beat.tick() or row(first).status != "BLOCKED")
    assert not beat._turns.quiet
