"""The witness of turns can be believed: an overlap is seen, and a handing over within one transaction is none."""

from collections import Counter

import pytest

from chaos.turns import PAYLOADS, POLICIES, WANTED, Seen, overlaps, wrong_turns

GOOD = {
    f"{policy}-{number}": Counter({"SUCCESS": 3, WANTED[policy]: 2})
    for policy in POLICIES
    for number in range(len(PAYLOADS))
}


def seen(*words: str) -> list[Seen]:
    """`3+1` is: in transaction 3, task 1 begins; `3-1`, it ends."""
    return [Seen(7, int(word[2:]), word[1] == "+", int(word[0])) for word in words]


@pytest.mark.parametrize(
    ("words", "together"),
    [
        (["1+1", "2-1", "3+2"], 0),
        (["1+1", "2+2", "3-1"], 1),
        (["1+1", "2+2", "2-1"], 0),  # replaced: in one transaction, whichever the trigger heard of first
        (["1+1", "2-1", "2+2"], 0),
        (["1+1", "2+1", "3+1"], 0),  # tried again and again
        (["1+1", "2-1", "3+2", "4+1"], 1),  # replayed beside another
    ],
)
def test_an_overlap_is_seen(words, together):
    assert len(list(overlaps(seen(*words)))) == together


def test_instances_of_two_jobs_may_be_under_way_together():
    assert list(overlaps([Seen(7, 1, True, 1), Seen(8, 2, True, 2)])) == []


@pytest.mark.parametrize(
    ("name", "counts", "words"),
    [
        ("skip-0", {"SUCCESS": 1, "BLOCKED": 1}, "1 instances of skip-0 are BLOCKED"),
        ("queue_all-1", {"OVERLAP": 1}, "no instance of queue_all-1 has run"),
    ],
)
def test_a_job_that_did_not_end_well_is_told(name, counts, words):
    assert words in list(wrong_turns([], GOOD | {name: Counter(counts)}))


def test_a_policy_that_had_nothing_to_do_is_told():
    idle = {name: Counter({"SUCCESS": 3}) for name in GOOD}

    assert [words.split(":")[0] for words in wrong_turns([], idle)] == [
        "no instance was OVERLAP by the policy skip",
        "no instance was OVERLAP by the policy queue_one",
        "no instance was OVERTAKEN by the policy replace",
    ]
    assert list(wrong_turns([], GOOD)) == []
