"""No interleaving of writers, sequencers, couriers and people skips an event or tells a unit's out of turn."""

from dataclasses import fields, replace

import pytest

from .relay import ALL_OF_IT, DELIVERING, WRITING, RelayRules, RelayScope, search_relay

# What goes wrong without each rule, and where the shortest way to it is found.
BREAKS = {
    "couriers_read_windows": (WRITING, "a committed event was never told"),
    "a_window_is_what_a_snapshot_sees": (WRITING, "a unit's events were told out of turn"),
    "a_window_is_read_by_id": (WRITING, "a unit's events were told out of turn"),
    "a_window_s_number_is_taken_once": (WRITING, "an event was told twice, and nobody died"),
    "the_cursor_is_noted_after_the_delivery": (DELIVERING, "a committed event was never told"),
    "who_lost_the_lease_notes_nothing": (DELIVERING, "a committed event was never told"),
}


@pytest.mark.parametrize(
    ("scope", "least"),
    [(WRITING, 5_000), (DELIVERING, 5_000), pytest.param(ALL_OF_IT, 500_000, marks=pytest.mark.scale)],
    ids=["writing", "delivering", "all of it"],
)
def test_nothing_is_skipped_and_every_unit_is_told_in_order(scope: RelayScope, least: int):
    states, flaw, way = search_relay(RelayRules(), scope)

    assert (flaw, way) == (None, [])
    assert states > least


def test_every_rule_of_the_relay_has_a_counterexample():
    assert BREAKS.keys() == {field.name for field in fields(RelayRules)}


@pytest.mark.parametrize("rule", BREAKS)
def test_leaving_out_a_rule_of_the_relay_is_found(rule):
    scope, expected = BREAKS[rule]
    _, flaw, way = search_relay(replace(RelayRules(), **{rule: False}), scope)

    assert flaw == expected, way
