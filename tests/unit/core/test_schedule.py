"""When a schedule fires, over real changes of the clocks in several zones."""

# ruff: noqa: DTZ001  (wall clocks have no zone)

import itertools
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks_app.core.cron import Cron
from tasks_app.core.errors import InvalidTask
from tasks_app.core.schedule import Gap, Repeat, Schedule, in_zone
from tasks_app.core.zones import changes, zone_of
from tests.support.scale import FULL, some
from tests.unit.core.test_cron import as_text, field, matches

NEW_YORK, BERLIN, LORD_HOWE, BEIRUT, APIA = (
    "America/New_York",
    "Europe/Berlin",
    "Australia/Lord_Howe",
    "Asia/Beirut",
    "Pacific/Apia",
)


def local(schedule: Schedule, after: datetime, count: int) -> list[str]:
    zone = zone_of(schedule.zone)
    return [f"{fire.astimezone(zone):%d %H:%M %z}" for fire in schedule.next(after, count)]


@pytest.mark.parametrize(
    ("cron", "zone", "gap", "after", "fires"),
    [
        # 02:00 to 03:00 is left out on the 8th of March 2026.
        ("30 2 * * *", NEW_YORK, "skip", datetime(2026, 3, 7, 20), ["09 02:30 -0400", "10 02:30 -0400"]),
        ("30 2 * * *", NEW_YORK, "shift", datetime(2026, 3, 7, 20), ["08 03:30 -0400", "09 02:30 -0400"]),
        ("0 2 * * *", NEW_YORK, "shift", datetime(2026, 3, 7, 20), ["08 03:00 -0400", "09 02:00 -0400"]),
        # A shifted time that meets another is one firing, not two.
        ("30 2,3 * * *", NEW_YORK, "shift", datetime(2026, 3, 8, 5), ["08 03:30 -0400", "09 02:30 -0400"]),
        ("45 2,3 * * *", NEW_YORK, "skip", datetime(2026, 3, 8, 5), ["08 03:45 -0400", "09 02:45 -0400"]),
        ("59 1 * * *", NEW_YORK, "shift", datetime(2026, 3, 8, 5), ["08 01:59 -0500", "09 01:59 -0400"]),
        # Half an hour in Australia, midnight itself in Lebanon, a whole day in Samoa.
        ("15 2 * * *", LORD_HOWE, "shift", datetime(2026, 10, 3, 12), ["04 02:45 +1100", "05 02:15 +1100"]),
        ("15 2 * * *", LORD_HOWE, "skip", datetime(2026, 10, 3, 12), ["05 02:15 +1100", "06 02:15 +1100"]),
        ("0 0 * * *", BEIRUT, "shift", datetime(2026, 3, 28, 12), ["29 01:00 +0300", "30 00:00 +0300"]),
        ("0 0 * * *", BEIRUT, "skip", datetime(2026, 3, 28, 12), ["30 00:00 +0300", "31 00:00 +0300"]),
        ("0 0 30 12 *", APIA, "shift", datetime(2011, 12, 29), ["31 00:00 +1400", "30 00:00 +1400"]),
        ("0 0 30 12 *", APIA, "skip", datetime(2011, 12, 29), ["30 00:00 +1400", "30 00:00 +1400"]),
    ],
)
def test_a_time_that_the_clocks_skip(cron, zone, gap, after, fires):
    schedule = Schedule(cron=cron, zone=zone, gap=Gap(gap))

    assert local(schedule, after.replace(tzinfo=UTC), len(fires)) == fires


