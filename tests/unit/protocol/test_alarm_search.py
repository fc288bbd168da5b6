"""No interleaving of beats and senders counts an event twice, leaves one out, or loses or swaps alerts."""

from dataclasses import fields, replace

import pytest

from .alarms import (
    COUNTED_TWICE,
    NEVER_COUNTED,
    NOT_WELL,
    OUT_OF_TURN,
    SENT_TWICE,
    TOLD_TWICE,
    AlarmRules,
    SendingRules,
    search_channel,
    search_incident,
)

SEARCHES = {AlarmRules: search_incident, SendingRules: search_channel}
BREAKS = {
    (AlarmRules, "what_is_read_is_between_snapshots"): NEVER_COUNTED,
    (AlarmRules, "counting_and_reading_are_one_transaction"): COUNTED_TWICE,
    (AlarmRules, "one_beat_reads_at_a_time"): COUNTED_TWICE,
    (AlarmRules, "telling_locks_the_incident"): TOLD_TWICE,
    (AlarmRules, "the_alert_and_that_it_was_told_are_one_transaction"): NOT_WELL,
    (AlarmRules, "closing_locks_the_incident"): NOT_WELL,
    (SendingRules, "one_sender_has_the_channel"): SENT_TWICE,
    (SendingRules, "who_lost_the_channel_takes_no_other_alert"): SENT_TWICE,
    (SendingRules, "sent_is_written_after_the_answer"): OUT_OF_TURN,
    (SendingRules, "alerts_are_sent_in_order"): OUT_OF_TURN,
}


@pytest.mark.parametrize("kind", SEARCHES, ids=["incident", "channel"])
def test_what_happened_counts_once_and_every_alert_arrives(kind):
    states, broken, way = SEARCHES[kind](kind())

    assert (broken, way) == ("", [])
    assert states > 400


def test_every_rule_has_a_counterexample():
    assert BREAKS.keys() == {(kind, field.name) for kind in SEARCHES for field in fields(kind)}


@pytest.mark.parametrize(("kind", "rule"), BREAKS)
def test_leaving_out_a_rule_is_found(kind, rule):
    _, broken, way = SEARCHES[kind](replace(kind(), **{rule: False}))

    assert broken == BREAKS[kind, rule], way
