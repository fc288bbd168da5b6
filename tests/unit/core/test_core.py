"""Rules without a database: back-off, lateness, clock, shards, options of handlers."""

import time
from datetime import UTC, datetime, timedelta
from uuid import RFC_4122, UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_app.core import lateness
from tasks_app.core.clock import DatabaseClock
from tasks_app.core.errors import InvalidConfiguration, InvalidTask, RetryableError, Snooze
from tasks_app.core.handlers import REGISTRY, Handler, handler
from tasks_app.core.retry import Backoff, Delays, policy_from
from tasks_app.core.sharding import shard_of
from tasks_app.core.tokens import packed_uuids


@given(st.integers(1, 10_000))
def test_the_default_back_off_doubles_with_jitter_up_to_five_minutes(failures):
    delay = Backoff().delay(failures)

    steady = 0.5 * 2 ** min(failures, 8)
    assert min(steady + 0.1, 300) <= delay <= min(steady + 0.8, 300)


def test_the_first_delays_are_about_one_two_four_eight_seconds():
    assert [Backoff().steady(n) for n in range(1, 6)] == [1, 2, 4, 8, 16]


def test_a_list_of_delays_is_taken_exactly_and_its_last_one_repeats():
    policy = policy_from([1, 2, 4, 8])

    assert [policy.delay(n) for n in range(1, 7)] == [1, 2, 4, 8, 8, 8]


@pytest.mark.parametrize("backoff", [[], [-1], ["soon"], 5, [float("nan")], [1e15]])
def test_an_invalid_list_of_delays_is_refused(backoff):
    with pytest.raises(InvalidConfiguration, match="backoff"):
        policy_from(backoff)


@pytest.mark.parametrize(
    "options",
    [
        {"base": float("nan")},
        {"base": -1},
        {"cap": float("inf")},
        {"cap": 1e15},
        {"base": "1"},
        {"base": True},
        {"doublings": 1.5},
        {"doublings": 31},
        {"jitter": 0.5},
        {"jitter": (2, 1)},
    ],
)
def test_invalid_options_of_a_back_off_are_refused(options):
    """A delay that PostgreSQL can't add to a time would stop the reaper for all tasks."""
    with pytest.raises(InvalidConfiguration, match="base, cap and jitter must be"):
        Backoff(**options)


def test_a_list_of_delays_sets_the_number_of_retries():
    @handler("UNIT_LIST", backoff=[1, 2, 4, 8])
    def run(task): ...

    try:
        assert REGISTRY.get("UNIT_LIST").max_retry == 4
        assert REGISTRY.get("UNIT_LIST").policy == Delays((1.0, 2.0, 4.0, 8.0))
    finally:
        REGISTRY.discard("UNIT_LIST")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"timeout": 0}, "timeout=0 must be more than 0"),
        ({"timeout": float("inf")}, "Every handler needs an end"),
        ({"max_retry": -1}, "max_retry=-1 must be a whole number from 0 to 1000"),
        ({"max_retry": True}, "max_retry=True"),
        ({"lane": "defualt"}, "Did you mean 'default'"),
        ({"concurrency": 0}, "concurrency=0 must be a whole number from 1 to 256"),
    ],
)
def test_a_handler_with_an_option_out_of_range_is_refused(options, words):
    with pytest.raises(InvalidConfiguration, match=words):
        handler("UNIT_BAD", **options)


@pytest.mark.parametrize("name", ["", "x" * 101, "line\nbreak", None])
def test_a_handler_needs_a_readable_name(name):
    with pytest.raises(InvalidConfiguration, match="handler name"):
        handler(name)


def test_two_handlers_of_one_name_are_refused():
    def one(task): ...

    def other(task): ...

    handler("UNIT_TWICE")(one)
    try:
        with pytest.raises(InvalidConfiguration, match=r"declared twice, at .*\.one and at .*\.other"):
            handler("UNIT_TWICE")(other)
    finally:
        REGISTRY.discard("UNIT_TWICE")


@pytest.mark.parametrize(
    "options",
    [
        {"transactional": True, "concurrency": 2},
        {"batch": True, "concurrency": 2},
        {"transactional": True, "apply": print},
        {"batch": True, "apply": print},
    ],
)
def test_contradicting_options_are_named(options):
    plain = {"concurrency": 1, "transactional": False, "batch": False, "apply": None}
    one = Handler("X", print, 1.0, 0, Backoff(), "default", **(plain | options))

    assert len(one.contradictions()) == 1
    assert "Drop" in one.contradictions()[0]


