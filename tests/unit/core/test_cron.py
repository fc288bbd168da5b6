"""Cron strings: what each dialect means, what is refused, and the words for it."""

# ruff: noqa: DTZ001  (wall clocks have no zone)

import calendar
from datetime import datetime, timedelta
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks_app.core.cron import LONGEST, parse
from tasks_app.core.errors import InvalidTask
from tests.support.scale import FULL

MONDAY = datetime(2026, 11, 2)


def walls(text: str, count: int = 3, after: datetime = MONDAY) -> list[str]:
    return [f"{wall:%a %d %b %Y %H:%M:%S}" for wall in islice(parse(text).walls(after), count)]


@pytest.mark.parametrize(
    ("text", "fires"),
    [
        ("0 9 * * MON-FRI", ["Mon 02 Nov 2026 09:00:00", "Tue 03 Nov 2026 09:00:00"]),
        ("*/20 * * * *", ["Mon 02 Nov 2026 00:20:00", "Mon 02 Nov 2026 00:40:00"]),
        ("5/20 * * * *", ["Mon 02 Nov 2026 00:05:00", "Mon 02 Nov 2026 00:25:00"]),
        ("5-5/20 * * * *", ["Mon 02 Nov 2026 00:05:00", "Mon 02 Nov 2026 01:05:00"]),
        # Both days restricted: either will do in cron, both must match in Spring and Quartz.
        ("0 0 13 * FRI", ["Fri 06 Nov 2026 00:00:00", "Fri 13 Nov 2026 00:00:00"]),
        ("0 0 0 13 * FRI", ["Fri 13 Nov 2026 00:00:00", "Fri 13 Aug 2027 00:00:00"]),
        ("0 0 0 13 * ?", ["Fri 13 Nov 2026 00:00:00", "Sun 13 Dec 2026 00:00:00"]),
        ("30 0 0 ? * 0", ["Sun 08 Nov 2026 00:00:30", "Sun 15 Nov 2026 00:00:30"]),
        ("30 0 0 ? * 7", ["Sun 08 Nov 2026 00:00:30", "Sun 15 Nov 2026 00:00:30"]),
        ("0 0 * * sun", ["Sun 08 Nov 2026 00:00:00", "Sun 15 Nov 2026 00:00:00"]),
        ("0 0 L * *", ["Mon 30 Nov 2026 00:00:00", "Thu 31 Dec 2026 00:00:00"]),
        ("0 0 LW 2 *", ["Fri 26 Feb 2027 00:00:00", "Tue 29 Feb 2028 00:00:00"]),
        ("0 0 * * 5L", ["Fri 27 Nov 2026 00:00:00", "Fri 25 Dec 2026 00:00:00"]),
        ("0 0 0 ? * FRIL", ["Fri 27 Nov 2026 00:00:00", "Fri 25 Dec 2026 00:00:00"]),
        ("0 0 * * MON#2", ["Mon 09 Nov 2026 00:00:00", "Mon 14 Dec 2026 00:00:00"]),
        ("0 0 * jan,mar-apr *", ["Fri 01 Jan 2027 00:00:00", "Sat 02 Jan 2027 00:00:00"]),
        ("0 0 29 2 *", ["Tue 29 Feb 2028 00:00:00", "Sun 29 Feb 2032 00:00:00"]),
        ("*/10 59 23 31 12 *", ["Thu 31 Dec 2026 23:59:00", "Thu 31 Dec 2026 23:59:10"]),
        ("@weekly", ["Sun 08 Nov 2026 00:00:00", "Sun 15 Nov 2026 00:00:00"]),
        ("  0   12 * *\t* ", ["Mon 02 Nov 2026 12:00:00", "Tue 03 Nov 2026 12:00:00"]),
    ],
)
def test_what_a_string_means(text, fires):
    assert walls(text, len(fires)) == fires


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "give a string"),
        (None, "give a string"),
        (["0 9 * * *"], "give a string"),
        ("* * * *", "has 4 fields"),
        ("0 0 * * * * 2026", "has 7 fields"),
        ("@reboot", "has 1 fields"),
        ("60 * * * *", "minute '60' is out of range; it goes from 0 to 59"),
        ("* 24 * * *", "hour '24'"),
        ("* * 0 * *", "day of month '0'"),
        ("* * * 13 *", "month '13'"),
        ("* * * * 8", "day of week '8'"),
        ("* * * * MON#6", "MON#6"),
        ("* * * * #2", "#2"),
        ("* * * * L", "'L'"),
        ("* * 1W * *", "1W"),
        ("* * L-3 * *", "L-3"),
        ("* * L/2 * *", "L/2"),
        ("*/0 * * * *", "step"),
        ("*/61 * * * *", "step"),
        ("* * * * FRI-MON", "goes backwards"),
        ("1-2-3 * * * *", "1-2-3"),
        (", * * * *", "minute ''"),
        ("*-5 * * * *", "can't be read"),
        ("? * * * *", "minute '?'"),
        ("* * ? * *", "'?'"),  # only the six fields have it
        ("0 0 30 2 *", "never fires"),
        ("0 0 31 4,6,9,11 *", "never fires"),
        ("0 0 0 31 * MON#1", "never fires"),
        ("0 0 0 29 2 MON#1", "never fires"),
        ("０ 9 * * *", "ASCII"),
        ("0 9 * * *\0", "ASCII"),
        ("0 9 * * 🦊", "ASCII"),
        ("<script> * * * *", "can't be read"),
        ("0," * 200 + "0 * * * *", f"at most {LONGEST}"),
        ("0-99999999999999999999 * * * *", "can't be read"),
    ],
)
def test_a_string_that_makes_no_sense_is_refused_with_the_field_and_the_rule(text, words):
    with pytest.raises(InvalidTask) as refused:
        parse(text)

    assert words in str(refused.value)


