"""Calendars: which days are off, what becomes of firings on them, and what is refused."""

from datetime import UTC, date, datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

import pytest

from tasks_app.core.calendars import MOST_DAYS, Days, OnDayOff, checked_day, checked_days, checked_weekdays, refuse_both
from tasks_app.core.errors import InvalidTask
from tasks_app.core.firings import newest
from tasks_app.core.schedule import Schedule

BERLIN = ZoneInfo("Europe/Berlin")
CHRISTMAS = {date(2026, 12, 25): "Christmas Day", date(2026, 12, 26): "Boxing Day"}
MONDAY = datetime(2026, 12, 21, tzinfo=UTC)


def days(weekdays=(6, 7), off=CHRISTMAS, working=()) -> Days:
    return Days("one", "holidays", frozenset(weekdays), dict(off), dict.fromkeys(working, ""))


def daily(how=OnDayOff.SKIP, calendar=None, **options) -> Schedule:
    options = options or {"cron": "0 9 * * *"}
    return Schedule(zone="Europe/Berlin", days=calendar or days(), on_day_off=how, **options)


def local(schedule: Schedule, count: int, after: datetime = MONDAY) -> list[str]:
    return [f"{at.astimezone(BERLIN):%a %d %H:%M}" for at in schedule.next(after, count)]


def test_a_firing_on_a_day_off_falls_out():
    assert local(daily(), 6) == [
        "Mon 21 09:00",
        "Tue 22 09:00",
        "Wed 23 09:00",
        "Thu 24 09:00",
        "Mon 28 09:00",
        "Tue 29 09:00",
    ]


def test_those_that_shift_to_the_same_moment_become_one():
    assert local(daily(OnDayOff.SHIFT), 6) == local(daily(), 6)


def test_a_firing_is_shifted_to_the_same_time_of_the_next_working_day():
    schedule = daily(OnDayOff.SHIFT, cron="30 7 25 * *")

    assert local(schedule, 2) == ["Mon 28 07:30", "Mon 25 07:30"]  # and of January, which is a Monday


def test_a_shift_past_the_next_regular_firing_leaves_both_in_the_order_of_their_times():
    off = days(weekdays=(), off={date(2026, 12, 22): ""})
    schedule = daily(OnDayOff.SHIFT, off, cron="0 */18 22,23 12 *")

    # Tuesday's 00:00 and 18:00 become Wednesday's, which has its own at 00:00: 18:00 comes after it, once.
    assert local(schedule, 2) == ["Wed 23 00:00", "Wed 23 18:00"]
    # Thursday's 01:00 and Friday's 13:00 come on Saturday, and then Sunday's own.
    closed = {date(2026, 12, 24): "", date(2026, 12, 25): ""}
    rolling = daily(OnDayOff.SHIFT, days(weekdays=(), off=closed), every=36 * 3600)
    assert local(rolling, 4) == ["Tue 22 13:00", "Sat 26 01:00", "Sat 26 13:00", "Sun 27 01:00"]


def test_a_shifted_firing_is_found_from_any_moment_on():
    schedule = daily(OnDayOff.SHIFT, cron="0 9 * * sat")
    everything = schedule.next(MONDAY - timedelta(days=30), 12)

    for after in (MONDAY + timedelta(hours=hour) for hour in range(0, 24 * 14, 5)):
        assert schedule.next(after, 1)[0] == next(at for at in everything if at > after)


def test_some_days_are_worked_though_their_weekday_is_off():
    worked = days(working=[date(2026, 12, 27)])

    assert local(daily(calendar=worked), 6)[4:] == ["Sun 27 09:00", "Mon 28 09:00"]


