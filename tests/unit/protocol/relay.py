"""The relay, as a search of its own: no committed event is skipped, and those of a unit are told in its order.

Three transactions get a number, write and commit in any order; two of them change the same unit, which the second can
lock only when the first has committed. Two sequencers take a snapshot and record a window. A courier reads, delivers
and notes its cursor; it may die between any two steps, another takes over, and the first may come back. A person has it
told again from the beginning.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

NEW, BEGUN, WRITTEN, COMMITTED = range(4)
UNITS = ("a", "a", "b")  # the one that each transaction changes and writes an event of


@dataclass(frozen=True, slots=True)
class RelayScope:
    transactions: int = len(UNITS)
    faults: bool = True  # couriers die and are taken over, and people ask again


WRITING = RelayScope(faults=False)
DELIVERING = RelayScope(transactions=2)
ALL_OF_IT = RelayScope()


@dataclass(frozen=True, slots=True)
class RelayRules:
    couriers_read_windows: bool = True  # else all that is committed and has a larger id than the last
    a_window_is_what_a_snapshot_sees: bool = True  # else what is below the oldest open transaction
    a_window_is_read_by_id: bool = True  # else by the number of the transaction
    a_window_s_number_is_taken_once: bool = True
    the_cursor_is_noted_after_the_delivery: bool = True
    who_lost_the_lease_notes_nothing: bool = True


class Tx(NamedTuple):
    phase: int = NEW
    xid: int = 0
    id: int = 0


class Courier(NamedTuple):
    fence: int = 0
    cursor: int = 0  # windows that it knows to be delivered; or the last id
    carries: int | None = None  # what its cursor will be: delivered, and not noted yet


class Relay(NamedTuple):
    txs: tuple[Tx, ...]
    takeovers: int = 1  # that may come yet
    rewinds: int = 1
    next_xid: int = 1
    next_id: int = 1
    windows: tuple[frozenset[int], ...] = ()  # of transactions; in each those that were not in one before
    seen: frozenset[int] = frozenset()  # by the newest window
    gathered: tuple[tuple[int, frozenset[int], frozenset[int]] | None, ...] = (None, None)
    cursor: int = 0  # in the database
    fence: int = 0
    couriers: tuple[Courier | None, ...] = (Courier(), None)
    told: tuple[int, ...] = ()  # transactions whose event was told, since the person asked; first tellings
    twice: bool = False  # something was told again
    excused: bool = False  # a courier died, or somebody asked for it: then that may be
    told_from: int = 0  # the fence since which it counts who was told


def moves(state: Relay, rules: RelayRules) -> Iterator[tuple[str, Relay]]:
    yield from _write(state)
    for number in range(len(state.gathered)):
        yield from _sequence(state, rules, number)
    for number, courier in enumerate(state.couriers):
        if courier is not None:
            yield from _deliver(state, rules, number, courier)
    if state.takeovers:
        heir = Courier(state.fence + 1, state.cursor)
        after = state._replace(fence=heir.fence, couriers=(state.couriers[0], heir), takeovers=0, excused=True)
        yield "another courier takes over", after
        yield "the courier dies and another takes over", after._replace(couriers=(None, heir))
    if state.rewinds and state.told:
        heir = Courier(state.fence + 1)
        yield (
            "a person has it told again",
            state._replace(
                cursor=0,
                fence=heir.fence,
                couriers=(state.couriers[0], heir),
                told=(),
                told_from=heir.fence,
                rewinds=0,
                excused=True,
            ),
        )


def _write(state: Relay) -> Iterator[tuple[str, Relay]]:
    for number, tx in enumerate(state.txs):
        if tx.phase == NEW:
            yield (
                f"T{number} gets number {state.next_xid}",
                _with(state, number, Tx(BEGUN, state.next_xid))._replace(next_xid=state.next_xid + 1),
            )
        elif tx.phase == BEGUN:
            locked = any(one.phase == WRITTEN and UNITS[n] == UNITS[number] for n, one in enumerate(state.txs))
            if not locked:
                written = Tx(WRITTEN, tx.xid, state.next_id)
                after = _with(state, number, written)._replace(next_id=state.next_id + 1)
                yield f"T{number} locks its unit and writes row {state.next_id}", after
        elif tx.phase == WRITTEN:
            yield f"T{number} commits", _with(state, number, tx._replace(phase=COMMITTED))


def _with(state: Relay, number: int, tx: Tx) -> Relay:
    return state._replace(txs=(*state.txs[:number], tx, *state.txs[number + 1 :]))


def _sequence(state: Relay, rules: RelayRules, number: int) -> Iterator[tuple[str, Relay]]:
    gathered = state.gathered[number]
    if gathered is None:
        visible = _visible(state, rules)
        if visible - state.seen:
            pending = (len(state.windows), state.seen, visible)
            yield f"sequencer {number} looks", _gathered(state, number, pending)
        return
    no, before, after = gathered
    state = _gathered(state, number, None)
    if no != len(state.windows) and rules.a_window_s_number_is_taken_once:
        yield f"sequencer {number} finds window {no} taken", state
    else:
        recorded = state._replace(windows=(*state.windows, after - before), seen=after)
        yield f"sequencer {number} records window {len(state.windows)}", recorded


def _gathered(state: Relay, number: int, pending: tuple | None) -> Relay:
    return state._replace(gathered=tuple(pending if n == number else one for n, one in enumerate(state.gathered)))


def _visible(state: Relay, rules: RelayRules) -> frozenset[int]:
    committed = {number for number, tx in enumerate(state.txs) if tx.phase == COMMITTED}
    if not rules.a_window_is_what_a_snapshot_sees:
        horizon = min((tx.xid for tx in state.txs if tx.phase in (BEGUN, WRITTEN)), default=state.next_xid)
        committed = {number for number in committed if state.txs[number].xid < horizon}
    return frozenset(committed)


def _deliver(state: Relay, rules: RelayRules, number: int, courier: Courier) -> Iterator[tuple[str, Relay]]:
    holds = courier.fence == state.fence
    if courier.carries is not None:
        gone = state._replace(couriers=_courier(state, number, None))
        noted = courier._replace(cursor=courier.carries, carries=None)
        if holds or not rules.who_lost_the_lease_notes_nothing:
            after = state._replace(cursor=courier.carries, couriers=_courier(state, number, noted))
            yield f"courier {number} notes its cursor", after
        else:
            yield f"courier {number} finds that it has lost its lease", gone
        return
    rows, end = _next(state, rules, courier.cursor)
    if not rows:
        return
    if rules.the_cursor_is_noted_after_the_delivery:
        carrying = state._replace(couriers=_courier(state, number, courier._replace(carries=end)))
        yield f"courier {number} delivers {rows}", _told(carrying, rows, courier)
    elif holds:
        noted = state._replace(cursor=end, couriers=_courier(state, number, courier._replace(cursor=end)))
        yield f"courier {number} notes its cursor and delivers {rows}", _told(noted, rows, courier)
        yield f"courier {number} notes its cursor and dies", noted._replace(couriers=_courier(noted, number, None))


def _next(state: Relay, rules: RelayRules, cursor: int) -> tuple[list[int], int]:
    if not rules.couriers_read_windows:
        txs = [(tx.id, n) for n, tx in enumerate(state.txs) if tx.phase == COMMITTED and tx.id > cursor]
        return [n for _, n in sorted(txs)], max((row for row, _ in txs), default=cursor)
    if cursor >= len(state.windows):
        return [], cursor
    column = "id" if rules.a_window_is_read_by_id else "xid"
    return sorted(state.windows[cursor], key=lambda n: getattr(state.txs[n], column)), cursor + 1


def _courier(state: Relay, number: int, courier: Courier | None) -> tuple[Courier | None, ...]:
    return tuple(courier if n == number else one for n, one in enumerate(state.couriers))


def _told(state: Relay, rows: list[int], courier: Courier) -> Relay:
    """What one tells that was taken from before a person asked was asked for by nobody."""
    if courier.fence < state.told_from:
        return state
    again = any(row in state.told for row in rows)
    new = tuple(row for row in rows if row not in state.told)
    return state._replace(told=(*state.told, *new), twice=state.twice or again)


def flaw(state: Relay, rules: RelayRules) -> str | None:
    ids = [state.txs[row].id for row in state.told if UNITS[row] == "a"]
    if ids != sorted(ids):
        return "a unit's events were told out of turn"
    if state.twice and not state.excused:
        return "an event was told twice, and nobody died"
    ended = all(tx.phase == COMMITTED for tx in state.txs)
    if ended and not any(True for _ in _calm(state, rules)) and len(state.told) < len(state.txs):
        return "a committed event was never told"
    return None


def _calm(state: Relay, rules: RelayRules) -> Iterator[tuple[str, Relay]]:
    """What happens by itself: without deaths, takeovers and people."""
    for line, after in moves(state, rules):
        if after.takeovers == state.takeovers and after.rewinds == state.rewinds and " dies" not in line:
            yield line, after


def search_relay(rules: RelayRules, scope: RelayScope) -> tuple[int, str | None, list[str]]:
    """How many states there are, and the shortest way to one that breaks a promise."""
    first = Relay((Tx(),) * scope.transactions, takeovers=scope.faults, rewinds=scope.faults)
    parents: dict[Relay, tuple[Relay, str] | None] = {first: None}
    queue = [first]
    for state in queue:
        if found := flaw(state, rules):
            return len(parents), found, _way(parents, state)
        for line, after in moves(state, rules):
            if after not in parents:
                parents[after] = (state, line)
                queue.append(after)
    return len(parents), None, []


def _way(parents: dict, state: Relay) -> list[str]:
    lines = []
    while (parent := parents[state]) is not None:
        state, line = parent
        lines.append(line)
    return lines[::-1]
