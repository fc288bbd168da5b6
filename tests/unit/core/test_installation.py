"""What tells the database of an installation from a copy, case by case; and the choices for what is overdue."""

from dataclasses import replace

import pytest

from tasks_app.core.errors import InvalidTask
from tasks_app.core.installation import Facts, Finding, Known, Limits, compare
from tasks_app.core.networks import parsed
from tasks_app.core.overdue import Answer, Choice

WAS = Facts(system=7, database=16384, timeline=3, directory="/data/main", cluster="main", address="10.0.0.5")
LIMITS = Limits(failover_seconds=300.0)
NEARBY = Limits(failover_seconds=300.0, networks=parsed(["10.0.0.0/24"]))
STANDBY = {"10.0.0.6": 4.0}


def found(
    limits: Limits = LIMITS, silent: float | None = 5.0, standbys: dict | None = None, **changed: object
) -> Finding:
    return compare(Known(WAS, silent, standbys or {}), replace(WAS, **changed), limits).finding


def test_the_first_look_has_nothing_to_compare_with():
    assert compare(Known(), WAS, LIMITS).finding is Finding.NEW


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"address": "172.18.0.9"},  # a container that was started again
        {"address": ""},
        {"system": None, "timeline": None, "directory": ""},  # asked by a role that may see less
    ],
)
def test_the_same_database_goes_on_after_any_downtime(changed):
    assert found(**changed) is Finding.SAME
    assert found(silent=1e6, **changed) is Finding.SAME


@pytest.mark.parametrize(
    "changed",
    [
        {"system": 8},  # a dump that was restored on another server
        {"database": 16999},  # and on the same
        {"directory": "/data/copy"},
        {"cluster": "copy"},
        {"timeline": 4},  # restored to a point in time
        {"timeline": 2},  # restored from before the last failover
    ],
)
def test_a_copy_is_one_however_fresh_it_is(changed):
    assert found(silent=0.1, **changed) is Finding.COPY


def test_a_standby_that_was_seen_streaming_goes_on_if_it_is_promoted_soon():
    promoted = {"timeline": 4, "directory": "/data/standby", "address": "10.0.0.6"}

    assert found(standbys=STANDBY, **promoted) is Finding.PROMOTED
    assert found(standbys=STANDBY, silent=301.0, **promoted) is Finding.COPY
    assert found(standbys=STANDBY, silent=None, **promoted) is Finding.COPY
    assert found(standbys={"10.0.0.7": 4.0}, **promoted) is Finding.COPY
    assert found(standbys={"10.0.0.6": 90_000.0}, **promoted) is Finding.COPY
    assert found(Limits(failover_seconds=0.0), standbys=STANDBY, **promoted) is Finding.COPY


def test_a_standby_on_another_server_of_this_machine_is_known_by_its_socket():
    assert found(standbys={"": 2.0}, timeline=4, address="") is Finding.PROMOTED


def test_of_a_server_that_has_just_been_in_recovery_nothing_is_concluded():
    assert found(timeline=None, directory="/data/standby", cluster="standby") is Finding.SAME


def test_addresses_that_are_listed_are_where_databases_may_be():
    assert found(NEARBY, timeline=4, address="10.0.0.8") is Finding.PROMOTED
    assert found(NEARBY, address="10.0.0.8") is Finding.SAME
    assert found(NEARBY, address="10.0.1.8") is Finding.COPY
    assert found(NEARBY, address="") is Finding.SAME


def test_another_server_is_no_standby_wherever_it_is():
    assert found(NEARBY, standbys=STANDBY, system=8, timeline=4, address="10.0.0.6") is Finding.COPY


def test_the_reason_says_what_was_and_what_is():
    told = compare(Known(WAS, 5.0), replace(WAS, directory="/data/copy"), LIMITS).reason

    assert "/data/main" in told and "/data/copy" in told


def test_what_one_process_is_not_told_another_adds():
    few = Facts(system=None, database=16384, timeline=None, cluster="main")

    assert few.filled_with(WAS) == WAS
    assert Facts.of(WAS.as_json()) == WAS


@pytest.mark.parametrize(
    ("given", "names"),
    [
        (("drop",), "'drop'"),
        (("run", ["urgent"]), "'urgent'"),
        (("expire",), "1h"),
        (("run", [], 60.0), "expire"),
        (("run", [], None, 60.0), "shift"),
        (("expire", [], -1.0), "-1"),
    ],
)
def test_a_choice_that_makes_no_sense_is_refused_with_the_way_out(given, names):
    with pytest.raises(InvalidTask, match=names):
        Answer.checked(*given)


def test_lanes_are_kept_in_their_order():
    assert Answer.checked("shift", ["low", "high"]) == Answer(Choice.SHIFT, ("high", "low"))
