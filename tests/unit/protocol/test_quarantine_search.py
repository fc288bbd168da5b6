"""No interleaving of beat, worker, operator and deaths calls a handler on a copy, or leaves a rehearsed task aside."""

from dataclasses import fields, replace

import pytest

from .quarantine import CALLED, LOST, REVIVED, QuarantineRules, search_quarantine

LEFT_OUT = {
    "worker_looks_before_it_takes": CALLED,
    "start_asks_for_the_state": CALLED,
    "aside_holds_the_installation": LOST,
    "put_back_requires_aside": REVIVED,
    "resume_puts_back_what_is_left": LOST,
}
# These two are a second line: without them a batch is made in vain, and its start is refused.
SECOND_LINE = {"beat_looks_before_it_claims", "claim_asks_for_the_state"}


def test_a_copy_calls_nobody_and_a_rehearsal_takes_nothing_away():
    states, broken, way = search_quarantine(QuarantineRules())

    assert (broken, way) == ("", [])
    assert states >= 200


@pytest.mark.parametrize("rule", LEFT_OUT)
def test_leaving_out_a_rule_is_found(rule):
    _, broken, way = search_quarantine(replace(QuarantineRules(), **{rule: False}))

    assert broken == LEFT_OUT[rule], way


@pytest.mark.parametrize("rule", sorted(SECOND_LINE))
def test_the_start_is_refused_even_without(rule):
    assert search_quarantine(replace(QuarantineRules(), **{rule: False}))[1] == ""


def test_every_rule_is_left_out_once():
    assert {*LEFT_OUT, *SECOND_LINE} == {field.name for field in fields(QuarantineRules)}
