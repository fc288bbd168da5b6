"""No interleaving of beat, worker, operator and deaths begins a task of a suspended tenant, or leaves it aside."""

from dataclasses import fields, replace

import pytest

from .suspension import CALLED, LOST, REVIVED, SuspensionRules, search_suspension

LEFT_OUT = {
    "start_tells_who_is_suspended": CALLED,
    "hold_requires_running": REVIVED,
    "put_back_requires_aside": REVIVED,
    "beats_put_back_what_is_left": LOST,
}
# A second line: without it a task may be put aside just after its tenant was resumed, and a beat puts it back.
SECOND_LINE = {"hold_locks_the_tenant"}


def test_a_suspended_tenant_runs_nothing_and_loses_nothing():
    states, broken, way = search_suspension(SuspensionRules())

    assert (broken, way) == ("", [])
    assert states >= 80


@pytest.mark.parametrize("rule", LEFT_OUT)
def test_leaving_out_a_rule_is_found(rule):
    _, broken, way = search_suspension(replace(SuspensionRules(), **{rule: False}))

    assert broken == LEFT_OUT[rule], way


@pytest.mark.parametrize("rule", sorted(SECOND_LINE))
def test_nothing_is_lost_even_without(rule):
    assert search_suspension(replace(SuspensionRules(), **{rule: False}))[1] == ""


def test_every_rule_is_left_out_once():
    assert {*LEFT_OUT, *SECOND_LINE} == {field.name for field in fields(SuspensionRules)}
