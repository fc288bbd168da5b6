"""No interleaving of two beats, a person and kills leaves a curb behind, or a task that it has held."""

from dataclasses import fields, replace

import pytest

from .curbs import (
    FOR_EVER,
    LEFT,
    OVERWRITTEN,
    RUNS,
    TOGETHER,
    TWICE,
    HoldRules,
    LookRules,
    search_holds,
    search_looks,
)

KINDS = ("held", "trial", "retries")
LOOKS_LEFT_OUT = {
    "one_looks_at_a_time": TWICE,
    "figures_and_mark_are_one_transaction": TWICE,
    "stage_and_curb_are_one_transaction": LEFT,
    "look_locks_the_row": OVERWRITTEN,
}
HOLDS_LEFT_OUT = {
    ("retries", "gates_are_read_again"): FOR_EVER,
    ("retries", "gates_serve_what_was_put_aside"): FOR_EVER,
    ("held", "aside_requires_its_batch"): RUNS,
    ("retries", "aside_is_one_statement"): FOR_EVER,
    ("trial", "trials_are_counted_under_a_lock"): TOGETHER,
}


def test_a_curb_is_put_on_and_taken_off_whoever_looks_and_dies():
    states, broken, way = search_looks(LookRules())

    assert (broken, way) == ("", [])
    assert states >= 90


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_that_was_held_is_lost_or_waits_for_ever(kind):
    states, broken, way = search_holds(kind, HoldRules())

    assert (broken, way) == ("", [])
    assert states >= 2000


@pytest.mark.parametrize(("rule", "promise"), LOOKS_LEFT_OUT.items())
def test_leaving_out_a_rule_of_looks_is_found(rule, promise):
    _, broken, way = search_looks(replace(LookRules(), **{rule: False}))

    assert broken == promise, way


@pytest.mark.parametrize(("kind", "rule"), HOLDS_LEFT_OUT)
def test_leaving_out_a_rule_of_dispatchers_is_found(kind, rule):
    _, broken, way = search_holds(kind, replace(HoldRules(), **{rule: False}))

    assert broken == HOLDS_LEFT_OUT[kind, rule], way


def test_every_rule_is_left_out_once():
    assert {*LOOKS_LEFT_OUT} == {field.name for field in fields(LookRules)}
    assert {rule for _, rule in HOLDS_LEFT_OUT} == {field.name for field in fields(HoldRules)}
