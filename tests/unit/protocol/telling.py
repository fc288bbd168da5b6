"""Telling: an event for each change, written by the statement that makes it; or, in a wrong protocol, afterwards."""

from __future__ import annotations

from .model import Move, Moves, State
from .rules import Rules, Scope


def tell(move: Move, after: State, rules: Rules) -> tuple[Move, State]:
    """INSERT INTO punctual_outbox, from RETURNING, in the same statement. Wrong: in a transaction of its own."""
    if rules.change_and_its_events_are_one_transaction or not move.events or move.verb == "tell":
        return move, after
    return move._replace(events=()), after._replace(loose=(*after.loose, ("tell", move.events[0], move.events)))


def tells_later(state: State, rules: Rules, scope: Scope) -> Moves:
    for item in state.loose:
        if item[0] == "tell":
            yield Move("tell", ids=item[2], events=item[2]), _without(state, item)


def dies_before(state: State, rules: Rules, scope: Scope) -> Moves:
    for item in state.loose:
        if item[0] == "tell":
            yield Move("a process dies before it tells of", ids=item[2]), _without(state, item)


def _without(state: State, item: tuple) -> State:
    return state._replace(loose=tuple(other for other in state.loose if other != item))
