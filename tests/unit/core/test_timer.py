"""Timers: from a text, a number or nothing; and the moments for which a roll waits, through changes of the clocks."""

from datetime import UTC, datetime, timedelta

import pytest

from tasks_app.core.errors import InvalidTask
from tasks_app.core.timer import timer_from


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)


BERLIN = "30 2 * * * Europe/Berlin"


@pytest.mark.parametrize(
    ("text", "moment", "waits_for"),
    [
        (BERLIN, utc(2027, 1, 5, 9), utc(2027, 1, 6, 1, 30)),
        (BERLIN, utc(2027, 1, 6, 1, 30), utc(2027, 1, 6, 1, 30)),  # falls on it
        (BERLIN, utc(2027, 7, 5, 9), utc(2027, 7, 6, 0, 30)),  # summer time
        # 28 March 2027: the clocks go from 02:00 to 03:00, and 02:30 is 03:30 that night.
        (BERLIN, utc(2027, 3, 28, 0, 45), utc(2027, 3, 28, 1, 30)),
        ("0 2 * * * Europe/Berlin", utc(2027, 3, 28, 0, 45), utc(2027, 3, 28, 1)),
        (BERLIN, utc(2027, 3, 28, 1, 31), utc(2027, 3, 29, 0, 30)),
        # 31 October 2027: 02:30 comes twice, at 00:30 and at 01:30 in UTC; the first one counts.
        (BERLIN, utc(2027, 10, 31, 0, 10), utc(2027, 10, 31, 0, 30)),
        (BERLIN, utc(2027, 10, 31, 0, 45), utc(2027, 11, 1, 1, 30)),
        ("0 2 * * MON Europe/Berlin", utc(2027, 1, 5, 9), utc(2027, 1, 11, 1)),
        ("0 2 * * MON", utc(2027, 1, 5, 9), utc(2027, 1, 11, 2)),
        ("0 0 2 ? * MON Europe/Berlin", utc(2027, 1, 5, 9), utc(2027, 1, 11, 1)),
        ("@daily Asia/Shanghai", utc(2027, 1, 5, 9), utc(2027, 1, 5, 16)),
        (3600, utc(2027, 1, 5, 9, 0, 1), utc(2027, 1, 5, 10)),
        (timedelta(days=1), utc(2027, 1, 5, 9), utc(2027, 1, 6)),
    ],
)
def test_a_roll_waits_for_the_next_moment(text, moment, waits_for):
    timer = timer_from(text)

    assert timer.at_or_after([moment]) == [waits_for]
    assert timer.until(moment, moment)[-1] == waits_for


def test_many_moments_keep_their_places():
    timer = timer_from(BERLIN)
    moments = [utc(2027, 1, 9), utc(2027, 1, 5), utc(2027, 1, 5, 1), utc(2027, 1, 7, 12)]

    assert timer.at_or_after(moments) == [timer.at_or_after([moment])[0] for moment in moments]


def test_what_is_needed_for_a_span_are_the_moments_in_it_and_the_next_one():
    found = timer_from(BERLIN).until(utc(2027, 1, 5), utc(2027, 1, 6, 12))

    assert found == [utc(2027, 1, 5, 1, 30), utc(2027, 1, 6, 1, 30), utc(2027, 1, 7, 1, 30)]


def test_the_last_moment_that_has_passed():
    assert timer_from("0 2 * * MON Europe/Berlin").last(utc(2027, 1, 11, 0, 59)) == utc(2027, 1, 4, 1)
    assert timer_from("0 2 * * MON Europe/Berlin").last(utc(2027, 1, 11, 1)) == utc(2027, 1, 11, 1)
    assert timer_from("0 0 29 2 *").last(utc(2027, 1, 11)) == utc(2024, 2, 29)


def test_in_words():
    assert timer_from("0 2 * * MON Europe/Berlin").words == "At 02:00 on Monday, Europe/Berlin time"


@pytest.mark.parametrize("nothing", [0, 0.0, "", None, timedelta(0)])
def test_nothing_is_no_timer(nothing):
    assert timer_from(nothing) is None


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("0 2 * * * Europe/Berln", "Europe/Berlin"),
        ("0 25 * * * Europe/Berlin", "hour '25'"),
        ("02:00 Europe/Berlin", "fields"),
        ("Europe/Berlin", "fields"),
        ("1", "fields"),
        ("0 2 30 2 *", "never fires"),
        (-1, "round_to"),
        (0.5, "whole"),
        (float("nan"), "whole"),
        (True, "round_to"),
        (10**12, "seconds"),
        (["0 2 * * *"], "round_to"),
    ],
)
def test_a_timer_that_makes_no_sense_is_refused(value, words):
    with pytest.raises(InvalidTask, match=words):
        timer_from(value)