@pytest.mark.parametrize(
    ("cron", "zone", "repeat", "after", "fires"),
    [
        # 02:00 to 03:00 comes twice on the 25th of October 2026.
        ("30 2 * * *", BERLIN, "once", datetime(2026, 10, 24, 12), ["25 02:30 +0200", "26 02:30 +0100"]),
        (
            "30 2 * * *",
            BERLIN,
            "twice",
            datetime(2026, 10, 24, 12),
            ["25 02:30 +0200", "25 02:30 +0100", "26 02:30 +0100"],
        ),
        ("0 3 * * *", BERLIN, "once", datetime(2026, 10, 24, 12), ["25 03:00 +0100", "26 03:00 +0100"]),
        ("45 1 * * *", LORD_HOWE, "once", datetime(2026, 4, 4, 0), ["05 01:45 +1100", "06 01:45 +1030"]),
        (
            "45 1 * * *",
            LORD_HOWE,
            "twice",
            datetime(2026, 4, 4, 0),
            ["05 01:45 +1100", "05 01:45 +1030", "06 01:45 +1030"],
        ),
        (
            "*/30 2 * * *",
            BERLIN,
            "once",
            datetime(2026, 10, 24, 12),
            ["25 02:00 +0200", "25 02:30 +0200", "26 02:00 +0100"],
        ),
    ],
)
def test_a_time_that_the_clocks_show_twice(cron, zone, repeat, after, fires):
    schedule = Schedule(cron=cron, zone=zone, repeat=Repeat(repeat))

    assert local(schedule, after.replace(tzinfo=UTC), len(fires)) == fires


@pytest.mark.parametrize("gap", list(Gap))
@pytest.mark.parametrize("repeat", list(Repeat))
@pytest.mark.parametrize("after", [datetime(2026, 3, 28, 12, tzinfo=UTC), datetime(2026, 10, 24, 12, tzinfo=UTC)])
def test_gap_and_repeat_count_as_much_when_they_come_as_text(gap, repeat, after):
    asked = {"cron": "30 2 * * *", "zone": BERLIN}
    given = Schedule(**asked, gap=gap, repeat=repeat)
    typed = Schedule(**asked, gap=str(gap.value), repeat=str(repeat.value))

    assert typed.next(after, 3) == given.next(after, 3)


def test_a_schedule_asked_within_the_repeated_hour_does_not_fire_again():
    schedule = Schedule(cron="30 2 * * *", zone=BERLIN)
    between = datetime(2026, 10, 25, 1, 0, tzinfo=UTC)  # 02:00 for the second time

    assert local(schedule, between, 1) == ["26 02:30 +0100"]


def test_a_schedule_asked_within_the_shifted_hour_still_fires():
    schedule = Schedule(cron="30 2 * * *", zone=NEW_YORK)

    assert local(schedule, datetime(2026, 3, 8, 7, 10, tzinfo=UTC), 1) == ["08 03:30 -0400"]
    assert local(schedule, datetime(2026, 3, 8, 7, 30, tzinfo=UTC), 1) == ["09 02:30 -0400"]


@pytest.mark.parametrize("zone", [NEW_YORK, BERLIN])
@pytest.mark.parametrize("month", [3, 4, 10, 11])
def test_an_hourly_job_runs_every_hour_whatever_the_clocks_do(zone, month):
    fires = Schedule(cron="0 * * * *", zone=zone).next(datetime(2026, month, 1, tzinfo=UTC), 24 * 30)

    assert {b - a for a, b in itertools.pairwise(fires)} == {timedelta(hours=1)}


def test_a_day_that_comes_once_in_forty_years_is_not_looked_for_between_any_two_changes(monkeypatch):
    looks = []
    walls = Cron.walls
    monkeypatch.setattr(Cron, "walls", lambda cron, after: looks.append(after) or walls(cron, after))

    fires = Schedule(cron="0 0 0 29 2 MON", zone=BERLIN).next(datetime(2026, 11, 2, tzinfo=UTC), 3)

    assert [fire.astimezone(zone_of(BERLIN)).year for fire in fires] == [2044, 2072, 2112]
    assert len(looks) < 20  # and not twice a year


def test_an_interval_is_elapsed_time_from_its_phase():
    schedule = Schedule(every=600, phase=37)
    after = datetime(2026, 11, 2, tzinfo=UTC)

    assert schedule.next(after, 2) == [after + timedelta(seconds=37), after + timedelta(seconds=637)]
    assert schedule.next(after + timedelta(seconds=37), 1) == [after + timedelta(seconds=637)]


