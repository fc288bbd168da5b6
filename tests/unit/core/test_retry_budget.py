"""A bucket of retries: what it allows at once, what it makes wait, and for how long."""

import pytest

from tasks_app.core.retry_budget import LONGEST_WAIT_SECONDS, Bucket, RetryBudget, budgets_of, problems_of


def takes(bucket: Bucket, count: int, now: float = 0.0) -> list[float]:
    level = bucket.charge(0, count, now)
    return [round(level.wait(place), 3) for place in range(1, count + 1)]


def test_a_burst_is_allowed_at_once():
    assert takes(Bucket(RetryBudget(0.0, burst=3), 0.0), 3) == [0, 0, 0]


def test_beyond_it_each_retry_waits_longer_than_the_one_before():
    """With nothing else running, a burst of 60 flows in within a minute: one a second."""
    bucket = Bucket(RetryBudget(0.0, burst=60), 0.0)

    assert takes(bucket, 63)[60:] == [1.0, 2.0, 3.0]


def test_attempts_bring_their_share():
    bucket = Bucket(RetryBudget(0.1, burst=2), 0.0)
    assert takes(bucket, 2) == [0, 0]

    bucket.charge(20, 0, 0.0)

    first, second, third = takes(bucket, 3)
    assert (first, second) == (0, 0)
    assert third > 0


def test_of_many_attempts_that_all_fail_the_share_is_retried():
    """A second of a storm: 1,000 tries fail, each wants a retry. At most a tenth, and the burst, come within it."""
    bucket = Bucket(RetryBudget(0.1, burst=10), 0.0)
    for _ in range(100):  # long before
        bucket.charge(1_000, 100, 0.0)

    bucket.charge(1_000, 0, 1.0)
    waits = takes(bucket, 1_000, 1.0)

    assert sum(wait < 1.0 for wait in waits) <= 0.1 * 100_000 / 10 + 10  # the pace of what flows in
    assert max(waits) <= LONGEST_WAIT_SECONDS
    assert waits == sorted(waits)


def test_it_never_holds_more_than_its_burst():
    bucket = Bucket(RetryBudget(0.5, burst=5), 0.0)
    bucket.charge(1_000_000, 0, 0.0)

    assert takes(bucket, 6, 600.0).count(0) == 5


def test_it_fills_up_by_itself_within_a_minute():
    bucket = Bucket(RetryBudget(0.0, burst=5), 0.0)
    takes(bucket, 5)

    assert takes(bucket, 6, 60.0).count(0) == 5


def test_no_retry_waits_for_longer_than_an_hour():
    bucket = Bucket(RetryBudget(0.0, burst=1), 0.0)

    assert takes(bucket, 1_000)[-1] == LONGEST_WAIT_SECONDS


def test_a_clock_that_stands_still_or_goes_back_does_no_harm():
    bucket = Bucket(RetryBudget(0.0, burst=1), 100.0)

    assert takes(bucket, 1, 50.0) == [0]
    assert takes(bucket, 1, 50.0)[0] > 0


def test_the_setting_is_read_by_kind_and_name():
    given = {"all": {"share": 0.5}, "types": {"SEND": {"share": 0.1, "burst": 7}}, "tenants": {"acme": {"share": 0}}}

    assert list(problems_of(given)) == []
    assert budgets_of(given) == {
        ("all", ""): RetryBudget(0.5, 100),
        ("types", "SEND"): RetryBudget(0.1, 7),
        ("tenants", "acme"): RetryBudget(0, 100),
    }


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"type": {}}, "Did you mean 'types'?"),
        ({"all": 0.2}, '["all"] is 0.2; give {"share": 0.2, "burst": 100}'),
        ({"all": {"burst": 3}}, '["all"] is'),
        ({"all": {"share": 1}}, '["all"]["share"] is 1; it must be 0 or more and less than 1'),
        ({"all": {"share": True}}, '["all"]["share"] is True'),
        ({"all": {"share": 0.1, "burst": 0}}, '["all"]["burst"] is 0; it must be a whole number from 1'),
        ({"types": ["SEND"]}, "must be a dict"),
        ({"tenants": {"": {"share": 0.1}}}, "is no name"),
        ({"types": {"SEND": {"share": 2}}}, '["types"][\'SEND\']["share"] is 2'),
    ],
)
def test_a_budget_that_makes_no_sense_is_refused_with_a_sentence(given, words):
    assert words in "\n".join(problems_of(given))
