"""Durations such as `1h30m` are parsed to seconds and formatted back to text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_app.core.durations import seconds_of, written
from tasks_app.core.errors import InvalidTask


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90s", 90),
        ("5m", 300),
        ("2h", 7200),
        ("1h30m", 5400),
        ("1h 30m", 5400),
        (" 7d ", 604_800),
        ("2w", 1_209_600),
        ("0s", 0),
        ("0.5s", 0.5),
        ("1.5h", 5400),
    ],
)
def test_a_duration_is_parsed_to_seconds(text, seconds):
    parsed = seconds_of(text)

    assert parsed == seconds
    assert type(parsed) is type(seconds)


@pytest.mark.parametrize(
    "text", ["", " ", "5", "m", "5x", "-5m", "30m1h", "5m5m", "1 day", "5M", "1e3s", "٥m", "1h,5m", "9" * 50 + "s"]
)
def test_an_invalid_duration_is_rejected_with_the_accepted_formats(text):
    with pytest.raises(InvalidTask, match="Write it like 90s, 5m"):
        seconds_of(text)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(30, "30s"), (300, "5m"), (5400, "1h30m"), (86_400, "1d"), (365 * 86_400, "365d"), (90_061, "1d1h1m1s")],
)
def test_whole_seconds_are_formatted_with_units(seconds, text):
    assert written(seconds) == text


@pytest.mark.parametrize("seconds", [0, 0.25])
def test_zero_and_fractions_stay_numbers(seconds):
    assert written(seconds) == seconds


@given(st.integers(0, 10**9) | st.floats(0, 10**9, allow_nan=False))
def test_a_formatted_duration_is_parsed_to_the_same_number(seconds):
    formatted = written(seconds)

    assert (seconds_of(formatted) if isinstance(formatted, str) else formatted) == seconds
