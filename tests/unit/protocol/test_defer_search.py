"""No interleaving of workers, a reaper and people hands an effect on without its task's success, or twice."""

from dataclasses import fields, replace

import pytest

from .defer import BESIDE, NOT_THEIRS, TOO_SOON, DeferRules, search_defer

BREAKS = {
    "effect_and_outcome_are_one_transaction": TOO_SOON,
    "the_task_is_locked_before_it_is_looked_at": TOO_SOON,
    "only_what_is_still_ours_is_handed_on": TOO_SOON,
    "a_unit_that_has_a_live_task_keeps_it": BESIDE,
    "only_a_new_task_gets_the_token": NOT_THEIRS,
}


def test_an_effect_is_handed_on_with_its_tasks_success_and_once():
    states, broken, way = search_defer(DeferRules())

    assert (broken, way) == ("", [])
    assert states > 100


def test_every_rule_has_a_counterexample():
    assert BREAKS.keys() == {field.name for field in fields(DeferRules)}


@pytest.mark.parametrize("rule", BREAKS)
def test_leaving_out_a_rule_is_found(rule):
    _, broken, way = search_defer(replace(DeferRules(), **{rule: False}))

    assert broken == BREAKS[rule], way
