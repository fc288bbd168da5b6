"""No interleaving of two workers, a beat, people and kills lets a task run before its parents, twice, or not at all."""

from dataclasses import fields, replace

import pytest

from .release import EARLY, LATE, REVIVED, WAITS, ReleaseRules, search_release

LEFT_OUT = {
    "look_comes_after_the_commit": LATE,
    "release_repeats_blocked": REVIVED,
    "walk_finds_every_case": WAITS,
    "look_reads_every_parent": EARLY,
    "waits_are_handed_on": WAITS,
}


def test_a_task_runs_once_and_after_all_that_it_waits_for():
    states, broken, way = search_release(ReleaseRules())

    assert (broken, way) == ("", [])
    assert states >= 200


@pytest.mark.parametrize(("rule", "promise"), LEFT_OUT.items())
def test_leaving_out_a_rule_is_found(rule, promise):
    _, broken, way = search_release(replace(ReleaseRules(), **{rule: False}))

    assert broken == promise, way


def test_every_rule_is_left_out_once():
    assert LEFT_OUT.keys() == {field.name for field in fields(ReleaseRules)}