def test_the_day_is_that_of_the_zone():
    late = Schedule(cron="30 23 * * *", zone="UTC", days=days())
    berlin = Schedule(cron="30 0 * * *", zone="Europe/Berlin", days=days())

    # 23:30 UTC on Sunday is Monday in Berlin, but the calendar is asked for the day in the schedule's own zone.
    assert [at.isoweekday() for at in late.next(MONDAY, 7)] == [1, 2, 3, 4, 1, 2, 3]
    assert [at.astimezone(BERLIN).isoweekday() for at in berlin.next(MONDAY, 7)] == [2, 3, 4, 1, 2, 3, 4]
    every = Schedule(every=86_400, phase=82_800, zone="Europe/Berlin", days=days())
    assert {at.astimezone(BERLIN).isoweekday() for at in every.next(MONDAY, 30)} == {1, 2, 3, 4, 5}


def test_a_shift_onto_a_change_of_the_clocks_follows_its_rules():
    # In 2027 the clocks go forward on Sunday, 28 March, at 02:00.
    off = days(weekdays=(), off={date(2027, 3, 27): ""})
    after = datetime(2027, 3, 26, 12, tzinfo=UTC)
    shifted = Schedule(cron="30 2 27 3 *", zone="Europe/Berlin", days=off, on_day_off=OnDayOff.SHIFT)
    left_out = Schedule(cron="30 2 27 3 *", zone="Europe/Berlin", days=off, on_day_off=OnDayOff.SHIFT, gap="skip")

    assert shifted.next(after, 1) == [datetime(2027, 3, 28, 3, 30, tzinfo=BERLIN).astimezone(UTC)]
    assert left_out.next(after, 1)[0].year == 2028


def test_a_second_long_rhythm_steps_over_days_off_at_once():
    schedule = Schedule(every=1, days=days(off={date(2026, 12, 24) + timedelta(days=n): "" for n in range(300)}))

    assert schedule.next(datetime(2026, 12, 23, 23, 59, 58, tzinfo=UTC), 2)[1].year == 2027


@pytest.mark.parametrize("how", OnDayOff)
@pytest.mark.parametrize(
    "cron, calendar",
    [
        ("0 9 * * sun", days()),
        ("0 9 25 12 *", days(off={date(y, 12, 25): "" for y in range(2020, 2200)})),
        ("0 9 * * *", days(range(1, 8))),
    ],
    ids=["sundays", "christmas", "every day"],
)
def test_a_schedule_that_never_fires_ends(how, cron, calendar):
    schedule = daily(how, calendar, cron=cron)

    found = list(islice(schedule.after(MONDAY), 3))
    assert found == [] or how is OnDayOff.SHIFT
    assert newest(daily(how, calendar, cron=cron), MONDAY, MONDAY + timedelta(days=40), 5) is not None


def test_what_was_missed_is_asked_of_the_calendar_too():
    found = newest(daily(), MONDAY, MONDAY + timedelta(days=9), 4)

    assert [f"{at:%d}" for at in found] == ["23", "24", "28", "29"]


def test_the_days_on_which_it_would_have_fired_are_told_with_where_they_go():
    shifted = list(daily(OnDayOff.SHIFT).days_off(MONDAY, MONDAY + timedelta(days=8)))
    skipped = list(daily().days_off(MONDAY, MONDAY + timedelta(days=8)))

    assert [one.day.day for one in shifted] == [one.day.day for one in skipped] == [25, 26, 27]
    assert {one.shifted_to for one in shifted} == {datetime(2026, 12, 28, 9, tzinfo=BERLIN)}
    assert {one.shifted_to for one in skipped} == {None}
    assert [days().why(one.day) for one in skipped] == ["Christmas Day", "Boxing Day", "Sunday"]


def test_fires_at_knows_its_own_moments():
    at = datetime(2026, 12, 24, 9, tzinfo=BERLIN)

    assert daily().fires_at(at.astimezone(UTC))
    assert not daily().fires_at(at.astimezone(UTC) + timedelta(days=1))
    assert not daily().fires_at(at.astimezone(UTC) + timedelta(minutes=1))


