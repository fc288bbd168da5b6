"""The turns of one job, as a search of its own: whoever is killed between any two steps, no two instances overlap.

Two givers of turns go round: lock the job, read, decide and write. Meanwhile instances come due, are claimed and
settled, a person cancels one and replays another, and a worker goes on with a task that was taken from it. A giver that
is killed leaves what it has committed, and nothing else. The first instance may have been made by a backfill: then it
gives way to the others, except while it lies aside, since its tenant is suspended: its time is kept elsewhere then.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

INSTANCES = 3
GIVERS = 2
# An instance: not due, its time has come, in line, may run, runs, and how it ends. PROMISED: its turn is written down,
# and the task does not know of it (wrong). FAR: it is in line from a time on that never comes (wrong).
LATER, NEW, QUEUED, PROMISED, INIT, RUNNING = "later", "new", "queued", "promised", "INIT", "RUNNING"
DONE, DEAD, CANCELLED = "done", "DEAD", "CANCELLED"
ASIDE, FAR = "aside", "far"
UNDER_WAY, WAITING = (INIT, RUNNING, ASIDE), (NEW, QUEUED)

TOGETHER = "two instances are under way"
REVIVED = "an instance that was cancelled runs after all"
SETTLED = "an instance that was cancelled has an outcome"
STUCK = "an instance waits although nobody is under way"
CROWD = "two instances wait, and one may"
ORDER = "a younger instance went before one that waits"
LOST = "an instance of a backfill was cancelled"
MADE = 0  # the instance that a backfill has made


@dataclass(frozen=True, slots=True)
class TurnRules:
    decision_locks_the_job: bool = True
    decision_reads_after_the_lock: bool = True
    decision_and_release_are_one_transaction: bool = True
    release_requires_blocked: bool = True
    replacing_cancels_the_older: bool = True
    settle_requires_running: bool = True
    givers_find_whoever_waits: bool = True  # not only when somebody tells them that a turn is free
    replayed_waits_for_its_turn: bool = True
    decision_goes_by_time: bool = True
    backfill_gives_way: bool = True
    backfill_keeps_its_turn_while_it_runs: bool = True
    backfill_keeps_its_turn_while_it_lies_aside: bool = True


class Giver(NamedTuple):
    locks: bool = False  # it holds the job
    seen: tuple[str, ...] | None = None  # what it has read


class Turns(NamedTuple):
    tasks: tuple[str, ...] = (LATER,) * INSTANCES
    givers: tuple[Giver, ...] = (Giver(),) * GIVERS
    calls: tuple[bool, ...] = (False,) * INSTANCES  # a handler is being called, whatever became of its task
    told: bool = False  # somebody said that a turn may be free, and nobody has looked yet
    cancels: int = 1
    replays: int = 1
    suspensions: int = 1
    broken: str = ""
    backfill: bool = False  # the first instance was made by one


Moves = Iterator[tuple[str, Turns]]


def moves(state: Turns, rules: TurnRules, policy: str) -> Moves:
    yield from by_itself(state, rules, policy)
    for number, giver in enumerate(state.givers):
        if giver != Giver():
            yield f"giver {number} is killed", state._replace(givers=_set(state.givers, number, Giver()))
    if state.told:
        yield "whoever was to give the turn is killed", state._replace(told=False)
    for task, status in enumerate(state.tasks):
        if state.cancels and not state.backfill and status in (*UNDER_WAY, *WAITING):
            after = state._replace(tasks=_set(state.tasks, task, CANCELLED), cancels=0)
            yield f"somebody cancels {task}", after
        if state.suspensions and state.backfill and task == MADE and status == INIT:
            after = state._replace(tasks=_set(state.tasks, task, ASIDE), suspensions=0)
            yield f"the tenant is suspended, and whoever starts {task} puts it aside", after
        if state.replays and status == DEAD:
            again = NEW if rules.replayed_waits_for_its_turn else INIT
            yield f"somebody replays {task}", state._replace(tasks=_set(state.tasks, task, again), replays=0)


def by_itself(state: Turns, rules: TurnRules, policy: str) -> Moves:
    """What happens without people and faults; it comes to an end."""
    for task, status in enumerate(state.tasks):
        if status == LATER and LATER not in state.tasks[:task]:
            yield f"the time of {task} comes", state._replace(tasks=_set(state.tasks, task, NEW))
        if status == INIT:
            called = state._replace(tasks=_set(state.tasks, task, RUNNING), calls=_set(state.calls, task, True))
            yield f"{task} is claimed and called", called
        if status == ASIDE:
            yield f"the tenant is resumed, and {task} is put back", state._replace(tasks=_set(state.tasks, task, INIT))
        if state.calls[task]:
            for outcome in (DONE, DEAD):
                yield f"the worker settles {task}: {outcome}", _settled(state, rules, task, outcome)
    for number in range(GIVERS):
        yield from _give(state, rules, policy, number)


def _settled(state: Turns, rules: TurnRules, task: int, outcome: str) -> Turns:
    """UPDATE ... WHERE status = 'RUNNING'; and after the commit it is told that the turn is free."""
    after = state._replace(calls=_set(state.calls, task, False))
    if state.tasks[task] != RUNNING and rules.settle_requires_running:
        return after
    broken = SETTLED if state.tasks[task] == CANCELLED else ""
    return after._replace(tasks=_set(state.tasks, task, outcome), told=True, broken=state.broken or broken)


def _give(state: Turns, rules: TurnRules, policy: str, number: int) -> Moves:
    giver = state.givers[number]
    if giver == Giver() and _has_to_look(state, rules):
        seen = None if rules.decision_reads_after_the_lock else state.tasks
        begun = Giver(locks=False, seen=seen)
        if rules.decision_reads_after_the_lock and not _held(state, rules):
            begun = Giver(locks=True)
        if begun != Giver():
            yield f"giver {number} begins", state._replace(givers=_set(state.givers, number, begun), told=False)
    elif giver.seen is None and giver.locks:
        yield f"giver {number} reads", state._replace(givers=_set(state.givers, number, Giver(True, state.tasks)))
    elif giver.seen is not None and not giver.locks and not _held(state, rules):
        yield f"giver {number} locks", state._replace(givers=_set(state.givers, number, Giver(True, giver.seen)))
    elif giver.seen is not None and giver.locks:
        let_go = state._replace(givers=_set(state.givers, number, Giver()))
        yield f"giver {number} decides and commits", _written(let_go, rules, policy, giver.seen)
    if not rules.decision_and_release_are_one_transaction and giver.locks is False and PROMISED in state.tasks:
        task = state.tasks.index(PROMISED)
        if state.told:  # whoever promised it lets it go, unless it was killed meanwhile
            yield f"{task} is let go", state._replace(tasks=_set(state.tasks, task, INIT), told=False)


def _held(state: Turns, rules: TurnRules) -> bool:
    return rules.decision_locks_the_job and any(giver.locks for giver in state.givers)


def _has_to_look(state: Turns, rules: TurnRules) -> bool:
    if NEW in state.tasks:
        return True
    free = QUEUED in state.tasks and not any(task in UNDER_WAY for task in state.tasks)
    if state.backfill and rules.backfill_gives_way and state.tasks[MADE] == INIT:
        free = QUEUED in state.tasks[MADE + 1 :]
    return free if rules.givers_find_whoever_waits else state.told and QUEUED in state.tasks


def _written(state: Turns, rules: TurnRules, policy: str, seen: tuple[str, ...]) -> Turns:
    """decide_turns: by what was seen; whose task moved meanwhile is put off, with all that was decided."""
    decided = (decide_beside_a_backfill if state.backfill else decide)(seen, policy, rules)
    tasks, broken = list(state.tasks), ""
    for task, after in enumerate(decided):
        if after == seen[task]:
            continue
        if state.tasks[task] != seen[task] and rules.release_requires_blocked:
            return state
        if after == INIT and state.tasks[task] == CANCELLED:
            broken = REVIVED
        tasks[task] = after
    for task, after in enumerate(decided):
        firsts = [*range(1, INSTANCES), MADE] if state.backfill else range(INSTANCES)
        waits_before = any(decided[earlier] in WAITING for earlier in firsts[: firsts.index(task)])
        if policy.startswith("queue") and after == INIT != seen[task] and waits_before:
            broken = ORDER
    if not rules.decision_and_release_are_one_transaction:
        tasks = [PROMISED if one == INIT != state.tasks[n] else one for n, one in enumerate(tasks)]
        return state._replace(tasks=tuple(tasks), told=PROMISED in tasks, broken=state.broken or broken)
    return state._replace(tasks=tuple(tasks), broken=state.broken or broken)


def decide(seen: tuple[str, ...], policy: str, rules: TurnRules) -> tuple[str, ...]:
    """Who goes, waits or is cancelled; instances are in the order of their times."""
    after = list(seen)
    due = [task for task, status in enumerate(seen) if status in WAITING]
    if not rules.decision_goes_by_time:
        due.reverse()
    held = [task for task, status in enumerate(seen) if status in UNDER_WAY]
    fresh = [task for task in due if seen[task] == NEW]
    if policy == "replace" and fresh:
        for task in held if rules.replacing_cancels_the_older else ():
            after[task] = CANCELLED
        for task in fresh[:-1]:
            after[task] = CANCELLED
        after[fresh[-1]] = INIT
        return tuple(after)
    if not held and due:
        after[due[0]] = INIT
    for task in fresh:
        if after[task] == NEW:
            full = policy == "skip" or (policy == "queue_one" and QUEUED in after)
            after[task] = CANCELLED if full else QUEUED
    return tuple(after)


def decide_beside_a_backfill(seen: tuple[str, ...], policy: str, rules: TurnRules) -> tuple[str, ...]:
    """The same, where the first of them gives way: it is left out as long as it does not run."""
    if not rules.backfill_gives_way:
        return decide(seen, policy, rules)
    own, others = seen[MADE], list(seen[MADE + 1 :])
    live = any(one in (*WAITING, *UNDER_WAY) for one in others)
    firm = own == RUNNING and rules.backfill_keeps_its_turn_while_it_runs
    if firm or (own == ASIDE and rules.backfill_keeps_its_turn_while_it_lies_aside):
        waiting = [place for place, one in enumerate(others) if one in WAITING]
        kept = {"queue_all": waiting, "replace": waiting[-1:]}.get(policy, waiting[:1])
        for place in waiting:
            others[place] = QUEUED if place in kept else CANCELLED
        return (own, *others)
    if own in WAITING or own == INIT or (own == RUNNING and live):
        own = QUEUED if live else INIT
    if own == ASIDE and live:
        own = FAR
    return (own, *decide(tuple(others), policy, rules))


def broken_promise(state: Turns, rules: TurnRules, policy: str) -> str:
    if state.broken:
        return state.broken
    if sum(one in UNDER_WAY for one in state.tasks) > 1:
        return TOGETHER
    if state.backfill and state.calls[MADE] and any(one in UNDER_WAY for one in state.tasks[MADE + 1 :]):
        return TOGETHER
    if state.backfill and state.tasks[MADE] == CANCELLED:
        return LOST
    if policy == "queue_one" and state.tasks[1 if state.backfill else 0 :].count(QUEUED) > 1:
        return CROWD
    at_rest = all(giver == Giver() for giver in state.givers) and not any(True for _ in by_itself(state, rules, policy))
    return STUCK if at_rest and any(one in (*WAITING, PROMISED, FAR) for one in state.tasks) else ""


def _set(values: tuple, place: int, value: object) -> tuple:
    return (*values[:place], value, *values[place + 1 :])


def search_turns(policy: str, rules: TurnRules, *, backfill: bool = False) -> tuple[int, str, list[str]]:
    """How many states there are, and the shortest way to one in which a promise is broken, and which that is."""
    begin = Turns(backfill=backfill)
    ways: dict[Turns, tuple[Turns, str] | None] = {begin: None}
    queue = [begin]
    for state in queue:
        if broken := broken_promise(state, rules, policy):
            return len(ways), broken, _way(ways, state)
        for line, after in moves(state, rules, policy):
            if after not in ways:
                ways[after] = (state, line)
                queue.append(after)
    return len(ways), "", []


def _way(ways: dict[Turns, tuple[Turns, str] | None], state: Turns) -> list[str]:
    lines = []
    while (before := ways[state]) is not None:
        state, line = before
        lines.append(line)
    return lines[::-1]
