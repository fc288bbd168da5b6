"""What must hold in every state and of every step, said apart from the verbs that have to keep it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .model import (
    AGAIN,
    AT_REST,
    AWAY,
    CANCELLED,
    DEAD,
    DONE,
    FAIL,
    INIT,
    LATER,
    OFF,
    OWED,
    PAST,
    RUNNING,
    STARTED,
    SUCCESS,
    Move,
    Row,
    State,
    live,
)
from .rules import Scope

Flaw = tuple[str, str]  # the promise that was broken, and how

CONSTRAINT = "check constraint"
CURRENT = "one current row"
INTENT = "no intent is swallowed"
EFFECT = "one effect per intent"
OWNER = "only the holder moves a task"
FENCE = "a closed batch never changes"
ATTEMPT = "a fault alone uses no retry"
NEIGHBOUR = "a suspect is tried alone"
CALL = "no second call without an outcome"
BUDGET = "a live task has a try left"
EARLY = "never before its time"
EVENT = "events only for rows that moved"
TOLD = "every change is told with it"
SKIPPED = "a task lost before the start is skipped"
TIDY = "a worker puts down nothing open"
FORGOTTEN = "a worker knows all it holds"
STUCK = "everything comes to an end"
REPORT = "a report that was taken counts"


def flaws_in_state(state: State, scope: Scope) -> Iterator[Flaw]:
    carried: set[int] = set()
    current: set[int] = set()
    for i, row in enumerate(state.rows):
        status, due, unit = row.status, row.due, row.unit
        if (status == RUNNING) != (row.batch is not None):
            yield CONSTRAINT, f"task {i} is {status} with batch_no {row.batch}"
        if due is not None:
            if status not in (INIT, FAIL) and not (status == SUCCESS and scope.rolling):
                yield CONSTRAINT, f"task {i} is {status} with a due_at"
            if row.attempt >= scope.failures:
                yield BUDGET, f"task {i} is {status} with no try left"
        if status == AWAY and row.early is not None and row.early[0] == row.run:
            yield REPORT, f"task {i} is away in run {row.run}, of which a report was taken"
        if row.current:
            if unit in current:
                yield CURRENT, f"unit {unit} has two current rows"
            current.add(unit)
            if row.fresh and not row.past and (live(row) or status == DEAD):
                carried.add(unit)
        elif live(row):
            yield CURRENT, f"task {i} is live but not current"
    for worker in state.workers:
        if worker.step > STARTED:
            for i in state.batches[worker.batch].ids:
                if i not in worker.mine and _held(state, i, worker.batch):
                    yield FORGOTTEN, f"task {i} runs under batch {worker.batch}, whose worker would close it"
    for number, unit in enumerate(state.units):
        if unit.promise in (OWED, AGAIN) and number not in carried:
            yield INTENT, f"unit {number} was promised an effect, but no live row carries it"


def flaws_in_step(before: State, move: Move, after: State) -> Iterable[Flaw]:
    flaws: list[Flaw] = []
    if move.effects:
        flaws += _effects(before, move)
    if move.verb in CHECKS:
        flaws += CHECKS[move.verb](before, move, after)
    if before.rows is not after.rows or before.loose is not after.loose:
        flaws += _telling(before, move, after)
    if before.batches is not after.batches:
        for number, batch in enumerate(before.batches):
            if batch is not None and batch.finished and batch[3:] != after.batches[number][3:]:
                flaws.append((FENCE, f"batch {number} was written after it was closed"))
    return flaws


def flaws_at_rest(state: State) -> Iterator[Flaw]:
    """Only claims, people and faults could still happen here: then nothing may be left half done."""
    if state.edits or any(worker != AT_REST for worker in state.workers):
        yield STUCK, "a worker and an edit wait for each other for ever"
    for i, row in enumerate(state.rows):
        if row.status in (RUNNING, AWAY):
            yield STUCK, f"task {i} stays {row.status} for ever"
    for number, batch in enumerate(state.batches):
        if batch is not None and not batch.finished:
            yield STUCK, f"batch {number} can never be closed"
    for what, number, *_ in state.loose:
        yield STUCK, f"the {what} of {number} is never over, and keeps its locks"


def _effects(before: State, move: Move) -> Iterator[Flaw]:
    for i in move.effects:
        row = before.rows[i]
        promise = before.units[row.unit].promise
        if promise == OFF:
            yield EFFECT, f"an effect of task {i} was committed after its cancel"
        if not row.fresh:
            yield EFFECT, f"an effect of task {i} was committed after it was replaced"
        if promise == DONE:
            yield EFFECT, f"unit {row.unit} has a second effect for one intent"


def _telling(before: State, move: Move, after: State) -> Iterator[Flaw]:
    """What a wrong protocol is about to tell counts, until nobody is left who could."""
    owed = {i for item in after.loose if item[0] == "tell" for i in item[2]}
    for i, row in enumerate(after.rows):
        changed = i >= len(before.rows) or (row is not before.rows[i] and _is_told(before.rows[i], row))
        if changed and i not in move.events and i not in owed:
            yield TOLD, f"task {i} became {row.status}, and that was not told"
    for item in before.loose:
        if item[0] == "tell" and item not in after.loose and item[2] != move.events:
            yield TOLD, f"what became of task {item[1]} will never be told"


def _is_told(old: Row, new: Row) -> bool:
    """It ran and has an outcome, was cancelled or replayed, or got another time. Given back or reaped, it is due as
    before: that is not told."""
    if old.status == RUNNING and old.execute == LATER and new.due is not None and new.attempt == old.attempt:
        return False  # given back before its time
    if old.status != new.status:
        return new.due != PAST if old.status in (RUNNING, AWAY) else new.status in (CANCELLED, INIT)
    return new.due == LATER != old.due


def _claim(before: State, move: Move, after: State) -> Iterator[Flaw]:
    for i in move.ids:
        row = before.rows[i]
        if row.due != PAST or row.execute != PAST:
            yield EARLY, f"task {i} was claimed before its time"
        if len(move.ids) > 1 and before.units[row.unit].suspect:
            yield NEIGHBOUR, f"task {i} was lost, and now it may take neighbours along"


def _load(before: State, move: Move, after: State) -> Iterator[Flaw]:
    for i in move.ids:
        if not _held(before, i, move.batch):
            yield SKIPPED, f"task {i} was lost to batch {move.batch} before it was loaded"


def _load_nothing(before: State, move: Move, after: State) -> Iterator[Flaw]:
    if not after.batches[move.batch].finished:
        yield TIDY, f"batch {move.batch} stays open, and will look like a lost one"


def _drop(before: State, move: Move, after: State) -> Iterator[Flaw]:
    if any(_held(after, i, move.batch) for i in after.batches[move.batch].ids):
        yield TIDY, f"batch {move.batch} was started, nobody was called, and it will look like a lost one"


def _begin(before: State, move: Move, after: State) -> Iterator[Flaw]:
    for i in move.ids:
        if before.rows[i].calling and _held(before, i, move.batch):
            yield CALL, f"task {i} is called again though its last call had no outcome"
        if before.rows[i].execute == LATER and _held(before, i, move.batch):
            yield EARLY, f"task {i} is called before its time"
        for worker in before.workers:
            if worker.batch == move.batch and i in worker.early and not _held(before, i, move.batch):
                yield (
                    SKIPPED,
                    f"task {i} was lost to batch {move.batch}, perhaps before its time, and is called",
                )


def _settle(before: State, move: Move, after: State) -> Iterator[Flaw]:
    for i in move.events:
        if not _held(before, i, move.batch):
            broken = EVENT if after.rows[i] == before.rows[i] else OWNER
            yield broken, f"batch {move.batch} wrote about task {i}, which it did not hold"
        if move.verb == "return" and after.rows[i].attempt > before.rows[i].attempt:
            yield ATTEMPT, f"task {i} paid with a retry for a shutdown"
    if before.batches[move.batch].finished:
        yield FENCE, f"batch {move.batch} settled after it was closed"


def _reap(before: State, move: Move, after: State) -> Iterator[Flaw]:
    batch = before.batches[move.batch]
    lost_alone = batch.started and len(batch.ids) == 1 and not batch.leased
    for i in move.ids:
        old, new = before.rows[i], after.rows[i]
        if not _held(before, i, move.batch):
            yield OWNER, f"reaping batch {move.batch} moved task {i}, which it did not hold"
        if not lost_alone and (new.attempt > old.attempt or new.status == DEAD):
            yield ATTEMPT, f"task {i} paid with a retry, and it did not fail"


def _come_home(before: State, move: Move, after: State) -> Iterator[Flaw]:
    for i in move.ids:
        row = before.rows[i]
        if row.status != AWAY or row.run != move.batch:
            yield OWNER, f"what was reported about run {move.batch} moved task {i}, which was not away in it"
        if move.verb == "lose" and row.leased:
            yield OWNER, f"task {i} was lost though its lease was renewed"


def _held(state: State, task: int, batch: int) -> bool:
    return state.rows[task].status == RUNNING and state.rows[task].batch == batch


CHECKS = {
    "claim": _claim,
    "claim by id": _claim,
    "load": _load,
    "load nothing of": _load_nothing,
    "drop, having no answer,": _drop,
    "begin": _begin,
    "settle": _settle,
    "return": _settle,
    "reap": _reap,
    "complete": _come_home,
    "fail": _come_home,
    "lose": _come_home,
}