def test_schedules_of_different_versions_of_a_calendar_are_different():
    other = Days("two", "holidays", frozenset(), {}, {})

    assert daily() == daily() != daily(calendar=other)


def test_in_words_the_calendar_is_named():
    assert daily().words.endswith("Europe/Berlin time, except on days off in the calendar 'holidays'")
    assert "on the next working day if it is a day off in the calendar 'holidays'" in daily(OnDayOff.SHIFT).words


@pytest.mark.parametrize(
    "options, words",
    [
        ({"on_day_off": "bend", "cron": "0 9 * * *"}, "on_day_off='bend' is unknown; use skip or shift."),
        ({"at": MONDAY}, "a job with a single time (at) has none"),
        (
            {"every": 60, "on_day_off": "shift"},
            "needs at least 300 seconds between two firings, and this schedule has 60",
        ),
    ],
)
def test_what_a_calendar_can_not_be_combined_with_is_refused(options, words):
    with pytest.raises(InvalidTask) as refused:
        Schedule(days=days(), **options)
    assert words in str(refused.value)


@pytest.mark.parametrize(
    "given, words",
    [
        ("25.12.2026", "days_off has '25.12.2026', which is not a day; write it like 2026-12-25."),
        ("2026-2-5", "which is not a day"),
        ("20261225", "which is not a day"),
        ("2026-12-25T00:00", "which is not a day"),
        ("２０２６-12-25", "which is not a day"),
        ("", "which is not a day"),
        ("tomorrow", "which is not a day"),
        ("2026-02-30", "days_off has '2026-02-30', but there is no such day."),
        ("0001-01-01", "a calendar has days from 1970 to 2199."),
        (20261225, "which is not a day"),
        (None, "which is not a day"),
        (datetime(2026, 12, 25, tzinfo=UTC), "which is not a day"),
    ],
)
def test_odd_days_are_refused_with_the_way_to_write_them(given, words):
    with pytest.raises(InvalidTask) as refused:
        checked_day("days_off", given)
    assert words in str(refused.value)


def test_days_are_kept_in_order_with_what_they_are_called():
    assert checked_days("days_off", ["2026-12-26", date(2026, 12, 25)]) == {"2026-12-25": "", "2026-12-26": ""}
    assert checked_days("days_off", {" 2026-12-25 ": "Christmas\n\0 Day"}) == {"2026-12-25": "Christmas Day"}
    assert len(checked_days("days_off", {"2026-12-25": "x" * 500})["2026-12-25"]) == 100


@pytest.mark.parametrize(
    "check, words",
    [
        (lambda: checked_days("days_off", "2026-12-25"), "must be a list of days"),
        (lambda: checked_days("days_off", None), "must be a list of days"),
        (lambda: checked_days("days_off", {"2026-12-25": 7}), "what a day is called is a text"),
        (
            lambda: checked_days("days_off", [date(1990, 1, 1) + timedelta(days=n) for n in range(MOST_DAYS + 1)]),
            "has 5,001 days; a calendar lists at most 5,000.",
        ),
        (lambda: checked_weekdays("Sunday"), "must be a list of days"),
        (lambda: checked_weekdays([0]), "a day of the week is 1 (Monday) to 7 (Sunday), or its name."),
        (lambda: checked_weekdays([True]), "a day of the week is 1"),
        (lambda: checked_weekdays(["Sundy"]), "Did you mean 'Sunday'?"),
        (lambda: checked_weekdays(range(1, 8)), "no day would be a working day"),
        (lambda: refuse_both({"2026-12-25": ""}, {"2026-12-25": ""}), "leave it in one of the two lists"),
    ],
)
def test_what_makes_no_calendar_is_refused(check, words):
    with pytest.raises(InvalidTask) as refused:
        check()
    assert words in str(refused.value)


def test_days_of_the_week_have_numbers_and_names():
    assert checked_weekdays(["Sunday", " sat ", 7, "SATURDAY"]) == [6, 7]
