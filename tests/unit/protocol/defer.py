"""An effect that is deferred, as a search of its own: it is handed on with its task's success, once, or not at all.

A task runs in one batch, and in another if the first is reaped. Its handler has deferred an effect, in memory. A settle
locks the task and learns whether it is still its own, schedules the effect, and writes the outcome with the links
between the two. Its worker may be killed between any two steps, and the answer to its commit may be lost: then it
settles again. A person cancels the task, somebody else schedules the same unit for reasons of their own, and effects
run as soon as they are there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

DUE, RUNNING, SUCCESS, CANCELLED = "DUE", "RUNNING", "SUCCESS", "CANCELLED"
SOMEBODY = -1  # who scheduled an effect, if it was none of the runs
RUNS = 2
TOO_SOON = "an effect is there, and its task has not succeeded"
FORGOTTEN = "a task has succeeded without the effect that it deferred"
TWICE = "a task has deferred one effect twice"
BESIDE = "a unit has two live tasks"
NOT_THEIRS = "somebody else's task goes on with our token"


@dataclass(frozen=True, slots=True)
class DeferRules:
    effect_and_outcome_are_one_transaction: bool = True
    the_task_is_locked_before_it_is_looked_at: bool = True
    only_what_is_still_ours_is_handed_on: bool = True
    a_unit_that_has_a_live_task_keeps_it: bool = True
    only_a_new_task_gets_the_token: bool = True


class Effect(NamedTuple):
    by: int
    token: bool  # it goes on with ours
    live: bool = True


class Run(NamedTuple):
    """What a worker has in memory, and what its open transaction has written."""

    ours: bool | None = None  # None: it has not looked yet
    effect: int | None = None  # the place of its task among the effects
    made: bool = False  # by this run, or found there


class Defer(NamedTuple):
    status: str = DUE
    owner: int | None = None  # the run whose batch the task is in
    begun: int = 0
    runs: tuple[Run | None, ...] = (None,) * RUNS  # None: not begun, or over
    locked: int | None = None  # by the settle of that run
    effects: tuple[Effect, ...] = ()
    uncommitted: int | None = None  # the place of an effect that is not
    link: int | None = None  # where the task says that its effect went
    lies: int = 1  # answers that may get lost
    people: frozenset[str] = frozenset(("cancels it", "schedules the same unit"))  # what they may do yet


def moves(state: Defer, rules: DeferRules) -> Iterator[tuple[str, Defer]]:
    free = state.locked is None
    if state.status == DUE and state.begun < RUNS and free:
        number = state.begun
        begun = state._replace(status=RUNNING, owner=number, begun=number + 1, runs=_set(state.runs, number, Run()))
        yield f"run {number} begins, and its handler defers the effect", begun
    if state.status == RUNNING and free:
        yield f"run {state.owner} is reaped", state._replace(status=DUE, owner=None)
    if state.status in (DUE, RUNNING) and free and "cancels it" in state.people:
        gone = state._replace(status=CANCELLED, owner=None, people=state.people - {"cancels it"})
        yield "a person cancels it", gone
    if "schedules the same unit" in state.people and state.uncommitted is None and not _live(state):
        theirs = state._replace(
            effects=(*state.effects, Effect(SOMEBODY, False)), people=state.people - {"schedules the same unit"}
        )
        yield "somebody schedules the same unit", theirs
    for place, effect in enumerate(state.effects):
        linking = any(run is not None and run.effect == place for run in state.runs)  # it is locked
        if effect.live and place != state.uncommitted and not linking:
            over = state._replace(effects=_set(state.effects, place, effect._replace(live=False)))
            yield f"effect {place} runs", over
    for number, run in enumerate(state.runs):
        if run is not None:
            yield from _settle(state, rules, number, run)


def _settle(state: Defer, rules: DeferRules, number: int, run: Run) -> Iterator[tuple[str, Defer]]:
    yield f"the worker of run {number} is killed", _rolled_back(state, number)
    others = state.locked not in (None, number)
    if run.ours is None:
        if not others or not rules.the_task_is_locked_before_it_is_looked_at:
            ours = state.status == RUNNING and state.owner == number
            if not ours and rules.only_what_is_still_ours_is_handed_on:
                yield f"run {number} finds its task gone", state._replace(runs=_set(state.runs, number, None))
                return
            looked = state._replace(runs=_set(state.runs, number, run._replace(ours=ours)))
            locked = looked._replace(locked=number) if rules.the_task_is_locked_before_it_is_looked_at else looked
            yield f"run {number} looks at its task", locked
    elif run.effect is None:
        if state.uncommitted is None:  # else it waits for whoever is making a task of this unit
            yield f"run {number} schedules the effect", _scheduled(state, rules, number, run)
    elif not others:
        yield from _written(state, rules, number, run)


def _scheduled(state: Defer, rules: DeferRules, number: int, run: Run) -> Defer:
    live = _live(state) if rules.a_unit_that_has_a_live_task_keeps_it else []
    place = live[0] if live else len(state.effects)
    effects = state.effects if live else (*state.effects, Effect(number, False))
    found = not live or not rules.only_a_new_task_gets_the_token
    if found:
        effects = _set(effects, place, effects[place]._replace(token=True))
    after = state._replace(effects=effects, runs=_set(state.runs, number, run._replace(effect=place, made=not live)))
    if rules.effect_and_outcome_are_one_transaction and not live:
        after = after._replace(uncommitted=place)
    return after


def _written(state: Defer, rules: DeferRules, number: int, run: Run) -> Iterator[tuple[str, Defer]]:
    """mark_success, whose WHERE asks again whether the task is RUNNING in this batch; and the commit."""
    over = state._replace(
        locked=None if state.locked == number else state.locked,
        uncommitted=None if run.made and run.effect == state.uncommitted else state.uncommitted,
        runs=_set(state.runs, number, None),
    )
    if state.status == RUNNING and state.owner == number:
        over = over._replace(status=SUCCESS, owner=None, link=run.effect)
    yield f"run {number} writes the outcome and commits", over
    if state.lies:
        again = over._replace(runs=_set(over.runs, number, Run()), lies=state.lies - 1)
        yield f"run {number} writes the outcome and commits, and its answer is lost", again


def _rolled_back(state: Defer, number: int) -> Defer:
    run = state.runs[number]
    after = state._replace(runs=_set(state.runs, number, None), locked=None if state.locked == number else state.locked)
    if run is not None and run.effect is not None and run.effect == state.uncommitted:
        return after._replace(effects=state.effects[:-1], uncommitted=None)
    return after


def _live(state: Defer) -> list[int]:
    return [place for place, effect in enumerate(state.effects) if effect.live and place != state.uncommitted]


def _set(values: tuple, place: int, value: object) -> tuple:
    return (*values[:place], value, *values[place + 1 :])


def broken_promise(state: Defer) -> str:
    there = [effect for place, effect in enumerate(state.effects) if place != state.uncommitted]
    ours = [effect for effect in there if effect.by != SOMEBODY]
    if any(effect.token for effect in there if effect.by == SOMEBODY):
        return NOT_THEIRS
    if len(ours) > 1:
        return TWICE
    if len(_live(state)) > 1:
        return BESIDE
    if ours and state.status != SUCCESS:
        return TOO_SOON
    return FORGOTTEN if state.status == SUCCESS and state.link is None else ""


def search_defer(rules: DeferRules) -> tuple[int, str, list[str]]:
    """How many states there are, and the shortest way to one in which a promise is broken, and which that is."""
    ways: dict[Defer, list[str]] = {Defer(): []}
    queue = [Defer()]
    for state in queue:
        if broken := broken_promise(state):
            return len(ways), broken, ways[state]
        for line, after in moves(state, rules):
            if after not in ways:
                ways[after] = [*ways[state], line]
                queue.append(after)
    return len(ways), "", []
