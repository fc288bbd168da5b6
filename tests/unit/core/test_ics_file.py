"""Days off from iCalendar files: what is read, what is left out and said so, and what is no such file."""

from datetime import date, timedelta

import pytest

from tasks_app.core.errors import InvalidTask
from tasks_app.core.ics_file import MOST_BYTES, read_days

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
        (
            on("20261225", "RRULE:FREQ=DAILY;INTERVAL=0"),
            "1 event whose RRULE has an INTERVAL of less than 1 was left out.",
        ),
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
        (b" " * 10 + b"x" * MOST_BYTES, "an iCalendar file may have 10,000,000"),
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


def test_a_file_that_takes_too_long_to_read_is_refused():
    with pytest.raises(InvalidTask, match="0 of the 2 events of the file took more than -1 seconds to read"):
        read(on("20261225"), on("20261226"), seconds=-1)
