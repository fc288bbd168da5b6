"""Safeguards, as two searches of their own: what looks decide, and what beats do with tasks that are held back.

In `Looks` two beats look at the figures, count what has ended, and put a curb on or take it off; a person forbids the
safeguard meanwhile. In `Held` two beats dispatch while a curb goes on and off: they read it now and then, put aside
what it holds back, and claim that by its type. Whoever is killed between any two steps leaves what it has committed,
and nothing else. No way may lead to where the curb stays for ever, or a task that it has held.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

TWICE = "what has ended is counted a second time"
OVERWRITTEN = "an order of an operator is gone"
LEFT = "a curb is left that no safeguard knows of"
FOR_EVER = "there is no way back to where nothing is held"
RUNS = "a task that runs is given out again"
TOGETHER = "two trials are under way"

BEATS = 2


def _set(values: tuple, place: int, value: object) -> tuple:
    return (*values[:place], value, *values[place + 1 :])


# ---- what looks decide ----


@dataclass(frozen=True, slots=True)
class LookRules:
    one_looks_at_a_time: bool = True
    figures_and_mark_are_one_transaction: bool = True
    stage_and_curb_are_one_transaction: bool = True
    look_locks_the_row: bool = True


class Look(NamedTuple):
    """A beat that looks: how far it is, and what it has read."""

    at: str = ""  # empty: it does not look
    unread: bool = False  # something has ended that was not counted
    order: str = ""
    wanted: bool = False  # the curb that it has decided on, and not written yet (wrong)


class Looks(NamedTuple):
    ended: bool = False  # tries that fail: enough of them to pass the limit
    counted: int = 0  # how often they were
    marked: bool = False  # how far was counted
    old: bool = False  # too long ago to go by
    row: bool = False  # the safeguard's; one that is off and has no order is forgotten
    stage: bool = False
    curb: bool = False
    order: str = ""
    orders: int = 1  # that are still to come
    beats: tuple[Look, ...] = (Look(),) * BEATS
    broken: str = ""


def looks(state: Looks, rules: LookRules) -> Iterator[tuple[str, Looks, bool]]:
    """What can happen; the last says whether it happens by itself, without people and faults."""
    if not state.ended:
        yield "many tries fail", state._replace(ended=True), True
    if state.counted and not state.old:
        yield "minutes pass", state._replace(old=True), True
    if state.orders:
        yield "somebody forbids it", state._replace(order="forbid", row=True, orders=0), False
    if state.order:
        yield "the order runs out", state._replace(order=""), True
    for beat, look in enumerate(state.beats):
        alone = not any(other.at for other in state.beats)
        if not look.at and (alone or not rules.one_looks_at_a_time):
            read = Look("read", state.ended and not state.marked, state.order)
            yield f"beat {beat} looks", state._replace(beats=_set(state.beats, beat, read)), True
        if look.at:
            gone = state._replace(beats=_set(state.beats, beat, Look()))
            yield f"beat {beat} is killed", gone, False
            line, after = _looked(state, rules, beat, look)
            yield f"beat {beat} {line}", after, True


def _looked(state: Looks, rules: LookRules, beat: int, look: Look) -> tuple[str, Looks]:
    """Its next transaction: all of it at once, unless a rule is left out."""
    ended = state._replace(beats=_set(state.beats, beat, Look()))
    if look.at == "staged":
        return "writes the curb", ended._replace(curb=look.wanted)
    if look.at == "read" and not rules.figures_and_mark_are_one_transaction:
        half = look._replace(at="counted")
        return "counts", _count(state, look)._replace(beats=_set(state.beats, beat, half))
    after = ended if look.at == "counted" else _count(ended, look)
    after = after._replace(marked=after.marked or look.unread)
    if rules.look_locks_the_row:
        look = look._replace(order=state.order)  # read under the lock, which whoever gives an order has to wait for
    elif look.order != state.order:
        after = after._replace(order=look.order, broken=state.broken or OVERWRITTEN)
    over = bool(after.counted) and not after.old
    if not after.row and not over:
        return "finds nothing", after
    if after.row and not (after.stage or over or look.order):
        return "forgets it", after._replace(row=False)
    stage = over and look.order != "forbid"
    after = after._replace(row=True, stage=stage)
    if rules.stage_and_curb_are_one_transaction:
        return "decides and acts", after._replace(curb=stage)
    half = Look("staged", wanted=stage)
    return "decides", after._replace(beats=_set(after.beats, beat, half))


def _count(state: Looks, look: Look) -> Looks:
    return state._replace(counted=state.counted + look.unread)


def search_looks(rules: LookRules) -> tuple[int, str, list[str]]:
    def broken(state: Looks) -> str:
        left = LEFT if state.curb and not state.row else ""
        return state.broken or (TWICE if state.counted > 1 else left)

    def good(state: Looks) -> bool:
        return not (state.curb or state.stage) and (bool(state.counted) or not state.ended)

    return _search(Looks(), lambda state: looks(state, rules), broken, good)


# ---- what beats do with tasks that are held back ----


@dataclass(frozen=True, slots=True)
class HoldRules:
    gates_are_read_again: bool = True
    gates_serve_what_was_put_aside: bool = True  # when nothing holds its type back any more
    aside_requires_its_batch: bool = True
    aside_is_one_statement: bool = True
    trials_are_counted_under_a_lock: bool = True


# A task: due, in a batch that nobody was told of, in one that was published, running, done. NOWHERE: it has no batch
# any more, and is not due (wrong).
DUE, CLAIMED, PUBLISHED, RUNNING, DONE, NOWHERE = "due", "claimed", "published", "running", "done", "nowhere"
UNDER_WAY = (CLAIMED, PUBLISHED, RUNNING)
RETRY = 0  # the task that failed before; the other one comes for the first time


class Task(NamedTuple):
    status: str = DUE
    aside: bool = False  # it is claimed by its type
    trial: bool = False  # it was, while the curb was on


class Gate(NamedTuple):
    """What a beat knows, and what it is about to do."""

    read: bool = False
    curbed: bool = False
    serves: bool = False  # it claims by type; one that has lost the shard, until it reads again
    puts: int | None = None  # the task that it has claimed and must put aside
    still: bool = True  # in the batch that it claimed
    half: bool = False  # the batch is gone, and the task not due yet (wrong)
    counts: int | None = None  # the task that it is about to try, since it saw none under way (wrong)


class Held(NamedTuple):
    curb: str = "later"  # on, off
    tasks: tuple[Task, ...] = (Task(), Task())
    gates: tuple[Gate, ...] = (Gate(),) * BEATS
    home: int = 0  # the beat that claims by type what is put aside, since it holds the type's shard
    returns: int = 1  # beats that are taken for dead, though they are not
    broken: str = ""


def holds(state: Held, rules: HoldRules, kind: str) -> Iterator[tuple[str, Held, bool]]:
    """`kind`: a type is held, tried one at a time, or its retries are slowed."""
    if state.curb != "off":
        after = state._replace(curb={"later": "on", "on": "off"}[state.curb])
        yield f"the curb goes {after.curb}", after, True
    for number, task in enumerate(state.tasks):
        if task.status == PUBLISHED:
            yield f"a worker starts {number}", _with(state, number, task._replace(status=RUNNING)), True
        if task.status == RUNNING:
            yield f"a worker settles {number}", _with(state, number, Task(DONE)), True
        if task.status in (CLAIMED, PUBLISHED):
            given_back = _given_back(state, number)
            mine = any(gate.puts == number and gate.still for gate in state.gates)
            if not mine or state.returns:
                # Its beat is dead; or it is slow, and taken for dead: then it goes on with what it was about to do.
                yield f"{number} is given back", given_back._replace(returns=state.returns - mine), not mine
    if state.home == 0:
        yield "beat 1 takes over the type's shard", state._replace(home=1), False
    for beat, gate in enumerate(state.gates):
        yield from _dispatches(state, rules, kind, beat, gate)
        if gate != Gate():
            yield f"beat {beat} is killed", state._replace(gates=_set(state.gates, beat, Gate())), False


def _with(state: Held, number: int, task: Task) -> Held:
    return state._replace(tasks=_set(state.tasks, number, task))


def _given_back(state: Held, number: int) -> Held:
    """return_unstarted: due again; the batch is finished, and whoever still has its number can do nothing with it."""
    gates = tuple(gate._replace(still=gate.still and gate.puts != number) for gate in state.gates)
    task = state.tasks[number]
    return _with(state, number, Task(DUE, task.aside))._replace(gates=gates)


def _dispatches(state: Held, rules: HoldRules, kind: str, beat: int, gate: Gate) -> Iterator[tuple[str, Held, bool]]:
    def with_gate(after: Held, **changed: object) -> Held:
        return after._replace(gates=_set(after.gates, beat, gate._replace(**changed)))

    if gate.puts is not None:
        yield f"beat {beat} puts {gate.puts} aside", _put_aside(state, rules, beat, gate), True
        return
    if gate.counts is not None:
        tried = Task(PUBLISHED, True, state.curb == "on")
        due = state.tasks[gate.counts].status == DUE
        after = _with(state, gate.counts, tried) if due else state
        yield f"beat {beat} tries {gate.counts}", with_gate(after, counts=None), True
        return
    now = _read(state, rules, beat)
    if (not gate.read or rules.gates_are_read_again) and now != gate:
        yield f"beat {beat} reads the gates", with_gate(state, **now._asdict()), True
    if not gate.read:
        return
    for number, task in enumerate(state.tasks):
        if task.status != DUE:
            continue
        if not task.aside:
            if gate.curbed and (kind != "retries" or number == RETRY):
                claimed = _with(state, number, task._replace(status=CLAIMED))
                yield f"beat {beat} claims {number}, held", with_gate(claimed, puts=number, still=True), True
            else:
                yield f"beat {beat} gives out {number}", _with(state, number, task._replace(status=PUBLISHED)), True
        elif gate.serves and _lets_through(state, kind):
            if kind == "trial" and not rules.trials_are_counted_under_a_lock:
                yield f"beat {beat} sees room for {number}", with_gate(state, counts=number), True
            else:
                tried = task._replace(status=PUBLISHED, trial=state.curb == "on")
                yield f"beat {beat} gives out {number} by its type", _with(state, number, tried), True


def _read(state: Held, rules: HoldRules, beat: int) -> Gate:
    curbed = state.curb == "on"
    waits = any(task.aside and task.status != DONE for task in state.tasks)
    serves = curbed or (waits and rules.gates_serve_what_was_put_aside)
    return Gate(True, curbed, serves and state.home == beat)


def _lets_through(state: Held, kind: str) -> bool:
    """lock_limits looks at the curb again: none of what is held, one trial at a time, retries as permits flow."""
    if state.curb != "on" or kind == "retries":
        return True
    return kind == "trial" and not any(task.status in UNDER_WAY for task in state.tasks)


def _put_aside(state: Held, rules: HoldRules, beat: int, gate: Gate) -> Held:
    """return_batch or set_retries_aside: WHERE the batch is not started and not finished, and the task is still its."""
    number, free = gate.puts, gate._replace(puts=None, half=False)
    task = state.tasks[number]
    ours = task.status == CLAIMED and gate.still
    if not gate.half and not ours:
        after = state._replace(gates=_set(state.gates, beat, free))
        if rules.aside_requires_its_batch or task.status == DONE:
            return after
        broken = RUNS if task.status == RUNNING else ""
        return _with(after, number, Task(DUE, True))._replace(broken=state.broken or broken)
    if not gate.half and not rules.aside_is_one_statement:
        begun = _with(state, number, Task(NOWHERE))
        return begun._replace(gates=_set(state.gates, beat, gate._replace(half=True)))
    return _with(state, number, Task(DUE, True))._replace(gates=_set(state.gates, beat, free))


def search_holds(kind: str, rules: HoldRules) -> tuple[int, str, list[str]]:
    def broken(state: Held) -> str:
        trials = sum(task.trial and task.status in UNDER_WAY for task in state.tasks)
        return state.broken or (TOGETHER if kind == "trial" and trials > 1 else "")

    def good(state: Held) -> bool:
        return all(task.status == DONE for task in state.tasks)

    # Each kind with what matters to it: else there would be several times as many states, and nothing new in them.
    first = {"held": Held(home=1), "trial": Held(returns=0), "retries": Held()}[kind]
    return _search(first, lambda state: holds(state, rules, kind), broken, good)


# ---- the search ----

State = TypeVar("State", Looks, Held)


def _search(
    first: State,
    moves: Callable[[State], Iterator[tuple[str, State, bool]]],
    broken: Callable[[State], str],
    good: Callable[[State], bool],
) -> tuple[int, str, list[str]]:
    """How many states there are; the first promise that is broken, and the shortest way there.

    Looks go on for ever, so no state is at rest. Instead, from each there must be a way to a good one on which nobody
    is killed and no person does anything.
    """
    ways: dict[State, tuple[State, str] | None] = {first: None}
    before: dict[State, list[State]] = {}  # by what happens by itself
    queue = [first]
    for state in queue:
        if promise := broken(state):
            return len(ways), promise, _way(ways, state)
        for line, after, by_itself in moves(state):
            if by_itself:
                before.setdefault(after, []).append(state)
            if after not in ways:
                ways[after] = (state, line)
                queue.append(after)
    saved = {state for state in ways if good(state)}
    waiting = list(saved)
    while waiting:
        for state in before.get(waiting.pop(), ()):
            if state not in saved:
                saved.add(state)
                waiting.append(state)
    lost = next((state for state in queue if state not in saved), None)
    return (len(ways), "", []) if lost is None else (len(ways), FOR_EVER, _way(ways, lost))


def _way(ways: dict[State, tuple[State, str] | None], state: State) -> list[str]:
    lines = []
    while (step := ways[state]) is not None:
        state, line = step
        lines.append(line)
    return lines[::-1]
