"""A campaign, as a search of its own: whoever is killed between any two steps, it replays each task once.

Two beats go round: look how far it is, replay the next task, count it. A person cancels it, another one replays a task
of it by hand, and what was replayed may die again. A killed beat leaves what it has committed, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

TASKS = 2
RUNNING, CANCELLED, DONE = "RUNNING", "CANCELLED", "DONE"
TWICE = "replays a task a second time"
STOPPED = "replays a task after it was cancelled"
ALIVE = "replays a task that is not dead"
SKIPPED = "is done and has left a task out"


@dataclass(frozen=True, slots=True)
class CampaignRules:
    step_and_count_are_one_transaction: bool = True
    step_locks_the_campaign: bool = True
    count_repeats_what_was_seen: bool = True
    step_requires_running: bool = True
    replay_requires_dead: bool = True


class Campaign(NamedTuple):
    state: str = RUNNING
    done: int = 0
    seen: tuple[int | None, int | None] = (None, None)  # by each beat: how far it was; None: it has not looked
    replayed: tuple[bool, bool] = (False, False)  # a beat has committed that, and not counted it (wrong)
    dead: tuple[bool, ...] = (True,) * TASKS
    dealt: tuple[int, ...] = (0,) * TASKS  # how often it replayed each task, or found it alive
    deaths: int = 1  # that are still to come
    by_hand: int = 1
    broken: str = ""


def moves(state: Campaign, rules: CampaignRules) -> Iterator[tuple[str, Campaign]]:
    for beat in range(2):
        yield from _beat(state, rules, beat)
    locked = rules.step_locks_the_campaign and any(one is not None for one in state.seen)
    if state.state == RUNNING and not locked:
        yield "somebody cancels it", state._replace(state=CANCELLED)
    for task in range(TASKS):
        if state.dead[task] and state.by_hand:
            yield f"somebody replays task {task} by hand", _revived(state, task)._replace(by_hand=0)
        if not state.dead[task] and state.deaths:
            yield f"task {task} dies again", state._replace(dead=_set(state.dead, task, True), deaths=state.deaths - 1)


def _beat(state: Campaign, rules: CampaignRules, beat: int) -> Iterator[tuple[str, Campaign]]:
    place, other = state.seen[beat], state.seen[1 - beat]
    if place is None:
        waits = rules.step_locks_the_campaign and other is not None
        wanted = state.state == RUNNING or (not rules.step_requires_running and state.state == CANCELLED)
        if wanted and not waits and state.done < TASKS:
            yield f"beat {beat} looks: {state.done} done", state._replace(seen=_set(state.seen, beat, state.done))
        return
    gone = state._replace(seen=_set(state.seen, beat, None), replayed=_set(state.replayed, beat, False))
    yield f"beat {beat} is killed", gone
    if rules.step_and_count_are_one_transaction:
        yield (
            f"beat {beat} replays task {place}, counts and commits",
            _counted(_replay(gone, rules, place), gone, rules, place),
        )
    elif not state.replayed[beat]:
        acted = state._replace(replayed=_set(state.replayed, beat, True))
        yield f"beat {beat} replays task {place} and commits", _replay(acted, rules, place)
    else:
        yield f"beat {beat} counts task {place}", _counted(gone, gone, rules, place)


def _counted(after: Campaign, before: Campaign, rules: CampaignRules, place: int) -> Campaign:
    """UPDATE ... SET done WHERE state = 'RUNNING' AND done = what was seen; if nothing moves, the step is undone."""
    same = before.state == RUNNING or not rules.step_requires_running
    if rules.count_repeats_what_was_seen and not (same and before.done == place):
        return before
    done = min(before.done + 1, TASKS)
    return after._replace(done=done, state=DONE if done == TASKS and before.state == RUNNING else before.state)


def _replay(state: Campaign, rules: CampaignRules, task: int) -> Campaign:
    """UPDATE ... WHERE status = 'DEAD'."""
    dealt = _set(state.dealt, task, state.dealt[task] + 1)
    if not state.dead[task] and rules.replay_requires_dead:
        return state._replace(dealt=_set(state.dealt, task, max(state.dealt[task], 1)))
    broken = ALIVE if not state.dead[task] else TWICE if state.dealt[task] else ""
    broken = broken or (STOPPED if state.state == CANCELLED else "")
    return _revived(state, task)._replace(dealt=dealt, broken=state.broken or broken)


def _revived(state: Campaign, task: int) -> Campaign:
    return state._replace(dead=_set(state.dead, task, False))


def _set(values: tuple, place: int, value: object) -> tuple:
    return (*values[:place], value, *values[place + 1 :])


def broken_promise(state: Campaign) -> str:
    return state.broken or (SKIPPED if state.state == DONE and not all(state.dealt) else "")


def search_campaign(rules: CampaignRules) -> tuple[int, str, list[str]]:
    """How many states there are, and the shortest way to one in which a promise is broken, and which that is."""
    ways: dict[Campaign, list[str]] = {Campaign(): []}
    queue = [Campaign()]
    for state in queue:
        if broken := broken_promise(state):
            return len(ways), broken, ways[state]
        for line, after in moves(state, rules):
            if after not in ways:
                ways[after] = [*ways[state], line]
                queue.append(after)
    return len(ways), "", []
