"""One firing of a job, as a search of its own: skipped, moved and restored beside a planner, claims, edits, the mover.

A planner works in two steps: it reads what there is, and makes the instance. People change their minds a few times.
What is claimed runs once and ends; the mover takes it to the past.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

NONE, SKIPPED, MOVED = "none", "skipped", "moved"  # what was decided for it
OWN, ELSEWHERE, RUNS, OVER, PAST = "waits for its time", "waits where it was moved to", "runs", "over", "past"
TWICE = "runs twice"
AGAINST = "runs against what was decided"
LOST = "never runs, and nobody decided so"


@dataclass(frozen=True, slots=True)
class FiringRules:
    planner_asks_for_overrides: bool = True
    change_locks_the_cursor: bool = True
    change_takes_back_the_instance: bool = True
    change_requires_unclaimed: bool = True
    move_places_at_once: bool = True
    restore_plans_what_was_passed: bool = True
    edit_places_what_was_moved: bool = True


class Firing(NamedTuple):
    near: bool = False  # its time is so near that the planner plans it
    read: str | None = None  # what a planner has read that is at work: what was decided; None: none is at work
    passed: bool = False  # the planner has planned it, or left it out
    decided: str = NONE
    instance: str = NONE
    runs: int = 0
    changes: int = 4  # that people still make
    broken: str = ""


def moves(state: Firing, rules: FiringRules) -> Iterator[tuple[str, Firing]]:
    if not state.near:
        yield "its time comes near", state._replace(near=True)
    yield from _planner(state, rules)
    if state.instance in (OWN, ELSEWHERE):
        yield "it is claimed", _claimed(state)
    if state.instance == RUNS:
        yield "it ends", state._replace(instance=OVER)
    if state.instance == OVER:
        yield "the mover takes it to the past", state._replace(instance=PAST)
    if state.changes and not (rules.change_locks_the_cursor and state.read is not None):
        yield from _people(state._replace(changes=state.changes - 1), rules)


def _planner(state: Firing, rules: FiringRules) -> Iterator[tuple[str, Firing]]:
    if state.read is None and state.near and not state.passed:
        yield "a planner reads", state._replace(read=state.decided)
    if state.read is not None:
        done = state._replace(read=None, passed=True)
        wanted = state.read == NONE or not rules.planner_asks_for_overrides
        # A firing that is still to come is not looked for in the past; one that is there is left alone.
        if wanted and state.instance in (NONE, PAST):
            done = done._replace(instance=OWN)
        yield "a planner makes what is to be made", done
        yield "a planner is killed", state._replace(read=None)


def _people(state: Firing, rules: FiringRules) -> Iterator[tuple[str, Firing]]:
    claimed = state.instance in (RUNS, OVER, PAST)
    gone = NONE if state.instance in (OWN, ELSEWHERE) and rules.change_takes_back_the_instance else state.instance
    if not (claimed and rules.change_requires_unclaimed):
        yield "somebody skips it", state._replace(decided=SKIPPED, instance=gone)
        placed = ELSEWHERE if gone in (NONE, PAST) and rules.move_places_at_once else gone
        yield "somebody moves it", state._replace(decided=MOVED, instance=placed)
        if state.decided != NONE:
            again = OWN if state.passed and gone == NONE and rules.restore_plans_what_was_passed else gone
            yield "somebody restores it", state._replace(decided=NONE, instance=again)
    if state.instance in (OWN, ELSEWHERE):
        back = {NONE: OWN if state.passed else NONE, SKIPPED: NONE, MOVED: ELSEWHERE}[state.decided]
        if state.decided == MOVED and not rules.edit_places_what_was_moved:
            back = NONE
        yield "somebody edits the job", state._replace(instance=back)


def _claimed(state: Firing) -> Firing:
    right = (state.decided, state.instance) in ((NONE, OWN), (MOVED, ELSEWHERE))
    broken = TWICE if state.runs else "" if right else AGAINST
    return state._replace(instance=RUNS, runs=state.runs + 1, broken=broken)


def search_firing(rules: FiringRules) -> tuple[int, str, list[str]]:
    """How many states there are, the first promise that breaks, and the way there."""
    first = Firing()
    ways: dict[Firing, list[str]] = {first: []}
    level = [first]
    while level:
        reached = []
        for state in level:
            steps = list(moves(state, rules))
            for name, after in steps:
                if after.broken:
                    return len(ways), after.broken, [*ways[state], name]
                if after not in ways:
                    ways[after] = [*ways[state], name]
                    reached.append(after)
            at_rest = state.passed and state.read is None and state.instance == NONE
            if at_rest and not state.runs and state.decided != SKIPPED:
                return len(ways), LOST, ways[state]
        level = reached
    return len(ways), "", []
