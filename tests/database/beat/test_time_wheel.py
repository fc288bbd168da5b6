"""Mass due times: claimed early, published just before they are due, and no other task waits for them."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from django_punctual import cancel, schedule, schedule_many
from tasks_app.conf import conf
from tasks_app.core.lanes import LANES
from tasks_app.engine import nodes
from tasks_app.engine.beat import claim_ahead, time_wheel
from tasks_app.engine.beat.dispatcher import Dispatcher
from tasks_app.engine.beat.listener import Listener
from tasks_app.lifecycle import claim
from tasks_app.lifecycle.claim import ClaimedBatch, LaneView, return_unstarted
from tasks_app.lifecycle.start import start
from tasks_app.models import ScheduleTask, TaskBatch, Tenant
from tests.support.engine import anybodys, row
from tests.support.marks import commits

pytestmark = commits

SIZE = 6
ROW_SECONDS = 600.0  # that a claim seems to take for each: a mass of six is claimed an hour before


@pytest.fixture(autouse=True)
def _world(settings, monkeypatch):
    """A worker with one slot, and hours where there are milliseconds otherwise."""
    settings.PUNCTUAL = settings.PUNCTUAL | {"NODE_TTL_SECONDS": 3600.0, "BATCH_MAX": 2, "BATCH_UNSEEN": 2}
    nodes.report_worker(nodes.new_node_id(), "w1", 1, list(LANES))
    monkeypatch.setattr(time_wheel, "LEAST", SIZE)
    monkeypatch.setattr(time_wheel, "MOST_SECONDS", 10 * 3600.0)
    monkeypatch.setattr(claim_ahead, "MOST_WAY_SECONDS", 10 * 3600.0)
    monkeypatch.setattr(claim, "COUNT_WITHIN_SECONDS", 10 * 3600.0)


@pytest.fixture
def published() -> list[ClaimedBatch]:
    return []


@pytest.fixture
def dispatcher(published):
    listener = Listener(nodes.new_node_id())
    dispatcher = Dispatcher("test", published.extend, listener)
    dispatcher._claims.masses._wheel._row = ROW_SECONDS
    yield dispatcher
    listener.close()


def poll(dispatcher: Dispatcher, times: int = 12):
    """More often than there is something to claim."""
    return [dispatcher.run_once(anybodys(), conf().SHARDS) for _ in range(times)][-1]


def mass_in(seconds: float, size: int = SIZE, **options: object) -> list[int]:
    at = timezone.now() + timedelta(seconds=seconds)
    return [one.task_id for one in schedule_many("T_QUIET", [{"key": n} for n in range(size)], at=at, **options)]


def states(ids: list[int]) -> set[str]:
    return set(ScheduleTask.objects.filter(id__in=ids).values_list("status", flat=True))


def due_time_is_near(dispatcher: Dispatcher) -> None:
    """The way to a worker takes so long from now on."""
    dispatcher._claims._estimates.claim_ahead.note_way(9 * 3600.0)


def test_a_mass_is_claimed_early_and_published_just_before_it_is_due(dispatcher, published):
    ids = mass_in(3000)

    answer = poll(dispatcher)

    assert (states(ids), published) == ({"RUNNING"}, [])
    assert answer.wait_seconds <= conf().LOOK_SECONDS
    due_time_is_near(dispatcher)
    dispatcher.run_once(anybodys(), conf().SHARDS)
    assert sorted(id_ for batch in published for id_ in TaskBatch.objects.get(batch_no=batch.batch_no).ids) == ids
    assert states(ids) == {"RUNNING"}


def test_a_mass_is_claimed_although_the_clock_of_the_beat_is_fast(dispatcher):
    ids = mass_in(3000)
    dispatcher.run_once(anybodys(), conf().SHARDS)
    dispatcher._lanes.clock._offset += 10.0  # the middle of what its answers allow, which is wrong by half of them

    dispatcher.run_once(anybodys(), conf().SHARDS)

    assert "RUNNING" in states(ids)


@pytest.mark.parametrize(
    ("seconds", "size"),
    [
        pytest.param(5000, SIZE, id="its time has not come"),
        pytest.param(3000, SIZE - 1, id="too few"),
        pytest.param(ROW_SECONDS, SIZE, id="a claim would end after its due time"),
    ],
)
def test_a_mass_is_not_claimed_early_without_need(dispatcher, seconds, size):
    ids = mass_in(seconds, size)

    poll(dispatcher)

    assert states(ids) == {"INIT"}


def test_the_beat_polls_again_when_a_mass_is_to_be_claimed(dispatcher, settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"LOOK_SECONDS": 7200.0}
    mass_in(SIZE * ROW_SECONDS + conf().BATCH_MAX * ROW_SECONDS + 1000)

    assert 0 < poll(dispatcher).wait_seconds == pytest.approx(1000, abs=60)


def test_no_more_of_a_mass_is_claimed_than_may_wait_for_a_slot(dispatcher, settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"BATCHES_AHEAD": 2}
    ids = mass_in(3000, 40)

    poll(dispatcher)

    assert ScheduleTask.objects.filter(id__in=ids, status="RUNNING").count() == 4
    assert TaskBatch.objects.count() == 2


def test_held_batches_do_not_delay_tasks_that_are_due_earlier(dispatcher, published):
    mass_in(3000, 40)
    poll(dispatcher)

    other = schedule("T_QUIET", "other").task_id
    dispatcher.wake()
    poll(dispatcher)

    assert [batch.batch_no for batch in published] == [str(row(other).batch_no)]


def test_a_task_that_came_after_the_scan_and_is_due_earlier_is_not_held(dispatcher, settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"LOOK_SECONDS": 3600.0}  # no other scan, also on a slow machine
    mass_in(3000)
    dispatcher.run_once(anybodys(), conf().SHARDS)

    other = schedule("T_QUIET", "other", delay=2900).task_id
    dispatcher.run_once(anybodys(), conf().SHARDS)

    assert ScheduleTask.objects.filter(status="RUNNING").exists()
    assert row(other).status == "INIT"


def test_a_mass_is_not_claimed_while_a_task_of_another_lane_would_be_late(dispatcher):
    ids = mass_in(3000)
    schedule("T_QUIET", "urgent", delay=300, lane="high")

    poll(dispatcher)

    assert states(ids) == {"INIT"}


def test_published_batches_of_a_mass_wait_for_a_slot_like_others(dispatcher, published, settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"BATCHES_AHEAD": 2}
    mass_in(3000, 40)
    poll(dispatcher)

    schedule_many("T_QUIET", [{"key": f"due {n}"} for n in range(40)])
    dispatcher.wake()
    dispatcher._scan_ahead()
    due_time_is_near(dispatcher)
    dispatcher.run_once(anybodys(), conf().SHARDS)

    assert len(published) == 2


def test_a_beat_without_shards_publishes_its_held_batches(dispatcher, published):
    ids = mass_in(3000)
    poll(dispatcher)

    dispatcher.run_once({}, conf().SHARDS)

    assert sum(batch.size for batch in published) == len(ids)


@pytest.mark.parametrize(
    ("row_seconds", "size"),
    [
        pytest.param(20e-6, 1_000, id="less than a batch"),
        pytest.param(20e-6, 16_000, id="more than is claimed"),
        pytest.param(0.5, 16_000, id="claims that were slow"),
    ],
)
def test_there_is_time_to_claim_a_mass(settings, monkeypatch, row_seconds, size):
    monkeypatch.undo()
    settings.PUNCTUAL = settings.PUNCTUAL | {"BATCH_MAX": 2_000}
    one = time_wheel.TimeWheel(claim_ahead.ClaimAhead())
    one._row = row_seconds
    view = LaneView("default", 1_000.0, 0, 2, size)

    assert one.coming([view], one.begins(view)) == [view]
    assert one.coming([replace(view, slots=0)], one.begins(view)) == []


def test_a_mass_with_locked_rows_is_claimed_when_it_is_due():
    one, view = time_wheel.TimeWheel(claim_ahead.ClaimAhead()), LaneView("default", 1e9, 0, 2, 16_000)

    one.note_claim(view, [], 0.1)

    assert one.coming([view, replace(view, lane="low")], 0.0) == [replace(view, lane="low")]
    assert one.coming([replace(view, next_due=2e9)], 0.0) == [replace(view, next_due=2e9)]


def test_with_several_tenants_no_mass_is_claimed_early(dispatcher):
    Tenant.objects.create(name="acme")
    ids = mass_in(3000)

    poll(dispatcher)

    assert states(ids) == {"INIT"}


def test_a_task_that_is_changed_while_it_is_held_is_not_run_with_the_others(dispatcher, published):
    ids = mass_in(3000)
    poll(dispatcher)

    cancel("T_QUIET", 0)
    due_time_is_near(dispatcher)
    dispatcher.run_once(anybodys(), conf().SHARDS)

    begun = [task.id for batch in published for task in start(batch.batch_no, "w").tasks]
    assert sorted(begun) == ids[1:]


def test_returned_tasks_are_due_again_and_their_batch_can_not_start(dispatcher, published):
    """A beat took over from this one, or this one was in doubt."""
    ids = mass_in(3000)
    poll(dispatcher)

    return_unstarted(["test"])
    dispatcher.publish_held()

    assert states(ids) == {"INIT"}
    assert published and [start(batch.batch_no, "w") for batch in published] == [None] * len(published)
