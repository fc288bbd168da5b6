"""Patterns with *: what they match, what is refused, and that no pattern takes more than linear time."""

import re
from itertools import product

import pytest

from tasks_app.core.alarms import Condition, Occurrence, Scope, refused_patterns
from tasks_app.core.events import Patterns, problems_of
from tasks_app.core.wildcards import MOST_WILDCARDS, PATTERN_LENGTH, matches, refused
from tests.support.cpu import ends_in_time

HOSTILE = "*" * 40 + "z"
NAME = "task.cancelled.by.olga"


def test_a_pattern_matches_what_it_says():
    texts = ["".join(letters) for size in range(6) for letters in product("ab", repeat=size)]
    for pattern in ("".join(letters) for size in range(6) for letters in product("ab*", repeat=size)):
        regex = re.compile(pattern.replace("*", ".*"))
        assert [one for one in texts if matches(pattern, one)] == [one for one in texts if regex.fullmatch(one)]


@pytest.mark.parametrize("text", ["a.c", "a[bc]", "a?", "a\n", "A"])
def test_no_other_character_means_more_than_itself(text):
    assert matches(text, text) and not matches(text, "abc") and matches("*", text) and not matches("a", text)


@pytest.mark.parametrize(
    "match",
    [
        lambda: NAME in Patterns([HOSTILE]),
        lambda: NAME in Patterns(["task.*", f"!{HOSTILE}"]),
        lambda: Scope(None, frozenset({Condition.DEAD}), (HOSTILE,)).counted(OCCURRENCE),
        lambda: matches("*a" * 50_000 + "*z", "a" * 200_000),
        lambda: matches("*" * 200_000 + "z", "a" * 200_000),
        lambda: list(problems_of(["task." + "*" * 22 + "z"], "events")),
        lambda: list(problems_of(["task." + "*" * 200_000 + "z"], "events")),
        lambda: refused_patterns(["*" * 200_000]),
    ],
    ids=["event", "exception", "rule", "many parts", "many wildcards", "checked", "checked, long", "rule, checked"],
)
def test_no_pattern_takes_long(match):
    assert ends_in_time(match)


@pytest.mark.parametrize("pattern", ["*" * MOST_WILDCARDS, "x" * PATTERN_LENGTH, "*a*b*c*d*"])
def test_what_is_within_the_limits_is_allowed(pattern):
    assert refused(pattern) is None


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("task." + "*" * 6, "'task.******' has 6 wildcards (*); a pattern has at most 5. One * stands for"),
        ("x" * 101, "has 101 characters; a pattern has at most 100. Shorten it."),
    ],
)
def test_what_is_beyond_them_is_refused(pattern, words):
    assert words in refused(pattern)
    assert words in next(problems_of([pattern], "events"))
    assert words in refused_patterns([pattern])


OCCURRENCE = Occurrence(Condition.DEAD, "acme", "cause", NAME)
