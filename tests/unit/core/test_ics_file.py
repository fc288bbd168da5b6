"""Days off from iCalendar files: what is read, what is left out and said so, and what is no such file."""

from contextlib import suppress
from datetime import date, timedelta

import pytest

from tasks_app.core.errors import InvalidTask
from tasks_app.core.ics_file import MOST_BYTES, read_days
from tests.support.cpu import ends_in_time

TODAY = date(2026, 11, 16)
BEGIN, END = b"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//EN\r\n", b"END:VCALENDAR\r\n"


def event(*lines: str) -> bytes:
    return "".join(f"{line}\r\n" for line in ("BEGIN:VEVENT", *lines, "END:VEVENT")).encode()


def ics(*events: bytes) -> bytes:
    return BEGIN + b"".join(events) + END


def on(day: str, *more: str) -> bytes:
    return event(f"DTSTART;VALUE=DATE:{day}", *more)


def read(*events: bytes, **options) -> dict[str, str]:
    return {day.isoformat(): name for day, name in read_days(ics(*events), TODAY, **options).days.items()}


def test_an_event_of_whole_days_is_each_of_them():
    assert read(on("20261225", "SUMMARY:Christmas")) == {"2026-12-25": "Christmas"}
    assert read(on("20261224", "DTEND;VALUE=DATE:20261227", "SUMMARY:Closed")) == dict.fromkeys(
        ["2026-12-24", "2026-12-25", "2026-12-26"], "Closed"
    )
    assert list(read(on("20261224", "DURATION:P2D"))) == ["2026-12-24", "2026-12-25"]


def test_a_recurring_event_without_an_end_is_expanded_to_the_horizon():
    years = read(on("20001225", "RRULE:FREQ=YEARLY"), years=5)

    assert list(years) == [f"{year}-12-25" for year in range(2025, 2032)]
    assert len(read(on("20260101", "RRULE:FREQ=DAILY"))) == (date(2037, 1, 1) - date(2026, 1, 1)).days


def test_recurring_events_follow_their_rules_and_exceptions():
    found = read(
        on("20250526", "UID:a", "RRULE:FREQ=YEARLY;BYDAY=-1MO;BYMONTH=5;UNTIL=20281231T000000Z", "SUMMARY:Memorial"),
        on("20251225", "UID:b", "RRULE:FREQ=YEARLY;COUNT=4", "EXDATE;VALUE=DATE:20271225", "SUMMARY:Christmas"),
        on("20281224", "UID:b", "RECURRENCE-ID;VALUE=DATE:20281225", "SUMMARY:Christmas, early"),
        on("20260707", "RDATE;VALUE=DATE:20260709,20260710"),
    )

    assert found == {
        **dict.fromkeys(["2025-05-26", "2026-05-25", "2027-05-31", "2028-05-29"], "Memorial"),
        **dict.fromkeys(["2026-07-07", "2026-07-09", "2026-07-10"], ""),
        **dict.fromkeys(["2025-12-25", "2026-12-25"], "Christmas"),
        "2028-12-24": "Christmas, early",
    }


@pytest.mark.parametrize(
    "left_out, words",
    [
        (event("DTSTART:20261225T090000Z"), "1 event with a time of day was left out."),
        (event("DTSTART;TZID=Mars/Base:20261225T090000"), "1 event with a time of day was left out."),
        (event("SUMMARY:no start"), "1 event without DTSTART was left out."),
        (on("20261301"), "1 event whose DTSTART can't be read was left out."),
        (on("20261225", "RRULE:FREQ=SECONDLY"), "1 event that recurs more than once a day was left out."),
        (on("20261225", "RRULE:FREQ=SOMETIMES"), "1 event whose RRULE can't be read was left out."),
        (on("20261225", "RRULE:FREQ=DAILY;INTERVAL=0"), "1 event whose RRULE can't be read was left out."),
        (on("20261225", "RRULE:FREQ=DAILY", "EXRULE:FREQ=DAILY;X=1"), "1 event whose EXRULE can't be read"),
        *(
            (on("20261225", f"RRULE:{never}"), "1 event whose RRULE can't be read was left out.")
            for never in (
                "FREQ=DAILY;BYMONTH=1;BYYEARDAY=200",
                "FREQ=DAILY;BYMONTH=1;BYWEEKNO=40",
                "FREQ=DAILY;BYSETPOS=2",
                "FREQ=WEEKLY;BYDAY=MO;BYSETPOS=5",
                "FREQ=WEEKLY;BYMONTHDAY=31",
            )
        ),
        (on("99991231", "DURATION:P2D"), "1 event none of whose days lies between 2025-01-01 and 2036-12-31"),
        (on("20261225", "RRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30"), "1 event none of whose days lies between"),
        (on("19991225"), "1 event none of whose days lies between 2025-01-01 and 2036-12-31 was left out."),
        (on("20261225", "STATUS:CANCELLED"), "1 event that is cancelled was left out."),
        (on("20261225", "DTEND;VALUE=DATE:20301225"), "1 event of more than 366 days was left out."),
        (
            on("20261225", "EXDATE:when it rains", "RRULE:FREQ=YEARLY"),
            "1 event whose EXDATE can't be read was left out.",
        ),
        (event("DTSTART:20261225T090000Z", "UID:x", "RECURRENCE-ID:20261225T090000Z"), "1 event with a time of day"),
    ],
)
def test_what_is_no_whole_day_is_left_out_and_told(left_out, words):
    found = read_days(ics(left_out, on("20261226")), TODAY)

    assert list(found.days) == [date(2026, 12, 26)]
    assert len(found.left_out) == 1 and words in found.left_out[0]


