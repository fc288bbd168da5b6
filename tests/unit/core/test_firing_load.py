"""The load of a day, against a walk over every minute that asks each job by itself."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tasks_app.core.calendars import Days, OnDayOff
from tasks_app.core.firing_load import (
    LEAST,
    MINUTES,
    SECONDS,
    FiringLoad,
    JobGroup,
    advise,
    count,
    minute_after,
    minutes_of,
    peaks,
    seconds_of,
)
from tasks_app.core.lanes import LANES
from tasks_app.core.schedule import Schedule
from tests.support.scale import FULL
from tests.unit.core.test_cron import as_text, fields, matches

BEGINS = datetime(2026, 11, 16, 12, 31, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Pacific/Apia")


def by_walking(begins: datetime, jobs: list[tuple]) -> dict[str, list[int]]:
    """Every job by itself and every minute by itself, two days before the day as well: a delay comes from there."""
    load = {lane: [0] * MINUTES for lane in LANES}
    for values, zone, lane, delay, first, last in jobs:
        for back in range(-2 * MINUTES, MINUTES):
            fire = begins + back * MINUTE
            if (first and fire < first) or (last and fire > last):
                continue
            wall = fire.astimezone(ZoneInfo(zone)).replace(tzinfo=None)
            minute = (back * 60 + delay) // 60
            if matches(values, wall, both_days=False) and 0 <= minute < MINUTES:
                load[lane][minute] += 1
    return load


jobs = st.tuples(
    fields,
    st.sampled_from(ZONES),
    st.sampled_from(LANES),
    st.integers(0, 3 * 3600),
    st.none() | st.integers(-600, 1500).map(lambda minutes: BEGINS + minutes * MINUTE + timedelta(seconds=7)),
    st.none() | st.integers(-600, 1500).map(lambda minutes: BEGINS + minutes * MINUTE + timedelta(seconds=7)),
)


# A smaller example would cost more walks than it is worth.
@settings(max_examples=25 if FULL else 8, deadline=None, phases=[Phase.generate])
@given(st.lists(jobs, min_size=1, max_size=3))
def test_the_load_is_what_a_walk_over_every_minute_finds(made):
    from tasks_app.core.errors import InvalidTask

    try:
        groups = [
            JobGroup(Schedule(cron=as_text(values), zone=zone), lane, 1, delay, first, last)
            for values, zone, lane, delay, first, last in made
        ]
    except InvalidTask:
        return  # the 31st of February

    assert count(BEGINS, groups).lanes == by_walking(BEGINS, made)


@settings(max_examples=40 if FULL else 10, deadline=None)
@given(st.integers(1, 100_000), st.integers(0, 99_999), st.integers(0, 7200))
def test_an_interval_is_counted_without_a_walk(every, phase, delay):
    start = int(BEGINS.timestamp())
    expected = [0] * MINUTES
    for fire in range(start - delay, start + SECONDS):
        if (fire - phase) % every == 0 and 0 <= fire + delay - start < SECONDS:
            expected[(fire + delay - start) // 60] += 3

    found = count(BEGINS, [JobGroup(Schedule(every=every, phase=phase % every), "low", 3, delay)])

    assert found.lanes["low"] == expected


@pytest.mark.parametrize(
    "schedule",
    [
        Schedule(cron="*/7 * * * *", zone="America/New_York"),
        Schedule(cron="30 1 * * *", zone="America/New_York"),
        Schedule(cron="15/20 30 2,6 * * ?", zone="America/New_York"),
        Schedule(cron="0 9 * * MON", zone="America/New_York", days=Days(1, "off", frozenset({6, 7}), {}, {})),
        Schedule(
            cron="0 9 * * *",
            zone="America/New_York",
            days=Days(1, "off", frozenset({6, 7}), {}, {}),
            on_day_off=OnDayOff.SHIFT,
        ),
        Schedule(at=datetime(2026, 11, 1, 7, 0, 30, tzinfo=UTC)),
        Schedule(every=3600, phase=5, zone="UTC", days=Days(1, "off", frozenset({7}), {}, {})),
    ],
    ids=str,
)
@pytest.mark.parametrize("day", [datetime(2026, 11, 1, 3, tzinfo=UTC), datetime(2026, 3, 8, 3, tzinfo=UTC)], ids=str)
def test_around_a_change_of_the_clocks_and_by_a_calendar_it_is_what_the_schedule_itself_says(schedule, day):
    low = int(day.timestamp())
    said = schedule.until(day - timedelta(microseconds=1), day + timedelta(days=1) - timedelta(microseconds=1), 10**6)

    assert list(seconds_of(schedule, low, low + SECONDS)) == [int(at.timestamp()) for at in said]


def test_only_the_runs_that_are_left_are_counted():
    hourly = JobGroup(Schedule(cron="0 * * * *"), "default", runs=3)

    assert minutes_of(hourly, BEGINS) == [29, 89, 149]
    assert minutes_of(hourly._replace(runs=0), BEGINS) == []
    assert minutes_of(hourly._replace(runs=-1), BEGINS) == []


def test_what_is_too_much_is_left_out_and_told_the_largest_first():
    many = [JobGroup(Schedule(cron="* * * * *"), "default", 50), JobGroup(Schedule(cron="*/2 * * * *"), "low", 7)]

    found = count(BEGINS, many, most_steps=2000)

    assert (found.jobs, found.left_out, sum(found.lanes["low"])) == (57, 7, 0)
    assert found.lanes["default"] == [50] * MINUTES


def test_a_day_begins_with_the_next_whole_minute():
    assert minute_after(datetime(2026, 11, 16, 12, 30, 59, 999, tzinfo=UTC)) == BEGINS
    assert minute_after(datetime(2026, 11, 16, 12, 30, tzinfo=UTC)) == BEGINS


# Peaks

MIDNIGHT = JobGroup(Schedule(cron="0 0 * * *"), "default")
AT_MIDNIGHT = 689  # the minute of the day


def a_load(*groups: JobGroup) -> FiringLoad:
    return count(BEGINS, groups)


def by_name(jitter: int) -> int:
    """A job whose own delay is half of its jitter."""
    return jitter // 2


def test_everybody_at_midnight_is_a_peak_and_an_even_load_is_none():
    everybody = a_load(MIDNIGHT._replace(jobs=200))
    evenly = a_load(JobGroup(Schedule(cron="* * * * *"), "default", 200))

    assert peaks(everybody, None) == [AT_MIDNIGHT]
    assert peaks(evenly, None) == []
    assert peaks(evenly, 1000.0) == []
    assert len(peaks(evenly, 199.0)) == 5  # more than can be run, and no more than five are listed


def test_few_firings_are_no_peak_unless_nobody_can_run_them():
    few = a_load(MIDNIGHT._replace(jobs=LEAST - 1))

    assert peaks(few, None) == []
    assert peaks(few, 10.0) == [AT_MIDNIGHT]


def test_a_job_in_a_peak_is_offered_the_shortest_jitter_that_takes_it_out():
    load = a_load(MIDNIGHT._replace(jobs=200), JobGroup(Schedule(cron="1 0 * * *"), "default", 90))

    advice = advise(load, MIDNIGHT, by_name, capacity=None)

    assert advice.at == datetime(2026, 11, 17, tzinfo=UTC)
    # With 60 s it would come half a minute later: in the same minute. With 300 s, two and a half: past both peaks.
    assert (advice.firings, advice.times, advice.jitter, advice.better) == (201, 1, 300, 1)


def test_a_job_that_is_counted_already_is_not_its_own_neighbour():
    load = a_load(MIDNIGHT._replace(jobs=LEAST))

    assert advise(load, MIDNIGHT, by_name, capacity=None).firings == LEAST + 1
    assert advise(load, MIDNIGHT, by_name, capacity=None, was=MIDNIGHT).firings == LEAST
    assert advise(a_load(MIDNIGHT._replace(jobs=LEAST - 1)), MIDNIGHT, by_name, capacity=None, was=MIDNIGHT) is None


def test_no_jitter_is_offered_that_would_run_into_the_next_firing_or_does_not_help():
    even = JobGroup(Schedule(cron="* * * * *"), "default", 100)

    full = advise(a_load(even), MIDNIGHT, by_name, capacity=50.0)
    often = advise(a_load(even), JobGroup(Schedule(cron="* * * * *"), "low"), by_name, capacity=50.0)
    once = advise(a_load(MIDNIGHT._replace(jobs=99)), JobGroup(Schedule(at=full.at), "low"), by_name, capacity=None)

    # A quarter of an hour would take it past the peaks, and past its own next firings.
    fives = JobGroup(Schedule(cron="*/5 * * * *"), "low", 1)
    close = advise(a_load(fives._replace(jobs=100)), fives, by_name, capacity=50.0)

    assert (full.jitter, often.jitter, once.jitter, close.jitter) == (None, None, None, None)
    assert (often.times, once.firings) == (MINUTES, 100)


def test_a_job_that_fires_all_day_hears_nothing_of_one_peak():
    load = a_load(MIDNIGHT._replace(jobs=200))

    assert advise(load, JobGroup(Schedule(cron="*/5 * * * *"), "default"), by_name, capacity=None) is None
    assert advise(load, JobGroup(Schedule(cron="0 */12 * * *"), "default"), by_name, capacity=None).times == 1
