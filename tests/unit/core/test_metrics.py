"""The catalogue of metrics, who has a series of its own, and which networks a setting lists."""

import re
from itertools import pairwise

import pytest

from tasks_app.core import networks, own_process
from tasks_app.core.metrics import CATALOGUE, METRICS, OTHER, Names, classic_bounds_seconds


def test_no_two_metrics_have_a_name_in_common():
    names = [{one.full_name, *one.sample_names} for one in METRICS]

    assert len(CATALOGUE) == len(METRICS)
    assert sum(map(len, names)) == len(set.union(*names))
    assert all(re.fullmatch(r"[a-z]+(_[a-z]+)*", one.name) and one.help.endswith(".") for one in METRICS)


def test_classic_buckets_double():
    assert all(above == pytest.approx(2 * below) for below, above in pairwise(classic_bounds_seconds()))
    assert len(classic_bounds_seconds()) == 26


def test_the_first_names_get_series_until_there_are_enough():
    names = Names(2)
    for name in ("a", "b", "c"):
        names.see(name, 1)

    assert [names.label(name) for name in ("a", "b", "c", "never seen")] == ["a", "b", OTHER, OTHER]


def test_a_name_that_is_twice_as_large_takes_the_place_of_the_smallest_and_nobody_else_moves():
    names = Names(2)
    for name, amount in (("large", 100), ("small", 10), ("new", 19)):
        names.see(name, amount)
    assert names.review() == []

    names.see("new", 10)

    assert names.review() == ["small"]
    assert sorted(names.named) == ["large", "new"]
    assert names.review() == []
    assert names.label("small") == OTHER


def test_a_large_one_is_found_among_ever_so_many_small_ones():
    names = Names(3)
    for name in ("a", "b", "c"):
        names.see(name, 5)
    for n in range(1_000):
        names.see(f"once {n}", 1)
        if n % 10 == 0:
            names.see("often", 1)
            names.review()

    assert "often" in names.named
    assert len(names.others) <= names.TIMES * names.most


def test_of_a_great_many_only_the_largest_are_looked_at():
    names = Names(1)
    names.see_all({f"n{n}": float(n) for n in range(10_000)})

    assert [*names.named] == ["n9999"]
    assert len(names.others) == names.TIMES


def test_fewer_series_than_before_end_those_of_the_smallest():
    names = Names.from_json(1, Names(3, {"a": 3.0, "b": 1.0, "c": 2.0}).as_json())

    assert names.review() == ["b", "c"]
    assert [*names.named] == ["a"]


def test_with_no_series_at_all_everything_is_other():
    names = Names(0)
    names.see("a", 1)
    names.see_all({"b": 1.0})

    assert (names.label("a"), names.review(), names.as_json()) == (OTHER, [], {"named": {}, "others": {}})


def test_an_address_is_known_in_either_version():
    listed = networks.parsed(["10.1.0.0/16", "2001:db8::/32"])

    assert [networks.contains(listed, one) for one in ("10.1.2.3", "::ffff:10.1.2.3", "2001:db8::1")] == [True] * 3
    assert [networks.contains(listed, one) for one in ("10.2.0.1", "::1", "", "a local process")] == [False] * 4


def test_a_wrong_network_is_told_with_its_setting():
    told = [*networks.problems_of(["10.1.2.3", "10.1.2.3/16", "localhost", 5], 'PUNCTUAL["METRICS_ALLOW"]')]

    assert len(told) == 3
    assert all(one.startswith('PUNCTUAL["METRICS_ALLOW"] has ') for one in told)


def test_a_process_knows_what_it_costs():
    before = own_process.figures()
    sum(range(1_000_000))
    found = own_process.figures()

    assert found["cpu_seconds"] >= before["cpu_seconds"] > 0
    assert found.keys() <= {one.removeprefix("process_") for one in CATALOGUE}
