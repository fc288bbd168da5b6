"""The release of a task that waits for two others, as a search of its own: whoever is killed between any two steps, it
runs once, after both, and never waits without a reason.

Two workers each settle one parent, then look at the child, then write. A beat walks: it looks, and writes. People
cancel the child, replay a parent that died, and move a parent that runs: another row takes over from it. A killed
process leaves what it has committed, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

RUNNING, SUCCESS, DEAD, SUPERSEDED = "RUNNING", "SUCCESS", "DEAD", "SUPERSEDED"
BLOCKED, INIT, CANCELLED = "BLOCKED", "INIT", "CANCELLED"

# Steps of a worker: its parent runs; its settle is not committed yet (and, which is wrong, it has looked at the child
# in that transaction: it may go); it is settled, and the child not yet looked at; the child is to be released.
WORKS, OPEN, OPEN_SAW, SETTLED, WRITES, GONE = range(6)
PARENTS = 2

EARLY = "runs before all that it waits for has succeeded"
TWICE = "is released a second time"
REVIVED = "runs although somebody cancelled it"
WAITS = "waits though all that it waits for has succeeded, and nobody will look"
LATE = "has to wait for the walk though nobody died"


@dataclass(frozen=True, slots=True)
class ReleaseRules:
    look_comes_after_the_commit: bool = True  # of the settle, in a snapshot of its own
    release_repeats_blocked: bool = True  # in its WHERE
    walk_finds_every_case: bool = True
    look_reads_every_parent: bool = True
    waits_are_handed_on: bool = True  # to the row that takes over from a parent


class Graph(NamedTuple):
    parents: tuple[str, ...] = (RUNNING,) * PARENTS
    waits_for: tuple[int, ...] = (0, 1)  # the rows that the child's waits name; 2 is the one that took over from 0
    took_over: str = ""  # the status of that row; empty: there is none
    child: str = BLOCKED
    workers: tuple[int, ...] = (WORKS,) * PARENTS
    third: int = GONE  # the worker of the row that took over
    walking: bool = False  # the walk has seen that the child may go
    released: int = 0
    killed: bool = False
    deaths: int = 1  # that are still to come, as are those below
    moves: int = 1
    cancels: int = 1
    cancelled: bool = False
    broken: str = ""


def rows(state: Graph) -> tuple[str, ...]:
    return (*state.parents, state.took_over)


def moves(state: Graph, rules: ReleaseRules) -> Iterator[tuple[str, Graph]]:
    for number in range(PARENTS):
        yield from _worker(state, rules, number)
    yield from _third(state, rules)
    yield from _walk(state, rules)
    yield from _people(state, rules)


def _worker(state: Graph, rules: ReleaseRules, number: int) -> Iterator[tuple[str, Graph]]:
    step, status = state.workers[number], state.parents[number]
    if step == WORKS and status == RUNNING:
        own = state._replace(parents=_set(state.parents, number, SUCCESS))  # what its own transaction sees
        saw = not rules.look_comes_after_the_commit and _may_go(own, rules)
        opened = state._replace(workers=_set(state.workers, number, OPEN_SAW if saw else OPEN))
        yield f"worker {number} settles its parent", opened
        if state.deaths:
            died = state._replace(parents=_set(state.parents, number, DEAD), deaths=0)
            yield f"parent {number} dies", died._replace(workers=_set(state.workers, number, GONE))
    elif step in (OPEN, OPEN_SAW):
        yield f"worker {number} is killed", state._replace(workers=_set(state.workers, number, WORKS), killed=True)
        after = SETTLED if rules.look_comes_after_the_commit else GONE
        done = state._replace(parents=_set(state.parents, number, SUCCESS), workers=_set(state.workers, number, after))
        yield f"worker {number} commits", done if step == OPEN else _released(done, rules)
    elif step in (SETTLED, WRITES):
        gone = state._replace(workers=_set(state.workers, number, GONE))
        yield f"worker {number} is killed", gone._replace(killed=True)
        if step == SETTLED:
            may_go = _may_go(state, rules)
            seen = state._replace(workers=_set(state.workers, number, WRITES)) if may_go else gone
            yield f"worker {number} looks: {'it may go' if may_go else 'not yet'}", seen
        else:
            yield f"worker {number} releases the child", _released(gone, rules)


def _third(state: Graph, rules: ReleaseRules) -> Iterator[tuple[str, Graph]]:
    """The row that took over from parent 0, and its worker."""
    if state.took_over == RUNNING:
        yield "the new row is settled", state._replace(took_over=SUCCESS, third=SETTLED)
    elif state.third in (SETTLED, WRITES):
        gone = state._replace(third=GONE)
        yield "its worker is killed", gone._replace(killed=True)
        if state.third == SETTLED:
            yield "its worker looks", state._replace(third=WRITES) if _may_go(state, rules) else gone
        else:
            yield "its worker releases the child", _released(gone, rules)


def _walk(state: Graph, rules: ReleaseRules) -> Iterator[tuple[str, Graph]]:
    if not rules.walk_finds_every_case:
        return
    if state.walking:
        yield "the walk releases the child", _released(state._replace(walking=False), rules)
        yield "the beat is killed", state._replace(walking=False, killed=True)
    elif state.child == BLOCKED and _may_go(state, rules):
        yield "the walk looks: it may go", state._replace(walking=True)


def _people(state: Graph, rules: ReleaseRules) -> Iterator[tuple[str, Graph]]:
    for number, status in enumerate(state.parents):
        if status == DEAD:
            again = state._replace(parents=_set(state.parents, number, RUNNING))
            yield f"somebody replays parent {number}", again._replace(workers=_set(state.workers, number, WORKS))
    if state.cancels and state.child == BLOCKED:
        yield "somebody cancels the child", state._replace(child=CANCELLED, cancels=0, cancelled=True)
    if state.moves and state.parents[0] == RUNNING and state.workers[0] == WORKS:  # a settle has locked the row
        handed = (2, 1) if rules.waits_are_handed_on else state.waits_for
        moved = state._replace(parents=_set(state.parents, 0, SUPERSEDED), took_over=RUNNING, waits_for=handed, moves=0)
        yield "somebody moves parent 0 while it runs", moved._replace(workers=_set(moved.workers, 0, GONE))


def _may_go(state: Graph, rules: ReleaseRules) -> bool:
    waited_for = state.waits_for if rules.look_reads_every_parent else state.waits_for[:1]
    return state.child == BLOCKED and all(rows(state)[one] == SUCCESS for one in waited_for)


def _released(state: Graph, rules: ReleaseRules) -> Graph:
    """UPDATE ... WHERE status = 'BLOCKED'."""
    if state.child != BLOCKED and rules.release_repeats_blocked:
        return state
    broken = REVIVED if state.child == CANCELLED else TWICE if state.released else ""
    units = (state.took_over or state.parents[0], state.parents[1])
    broken = broken or (EARLY if units != (SUCCESS, SUCCESS) else "")
    return state._replace(child=INIT, released=min(state.released + 1, 2), broken=state.broken or broken)


def _set(values: tuple, place: int, value: object) -> tuple:
    return (*values[:place], value, *values[place + 1 :])


def broken_promise(state: Graph, rules: ReleaseRules) -> str:
    if state.broken:
        return state.broken
    at_work = any(step in (OPEN, OPEN_SAW, SETTLED, WRITES) for step in (*state.workers, state.third)) or state.walking
    units = (state.took_over or state.parents[0], state.parents[1])
    if state.child != BLOCKED or at_work or units != (SUCCESS, SUCCESS):
        return ""
    if not state.killed:
        return LATE
    return "" if rules.walk_finds_every_case and _may_go(state, rules) else WAITS


def search_release(rules: ReleaseRules) -> tuple[int, str, list[str]]:
    """How many states there are, and the shortest way to one in which a promise is broken, and which that is."""
    ways: dict[Graph, list[str]] = {Graph(): []}
    queue = [Graph()]
    for state in queue:
        if broken := broken_promise(state, rules):
            return len(ways), broken, ways[state]
        for line, after in moves(state, rules):
            if after not in ways:
                ways[after] = [*ways[state], line]
                queue.append(after)
    return len(ways), "", []
