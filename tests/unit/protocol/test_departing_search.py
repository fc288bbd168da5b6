"""No interleaving of callers, people, beats and deaths loses a task of a tenant that is archived, or leaves it here."""

from dataclasses import fields, replace

import pytest

from .departing import LEFT, LOST, DepartingRules, search_departing

LEFT_OUT = {
    "callers_look_whether_it_is_closed": LEFT,
    "a_round_waits_for_whoever_may_not_know": LEFT,
    "removal_requires_what_was_written": LOST,
    "removal_follows_the_note_of_the_file": LOST,
    "the_last_round_finds_nothing": LEFT,
}


def test_a_tenant_that_leaves_loses_nothing_and_leaves_nothing():
    states, broken, way = search_departing(DepartingRules())

    assert (broken, way) == ("", [])
    assert states >= 30


@pytest.mark.parametrize("rule", LEFT_OUT)
def test_leaving_out_a_rule_is_found(rule):
    _, broken, way = search_departing(replace(DepartingRules(), **{rule: False}))

    assert broken == LEFT_OUT[rule], way


def test_every_rule_is_left_out_once():
    assert LEFT_OUT.keys() == {field.name for field in fields(DepartingRules)}
