"""No interleaving of writers, dispatchers and beats leaves a task waiting where nobody looks any more."""

from dataclasses import fields, replace

import pytest

from .timetable import TimetableRules, search_timetable


@pytest.mark.parametrize(
    ("transactions", "least"), [(1, 5_000), pytest.param(2, 900_000, marks=pytest.mark.scale)], ids=["one", "two"]
)
def test_no_entry_at_which_something_waits_is_passed(transactions: int, least: int):
    states, way = search_timetable(TimetableRules(), transactions)

    assert way == []
    assert states > least


@pytest.mark.parametrize("rule", [field.name for field in fields(TimetableRules)])
def test_leaving_out_a_rule_of_the_timetable_is_found(rule):
    _, way = search_timetable(replace(TimetableRules(), **{rule: False}))

    assert way, f"nothing goes wrong without {rule}: is it still needed?"
