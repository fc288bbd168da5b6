"""No interleaving of two beats, a person and a kill makes a campaign replay a task twice, or leave one out."""

from dataclasses import fields, replace

import pytest

from .campaign import ALIVE, STOPPED, TWICE, CampaignRules, search_campaign

# The lock makes the second guard unnecessary, and the other way round: either alone holds, neither does not.
LEFT_OUT = {
    ("step_and_count_are_one_transaction",): TWICE,
    ("step_locks_the_campaign", "count_repeats_what_was_seen"): STOPPED,
    ("step_requires_running",): STOPPED,
    ("replay_requires_dead",): ALIVE,
}


def without(*names: str) -> CampaignRules:
    return replace(CampaignRules(), **dict.fromkeys(names, False))


@pytest.mark.parametrize("names", [(), ("step_locks_the_campaign",), ("count_repeats_what_was_seen",)])
def test_a_campaign_replays_each_task_once(names):
    states, broken, way = search_campaign(without(*names))

    assert (broken, way) == ("", [])
    assert states >= 50


@pytest.mark.parametrize(("names", "promise"), LEFT_OUT.items())
def test_leaving_out_a_rule_is_found(names, promise):
    _, broken, way = search_campaign(without(*names))

    assert broken == promise, way


def test_every_rule_is_left_out_once():
    assert {name for names in LEFT_OUT for name in names} == {field.name for field in fields(CampaignRules)}
