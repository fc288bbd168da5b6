"""Times as editors type and read them."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import given
from hypothesis import strategies as st

from articles_app.admin.times import UnclearTime, lasting, late_by, read_local, spoken, typed, zone_named

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 15, 9, tzinfo=UTC)


def test_a_local_time_is_read_in_its_zone():
    assert read_local("2026-03-03T09:00", BERLIN) == datetime(2026, 3, 3, 8, tzinfo=UTC)
    assert read_local("2026-07-03 09:00:30", BERLIN) == datetime(2026, 7, 3, 7, 0, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "exists", "instants"),
    [("2026-03-29T02:30", False, ["00:30", "01:30"]), ("2026-10-25T02:30", True, ["00:30", "01:30"])],
    ids=["put forward", "put back"],
)
def test_a_time_that_is_none_or_two_is_refused_with_the_instants_that_may_be_meant(text, exists, instants):
    with pytest.raises(UnclearTime, match="Which time do you mean") as caught:
        read_local(text, BERLIN)
    assert caught.value.exists is exists
    assert [f"{at:%H:%M}" for at in caught.value.instants] == instants


@pytest.mark.parametrize(
    "text", ["", "soon", "2026-13-01T09:00", "2026-03-03T09:00+01:00", "0001-01-01T00:00", "9" * 400]
)
def test_what_is_no_local_time_is_refused_with_an_example(text):
    with pytest.raises(ValueError, match="enter it like 2027-03-01 09:00"):
        read_local(text, BERLIN)


@given(st.integers(0, 4_000_000_000), st.sampled_from(sorted(available_timezones())))
def test_what_a_field_shows_is_read_back_as_the_same_instant_or_asked_about(seconds, name):
    zone, at = ZoneInfo(name), datetime.fromtimestamp(seconds, UTC)
    try:
        assert read_local(typed(at, zone), zone) == at
    except UnclearTime as error:
        assert at in error.instants and error.exists


def test_a_time_is_spoken_with_its_zone_and_with_what_is_not_obvious():
    assert spoken(datetime(2026, 3, 3, 8, tzinfo=UTC), BERLIN, NOW) == "Tue 3 Mar 09:00 Europe/Berlin"
    assert spoken(datetime(2027, 3, 2, 8, 0, 5, tzinfo=UTC), BERLIN, NOW) == "Tue 2 Mar 2027 09:00:05 Europe/Berlin"
    assert spoken(datetime(2026, 10, 25, 1, 30, tzinfo=UTC), BERLIN, NOW) == (
        "Sun 25 Oct 02:30 Europe/Berlin (UTC+01:00)"
    )


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (59, "59 s"),
        (60, "1 min"),
        (3599, "59 min"),
        (7500, "2 h 5 min"),
        (86400, "1 day"),
        (90000, "1 day 1 h"),
    ],
)
def test_a_duration_has_one_or_two_units(seconds, words):
    assert lasting(timedelta(seconds=seconds)) == words == lasting(timedelta(seconds=-seconds))


def test_lateness_is_told_finely():
    spans = [timedelta(milliseconds=15), timedelta(seconds=1.24), timedelta(minutes=3)]
    assert [late_by(span) for span in spans] == ["15 ms late", "1.2 s late", "3 min late"]


@pytest.mark.parametrize(
    "name", ["", None, 7, "Mars/Phobos", "../etc/passwd", "/etc/passwd", "Europe", "x" * 65, "a\0b"]
)
def test_a_zone_that_does_not_exist_is_none(name):
    assert zone_named(name) is None
