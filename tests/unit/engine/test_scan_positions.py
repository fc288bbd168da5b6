"""Where scans start: after what was read before, unless something may have come there since."""

from math import inf

import pytest

from tasks_app.conf import conf
from tasks_app.engine.beat.scan_positions import BACKLOG_SCAN_SECONDS, ScanPositions, just_before
from tasks_app.lifecycle.claim import ClaimedBatch, LaneView, Place

BEGUN = 1_000.0


@pytest.fixture
def positions():
    """After a full scan: a task of `low` is due later, one of `high` was due before it, and `default` is empty."""
    made = ScanPositions()
    made.begin_full_scan(0.0, ())
    made.note_scan([LaneView("low", BEGUN + 5, 0, 1), LaneView("high", BEGUN - 5, 0, 1)], BEGUN)
    made.note_scan([LaneView("default", None, 0, 1)], BEGUN)
    return made


def test_a_scan_starts_at_the_next_due_task_and_never_after_the_beginning_of_the_last_scan(positions):
    assert positions.by_lane == {
        "low": just_before(BEGUN),
        "high": just_before(BEGUN - 5),
        "default": just_before(BEGUN),
    }


def test_a_signal_moves_positions_back_and_never_forward(positions):
    positions.wake(BEGUN - 2)

    assert positions.by_lane["low"] == positions.by_lane["default"] == just_before(BEGUN - 2)
    assert positions.by_lane["high"] == just_before(BEGUN - 5)


def test_a_signal_without_a_due_time_restarts_all_lanes(positions):
    positions.wake(-inf)

    assert set(positions.by_lane.values()) == {Place()}


def test_a_backlog_continues_at_the_first_row_that_its_claim_left(positions):
    left = Place(BEGUN - 4, 17)

    positions.continue_backlog("high", [ClaimedBatch("1", "high", "T", 1, left_from=left)])
    positions.continue_backlog("low", [ClaimedBatch("2", "low", "T", 1)])
    positions.continue_backlog("default", [])

    assert positions.by_lane == {"low": just_before(BEGUN), "high": left, "default": just_before(BEGUN)}


def test_a_full_scan_is_due_after_look_seconds(positions):
    assert not positions.full_scan_is_due(conf().LOOK_SECONDS * 0.9)
    assert positions.full_scan_is_due(conf().LOOK_SECONDS)


def test_a_full_scan_restarts_a_lane_with_a_backlog_less_often(positions):
    assert positions.begin_full_scan(BACKLOG_SCAN_SECONDS * 0.9, {"high"}) is False
    assert list(positions.by_lane) == ["high"]

    assert positions.begin_full_scan(BACKLOG_SCAN_SECONDS, {"high"}) is True
    assert positions.by_lane == {}


def test_a_full_scan_counts_all_waiting_batches(positions):
    positions.note_waiting_from(BEGUN)
    assert BEGUN - 1 < positions.waiting_from < BEGUN

    positions.begin_full_scan(1.0, {"high"})

    assert positions.waiting_from == -inf


def test_with_other_shards_everything_is_scanned_again(positions):
    positions.note_waiting_from(BEGUN)

    positions.forget()

    assert (positions.by_lane, positions.waiting_from, positions.full_scan_is_due(0.0)) == ({}, -inf, True)
