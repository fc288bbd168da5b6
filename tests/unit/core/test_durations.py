"""Lengths of time as people write them."""

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
def test_a_length_of_time_is_read(text, seconds):
    assert seconds_of(text) == seconds
    assert type(seconds_of(text)) is type(seconds)


@pytest.mark.parametrize(
    "text", ["", " ", "5", "m", "5x", "-5m", "30m1h", "5m5m", "1 day", "5M", "1e3s", "٥m", "1h,5m", "9" * 50 + "s"]
)
def test_what_is_none_is_refused_with_the_way_out(text):
    with pytest.raises(InvalidTask, match="Write it like 90s, 5m"):
        seconds_of(text)


@given(st.integers(0, 10**9) | st.floats(0, 10**9, allow_nan=False))
def test_what_is_written_is_read_back_as_it_was(seconds):
    text = written(seconds)

    assert (seconds_of(text) if isinstance(text, str) else text) == seconds


def test_it_is_written_as_people_would():
    assert [written(n) for n in (0, 30, 300, 5400, 86_400, 365 * 86_400, 90_061, 0.25)] == [
        *(0, "30s", "5m", "1h30m", "1d", "365d", "1d1h1m1s", 0.25)
    ]
