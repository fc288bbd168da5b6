"""A tenant that goes into the archive, as a search of its own: what it had is there, and nothing of it is left here.

A caller looks whether the tenant is closed, writes a task, and commits; a person changes the task; a beat waits, writes
the task to the archive, removes it, and looks again until it finds nothing. Each step may be the last that a beat does:
the next one goes on from what was noted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

# The caller: has not begun, has looked, has written but not committed, is done.
IDLE, LOOKED, WRITTEN, OVER = "idle", "looked", "written", "over"
WAIT, EXPORT, REMOVE, ARCHIVED = "wait", "export", "remove", "archived"

LOST = "a task is neither here nor in the archive as it was last"
LEFT = "a task is here though its tenant is archived"


@dataclass(frozen=True, slots=True)
class DepartingRules:
    callers_look_whether_it_is_closed: bool = True
    a_round_waits_for_whoever_may_not_know: bool = True
    removal_requires_what_was_written: bool = True
    removal_follows_the_note_of_the_file: bool = True
    the_last_round_finds_nothing: bool = True


class World(NamedTuple):
    closed: bool = False
    caller: str = IDLE
    task: int = 0  # the version that is here; 0: none
    last: int = 0  # the version that was last committed
    file: int = 0  # in a file that is noted
    unnoted: int = 0  # in one that is not
    phase: str = WAIT
    seen: int = 0  # the version that this round has found
    changes: int = 1  # that a person has left


Moves = Iterator[tuple[str, World]]


def moves(now: World, rules: DepartingRules) -> Moves:
    yield from _people(now, rules)
    if now.closed:
        yield from _beat(now, rules)


def _people(now: World, rules: DepartingRules) -> Moves:
    if not now.closed:
        yield "an operator archives the tenant", now._replace(closed=True)
    if now.caller == IDLE and not (now.closed and rules.callers_look_whether_it_is_closed):
        yield "a caller looks", now._replace(caller=LOOKED)
    if now.caller == LOOKED:
        yield "the caller writes", now._replace(caller=WRITTEN)
    if now.caller == WRITTEN:
        yield "the caller commits", now._replace(caller=OVER, task=1, last=1)
        yield "the caller rolls back", now._replace(caller=OVER)
    if now.task and now.changes:
        yield "a person changes the task", now._replace(task=now.task + 1, last=now.task + 1, changes=0)


def _beat(now: World, rules: DepartingRules) -> Moves:
    if now.phase == WAIT:
        open_ = now.caller in (LOOKED, WRITTEN)
        if not open_ or not rules.a_round_waits_for_whoever_may_not_know:
            yield "a beat begins a round", now._replace(phase=EXPORT, seen=0, unnoted=0)
    elif now.phase == EXPORT:
        if now.task and not now.unnoted:
            yield "the beat writes a file", now._replace(unnoted=now.task, seen=now.task)
        if now.unnoted:
            yield "the beat notes the file", now._replace(phase=REMOVE, file=now.unnoted, unnoted=0)
            yield "the beat dies, and another begins the table anew", now._replace(unnoted=0, seen=0)
            if not rules.removal_follows_the_note_of_the_file:
                yield "the beat removes before the note", now._replace(phase=REMOVE, task=0, unnoted=0)
        if not now.task and not now.unnoted:
            yield "the round finds nothing", now._replace(phase=ARCHIVED)
    elif now.phase == REMOVE:
        same = now.task == now.seen or not rules.removal_requires_what_was_written
        after = now._replace(task=0) if now.task and same else now
        again = WAIT if rules.the_last_round_finds_nothing else ARCHIVED
        yield "the beat removes, and begins anew", after._replace(phase=again)


def broken_in(now: World) -> str:
    if now.phase == ARCHIVED and now.task:
        return LEFT
    if now.last and now.task != now.last and now.file != now.last:
        return LOST
    return ""


def search_departing(rules: DepartingRules) -> tuple[int, str, list[str]]:
    """How many states there are, the first promise that breaks, and the shortest way there."""
    ways: dict[World, list[str]] = {World(): []}
    queue = [World()]
    for state in queue:
        if broken := broken_in(state):
            return len(ways), broken, ways[state]
        for line, after in moves(state, rules):
            if after not in ways:
                ways[after] = [*ways[state], line]
                queue.append(after)
    return len(ways), "", []
