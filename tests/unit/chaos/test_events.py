"""The oracle finds an event that was lost, invented, doubled or told out of turn."""

from collections import Counter
from dataclasses import replace

import pytest

from chaos.events import EventEvidence, Matched, wrong_events

RIGHT = EventEvidence(
    units={"1-1": "a", "1-2": "b", "2-1": "a", "3-1": "b"},
    told={"one": ["1-1", "1-2", "2-1", "3-1"]},
    changes={
        "success": Matched(Counter({7: 1, 8: 1}), Counter({7: 1, 8: 1})),
        "failed try": Matched(Counter({7: 2}), Counter({7: 2})),
    },
)


def changed(what: str, **counts: dict[int, int]) -> dict:
    """The evidence with another count of one kind of change."""
    now = RIGHT.changes[what]._replace(**{side: Counter(by_task) for side, by_task in counts.items()})
    return {"changes": {**RIGHT.changes, what: now}}


@pytest.mark.parametrize(
    "told",
    [
        ["1-1", "1-2", "2-1", "3-1"],
        ["1-2", "3-1", "1-1", "2-1"],  # other units may go ahead
        ["1-1", "2-1", "1-1", "1-2", "1-1", "3-1"],  # again, and late
    ],
)
def test_at_least_once_and_in_order_for_each_unit_is_right(told):
    assert list(wrong_events(replace(RIGHT, told={"one": told}))) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"told": {"one": ["1-1", "1-2", "2-1"]}}, "one never got event 3-1"),
        ({"told": {"one": ["1-1", "1-2", "2-1", "3-1", "9-1"]}}, "one got event 9-1, which nobody committed"),
        ({"told": {"one": ["1-2", "2-1", "1-1", "3-1"]}}, "one got event 1-1 of a after 2-1"),
        (changed("success", said={7: 1}), "task 8 has 1 times a success and 0 events that say so"),
        (changed("success", said={7: 1, 8: 2}), "task 8 has 1 times a success and 2 events that say so"),
        (changed("failed try", stored={7: 3}), "task 7 has 3 times a failed try and 2 events that say so"),
    ],
)
def test_harm_is_seen(change, words):
    assert list(wrong_events(replace(RIGHT, **change))) == [words]
