"""No interleaving of a planner, claims and people who change their minds runs a firing twice, or against their will."""

from dataclasses import fields, replace

import pytest

from .firing import AGAINST, LOST, TWICE, FiringRules, search_firing

LEFT_OUT = {
    "planner_asks_for_overrides": AGAINST,
    "change_locks_the_cursor": AGAINST,
    "change_takes_back_the_instance": AGAINST,
    "change_requires_unclaimed": TWICE,
    "move_places_at_once": LOST,
    "restore_plans_what_was_passed": LOST,
    "edit_places_what_was_moved": LOST,
}


def test_a_firing_runs_once_or_not_at_all_as_somebody_decided():
    states, broken, way = search_firing(FiringRules())

    assert (broken, way) == ("", [])
    assert states >= 50


@pytest.mark.parametrize(("name", "promise"), LEFT_OUT.items())
def test_leaving_out_a_rule_is_found(name, promise):
    _, broken, way = search_firing(replace(FiringRules(), **{name: False}))

    assert broken == promise, way


def test_every_rule_is_left_out_once():
    assert set(LEFT_OUT) == {field.name for field in fields(FiringRules)}
