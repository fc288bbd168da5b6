"""Alarms as plain rules: what a rule covers, how occurrences add up, and how it is put into words."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tasks_app.core.alarms import WORDS, AlertKind, Condition, Facts, Occurrence, Scope, sentences, title

PAGE = Path(__file__).resolve().parents[3] / "docs" / "alarms.md"
BEGAN = datetime(2027, 3, 1, 8, tzinfo=UTC)


def facts(condition: Condition, **more) -> Facts:
    given = {"cause": "", "task_type": "T", "count": 1, "new": 1, "seconds": 0.0, "sample": {}}
    return Facts(condition=condition, opened_at=BEGAN, seen_at=BEGAN + timedelta(minutes=5), **given | more)


def test_the_page_has_every_condition_with_its_words():
    rows = dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|", PAGE.read_text(), re.MULTILINE))
    for condition, words in WORDS.items():
        assert rows[condition].startswith(words), condition


@pytest.mark.parametrize(
    ("what", "words"),
    [
        (facts(Condition.DEAD, cause="E"), "1 task of T gave up: E"),
        (facts(Condition.DEAD, cause="3f1c", count=5_000, sample={"error_code": "E"}), "5,000 tasks of T gave up: E"),
        (facts(Condition.DEAD, task_type="", count=2), "2 tasks gave up"),
        (facts(Condition.LATE, count=2, seconds=90), "2 tasks of T started up to 90 s late"),
        (facts(Condition.RUNNING, seconds=600), "1 task of T has been running for up to 10 min"),
        (facts(Condition.RUNNING, count=3, seconds=600), "3 tasks of T have been running for up to 10 min"),
        (facts(Condition.MISSED), "1 firing of jobs was missed"),
        (facts(Condition.SUSPENDED, cause="billing"), "Subscription 'billing' is suspended"),
        (facts(Condition.TROUBLE, cause="no_worker", sample={"sentence": "No task can run."}), "No task can run."),
        (facts(Condition.SAFEGUARD, cause="delay", sample={"sentence": "It acts."}), "It acts."),
    ],
    ids=str,
)
def test_a_title_says_what_is_wrong_in_one_line(what, words):
    assert title(AlertKind.OPENED, what) == words
    assert title(AlertKind.WELL, what).lower() == f"well again: {words}".lower()


def test_what_follows_says_since_when_how_often_and_what_for_example():
    sample = {"error_code": "E", "error_msg": "no answer\nat all", "task": 7, "key": "k", "tenant": "acme"}
    what = facts(Condition.DEAD, cause="E", count=42, new=40, sample=sample)

    assert sentences(AlertKind.AGAIN, what) == [
        "It began at 2027-03-01 08:00:00 UTC; 40 more since the last alert, 42 in all.",
        "The error: no answer",
        "For example task 7 (k) of tenant acme.",
    ]
    (well,) = sentences(AlertKind.WELL, what)
    assert well == "It began at 2027-03-01 08:00:00 UTC and happened 42 times within 5 min; no more since then."


@pytest.mark.parametrize(
    ("scope", "count"),
    [
        ({}, 3),
        ({"tenant": "acme"}, 3),
        ({"tenant": "other"}, 0),
        ({"conditions": frozenset({"dead"})}, 0),
        ({"task_types": ("MAIL_*",)}, 3),
        ({"task_types": ("MAIL",)}, 0),
        ({"job": 7}, 3),
        ({"job": 8}, 0),
        ({"late_seconds": 100}, 2),
        ({"late_seconds": 200}, 0),
    ],
    ids=str,
)
def test_a_rule_counts_what_is_its_business(scope, count):
    seen = Occurrence(Condition.LATE, "acme", task_type="MAIL_SEND", job=7, count=3, seconds=200, each=(70, 150, 200))
    given = {"tenant": None, "conditions": frozenset({"late"}), "late_seconds": 60} | scope
    assert Scope(**given).counted(seen) == count


def test_two_occurrences_are_one_with_the_worse_for_an_example():
    one = Occurrence(Condition.LATE, "acme", count=1, seconds=70, each=(70,), sample={"task": 1})
    other = Occurrence(Condition.LATE, "acme", count=2, seconds=90, each=(80, 90), sample={"task": 2})
    both = one.plus(other)
    assert (both.count, both.seconds, both.each, both.sample) == (3, 90, (70, 80, 90), {"task": 2})


def test_of_missed_jobs_some_are_named():
    both = Occurrence(Condition.MISSED, "acme", sample={"jobs": ["a"]})
    for name in "bcdefga":
        both = both.plus(Occurrence(Condition.MISSED, "acme", sample={"jobs": [name]}))
    assert both.sample["jobs"] == ["a", "b", "c", "d", "e"] and both.group == ("", "")
