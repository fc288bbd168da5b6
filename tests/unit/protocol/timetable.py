"""The timetable, as a search of its own: no task waits at an entry before which nobody looks any more.

Transactions get a number, read the clock, write a task with an entry and commit, in any order, while time passes.
A dispatcher claims what it sees waiting, and it may be given back once. Two beats note how far the timetable lies
behind: each reads in one snapshot and writes later, perhaps after the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

NEW, READ, NUMBERED, WRITTEN, COMMITTED = range(5)
WAITS, RUNS, APART = "waits", "runs", "apart"
LAST = 2  # ticks of the clock


@dataclass(frozen=True, slots=True)
class TimetableRules:
    the_clock_is_read_with_a_number: bool = True
    the_mark_waits_for_older_transactions: bool = True
    what_waits_is_not_passed: bool = True
    what_waits_again_waits_apart: bool = True


class Tx(NamedTuple):
    """A transaction and the task that it writes."""

    phase: int = NEW
    xid: int = 0
    entry: int = 0
    task: str = WAITS
    returns: int = 1  # how often it may still be given back


class Timetable(NamedTuple):
    txs: tuple[Tx, ...]
    clock: int = 0
    next_xid: int = 1
    passed: int = -1
    mark: tuple[int, int] | None = None  # when it was made, and the number that was next then
    # What each beat has read and not written yet: passed, and the mark.
    read: tuple[tuple[int, tuple[int, int]] | None, ...] = (None, None)


def moves(state: Timetable, rules: TimetableRules) -> Iterator[tuple[str, Timetable]]:
    if state.clock < LAST:
        yield "time passes", state._replace(clock=state.clock + 1)
    for place, tx in enumerate(state.txs):
        yield from _write(state, rules, place, tx)
        yield from _run(state, rules, place, tx)
    for beat, read in enumerate(state.read):
        if read is None:
            yield f"beat {beat} reads the timetable", _with_read(state, beat, _look(state, rules))
        else:
            after = _with_read(state, beat, None)
            yield f"beat {beat} notes that it is passed up to {read[0]}", after._replace(passed=read[0], mark=read[1])


def _write(state: Timetable, rules: TimetableRules, place: int, tx: Tx) -> Iterator[tuple[str, Timetable]]:
    numbered = tx._replace(phase=NUMBERED, xid=state.next_xid)
    if tx.phase == NEW and rules.the_clock_is_read_with_a_number:
        yield (
            f"T{place} gets number {state.next_xid}",
            _with(state, place, numbered)._replace(next_xid=state.next_xid + 1),
        )
    elif tx.phase == NEW:
        yield f"T{place} reads the clock", _with(state, place, tx._replace(phase=READ, entry=state.clock))
    elif tx.phase == READ:
        yield (
            f"T{place} gets number {state.next_xid}",
            _with(state, place, numbered)._replace(next_xid=state.next_xid + 1),
        )
    elif tx.phase == NUMBERED:
        entry = state.clock if rules.the_clock_is_read_with_a_number else tx.entry
        yield f"T{place} writes an entry at {entry}", _with(state, place, tx._replace(phase=WRITTEN, entry=entry))
    elif tx.phase == WRITTEN:
        yield f"T{place} commits", _with(state, place, tx._replace(phase=COMMITTED))


def _run(state: Timetable, rules: TimetableRules, place: int, tx: Tx) -> Iterator[tuple[str, Timetable]]:
    if tx.phase == COMMITTED and tx.task != RUNS:
        yield f"the task of T{place} is claimed", _with(state, place, tx._replace(task=RUNS))
    elif tx.task == RUNS and tx.returns:
        again = APART if rules.what_waits_again_waits_apart else WAITS
        yield f"the task of T{place} is given back", _with(state, place, tx._replace(task=again, returns=0))


def _look(state: Timetable, rules: TimetableRules) -> tuple[int, tuple[int, int]]:
    """What pass_entries works out, by its snapshot."""
    new_mark = (state.clock, state.next_xid)
    if state.mark is None:
        return state.passed, new_mark
    made_at, xid = state.mark
    oldest = min((tx.xid for tx in state.txs if tx.phase in (NUMBERED, WRITTEN)), default=state.next_xid)
    if rules.the_mark_waits_for_older_transactions and xid > oldest:
        return state.passed, state.mark
    waiting = [tx.entry for tx in state.txs if tx.phase == COMMITTED and tx.task == WAITS and tx.entry >= state.passed]
    return min([made_at, *waiting] if rules.what_waits_is_not_passed else [made_at]), new_mark


def _with(state: Timetable, place: int, tx: Tx) -> Timetable:
    return state._replace(txs=(*state.txs[:place], tx, *state.txs[place + 1 :]))


def _with_read(state: Timetable, beat: int, read: tuple[int, tuple[int, int]] | None) -> Timetable:
    return state._replace(read=(*state.read[:beat], read, *state.read[beat + 1 :]))


def waits_unseen(state: Timetable) -> bool:
    """A task waits where nobody looks."""
    return any(tx.phase == COMMITTED and tx.task == WAITS and tx.entry < state.passed for tx in state.txs)


def search_timetable(rules: TimetableRules, transactions: int = 1) -> tuple[int, list[str]]:
    """How many states there are, and the shortest way to one where a task waits unseen."""
    first = Timetable((Tx(),) * transactions)
    ways: dict[Timetable, tuple[Timetable, str] | None] = {first: None}
    queue = [first]
    for state in queue:
        if waits_unseen(state):
            return len(ways), _way(ways, state)
        for line, after in moves(state, rules):
            if after not in ways:
                ways[after] = (state, line)
                queue.append(after)
    return len(ways), []


def _way(ways: dict[Timetable, tuple[Timetable, str] | None], state: Timetable) -> list[str]:
    lines = []
    while (before := ways[state]) is not None:
        state, line = before
        lines.append(line)
    return lines[::-1]
