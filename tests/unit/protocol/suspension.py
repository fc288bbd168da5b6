"""A tenant's suspension, as a search of its own: nothing of it is begun, and what was put aside comes back.

A beat claims the task, a worker starts it, sees who is suspended and puts the task aside, unless it was resumed
meanwhile. An operator suspends and resumes; a person cancels or moves the task; beats put back what lies aside of a
tenant that goes on. Each step may be the last that its process does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

# The task: due, claimed under a batch, started and not begun, running in a handler, put aside, over, cancelled.
DUE, CLAIMED, STARTED, RUNS, ASIDE, DONE, CANCELLED = "due", "claimed", "started", "runs", "aside", "done", "CANCELLED"

CALLED = "a handler was called though its tenant was suspended when the batch was started"
REVIVED = "a task that was cancelled is due again"
LOST = "a task stays aside although its tenant goes on"


@dataclass(frozen=True, slots=True)
class SuspensionRules:
    start_tells_who_is_suspended: bool = True
    hold_locks_the_tenant: bool = True
    hold_requires_running: bool = True
    put_back_requires_aside: bool = True
    beats_put_back_what_is_left: bool = True


class World(NamedTuple):
    task: str = DUE
    suspended: bool = False
    seen: bool = False  # by the worker that has started it: the tenant was suspended then
    kept: bool = False  # a row says when the task was due before it was put aside
    orders: int = 3  # that the operator has left
    cancels: int = 1
    moves: int = 1
    broken: str = ""


Moves = Iterator[tuple[str, World]]


def moves(now: World, rules: SuspensionRules) -> Moves:
    yield from _beat(now, rules)
    yield from _worker(now, rules)
    yield from _people(now)


def _beat(now: World, rules: SuspensionRules) -> Moves:
    if now.task == DUE:
        yield "the beat claims", now._replace(task=CLAIMED)
    if now.kept and not now.suspended and rules.beats_put_back_what_is_left:
        back = now._replace(kept=False)
        if now.task == ASIDE:
            back = back._replace(task=DUE)
        elif now.task == CANCELLED and not rules.put_back_requires_aside:
            back = back._replace(task=DUE, broken=REVIVED)
        yield "a beat puts it back", back
    if now.task in (CLAIMED, STARTED):
        yield "its lease runs out", now._replace(task=DUE, seen=False)


def _worker(now: World, rules: SuspensionRules) -> Moves:
    if now.task == CLAIMED:
        seen = now.suspended and rules.start_tells_who_is_suspended
        broken = CALLED if now.suspended and not seen else ""
        yield "the worker starts it", now._replace(task=STARTED, seen=seen, broken=broken)
    if now.task == STARTED and not now.seen:
        yield "the handler is called", now._replace(task=RUNS)
    if now.seen:
        done = now._replace(seen=False)
        if now.task == STARTED and (now.suspended or not rules.hold_locks_the_tenant):
            yield "the worker puts it aside", done._replace(task=ASIDE, kept=True)
        elif now.task == STARTED:
            yield "the worker finds the tenant resumed", done
        elif now.task == CANCELLED and not rules.hold_requires_running:
            yield "the worker puts it aside", done._replace(task=ASIDE, kept=True, broken=REVIVED)
        else:
            yield "the worker finds it gone", done
    if now.task == RUNS:
        yield "the handler ends", now._replace(task=DONE)


def _people(now: World) -> Moves:
    if now.cancels and now.task in (DUE, CLAIMED, STARTED, ASIDE):
        yield "a person cancels it", now._replace(task=CANCELLED, cancels=0)
    if now.moves and now.task in (DUE, ASIDE):
        yield "a person moves it", now._replace(task=DUE, moves=0)
    if now.orders:
        word = "resumes" if now.suspended else "suspends"
        yield f"an operator {word} the tenant", now._replace(suspended=not now.suspended, orders=now.orders - 1)


def stranded(now: World, rules: SuspensionRules) -> str:
    """Whether nobody is going to put it back."""
    comes_back = now.kept and rules.beats_put_back_what_is_left
    return LOST if now.task == ASIDE and not now.suspended and not comes_back else ""


def search_suspension(rules: SuspensionRules) -> tuple[int, str, list[str]]:
    """How many states there are, the first promise that breaks, and the shortest way there."""
    ways: dict[World, list[str]] = {World(): []}
    queue = [World()]
    for state in queue:
        if broken := state.broken or stranded(state, rules):
            return len(ways), broken, ways[state]
        for line, after in moves(state, rules):
            if after not in ways:
                ways[after] = [*ways[state], line]
                queue.append(after)
    return len(ways), "", []
