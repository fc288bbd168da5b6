"""No interleaving of two sites, operators and deaths lets both start tasks, or leaves a chosen site closed for good."""

from dataclasses import fields, replace

import pytest

from .site import BOTH, CLOSED, OVERRULED, ROBBED, TWICE, SiteRules, search_sites

LEFT_OUT = {
    "start_asks_for_the_site": BOTH,
    "opening_awaits_what_is_in_flight": BOTH,
    "opening_asks_for_the_epoch": OVERRULED,
    "beats_open_what_was_chosen": CLOSED,
    "takeover_asks_again": ROBBED,
    "settle_asks_for_the_batch": TWICE,
}
# Without the first a batch is made in vain, and its start is refused; without the second its lease has to run out.
SECOND_LINE = {"claim_asks_for_the_site", "opening_returns_what_was_not_started"}


def test_only_the_active_site_starts_tasks():
    states, broken, way = search_sites(SiteRules())

    assert (broken, way) == ("", [])
    assert states >= 1_000


@pytest.mark.parametrize("rule", LEFT_OUT)
def test_leaving_out_a_rule_is_found(rule):
    _, broken, way = search_sites(replace(SiteRules(), **{rule: False}))

    assert broken == LEFT_OUT[rule], way


@pytest.mark.parametrize("rule", sorted(SECOND_LINE))
def test_no_promise_breaks_without(rule):
    assert search_sites(replace(SiteRules(), **{rule: False}))[1] == ""


def test_every_rule_is_left_out_once():
    assert {*LEFT_OUT, *SECOND_LINE} == {field.name for field in fields(SiteRules)}