def test_a_day_that_comes_once_in_forty_years_is_found():
    assert walls("0 0 0 29 2 MON", 3) == [
        "Mon 29 Feb 2044 00:00:00",
        "Mon 29 Feb 2072 00:00:00",
        "Mon 29 Feb 2112 00:00:00",
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0 9 * * MON-FRI", "At 09:00 on Monday through Friday"),
        ("*/5 * * * *", "Every fifth minute of every hour"),
        ("0 9 1 * MON", "At 09:00 on the first day of month or on Monday"),
        ("0 0 9 1 * MON", "At 09:00 on the first day of month if it is Monday"),
        ("0 0 0 L * ?", "At 00:00 on the last day of every month"),
        ("@hourly", "At the start of every hour"),
    ],
)
def test_a_schedule_is_told_in_words(text, words):
    assert parse(text).words == words


# Against an oracle that knows neither cronsim nor our parser: a string made from sets of numbers, and a walk over
# every minute that asks the sets.
def field(low: int, high: int):
    return st.one_of(st.none(), st.frozensets(st.integers(low, high), min_size=1, max_size=5))


fields = st.tuples(field(0, 59), field(0, 23), field(1, 31), field(1, 12), field(0, 6))


def as_text(values) -> str:
    return " ".join("*" if one is None else ",".join(map(str, sorted(one))) for one in values)


def matches(values, wall: datetime, both_days: bool) -> bool:
    minute, hour, day, month, weekday = values
    day_fits = day is None or wall.day in day
    weekday_fits = weekday is None or wall.isoweekday() % 7 in weekday
    days = day_fits and weekday_fits if both_days or day is None or weekday is None else day_fits or weekday_fits
    return (
        days
        and (minute is None or wall.minute in minute)
        and (hour is None or wall.hour in hour)
        and (month is None or wall.month in month)
    )


@settings(max_examples=80 if FULL else 12, deadline=None)
@given(fields, st.booleans(), st.integers(0, 400 * 24 * 60))
def test_the_times_are_those_a_walk_over_every_minute_finds(values, springs, start):
    text = ("0 " if springs else "") + as_text(values)
    after = MONDAY + timedelta(minutes=start)
    try:
        cron = parse(text)
    except InvalidTask:
        days = (MONDAY + timedelta(days=n) for n in range(28 * 366))
        assert not any(matches((None, None, *values[2:]), day, springs) for day in days)
        return
    found, wall, end = [], after, after + timedelta(days=3)
    while (wall := wall + timedelta(minutes=1)) <= end:
        if matches(values, wall, springs):
            found.append(wall)

    fires = []
    for fire in cron.walls(after):
        if fire > end:
            break
        fires.append(fire)
    assert fires == found


# The same for days, with every form that an item may have (names, ranges, steps, L, LW, MON#2), drawn with its rule.
MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
DAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]