@pytest.mark.parametrize(
    "content, words",
    [
        (b"", "the file is empty"),
        (b" \r\n", "the file is empty"),
        (b"hello", "this is not an iCalendar file (.ics)"),
        (b"%PDF-1.7\n\xff\xfe\x00", "this is not an iCalendar file (.ics)"),
        (BEGIN, "this is not a complete iCalendar file (.ics)"),
        (ics(), "no all-day event between 2025-01-01 and 2036-12-31: there is nothing to import."),
        (ics(event("DTSTART:20261225T090000Z")), "nothing to import. 1 event with a time of day was left out."),
        (b" " * 10 + b"x" * MOST_BYTES, "the file has more than 500,000 bytes"),
        (b"BEGIN:VEVENT\r\nEND:VEVENT\r\n", "not an iCalendar file (.ics): it begins with 'BEGIN:VEVENT"),
        (BEGIN + b"BEGIN:VEVENT\r\n" + END, "not an iCalendar file (.ics): 'END:VCALENDAR' follows VEVENT."),
    ],
)
def test_what_is_no_calendar_is_refused(content, words):
    with pytest.raises(InvalidTask) as refused:
        read_days(content, TODAY)
    assert words in str(refused.value)


def test_thousands_of_events_are_read_up_to_the_most_that_a_calendar_lists():
    many = [on(f"{date(2025, 1, 1) + timedelta(days=n % 300):%Y%m%d}") for n in range(2_000)]
    assert len(read(*many)) == 300

    with pytest.raises(InvalidTask, match="has more than 5,000 days"):
        read(on("20250101", "RRULE:FREQ=DAILY"), years=20)


def test_lines_are_unfolded_and_what_an_event_contains_is_not_its_own():
    assert read(
        event(
            'DTSTART;X-P="a:b;c";VALUE=DATE:2026',
            " 1225",
            "BEGIN:VALARM",
            "SUMMARY:an alarm",
            "DURATION:P9D",
            "END:VALARM",
            "summary:Closed\\, all\\;",
            "\t\\nday",
        )
    ) == {"2026-12-25": "Closed, all;\nday"}


def test_an_exrule_takes_days_out():
    found = read(on("20260101", "RRULE:FREQ=DAILY;COUNT=4", "EXRULE:FREQ=DAILY;INTERVAL=2"))
    assert list(found) == ["2026-01-02", "2026-01-04"]


def test_a_rule_that_never_happens_is_named_with_its_event_and_the_way_out():
    with pytest.raises(InvalidTask) as refused:
        read(on("20261225", "SUMMARY:Leap fair", "RRULE:FREQ=YEARLY;BYYEARDAY=60;BYMONTHDAY=15"))
    assert str(refused.value).endswith(
        "1 event none of whose days lies between 2025-01-01 and 2036-12-31 was left out. One is the event 'Leap fair' "
        "with 'DTSTART:20261225 RRULE:FREQ=YEARLY;BYYEARDAY=60;BYMONTHDAY=15': correct its rule, or add its days by "
        "hand."
    )


def test_a_file_whose_events_go_through_too_many_days_is_refused():
    with pytest.raises(InvalidTask) as refused:
        read(on("20261225"), on("00010101", "SUMMARY:Old", "RRULE:FREQ=DAILY;COUNT=999999999"))
    assert str(refused.value) == (
        "the events of the file go through more than 100,000 days, up to the event 'Old' with 'DTSTART:00010101 "
        "RRULE:FREQ=DAILY;COUNT=999999999'. Correct the rule of this event or give it a DTSTART near today, expand "
        "fewer years, or leave out what is no holiday."
    )


