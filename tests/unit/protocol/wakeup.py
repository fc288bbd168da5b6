"""The wake-up, as a search of its own: no row may wait for the timer because its signal fell between two steps.

The dispatcher goes round: take the signal, announce the next look, read the earliest due_at, wait. A client
commits a row and then signals, but only if the row is due before the announced look. An editor holds the lock of
another row and lets go of it unchanged. Once, something that the dispatcher knew of comes due, and it goes round
without a signal. Unless a signal tells it of an earlier one, it reads on from where its last look ended, and does not
see a row that is due before that. (A client that dies before its signal is what the timer is for.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

# Moments: the dispatcher is awake now, the rows are due soon or should have run, and the timer looks again late.
PAST, NOW, SOON, LATE = range(4)


@dataclass(frozen=True, slots=True)
class WakeupRules:
    announce_comes_before_the_read: bool = True
    read_includes_locked_rows: bool = True
    signal_is_taken_before_the_look: bool = True
    signal_says_from_when_to_read: bool = True


class Wakeup(NamedTuple):
    round: tuple[str, ...]  # what the dispatcher has still to do before it waits
    announced: int = NOW  # the moment of the next look, for all to see
    earliest: int = LATE  # what it read
    signal: bool = False
    new_row: bool = False  # the client's row is committed
    due: int = SOON  # the client's row
    client: str = "commit"
    editor: str = "absent"  # and so is the other row
    reads_on: bool = False  # from where its last look ended
    comes_due: bool = True  # something that it knows of, once


def round_of(rules: WakeupRules) -> tuple[str, ...]:
    look = ("announce", "read") if rules.announce_comes_before_the_read else ("read", "announce")
    return ("take", *look) if rules.signal_is_taken_before_the_look else (*look, "take")


def moves(state: Wakeup, rules: WakeupRules) -> Iterator[tuple[str, Wakeup]]:
    yield from _dispatcher(state, rules)
    if state.client == "commit":
        yield "the client commits a row", state._replace(new_row=True, client="check")
    elif state.client == "check":
        early = state.announced > state.due
        answer = "due before the next look" if early else "the next look is early enough"
        yield f"the client checks: {answer}", state._replace(client="signal" if early else "done")
    elif state.client == "signal":
        yield "the client signals", state._replace(signal=True, client="done")
    if state.editor == "lock":
        yield "an editor locks the other row", state._replace(editor="unlock")
    elif state.editor == "unlock":
        yield "the editor lets go", state._replace(editor="done")


def _dispatcher(state: Wakeup, rules: WakeupRules) -> Iterator[tuple[str, Wakeup]]:
    if not state.round:
        if state.signal:
            yield "the dispatcher wakes up", state._replace(round=round_of(rules), announced=NOW)
        if state.comes_due:
            again = state._replace(round=round_of(rules), announced=NOW, comes_due=False)
            yield "something it knew of comes due", again
        return
    step, *rest = state.round
    after = state._replace(round=tuple(rest))
    if step == "take":
        reads_on = state.reads_on and not (state.signal and rules.signal_says_from_when_to_read)
        yield "the dispatcher takes the signal", after._replace(signal=False, reads_on=reads_on)
    elif step == "announce":
        yield "the dispatcher announces its next look", after._replace(announced=LATE)
    else:
        locked = state.editor == "unlock" and not rules.read_includes_locked_rows
        other_row = state.editor != "absent" and not locked
        passed_over = state.reads_on and state.due == PAST and state.earliest == LATE
        new_row = state.new_row and not passed_over
        earliest = SOON if new_row or other_row else LATE
        yield "the dispatcher reads the earliest due_at", after._replace(earliest=earliest, reads_on=True)


def sleeps_too_long(state: Wakeup) -> bool:
    """It waits for the timer although a row is due soon, and nobody is going to say so."""
    waits = not state.round and not state.signal and state.earliest == LATE
    row = state.new_row or state.editor != "absent"
    return waits and row and state.client in ("commit", "done") and state.editor != "unlock"


def search_wakeup(rules: WakeupRules) -> tuple[int, list[str]]:
    """How many states there are, and the shortest way to one where the dispatcher sleeps too long."""
    first = [Wakeup(round_of(rules), due=due, editor=editor) for due in (SOON, PAST) for editor in ("absent", "lock")]
    ways: dict[Wakeup, list[str]] = {state: [] for state in first}
    queue = list(first)
    for state in queue:
        if sleeps_too_long(state):
            return len(ways), ways[state]
        for line, after in moves(state, rules):
            if after not in ways:
                ways[after] = [*ways[state], line]
                queue.append(after)
    return len(ways), []