def last_of_month(day: datetime) -> datetime:
    return day.replace(day=calendar.monthrange(day.year, day.month)[1])


def last_weekday(day: datetime) -> int:
    last = last_of_month(day)
    return last.day - max(0, last.isoweekday() - 5)


@st.composite
def numbers(draw, low: int, high: int, names=(), first: int = 0):
    """An item of a field, and the numbers that it means."""

    def word(number: int) -> str:
        named = number - first < len(names) and draw(st.booleans())
        return names[number - first] if named else str(number)

    start = draw(st.integers(low, high))
    end, step = draw(st.integers(start, high)), draw(st.integers(1, high))
    return draw(
        st.sampled_from(
            [
                (word(start), {start}),
                (f"{word(start)}-{word(end)}", set(range(start, end + 1))),
                (f"*/{step}", set(range(low, high + 1, step))),
                (f"{word(start)}/{step}", set(range(start, high + 1, step))),
                (f"{word(start)}-{word(end)}/{step}", set(range(start, end + 1, step))),
            ]
        )
    )


@st.composite
def day_items(draw):
    text, meant = draw(numbers(1, 31))
    return draw(
        st.sampled_from(
            [
                (text, lambda day: day.day in meant),
                ("L", lambda day: day == last_of_month(day)),
                ("LW", lambda day: day.day == last_weekday(day)),
            ]
        )
    )


@st.composite
def weekday_items(draw):
    text, meant = draw(numbers(0, 7, DAYS))
    wanted, nth = draw(st.integers(0, 7)), draw(st.integers(1, 5))
    word = DAYS[wanted % 7] if draw(st.booleans()) else str(wanted)
    is_it = lambda day: day.isoweekday() % 7 == wanted % 7  # noqa: E731
    return draw(
        st.sampled_from(
            [
                (text, lambda day: day.isoweekday() in meant or day.isoweekday() % 7 in meant),
                (f"{word}L", lambda day: is_it(day) and day.day + 7 > last_of_month(day).day),
                (f"{word}#{nth}", lambda day: is_it(day) and (day.day + 6) // 7 == nth),
            ]
        )
    )


@st.composite
def month_items(draw):
    text, meant = draw(numbers(1, 12, MONTHS, first=1))
    return text, lambda day: day.month in meant


def listed(items):
    """A whole field: its text, and the rule that any of its items fits."""
    anything = st.just(("*", lambda day: True))
    some = st.lists(items, min_size=1, max_size=3).map(
        lambda drawn: (",".join(text for text, _ in drawn), lambda day: any(rule(day) for _, rule in drawn))
    )
    return st.one_of(anything, some)


@settings(max_examples=80 if FULL else 12, deadline=None)
@given(listed(day_items()), listed(month_items()), listed(weekday_items()), st.booleans(), st.integers(0, 1500))
def test_the_days_are_those_a_walk_over_every_day_finds(day, month, weekday, springs, start):
    text = f"{'0 ' if springs else ''}0 0 {day[0]} {month[0]} {weekday[0]}"
    both = springs or day[0][0] == "*" or weekday[0][0] == "*"

    def fits(one: datetime) -> bool:
        fitting = (day[1](one), weekday[1](one))
        return month[1](one) and (all(fitting) if both else any(fitting))

    after = MONDAY + timedelta(days=start)
    wanted = [one for n in range(1, 2000) if fits(one := after + timedelta(days=n))][:8]
    try:
        fires = list(islice(parse(text).walls(after), len(wanted)))
    except InvalidTask as refused:
        assert "never fires" in str(refused)
        fires = []

    assert fires == wanted


@settings(max_examples=100)
@given(numbers(0, 23), numbers(0, 59), numbers(0, 59))
def test_the_times_of_a_day_are_those_that_its_items_name(hour, minute, second):
    cron = parse(f"{second[0]} {minute[0]} {hour[0]} * * *")

    wanted = ((h, m, s) for h in sorted(hour[1]) for m in sorted(minute[1]) for s in sorted(second[1]))
    fires = [(at.hour, at.minute, at.second) for at in islice(cron.walls(MONDAY - timedelta(seconds=1)), 30)]
    assert fires[: len(hour[1]) * len(minute[1]) * len(second[1])] == list(islice(wanted, 30))


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text):
    try:
        assert parse(text).words
    except InvalidTask as refused:
        assert "cron" in str(refused)
