"""No interleaving of two givers, workers, people and kills lets two instances of a job overlap, or one wait in vain."""

from dataclasses import fields, replace

import pytest

from .turns import LOST, ORDER, REVIVED, SETTLED, STUCK, TOGETHER, TurnRules, search_turns

POLICIES = ("skip", "queue_one", "queue_all", "replace")
LEFT_OUT = {
    ("queue_all", "decision_locks_the_job"): TOGETHER,
    ("queue_all", "decision_reads_after_the_lock"): TOGETHER,
    ("skip", "decision_and_release_are_one_transaction"): STUCK,
    ("skip", "release_requires_blocked"): REVIVED,
    ("replace", "replacing_cancels_the_older"): TOGETHER,
    ("replace", "settle_requires_running"): SETTLED,
    ("queue_all", "givers_find_whoever_waits"): STUCK,
    ("skip", "replayed_waits_for_its_turn"): TOGETHER,
    ("queue_all", "decision_goes_by_time"): ORDER,
}


@pytest.mark.parametrize("policy", POLICIES)
def test_no_two_instances_overlap_and_nobody_waits_in_vain(policy):
    states, broken, way = search_turns(policy, TurnRules())

    assert (broken, way) == ("", [])
    assert states >= 1000


@pytest.mark.parametrize("policy", POLICIES)
def test_nor_beside_a_backfill_which_gives_way(policy):
    states, broken, way = search_turns(policy, TurnRules(), backfill=True)

    assert (broken, way) == ("", [])
    assert states >= 500


BESIDE_A_BACKFILL = {
    ("replace", "backfill_gives_way"): LOST,
    ("queue_all", "backfill_keeps_its_turn_while_it_runs"): TOGETHER,
    ("skip", "backfill_keeps_its_turn_while_it_lies_aside"): STUCK,
}


@pytest.mark.parametrize(("policy", "rule"), BESIDE_A_BACKFILL)
def test_leaving_out_a_rule_about_backfills_is_found(policy, rule):
    _, broken, way = search_turns(policy, replace(TurnRules(), **{rule: False}), backfill=True)

    assert broken == BESIDE_A_BACKFILL[policy, rule], way


@pytest.mark.parametrize(("policy", "rule"), LEFT_OUT)
def test_leaving_out_a_rule_is_found(policy, rule):
    _, broken, way = search_turns(policy, replace(TurnRules(), **{rule: False}))

    assert broken == LEFT_OUT[policy, rule], way


def test_every_rule_is_left_out_once():
    assert {rule for _, rule in (*LEFT_OUT, *BESIDE_A_BACKFILL)} == {field.name for field in fields(TurnRules)}
