"""Every reachable state of the protocol keeps every promise; with any rule left out, some state breaks one.

`pytest -rP` shows how many states each search saw, and the shortest way to each counterexample.
"""

import sys
from dataclasses import replace
from graphlib import TopologicalSorter

import pytest

from tests.support.scale import FULL

from .counterexamples import COUNTEREXAMPLES, NO_COUNTEREXAMPLE, TWO_GUARDS
from .promises import STUCK
from .rules import ALL_RULES, RULE_NAMES, Scope
from .search import calm_steps, search

# Each scope with the number of states it has to have: whoever makes one smaller does it here, in the open.
SCOPES = {
    "one unit, everything once but edits": (
        Scope(cancels=1, replays=1, doubles=1, doubts=1),
        7_400,
    ),
    "dead letters, replayed and discarded": (
        Scope(edits=1, replays=1, discards=1, outcomes=("ok", "dead")),
        4_000,
    ),
    "two tasks in one batch, cancels": (
        Scope(units=2, cancels=1, outcomes=("ok",)),
        6_200,
    ),
    "two tasks in one batch, doubts": (
        Scope(units=2, doubts=1, outcomes=("ok",)),
        4_300,
    ),
    "two tasks lost and tried alone": (
        Scope(units=2, workers=1, batches=3, outcomes=("ok",)),
        9_000,
    ),
    "a rolling task, edited": (
        Scope(rolling=True, edits=1, cancels=1, workers=1),
        5_700,
    ),
    "a rolling task in doubt": (
        Scope(rolling=True, cancels=1, doubts=1),
        1_900,
    ),
    "two editors at once, without the article's lock": (
        Scope(scheduled=False, edits=2, editors=2, article=False),
        4_400,
    ),
    "a broker that does not answer": (
        Scope(refusals=1, doubles=1, outcomes=("ok",)),
        4_600,
    ),
    "a beat whose work is taken over, dead or only frozen": (
        Scope(takeovers=True, edits=1, verbs=("reschedule",), outcomes=("ok",)),
        2_400,
    ),
    "a lane that is paused now and then": (
        Scope(pauses=True, edits=1, verbs=("reschedule",), outcomes=("ok",)),
        2_400,
    ),
    "two editors bring it back at once": (
        Scope(mover=True, edits=2, editors=2, article=False, workers=1, batches=1, outcomes=("ok",)),
        2_200,
    ),
    "a key is asked for again while its task is moved": (
        Scope(mover=True, edits=1, verbs=("schedule",), article=False, cancels=1, workers=1, outcomes=("ok",)),
        1_900,
    ),
    "a task that is away, in doubt and replayed": (
        Scope(outcomes=("ok", "away"), reports=2, doubts=1, replays=1, workers=1),
        2_100,
    ),
    "a rolling task that is away": (
        Scope(outcomes=("away",), rolling=True, reports=2, cancels=1, workers=1),
        1_600,
    ),
    "two tasks of one batch, one or both away": (
        Scope(units=2, batches=1, outcomes=("ok", "away"), reports=1, workers=1, article=False),
        1_000,
    ),
    "one unit, claimed ahead of its time, edited and cancelled": (
        Scope(ahead=True, edits=1, cancels=1, workers=1, outcomes=("ok", "fail")),
        8_600,
    ),
    "the wheel, snoozes, skips and timeouts": (
        Scope(wheel=True, edits=1, outcomes=("ok", "snooze", "skip"), timeouts=True),
        4_000,
    ),
}

# 1.6 million states more, in three minutes: the scopes above put together, and wider ones. What is a part of one of
# these is above, too, only if it has something that no other scope there has.
WIDE_SCOPES = {
    "one unit, everything once but doubled messages": (
        Scope(edits=1, cancels=1, replays=1, doubts=1),
        22_000,
    ),
    "one unit edited twice in either way, dead letters": (
        Scope(edits=2, replays=1, outcomes=("ok", "dead")),
        15_000,
    ),
    "two tasks in one batch, cancels and failures": (
        Scope(units=2, cancels=1),
        13_500,
    ),
    "two tasks in one batch, doubts and failures": (
        Scope(units=2, doubts=1),
        12_500,
    ),
    "two tasks in one batch, edited, and two workers": (
        Scope(units=2, edits=1, verbs=("ensure",), outcomes=("ok",)),
        22_000,
    ),
    "a rolling task": (
        Scope(rolling=True, edits=1, cancels=1, doubts=1),
        23_000,
    ),
    "a task that is away, reported twice, cancelled and moved": (
        Scope(outcomes=("away",), reports=2, cancels=1, edits=1, workers=1),
        15_900,
    ),
    "two tasks of a batch, one or both away": (
        Scope(units=2, outcomes=("ok", "away"), reports=1, workers=1, article=False),
        16_400,
    ),
    "two tasks in one batch, claimed ahead of their time": (
        Scope(ahead=True, units=2, cancels=1, workers=1, outcomes=("ok",)),
        18_300,
    ),
    "one unit, everything once": (
        Scope(edits=1, cancels=1, replays=1, doubles=1, doubts=1),
        93_000,
    ),
    "one unit, three claims": (
        Scope(batches=3, edits=1, cancels=1, replays=1, doubles=1),
        367_000,
    ),
    "two tasks in one batch, everything once": (
        Scope(units=2, edits=1, cancels=1, doubts=1),
        679_000,
    ),
    "two tasks, three claims": (
        Scope(units=2, batches=3, cancels=1, outcomes=("ok",)),
        99_000,
    ),
    "a rolling task, three claims": (
        Scope(rolling=True, batches=3, edits=1, cancels=1, doubts=1),
        156_000,
    ),
    "what is over is moved, edited twice, and comes back": (
        Scope(mover=True, edits=2, cancels=1, workers=1, outcomes=("ok", "dead")),
        78_000,
    ),
    "two editors and the mover": (
        Scope(mover=True, edits=2, editors=2, article=False, workers=1, outcomes=("ok",)),
        32_000,
    ),
    "two editors at once, without the article's lock, and a cancel": (
        Scope(scheduled=False, edits=2, editors=2, article=False, cancels=1),
        10_000,
    ),
    "a broker that does not answer, and a cancel": (
        Scope(refusals=1, doubles=1, cancels=1, outcomes=("ok",)),
        9_000,
    ),
    "a beat whose work is taken over, and a doubled message": (
        Scope(takeovers=True, doubles=1, edits=1, verbs=("reschedule",), outcomes=("ok",)),
        8_800,
    ),
    "a lane that is paused now and then, and a doubled message": (
        Scope(pauses=True, doubles=1, edits=1, verbs=("reschedule",), outcomes=("ok",)),
        8_800,
    ),
    "two editors at once, dead letters": (
        Scope(edits=2, editors=2, article=False, cancels=1, replays=1, outcomes=("ok", "dead")),
        82_000,
    ),
}


