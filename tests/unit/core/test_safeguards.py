"""When a safeguard goes on and off, what it holds back then, and which settings make no sense."""

from datetime import UTC, datetime

import pytest

from tasks_app.core.safeguard_options import problems_of
from tasks_app.core.safeguards import (
    POLICIES,
    Curb,
    Kind,
    Name,
    Policy,
    State,
    advance,
    curbs_of,
    limit_of,
    peaks_of,
    policies_of,
    retry_rates,
    slowed_at,
    wrong_peaks,
)

SLOW = Policy(limit=1.0, sample=1, on_seconds=300.0, off_seconds=600.0)


def after(looks: list[tuple[float, bool | None]], name: str = Name.DELAY, policy: Policy = SLOW) -> list[int]:
    """The stage after each look, at these moments."""
    state, stages = State(), []
    for at, over in looks:
        state = advance(state, over, at, policy, name)
        stages.append(state.stage)
    return stages


def every(seconds: float, until: float, over: bool | None, start: float = 0.0) -> list[tuple[float, bool | None]]:
    return [(start + n * seconds, over) for n in range(int((until - start) / seconds) + 1)]


def test_it_goes_on_after_so_long_and_further_after_as_long_again():
    assert after([(0, True), (299, True), (300, True), (599, True), (600, True), (5000, True)]) == [0, 0, 1, 1, 2, 2]


def test_one_look_that_finds_less_begins_anew():
    assert after([(0, True), (200, None), (300, True), (599, True), (600, True)]) == [0, 0, 0, 0, 1]


def test_it_goes_off_stage_by_stage_after_longer():
    on = [(0, True), (300, True), (600, True)]

    assert after([*on, (700, False), (1299, False), (1300, False), (1899, False), (1900, False)]) == [
        *(0, 1, 2),
        *(2, 2, 1, 1, 0),
    ]


def test_what_goes_up_and_down_within_minutes_switches_nothing():
    """Two minutes over, two minutes well, for an hour: never on; and once it is on, never off."""
    swinging = [(at, int(at / 120) % 2 == 0) for at in range(0, 3600, 5)]
    already_on = [(0, True), (300, True), *((at + 300, over) for at, over in swinging)]

    assert set(after(swinging)) == {0}
    assert after(already_on)[1:] == [1] * (len(already_on) - 1)


def test_on_again_soon_after_its_end_it_stays_on_for_twice_as_long():
    policy = Policy(limit=1.0, sample=1, on_seconds=0.0, off_seconds=100.0)
    first = [(0, True), (10, False), (110, False)]
    again = [(200, True), (210, False), (310, False), (409, False), (410, False)]
    much_later = [(9000, True), (9010, False), (9110, False)]

    assert after([*first, *again, *much_later], Name.FAILURES, policy) == [1, 1, 0, *(1, 1, 1, 1, 0), *(1, 1, 0)]


def test_a_breaker_begins_with_the_strictest_stage():
    assert after([(0, True)], Name.BREAKER, POLICIES[Name.BREAKER]) == [2]


def test_how_often_a_type_is_tried_is_a_setting():
    often = policies_of({"breaker": {"trial_seconds": 0.5}})[Name.BREAKER]

    assert curbs_of(Name.BREAKER, "T", 2, {}, often) == [Curb(Kind.TYPE, "T", rate=2.0, max_running=1)]
    assert curbs_of(Name.BREAKER, "T", 2, {}) == [Curb(Kind.TYPE, "T", rate=0.2, max_running=1)]


def test_short_handlers_have_their_retries_first_and_each_bucket_its_share():
    rates = retry_rates({"SHORT": 10, "LONG": 10}, {"SHORT": 0.01, "LONG": 5.0}, slots=7)

    # Half of seven slots, six parts of seven and one: 3 s of work a second, and half a second.
    assert rates == pytest.approx({"SHORT": 300.0, "LONG": 0.1})


def test_what_a_bucket_without_retries_would_have_is_the_others():
    assert retry_rates({"LONG": 1}, {"LONG": 2.0}, slots=8) == pytest.approx({"LONG": 2.0})


def test_degraded_mode_leaves_critical_alone():
    held = {curb.target for curb in curbs_of(Name.DEAD_LETTERS, "", 1, {}) if curb.kind == Kind.LANE}

    assert held == {"high", "default", "low", "deferred", "backfill"}
    assert curbs_of(Name.DEAD_LETTERS, "host:a.example.com", 1, {}) == [Curb(Kind.HOST, "a.example.com")]


def test_an_option_changes_that_alone():
    found = policies_of({"delay": {"limit": 5000, "mode": "tell"}})

    assert (found["delay"].limit, found["delay"].mode, found["delay"].on_seconds) == (5000, "tell", 300.0)
    assert found["breaker"] == POLICIES[Name.BREAKER]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"dely": {}}, "Did you mean 'delay'"),
        ({"delay": 5}, "must be a dict"),
        ({"delay": {"limits": 1}}, "Did you mean 'limit'"),
        ({"delay": {"limit": 0}}, "more than 0"),
        ({"delay": {"limit": 86_400_001}}, "at most 86,400,000"),
        ({"delay": {"limit": float("nan")}}, "more than 0"),
        ({"failures": {"limit": 99.5}}, "more than 0 and at most 1. For 99.5 %, write 0.995."),
        ({"breaker": {"limit": 50}}, "For 50 %, write 0.5."),
        ({"breaker": {"limit": 0}}, "the share of tries that fail, more than 0 and at most 1."),
        ({"failures": {"limit": 1e9}}, "at most 1."),
        ({"dead_letters": {"limit": 20_000}}, "at most 19,999: no more than 20,000 are counted"),
        ({"retries": {"limit": True}}, "a number of retries"),
        ({"slow_handler": {"limit": 1}}, "more than 1 and"),
        ({"retries": {"sample": 5}}, "it may have limit, on_seconds, off_seconds, mode"),
        ({"profile": {"limit": 5}}, "it may have on_seconds, off_seconds, mode"),
        ({"breaker": {"trial_seconds": 0}}, "from 0.1 to 3,600"),
        ({"delay": {"trial_seconds": 5}}, "it may have limit, sample, on_seconds, off_seconds, mode"),
        ({"delay": {"on_seconds": -1}}, "from 0 to 86,400"),
        ({"delay": {"off_seconds": 1e9}}, "from 0 to 86,400"),
        ({"delay": {"sample": 0}}, "whole number from 1"),
        ({"delay": {"mode": "dry"}}, "act, tell, off"),
    ],
)
def test_a_setting_that_makes_no_sense_is_told(given, words):
    [told] = problems_of(given)

    assert words in told


