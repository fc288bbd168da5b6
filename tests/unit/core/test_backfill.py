"""The firings of a range, page by page; and when they would be done."""

import time
from datetime import UTC, datetime, timedelta

import pytest

from tasks_app.core.backfill import PAGE, firings_within, instant_of, microseconds
from tasks_app.core.errors import InvalidTask
from tasks_app.core.firings import Firing
from tasks_app.core.schedule import Schedule
from tasks_app.engine.watch.forecast import Load, forecast

MONDAY = datetime(2026, 3, 2, tzinfo=UTC)
LATER = 1e12


def test_a_range_has_both_its_ends_and_comes_in_pages():
    schedule = Schedule(every=60)

    pages = list(firings_within(schedule, MONDAY, MONDAY + timedelta(minutes=PAGE + 1), LATER))

    assert [len(page) for page in pages] == [PAGE, 2]
    assert instant_of(pages[0][0]) == MONDAY
    assert instant_of(pages[1][-1]) == MONDAY + timedelta(minutes=PAGE + 1)
    assert list(firings_within(schedule, MONDAY + timedelta(seconds=1), MONDAY + timedelta(seconds=59), LATER)) == []


def test_exactly_as_many_as_may_be_are_taken_and_one_more_is_refused():
    schedule, until = Schedule(every=1), MONDAY + timedelta(seconds=9)

    assert sum(map(len, firings_within(schedule, MONDAY, until, LATER, most=10))) == 10
    with pytest.raises(InvalidTask, match="more than 9 firings"):
        list(firings_within(schedule, MONDAY, until, LATER, most=9))


def test_ten_million_firings_take_one_page_at_a_time_and_end_at_the_deadline():
    pages = firings_within(Schedule(every=1), MONDAY, MONDAY + timedelta(days=120), time.monotonic() - 1)

    assert len(next(pages)) == PAGE
    with pytest.raises(InvalidTask, match="took too long; it got as far as 2026-03-02"):
        next(pages)


def test_an_instant_comes_back_from_its_number():
    at = datetime(2026, 3, 2, 1, 2, 3, 456789, tzinfo=UTC)

    assert instant_of(microseconds(at)) == at


def test_a_firing_that_runs_again_has_a_label_of_its_campaign():
    assert Firing(MONDAY, again=7).label == f"b:7:{Firing(MONDAY).label}"


@pytest.mark.parametrize(
    ("load", "pace", "per_second", "words"),
    [
        (Load(4, 1.0, {"A": 0.5}), {}, 6.0, "3.0 of 4 slots are free"),
        (Load(4, 1.0, {"A": 0.5}), {"rate": 2.0}, 2.0, "at the rate of 2 a second"),
        (Load(4, 1.0, {"A": 0.5}), {"most_running": 1}, 2.0, "1 may be under way"),
        (Load(4, 1.0, {"A": 0.01}), {"most_running": 1}, 5.0, "1 may be under way"),
        (
            Load(4, 0.0, {"A": 2e-6}),
            {},
            2_000_000.0,
            "Less than a second, until Mon 02 Mar 00:00 UTC, since a task takes less than 1 ms",
        ),
        (Load(33, 99.0, {"A": 1.0}), {}, 1.0, "1.0 of 33 slots are free"),
        (Load(4, 0.0, {}), {"rate": 2.0}, 2.0, "If that is more than the workers manage, later."),
        (Load(4, 0.0, {}), {}, None, "no task of type A ran within the last day"),
        (Load(0, 0.0, {"A": 1.0}), {"rate": 2.0}, None, "no worker serves lane 'backfill'"),
    ],
)
def test_a_forecast_goes_by_the_narrowest_bound(load, pace, per_second, words):
    found = forecast({"A": 120}, load, "backfill", MONDAY, **pace)

    assert found.per_second == (None if per_second is None else pytest.approx(per_second))
    assert words in found.words
    if per_second is not None:
        assert found.done_at == MONDAY + timedelta(seconds=found.seconds)
        assert found.seconds == pytest.approx(120 / per_second)