def test_one_time_fires_once():
    at = datetime(2026, 11, 2, 9, tzinfo=UTC)

    assert Schedule(at=at).next(at - timedelta(microseconds=1), 5) == [at]
    assert Schedule(at=at).next(at, 5) == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "exactly one"),
        ({"cron": "* * * * *", "every": 5}, "exactly one"),
        ({"cron": "* * * *"}, "4 fields"),
        ({"cron": "* * * * *", "zone": "Europe/Berln"}, "Did you mean 'Europe/Berlin'"),
        ({"cron": "* * * * *", "zone": "../../etc/passwd"}, "not known"),
        ({"cron": "* * * * *", "zone": ""}, "not known"),
        ({"cron": "* * * * *", "zone": ["UTC"]}, "not known"),
        ({"cron": "* * * * *", "gap": "jump"}, "skip or shift"),
        ({"cron": "* * * * *", "repeat": "thrice"}, "once or twice"),
        ({"every": -5}, "whole number"),
        ({"every": 1.5}, "whole number"),
        ({"every": True}, "whole number"),
        ({"every": 10**9}, "whole number"),
    ],
)
def test_a_schedule_that_makes_no_sense_is_refused(options, words):
    with pytest.raises(InvalidTask) as refused:
        Schedule(**options)

    assert words in str(refused.value)


def test_the_words_name_the_zone():
    assert Schedule(cron="0 9 * * *", zone=BERLIN).words == "At 09:00 every day, Europe/Berlin time"
    assert Schedule(every=90).words == "Every 90 seconds"
    assert Schedule(every=3600).words == "Every hour"
    assert Schedule(at=datetime(2026, 11, 2, 9, tzinfo=UTC), zone=NEW_YORK).words == "Once, on Mon 2 Nov 2026 04:00 EST"
    assert in_zone(datetime(2026, 11, 2, 9, 0, 5, tzinfo=UTC), "UTC") == "Mon 2 Nov 2026 09:00:05 UTC"


def test_every_zone_of_the_system_can_be_asked():
    for name in some(sorted(available_timezones()), 0, of=6):
        assert len(changes(zone_of(name), datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 12, 31, tzinfo=UTC))) <= 6


# The oracle walks over every minute of the world's time, and over every minute that a wall clock there could show.
ZONES = [NEW_YORK, BERLIN, LORD_HOWE, BEIRUT, "Africa/Casablanca", "America/Havana", "Asia/Kolkata", "Pacific/Chatham"]
MOMENTS = {
    name: [c.at for c in changes(zone_of(name), datetime(2024, 1, 1, tzinfo=UTC), datetime(2028, 1, 1, tzinfo=UTC))]
    or [datetime(2026, 6, 1, tzinfo=UTC)]
    for name in ZONES
}
MINUTE = timedelta(minutes=1)


def walked(values, zone: ZoneInfo, gap: str, repeat: str, low: datetime, high: datetime) -> list[datetime]:
    restricted = values[1] is not None and len(values[1]) < 24
    found = set()
    instant = low
    while (instant := instant + MINUTE) <= high:
        wall = instant.astimezone(zone)
        second_time = wall.fold == 1 and restricted and repeat == "once"
        if matches(values, wall, False) and not second_time:
            found.add(instant)
    wall = (low - timedelta(days=1)).astimezone(zone).replace(tzinfo=None, second=0)
    end = (high + timedelta(days=1)).astimezone(zone).replace(tzinfo=None)
    while restricted and gap == "shift" and (wall := wall + MINUTE) <= end:
        instant = wall.replace(tzinfo=zone).astimezone(UTC)
        shown = instant.astimezone(zone).replace(tzinfo=None)
        if shown != wall and matches(values, wall, False) and low < instant <= high:
            found.add(instant)
    return sorted(found)


hours = st.one_of(st.none(), st.frozensets(st.integers(0, 4), min_size=1, max_size=4))
times = st.tuples(field(0, 59), hours, field(1, 31), st.none(), field(0, 6))


@settings(max_examples=60 if FULL else 15, deadline=None)
@given(times, st.sampled_from(ZONES), st.sampled_from(list(Gap)), st.sampled_from(list(Repeat)), st.data())
def test_the_firings_around_a_change_are_those_a_walk_over_every_minute_finds(values, name, gap, repeat, data):
    moment = data.draw(st.sampled_from(MOMENTS[name]))
    low = moment - timedelta(minutes=data.draw(st.integers(-200, 600)))
    high = low + timedelta(hours=30)

    fires = Schedule(cron=as_text(values), zone=name, gap=gap, repeat=repeat).until(low, high, 10_000)

    assert fires == walked(values, zone_of(name), gap, repeat, low, high)
