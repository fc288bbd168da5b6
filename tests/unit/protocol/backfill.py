"""Backfills, as a search of their own: whoever is killed, and whatever a planner, a mover or an edit does in between,
each firing runs once.

Two campaigns go over the same firings, each with a beat: look how far it is, make the next instance and count it. A
planner catches up with one of these firings. What was made runs, and then leaves for the past; somebody edits the job,
which takes back what nobody has claimed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

FIRINGS = 2
NONE, INIT, OVER, PAST = "none", "init", "over", "past"
PLANNER, BACKFILL = "planner", "backfill"
TWICE = "runs a firing twice"
LEFT_OUT = "is done and has left a firing out"


@dataclass(frozen=True, slots=True)
class BackfillRules:
    instance_is_the_firing_s: bool = True  # job:fire_time, unique among what is live
    insert_looks_into_the_past: bool = True
    edit_leaves_what_a_backfill_made: bool = True
    step_and_count_are_one_transaction: bool = True


class World(NamedTuple):
    rows: tuple[str, ...] = (NONE,) * FIRINGS
    makers: tuple[str, ...] = ("",) * FIRINGS
    runs: tuple[int, ...] = (0,) * FIRINGS
    owed: tuple[bool, ...] = (True, *(False,) * (FIRINGS - 1))  # the planner has still to catch up with it
    done: tuple[int, int] = (0, 0)  # of each campaign
    seen: tuple[int | None, int | None] = (None, None)  # by its beat; None: it has not looked
    counted: tuple[bool, bool] = (False, False)  # a beat has counted, and not made the instance (wrong)
    edits: int = 1
    broken: str = ""


def moves(world: World, rules: BackfillRules) -> Iterator[tuple[str, World]]:
    for campaign in range(2):
        yield from _campaign(world, rules, campaign)
    for firing in range(FIRINGS):
        if world.owed[firing]:
            caught_up = world._replace(owed=_set(world.owed, firing, False))
            yield f"the planner catches up with firing {firing}", _insert(caught_up, rules, firing, PLANNER)
        if world.rows[firing] == INIT:
            yield f"firing {firing} runs", _run(world, firing)
        if world.rows[firing] == OVER:
            yield f"firing {firing} leaves for the past", world._replace(rows=_set(world.rows, firing, PAST))
    if world.edits:
        yield "somebody edits the job", _edit(world, rules)


def _campaign(world: World, rules: BackfillRules, campaign: int) -> Iterator[tuple[str, World]]:
    place = world.seen[campaign]
    if place is None:
        if world.done[campaign] < FIRINGS:
            yield f"beat {campaign} looks", world._replace(seen=_set(world.seen, campaign, world.done[campaign]))
        return
    gone = world._replace(seen=_set(world.seen, campaign, None), counted=_set(world.counted, campaign, False))
    yield f"beat {campaign} is killed", gone
    counting = gone._replace(done=_set(gone.done, campaign, place + 1))
    if rules.step_and_count_are_one_transaction:
        yield f"beat {campaign} makes firing {place} and counts", _insert(counting, rules, place, BACKFILL)
    elif not world.counted[campaign]:
        yield f"beat {campaign} counts", counting._replace(seen=world.seen, counted=_set(world.counted, campaign, True))
    else:
        yield f"beat {campaign} makes firing {place}", _insert(gone, rules, place, BACKFILL)


def _insert(world: World, rules: BackfillRules, firing: int, maker: str) -> World:
    """INSERT ... ON CONFLICT DO NOTHING, where the past has none."""
    row = world.rows[firing]
    there = row in (INIT, OVER) and rules.instance_is_the_firing_s
    if there or (row == PAST and rules.insert_looks_into_the_past):
        return world
    broken = world.broken or (TWICE if row == INIT else "")
    makers = _set(world.makers, firing, maker)
    return world._replace(rows=_set(world.rows, firing, INIT), makers=makers, broken=broken)


def _run(world: World, firing: int) -> World:
    runs = world.runs[firing] + 1
    broken = world.broken or (TWICE if runs > 1 else "")
    return world._replace(rows=_set(world.rows, firing, OVER), runs=_set(world.runs, firing, runs), broken=broken)


def _edit(world: World, rules: BackfillRules) -> World:
    """take_back: what the planner made and nobody has claimed is planned again."""
    after = world._replace(edits=world.edits - 1)
    for firing in range(FIRINGS):
        if world.rows[firing] != INIT:
            continue
        if world.makers[firing] == PLANNER:
            after = after._replace(rows=_set(after.rows, firing, NONE), owed=_set(after.owed, firing, True))
        elif not rules.edit_leaves_what_a_backfill_made:
            after = after._replace(rows=_set(after.rows, firing, NONE))
    return after


def _set(values: tuple, place: int, value: object) -> tuple:
    return (*values[:place], value, *values[place + 1 :])


def broken_promise(world: World) -> str:
    ended = world.done == (FIRINGS, FIRINGS) and world.seen == (None, None) and not any(world.owed)
    return world.broken or (LEFT_OUT if ended and NONE in world.rows else "")


def search_backfill(rules: BackfillRules) -> tuple[int, str, list[str]]:
    """How many states there are, and the shortest way to one in which a promise is broken, and which that is."""
    ways: dict[World, list[str]] = {World(): []}
    queue = [World()]
    for world in queue:
        if broken := broken_promise(world):
            return len(ways), broken, ways[world]
        for line, after in moves(world, rules):
            if after not in ways:
                ways[after] = [*ways[world], line]
                queue.append(after)
    return len(ways), "", []