@given(st.text(min_size=1), st.text(min_size=1))
def test_a_unit_has_one_shard_and_it_is_in_range(task_type, key):
    assert 0 <= shard_of("default", task_type, key, 16) < 16
    assert shard_of("default", task_type, key, 16) == shard_of("default", task_type, key, 16)


def test_units_spread_evenly_over_the_shards():
    counts = [0] * 16
    for n in range(16_000):
        counts[shard_of("default", "ARTICLE_PUBLISH", str(n), 16)] += 1

    assert 800 < min(counts) <= max(counts) < 1200


@given(st.lists(st.floats(0, 1e7), min_size=1), st.floats(0.01, 1))
def test_a_percentile_of_the_histogram_is_right_to_a_bucket(latenesses, share):
    exact = sorted(latenesses)[max(0, -(-int(share * len(latenesses) * 1e9) // int(1e9)) - 1)]

    found = lateness.percentile_ms(lateness.histogram(latenesses), share)

    assert found >= min(exact, lateness.upper_bound_ms(lateness.BUCKETS - 1)) * 0.999
    assert found <= max(exact * 2**0.25 * 2**0.25, 0.25) * 1.001


@given(st.lists(st.floats(-10, 1e9) | st.sampled_from([lateness.upper_bound_ms(bucket) for bucket in range(110)])))
def test_a_histogram_counts_each_value_in_its_bucket(latenesses):
    counts = lateness.histogram(latenesses)

    assert counts == [
        sum(lateness.bucket_of(one) == bucket for one in latenesses) for bucket in range(lateness.BUCKETS)
    ]


@pytest.mark.parametrize("limit", [1_000.0, 2_000.0])
def test_a_start_within_1_s_or_2_s_is_not_counted_as_later(limit):
    within, later = ([ms] * 10 for ms in (limit, limit + 1))

    assert lateness.percentile_ms(lateness.histogram(within), 0.95) == limit
    assert lateness.percentile_ms(lateness.histogram(later), 0.95) > limit


def test_no_tasks_have_no_percentile():
    assert lateness.percentile_ms([0] * lateness.BUCKETS, 0.5) is None


def test_the_database_clock_runs_between_answers():
    clock = DatabaseClock()
    then = datetime(2030, 1, 1, tzinfo=UTC).timestamp()
    asked = time.monotonic()
    clock.learn(then, asked, asked)

    assert then <= clock.now() <= then + (time.monotonic() - asked) + 0.001


def test_the_database_clock_combines_answers_until_the_clock_is_set():
    clock = DatabaseClock()
    for read, answered in ((0.0001, 0.003), (0.0029, 0.003)):  # read at the start of a statement, and at its end
        asked = time.monotonic()
        clock.learn(1e9 + asked + read, asked, asked + answered)
    both = clock.now() - time.monotonic()

    asked = time.monotonic()
    clock.learn(1e9 + asked - 3600, asked, asked + 0.001)
    set_back = clock.now() - time.monotonic()

    assert both == pytest.approx(1e9, abs=0.0002)
    assert set_back == pytest.approx(1e9 - 3600, abs=0.001)


def test_a_clock_without_an_answer_raises_an_error():
    with pytest.raises(RuntimeError, match="never asked"):
        DatabaseClock().now()


@pytest.mark.parametrize("after", [-1, float("nan"), float("inf"), 1e300])
def test_an_invalid_retry_delay_is_refused(after):
    with pytest.raises(InvalidTask, match="zero or more seconds"):
        RetryableError("x", after=after)


def test_a_retry_delay_may_be_a_timedelta():
    assert RetryableError("x", after=timedelta(minutes=2)).after == 120


@pytest.mark.parametrize("until", [datetime(2030, 1, 1), "tomorrow", None])  # noqa: DTZ001
def test_snooze_needs_an_aware_datetime(until):
    with pytest.raises(InvalidTask, match="aware datetime"):
        Snooze(until)


def test_tokens_are_random_uuids_of_version_four():
    packed = packed_uuids(1000)
    tokens = [UUID(bytes=packed[start : start + 16]) for start in range(0, len(packed), 16)]

    assert len(set(tokens)) == 1000
    assert {(token.version, token.variant) for token in tokens} == {(4, RFC_4122)}