def test_all_defaults_and_the_ends_of_the_ranges_are_allowed():
    ends = {
        "failures": {"limit": 1},
        "breaker": {"limit": 1.0},
        "dead_letters": {"limit": 19_999},
        "slow_handler": {"limit": 1.1},
    }
    usual = {
        name: {"limit": one.limit, "on_seconds": one.on_seconds, "off_seconds": one.off_seconds, "mode": one.mode}
        for name, one in POLICIES.items()
        if name != Name.PROFILE
    }

    assert list(problems_of(ends)) == list(problems_of(usual)) == []


PEAK = {"from": "09:00", "to": "18:00", "rate": 20}


def test_a_peak_covers_its_hours_and_days_in_its_zone():
    peaks = peaks_of({"peaks": [PEAK | {"zone": "Europe/Berlin", "days": ["mon"], "lanes": ["low", "backfill"]}]})

    assert slowed_at(peaks, datetime(2027, 3, 1, 8, 0, tzinfo=UTC)) == {"low": 20.0, "backfill": 20.0}
    assert slowed_at(peaks, datetime(2027, 3, 1, 7, 59, tzinfo=UTC)) == {}
    assert slowed_at(peaks, datetime(2027, 3, 1, 17, 0, tzinfo=UTC)) == {}
    assert slowed_at(peaks, datetime(2027, 3, 2, 8, 0, tzinfo=UTC)) == {}


def test_of_two_peaks_the_stricter_counts():
    peaks = peaks_of({"peaks": [PEAK, PEAK | {"to": "24:00", "rate": 5}]})

    assert slowed_at(peaks, datetime(2027, 3, 1, 12, tzinfo=UTC)) == {"low": 5.0}
    assert slowed_at(peaks, datetime(2027, 3, 1, 23, 59, 59, tzinfo=UTC)) == {"low": 5.0}


@pytest.mark.parametrize(
    ("peak", "words"),
    [
        ({"from": "09:00"}, 'it needs "from", "to" and "rate"'),
        (PEAK | {"from": "nine"}, "write times of day like 09:00"),
        (PEAK | {"from": "22:00", "to": "06:00"}, "ends before it begins"),
        (PEAK | {"from": "09:00+01:00", "to": "18:00+01:00"}, '"zone": "Europe/Berlin"'),
        (PEAK | {"from": "09:00Z"}, "is from 09:00Z to 18:00, with an offset"),
        (PEAK | {"to": "18:00+01:00"}, "with an offset"),
        (PEAK | {"rate": -1}, "tasks a second"),
        (PEAK | {"lanes": ["lo"]}, "must be a list of critical"),
        (PEAK | {"days": ["monday"]}, "must be a list of mon"),
        (PEAK | {"zone": "Berlin"}, "time zone 'Berlin' is not known"),
    ],
)
def test_a_peak_that_makes_no_sense_is_told(peak, words):
    [told] = wrong_peaks({"peaks": [peak]})

    assert words in told


@pytest.mark.parametrize(
    ("name", "limit", "words"),
    [
        ("delay", 2_000.0, "by more than 2,000 ms"),
        ("failures", 0.995, "less than 99.5 % succeed"),
        ("breaker", 0.5, "more than 50 % of its tries"),
        ("breaker", 1.0, "more than 100 % of its tries"),
        ("retries", 200_000.0, "more than 200,000"),
        ("failures", 0.99123, "less than 99.123 % succeed"),
        ("slow_handler", 2.5, "2.5 times as long"),
        ("delay", 2_000_000.0, "by more than 2,000,000 ms"),
        ("retries", 1_234_567.0, "more than 1,234,567"),
        ("slow_handler", 12_345_678.0, "12,345,678 times as long"),
        ("profile", 0.0, ""),
    ],
)
def test_a_limit_is_told_with_its_unit(name, limit, words):
    assert limit_of(name, limit) == words


@pytest.mark.parametrize(
    ("rate", "words"),
    [(1.0, "1 task"), (0.5, "0.5 tasks"), (1_500.0, "1,500 tasks"), (0.00002, "0.00002 tasks"), (1 / 3, "0.333 tasks")],
)
def test_a_slowed_rate_is_told_without_an_exponent(rate, words):
    assert f"slowed to {words} a second" in Curb(Kind.LANE, "low", rate=rate).words
    assert f"slowed to {words} a second" in Curb(Kind.TYPE, "T", rate=rate).words
    assert f"slowed to {words.partition(' ')[0]} a second" in Curb(Kind.RETRIES, "T", rate=rate).words
