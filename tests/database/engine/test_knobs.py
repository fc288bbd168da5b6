"""Every knob as a whole number, with a fraction and at its bounds: one round of a beat, a worker and the status.

`make prove` adds leases that are too short for any process.
"""

import logging
import signal
from dataclasses import fields
from math import ceil
from uuid import UUID

import pytest

from django_punctual import schedule
from tasks_app.conf import Conf, range_of
from tasks_app.core.lanes import LANES
from tasks_app.engine import nodes
from tasks_app.engine.beat.chores import CHORES
from tasks_app.engine.beat.process import PunctualBeat
from tasks_app.engine.watch.status import read_status
from tasks_app.engine.worker.executor import run_batch
from tasks_app.models import MaintenanceEntry
from tests.support.engine import claim_due, close_beat, expire_lease, row
from tests.support.jobs import instances, make
from tests.support.marks import commits
from tests.support.scale import FULL
from tests.support.wait import wait_until

pytestmark = commits

NUMBERS = [knob.name for knob in fields(Conf) if knob.type in (int, float)]
FLOATS = {knob.name: knob.default for knob in fields(Conf) if isinstance(knob.default, float)}

# Where a rule between two knobs comes before the knob's own bound.
LEAST = {
    "RUN_LEASE_SECONDS": 1,
    "NODE_TTL_SECONDS": 0.000_003,
    "PLAN_AHEAD_SECONDS": 0.000_002,
    "STANDBY": 0,  # or nothing would be done
}
MOST = {
    "HEARTBEAT_SECONDS": 7 * 86_400 / 2 - 1,
    "NODE_SECONDS": 7 * 86_400 / 2 - 1,
    "PLAN_SECONDS": 7 * 86_400 / 2,
    "STANDBY": 0,
}
# With these at their least, nobody is alive for long enough to be given anything.
ALIVE = {"NODE_TTL_SECONDS": 8.0, "SHARD_LEASE_SECONDS": 8.0, "DISPATCH_LEASE_SECONDS": 15.0}
BOUNDS = {
    "all at their least that let it run": {name: range_of(name).least for name in NUMBERS} | LEAST | ALIVE,
    "all at their most": {name: range_of(name).most for name in NUMBERS} | MOST,
}
if FULL:
    BOUNDS |= {
        "all at their least": {name: range_of(name).least for name in NUMBERS} | LEAST,
    }


@pytest.fixture
def beat(settings):
    """A beat with its threads, whose batches end in a list instead of a broker; no wait of it lasts."""
    from scheduler_project.celery import app

    handlers = {one: signal.getsignal(one) for one in (signal.SIGTERM, signal.SIGINT)}
    begun = []

    def begin(**knobs: float) -> PunctualBeat:
        settings.PUNCTUAL = {"REDIS_URL": settings.PUNCTUAL["REDIS_URL"]} | knobs
        beat = PunctualBeat(app=app, lazy=True)
        beat.setup_schedule()
        beat.published = []
        beat._dispatcher = type(beat._dispatcher)(beat._name, beat.published.extend, beat._listener)
        beat._listener.interrupt()
        begun.append(beat)
        return beat

    yield begin
    for one in begun:
        close_beat(one)
    for one, handler in handlers.items():
        signal.signal(one, handler)


def chores_done() -> set[str]:
    return set(MaintenanceEntry.objects.filter(done_at__isnull=False).values_list("name", flat=True))


def chores_wanted() -> set[str]:
    return {chore.name for chore in CHORES if chore.every() > 0}


def lose_a_batch() -> int:
    task_id = schedule("T_QUIET", "lost").task_id
    [batch] = claim_due()
    expire_lease(batch)
    return task_id


def run_published(beat: PunctualBeat) -> None:
    while beat.published:
        run_batch(UUID(beat.published.pop().batch_no), guarded=False)


def errors(caplog) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]


def test_knobs_may_be_whole_numbers(beat, caplog):
    """As documented: `"REAP_SECONDS": 2`."""
    beat = beat(**{name: ceil(default) or 2 for name, default in FLOATS.items()})
    nodes.report_worker(nodes.new_node_id(), "worker", 2, list(LANES))
    lost, job = lose_a_batch(), make(every=30)
    due = schedule("T_QUIET", "due").task_id

    wait_until(
        lambda: beat.tick() or run_published(beat) or (row(lost).status == row(due).status == "SUCCESS"),
        describe=lambda: errors(caplog),
    )
    wait_until(lambda: chores_done() >= chores_wanted(), describe=lambda: (chores_done(), errors(caplog)))
    wait_until(lambda: instances(job), describe=lambda: errors(caplog))

    read_status()
    assert errors(caplog) == []


@pytest.mark.parametrize("knobs", BOUNDS.values(), ids=BOUNDS)
def test_nothing_fails_with_knobs_at_their_bounds(beat, caplog, knobs):
    """Whether something gets done within the test is another matter: it may be a week."""
    beat = beat(**knobs)
    nodes.report_worker(nodes.new_node_id(), "worker", 2, list(LANES))
    lose_a_batch()
    make(every=86_400)
    schedule("T_QUIET", "due")

    wait_until(
        lambda: beat.tick() or run_published(beat) or chores_done() >= chores_wanted(),
        describe=lambda: (chores_done(), errors(caplog)),
    )

    read_status()
    assert errors(caplog) == []