# At the largest size, a file takes less than a second of processor time, whatever it says.
DAY = timedelta(days=1)
FEBRUARY = "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30"


def full_of(events: bytes) -> bytes:
    """A file of the largest size."""
    return ics(events * ((MOST_BYTES - len(ics())) // len(events)))


def one_with(line: str, begin: str = "") -> bytes:
    """A file of the largest size with one event, which has that line, or that piece of a line, many times."""
    frame = ics(on("20261225", begin))
    many = line * ((MOST_BYTES - len(frame)) // len(line))
    return ics(on("20261225", begin + many))


LARGEST = {
    "never in a year": lambda: full_of(on("20261225", "RRULE:FREQ=YEARLY;BYYEARDAY=60;BYMONTHDAY=15")),
    "never in a day": lambda: full_of(on("20261225", f"RRULE:{FEBRUARY}")),
    "never from the year 1": lambda: full_of(on("00010101", f"RRULE:{FEBRUARY};COUNT=9")),
    "never in EXRULE": lambda: full_of(on("20261225", "RRULE:FREQ=YEARLY", f"EXRULE:{FEBRUARY}")),
    "never in a week": lambda: full_of(on("19700101", "RRULE:FREQ=YEARLY;BYWEEKNO=53;BYDAY=1MO;BYSETPOS=366")),
    "never by place": lambda: full_of(on("20261225", "RRULE:FREQ=MONTHLY;BYDAY=MO;BYSETPOS=366,-366")),
    "a huge COUNT": lambda: full_of(on("00010101", "RRULE:FREQ=DAILY;COUNT=999999999")),
    "a huge INTERVAL": lambda: full_of(on("20261225", "RRULE:FREQ=DAILY;INTERVAL=999999999")),
    "UNTIL far away": lambda: full_of(on("20261225", "RRULE:FREQ=YEARLY;BYDAY=SA,SU;UNTIL=99991231")),
    "long and each day": lambda: full_of(on("20250101", "DURATION:P366D", "RRULE:FREQ=DAILY")),
    "each second": lambda: full_of(on("20261225", "RRULE:FREQ=SECONDLY")),
    "RRULE lines": lambda: one_with("RRULE:FREQ=YEARLY;INTERVAL=99\r\n"),
    "weekdays of a rule": lambda: one_with("MO,", "RRULE:FREQ=YEARLY;BYDAY=MO,"),
    "RDATE lines": lambda: one_with("RDATE:20270101\r\n"),
    "days of RDATE": lambda: one_with("20270101,", "RDATE:"),
    "days of EXDATE": lambda: one_with("20270101,", "EXDATE:"),
    "one UID": lambda: ics(
        *[on("20260101", "UID:a", "RRULE:FREQ=YEARLY;COUNT=1")] * 2_500,
        *(
            on("20260101", "UID:a", f"RECURRENCE-ID:{date(2000, 1, 1) + timedelta(days=n):%Y%m%d}")
            for n in range(3_000)
        ),
    ),
    "small events": lambda: full_of(b"BEGIN:VEVENT\nDTSTART:20261225\nEND:VEVENT\n"),
    "nested events": lambda: ics(b"BEGIN:VEVENT\n" * 19_000 + b"END:VEVENT\n" * 19_000),
    "short lines": lambda: one_with("a\n"),
    "folded lines": lambda: one_with("\n x", "SUMMARY:"),
    "quotes": lambda: one_with('"a:b";', "SUMMARY;"),
    "a zone with rules": lambda: ics(
        b"BEGIN:VTIMEZONE\nTZID:A\nBEGIN:STANDARD\nDTSTART:00010101T000000\nTZOFFSETFROM:+0100\nTZOFFSETTO:+0200\n"
        + b"RRULE:FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30\n" * 10_000
        + b"END:STANDARD\nEND:VTIMEZONE\n",
        event("DTSTART;TZID=A:20261225T000000"),
    ),
}


@pytest.mark.parametrize("file", LARGEST)
def test_the_largest_file_is_read_or_refused_within_a_second(file):
    content = LARGEST[file]()
    assert 0.8 * MOST_BYTES < len(content) <= MOST_BYTES

    def work() -> None:
        with suppress(InvalidTask):
            read_days(content, TODAY, years=50)

    assert ends_in_time(work)
