"""No interleaving of dispatcher, client and editor leaves a row waiting for the timer."""

from dataclasses import fields, replace

import pytest

from .wakeup import WakeupRules, search_wakeup


def test_no_wakeup_falls_between_two_steps():
    states, way = search_wakeup(WakeupRules())
    assert way == []
    assert states >= 80


@pytest.mark.parametrize("rule", [field.name for field in fields(WakeupRules)])
def test_leaving_out_a_wakeup_rule_is_found(rule):
    _, way = search_wakeup(replace(WakeupRules(), **{rule: False}))
    assert way, f"nothing goes wrong without {rule}: is it still needed?"
