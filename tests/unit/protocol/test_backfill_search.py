"""No interleaving of two backfills, a planner, a mover, an edit and kills runs a firing twice, or leaves one out."""

from dataclasses import fields, replace

import pytest

from .backfill import LEFT_OUT, TWICE, BackfillRules, search_backfill

BROKEN = {
    "instance_is_the_firing_s": TWICE,
    "insert_looks_into_the_past": TWICE,
    "edit_leaves_what_a_backfill_made": LEFT_OUT,
    "step_and_count_are_one_transaction": LEFT_OUT,
}


def test_each_firing_runs_once():
    states, broken, way = search_backfill(BackfillRules())

    assert (broken, way) == ("", [])
    assert states >= 500


@pytest.mark.parametrize(("name", "promise"), BROKEN.items())
def test_leaving_out_a_rule_is_found(name, promise):
    _, broken, way = search_backfill(replace(BackfillRules(), **{name: False}))

    assert broken == promise, way


def test_every_rule_is_left_out_once():
    assert BROKEN.keys() == {field.name for field in fields(BackfillRules)}
