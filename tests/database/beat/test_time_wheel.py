"""What is due at one moment in masses is claimed early and published when that is near; nobody else waits for it."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from tasks_app.client import cancel, schedule, schedule_many
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
ROW_SECONDS = 600.0  # that a claim is said to take for each: so a mass of six is claimed an hour before


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


def look(dispatcher: Dispatcher, times: int = 12):
    """More often than there is something to claim."""
    return [dispatcher.run_once(anybodys(), conf().SHARDS) for _ in range(times)][-1]


def mass_in(seconds: float, size: int = SIZE, **options: object) -> list[int]:
    at = timezone.now() + timedelta(seconds=seconds)
    return [one.task_id for one in schedule_many("T_QUIET", [{"key": n} for n in range(size)], at=at, **options)]


def states(ids: list[int]) -> set[str]:
    return set(ScheduleTask.objects.filter(id__in=ids).values_list("status", flat=True))


def moment_is_near(dispatcher: Dispatcher) -> None:
    """By what the way to a worker takes from now on."""
    dispatcher._claims._estimates.claim_ahead.note_way(9 * 3600.0)


def test_it_is_claimed_before_its_moment_and_published_when_that_is_near(dispatcher, published):
    ids = mass_in(3000)

    answer = look(dispatcher)

    assert (states(ids), published) == ({"RUNNING"}, [])
    assert answer.wait_seconds <= conf().LOOK_SECONDS
    moment_is_near(dispatcher)
    dispatcher.run_once(anybodys(), conf().SHARDS)
    assert sorted(id_ for batch in published for id_ in TaskBatch.objects.get(batch_no=batch.batch_no).ids) == ids
    assert states(ids) == {"RUNNING"}


def test_it_is_claimed_although_the_beat_thinks_it_is_later_than_it_is(dispatcher):
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
        pytest.param(ROW_SECONDS, SIZE, id="a claim would take until after its moment"),
    ],
)
def test_it_is_not_claimed_early_for_nothing(dispatcher, seconds, size):
    ids = mass_in(seconds, size)

    look(dispatcher)

    assert states(ids) == {"INIT"}


def test_the_beat_looks_again_when_its_time_comes(dispatcher, settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"LOOK_SECONDS": 7200.0}
    mass_in(SIZE * ROW_SECONDS + conf().BATCH_MAX * ROW_SECONDS + 1000)

    assert 0 < look(dispatcher).wait_seconds == pytest.approx(1000, abs=60)


def test_no_more_of_it_is_claimed_than_may_wait_for_a_slot(dispatcher, settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"BATCHES_AHEAD": 2}
    ids = mass_in(3000, 40)

    look(dispatcher)

    assert ScheduleTask.objects.filter(id__in=ids, status="RUNNING").count() == 4
    assert TaskBatch.objects.count() == 2


def test_what_is_due_before_it_is_not_held_up_by_what_is_held(dispatcher, published):
    mass_in(3000, 40)
    look(dispatcher)

    other = schedule("T_QUIET", "other").task_id
    dispatcher.wake()
    look(dispatcher)

    assert [batch.batch_no for batch in published] == [str(row(other).batch_no)]


def test_what_came_after_the_look_and_is_due_before_it_is_not_held_with_it(dispatcher, settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"LOOK_SECONDS": 3600.0}  # no other look, however slow this machine is
    mass_in(3000)
    dispatcher.run_once(anybodys(), conf().SHARDS)

    other = schedule("T_QUIET", "other", delay=2900).task_id
    dispatcher.run_once(anybodys(), conf().SHARDS)

    assert ScheduleTask.objects.filter(status="RUNNING").exists()
    assert row(other).status == "INIT"


def test_it_is_not_claimed_while_something_is_due_elsewhere_before_that_would_be_through(dispatcher):
    ids = mass_in(3000)
    schedule("T_QUIET", "urgent", delay=300, lane="high")

    look(dispatcher)

    assert states(ids) == {"INIT"}


def test_what_is_published_of_it_waits_for_a_slot_as_anything_does(dispatcher, published, settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"BATCHES_AHEAD": 2}
    mass_in(3000, 40)
    look(dispatcher)

    schedule_many("T_QUIET", [{"key": f"due {n}"} for n in range(40)])
    dispatcher.wake()
    dispatcher._scan_ahead()
    moment_is_near(dispatcher)
    dispatcher.run_once(anybodys(), conf().SHARDS)

    assert len(published) == 2


def test_a_beat_that_has_no_shard_left_publishes_what_it_holds(dispatcher, published):
    ids = mass_in(3000)
    look(dispatcher)

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
def test_there_is_time_to_claim_it(settings, monkeypatch, row_seconds, size):
    monkeypatch.undo()
    settings.PUNCTUAL = settings.PUNCTUAL | {"BATCH_MAX": 2_000}
    one = time_wheel.TimeWheel(claim_ahead.ClaimAhead())
    one._row = row_seconds
    view = LaneView("default", 1_000.0, 0, 2, size)

    assert one.coming([view], one.begins(view)) == [view]
    assert one.coming([replace(view, slots=0)], one.begins(view)) == []


def test_one_whose_rows_somebody_has_locked_is_left_until_it_is_due():
    one, view = time_wheel.TimeWheel(claim_ahead.ClaimAhead()), LaneView("default", 1e9, 0, 2, 16_000)

    one.note_claim(view, [], 0.1)

    assert one.coming([view, replace(view, lane="low")], 0.0) == [replace(view, lane="low")]
    assert one.coming([replace(view, next_due=2e9)], 0.0) == [replace(view, next_due=2e9)]


def test_where_tenants_share_a_lane_nothing_of_it_is_claimed_early(dispatcher):
    Tenant.objects.create(name="acme")
    ids = mass_in(3000)

    look(dispatcher)

    assert states(ids) == {"INIT"}


def test_a_task_that_is_changed_while_it_is_held_is_not_run_with_the_others(dispatcher, published):
    ids = mass_in(3000)
    look(dispatcher)

    cancel("T_QUIET", 0)
    moment_is_near(dispatcher)
    dispatcher.run_once(anybodys(), conf().SHARDS)

    begun = [task.id for batch in published for task in start(batch.batch_no, "w").tasks]
    assert sorted(begun) == ids[1:]


def test_what_was_given_back_is_due_again_and_its_batch_is_nobodys(dispatcher, published):
    """A beat took over from this one, or this one was in doubt."""
    ids = mass_in(3000)
    look(dispatcher)

    return_unstarted(["test"])
    dispatcher.publish_held()

    assert states(ids) == {"INIT"}
    assert published and [start(batch.batch_no, "w") for batch in published] == [None] * len(published)