@pytest.mark.parametrize(("scope", "floor"), SCOPES.values(), ids=SCOPES)
def test_every_reachable_state_keeps_every_promise(scope, floor):
    found = search(scope)
    sys.stdout.write(f"{found}\n")
    assert found.flaw is None, f"\n{found}"
    assert found.states >= floor, "the scope became smaller: fewer moves are searched than before"


@pytest.mark.scale
@pytest.mark.parametrize(("scope", "floor"), WIDE_SCOPES.values(), ids=WIDE_SCOPES)
def test_every_state_of_a_wide_scope_keeps_every_promise(scope, floor, request):
    if "scale" not in request.config.getoption("markexpr"):
        pytest.skip("minutes long: run with -m scale")
    test_every_reachable_state_keeps_every_promise(scope, floor)


@pytest.mark.parametrize("scope", [Scope(edits=1), Scope(units=2)], ids=["one unit", "two tasks"])
def test_what_happens_by_itself_never_goes_round_in_a_circle(scope):
    TopologicalSorter(calm_steps(scope)).prepare()  # raises CycleError otherwise


@pytest.mark.parametrize("rule", COUNTEREXAMPLES)
def test_leaving_out_a_rule_is_found(rule):
    promise, scope = COUNTEREXAMPLES[rule]
    found = search(scope, ALL_RULES.without(rule))
    sys.stdout.write(f"without {rule}\n{found}\n")
    assert found.flaw is not None, f"nothing goes wrong without {rule}: is it still needed?"
    assert found.flaw[0] == promise, f"\n{found}"
    assert_no_flaw_within(len(found.trace) + (promise == STUCK), scope)  # at rest is seen one level later


_searched: dict[Scope, int] = {}  # how deep, with all rules: many are left out of the same scope


def assert_no_flaw_within(depth: int, scope: Scope) -> None:
    if depth > _searched.get(scope, 0):
        with_it = search(scope, max_depth=depth)
        assert with_it.flaw is None, f"the same goes wrong with the rule:\n{with_it}"
        _searched[scope] = depth


@pytest.mark.parametrize("pair", TWO_GUARDS, ids=lambda pair: f"{pair.first}-and-{pair.second}")
def test_behind_one_guard_stands_another(pair):
    blind = frozenset({pair.blind})
    for rule in (pair.first, pair.second):
        alone = search(pair.scope, ALL_RULES.without(rule), blind)
        assert alone.flaw is None, f"{rule} is no spare one:\n{alone}"
    found = search(pair.scope, ALL_RULES.without(pair.first, pair.second), blind)
    sys.stdout.write(f"without {pair.first} and {pair.second}\n{found}\n")
    assert found.flaw is not None
    assert found.flaw[0] == pair.breaks, f"\n{found}"


@pytest.mark.parametrize("rule", NO_COUNTEREXAMPLE)
def test_a_spare_rule_is_really_spare(rule):
    workers, outcomes = (2, ("ok", "fail")) if FULL else (1, ("ok",))
    edited, doubted = Scope(edits=1, cancels=1, workers=workers, outcomes=("ok",)), Scope(units=2, workers=1, doubts=1)
    for scope in (edited, replace(doubted, outcomes=outcomes)):
        found = search(scope, ALL_RULES.without(rule))
        assert found.flaw is None, f"{rule} is needed after all; move it to COUNTEREXAMPLES:\n{found}"


def test_every_rule_has_a_counterexample_or_a_reason():
    assert {*COUNTEREXAMPLES, *NO_COUNTEREXAMPLE} == set(RULE_NAMES)
    assert not COUNTEREXAMPLES.keys() & NO_COUNTEREXAMPLE.keys()
