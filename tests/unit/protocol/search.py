"""Breadth-first search through every state of a scope; the first flaw comes with the shortest way to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from . import away, dispatcher, over, people, reap, telling, worker
from .model import Move, Moves, State, canonical, first_state
from .promises import Flaw, flaws_at_rest, flaws_in_state, flaws_in_step
from .rules import ALL_RULES, Rules, Scope

Verb = Callable[[State, Rules, Scope], Moves]

# What happens by itself, without claims, people or faults. These never go round in a circle, so if no state where
# none of them is left has anything half done, then every way without faults comes to a good end.
CALM = (
    dispatcher.publish,
    reap.reap,
    away.lose,
    dispatcher.time_passes,
    worker.start,
    worker.run,
    people.edit_goes_on,
    telling.tells_later,
)
REST = (
    dispatcher.claim,
    dispatcher.publish_fails,
    dispatcher.taken_over,
    dispatcher.messages_stray,
    worker.goes_astray,
    away.report,
    people.edit_opens,
    people.cancel,
    people.replay,
    people.discard,
    people.give_up,
    over.move,
    telling.dies_before,
)
# What a scope must have for a verb to be possible at all; verbs that are not here always are.
NEEDED: dict[Verb, Callable[[Rules, Scope], object]] = {
    away.lose: lambda rules, scope: "away" in scope.outcomes,
    away.report: lambda rules, scope: scope.reports,
    dispatcher.taken_over: lambda rules, scope: scope.takeovers,
    people.edit_goes_on: lambda rules, scope: scope.edits,
    people.edit_opens: lambda rules, scope: scope.edits,
    people.give_up: lambda rules, scope: scope.edits,
    people.cancel: lambda rules, scope: scope.cancels,
    people.replay: lambda rules, scope: scope.replays,
    people.discard: lambda rules, scope: scope.discards,
    over.move: lambda rules, scope: scope.mover,
    telling.tells_later: lambda rules, scope: not rules.change_and_its_events_are_one_transaction,
    telling.dies_before: lambda rules, scope: not rules.change_and_its_events_are_one_transaction,
}


@dataclass
class Found:
    """What a search saw: how much, how deep, and the first flaw with the steps that lead to it."""

    states: int
    steps: int
    depth: int
    flaw: Flaw | None = None
    trace: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        seen = f"{self.states:,} states, {self.steps:,} steps, depth {self.depth}"
        if self.flaw is None:
            return f"no flaw in {seen}"
        lines = [f"{number:>3}. {line}" for number, line in enumerate(self.trace, 1)]
        return "\n".join([f"{self.flaw[0]}: {self.flaw[1]} (after {seen})", *lines])


def search(
    scope: Scope, rules: Rules = ALL_RULES, blind: frozenset[str] = frozenset(), max_depth: int | None = None
) -> Found:
    """Visit all states, or those within `max_depth` steps; `blind` names promises not to look at."""
    first = canonical(first_state(scope))
    parents: dict[State, State | None] = {first: None}
    verbs = [(_telling(verb, rules), verb in CALM) for verb in _possible(rules, scope)]
    level, depth, steps = [first], 0, 0
    while level and depth != max_depth:
        next_level: list[State] = []
        known = len(parents)
        for state in level:
            at_rest = True
            for verb, calm in verbs:
                for move, reached in verb(state, rules, scope):
                    steps += 1
                    flaws = flaws_in_step(state, move, reached)
                    after = canonical(reached)
                    at_rest = at_rest and not (calm and after != state)
                    if parents.setdefault(after, state) is state and len(parents) > known:
                        known += 1
                        next_level.append(after)
                        flaws = [*flaws, *flaws_in_state(after, scope)]
                    for flaw in flaws:
                        if flaw[0] not in blind:
                            trace = [*_trace(parents, state, rules, scope), str(move)]
                            return Found(known, steps, depth + 1, flaw, trace)
            if at_rest:
                for flaw in flaws_at_rest(state):
                    if flaw[0] not in blind:
                        return Found(known, steps, depth, flaw, _trace(parents, state, rules, scope))
        level = next_level
        depth += bool(level)
    return Found(len(parents), steps, depth)


def _possible(rules: Rules, scope: Scope) -> list[Verb]:
    return [verb for verb in CALM + REST if verb not in NEEDED or NEEDED[verb](rules, scope)]


def _telling(verb: Verb, rules: Rules) -> Verb:
    """What a verb can do, with its events beside it."""
    if rules.change_and_its_events_are_one_transaction:
        return verb
    return lambda state, rules, scope: (telling.tell(*step, rules) for step in verb(state, rules, scope))


def calm_steps(scope: Scope) -> dict[State, set[State]]:
    """Every state of a scope, and where it can go by itself."""
    steps: dict[State, set[State]] = {}
    waiting = [canonical(first_state(scope))]
    while waiting:
        state = waiting.pop()
        if state not in steps:
            reached = [
                [canonical(after) for verb in verbs for _, after in verb(state, ALL_RULES, scope)]
                for verbs in (CALM, REST)
            ]
            steps[state] = {*reached[0]} - {state}
            waiting += reached[0] + reached[1]
    return steps


def _trace(parents: dict[State, State | None], state: State, rules: Rules, scope: Scope) -> list[str]:
    lines = []
    while (before := parents[state]) is not None:
        lines.append(str(_move_between(before, state, rules, scope)))
        state = before
    return lines[::-1]


def _move_between(before: State, after: State, rules: Rules, scope: Scope) -> Move:
    for verb in CALM + REST:
        for move, reached in _telling(verb, rules)(before, rules, scope):
            if canonical(reached) == after:
                return move
    raise AssertionError("two states without a move between them")
