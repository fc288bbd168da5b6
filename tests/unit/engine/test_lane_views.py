"""The lanes as a dispatcher sees them: how much of each it may claim, and how long it waits for one."""

import pytest

from tasks_app.conf import conf
from tasks_app.engine.beat.held_shards import HeldShards
from tasks_app.engine.beat.lane_views import LOCKED_POLL_SECONDS, LaneViews
from tasks_app.lifecycle.claim import ClaimedBatch, LaneShare, LaneView, Place

NOW = 1_000.0
ALL = HeldShards("test", dict.fromkeys(range(4), 1), 4)
HALF = HeldShards("test", dict.fromkeys(range(2), 1), 4)


def lanes(*views: LaneView, shards: HeldShards = ALL) -> LaneViews:
    made = LaneViews("test")
    made.shards = shards
    made.update(list(views))
    return made


def view(next_due: float | None = NOW, *, lane: str = "default", waiting: int = 0, slots: int = 2) -> LaneView:
    return LaneView(lane, next_due, waiting, slots)


@pytest.mark.parametrize(
    "idle",
    [
        pytest.param(view(NOW + 1), id="not due yet"),
        pytest.param(view(None), id="no task"),
        pytest.param(view(slots=0), id="no worker"),
        pytest.param(view(waiting=2 * conf().BATCHES_AHEAD), id="no free slot"),
    ],
)
def test_only_a_due_lane_with_free_slots_is_claimed(idle):
    claimed = lanes(idle, view(lane="low"), view(lane="high")).shares({"default", "low"}, NOW, lambda *_: 8, {})

    assert [share.lane for share in claimed] == ["low"]


def test_a_share_asks_each_shard_for_its_part_of_the_rows_from_the_lane_s_position():
    since = {"default": Place(900.0, 7)}

    [share] = lanes(view(waiting=1)).shares({"default"}, NOW, lambda lane, batches: 10, since)

    assert share == LaneShare("default", 3, 2 * conf().BATCHES_AHEAD - 1, Place(900.0, 7))


def test_a_dispatcher_with_half_of_the_shards_claims_for_half_of_the_slots():
    assert lanes(view(slots=4), shards=HALF).room() == {"default": 2 * conf().BATCHES_AHEAD}


def test_claimed_batches_take_room_until_the_next_scan():
    seen = lanes(view(), view(lane="low"))
    before = seen.room()

    seen.note_claimed([ClaimedBatch("1", "low", "T", 1)])

    assert seen.room() == before | {"low": before["low"] - 1}


@pytest.mark.parametrize(
    ("seen", "seconds"),
    [
        pytest.param(view(), 0.0, id="due"),
        pytest.param(view(lane="low"), LOCKED_POLL_SECONDS, id="its rows are locked"),
        pytest.param(view(NOW + 0.25), 0.25, id="due soon"),
        pytest.param(view(NOW + 3600), conf().LOOK_SECONDS, id="due later"),
        pytest.param(view(None), conf().LOOK_SECONDS, id="no task"),
        pytest.param(view(slots=0), conf().LOOK_SECONDS, id="no worker"),
        pytest.param(view(waiting=99), 0.02, id="no free slot"),
    ],
)
def test_the_wait_ends_when_a_lane_can_be_claimed(seen, seconds):
    assert lanes(seen).wait_seconds(NOW, {"low"}) == seconds


def test_dispatchers_with_fewer_shards_poll_busy_lanes_less_often():
    assert lanes(shards=HALF).busy_poll_seconds == 2 * lanes().busy_poll_seconds
