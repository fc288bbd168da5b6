"""The state of the protocol: rows, batches, workers, edits under way, and what the users were promised."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .rules import Scope

# Statuses of a task. (BLOCKED is a door in front of INIT: release.py and turns.py look at who may pass.)
INIT, RUNNING, SUCCESS, FAIL, DEAD, CANCELLED = "INIT", "RUNNING", "SUCCESS", "FAIL", "DEAD", "CANCELLED"
AWAY = "AWAY"

# Moments, as seen by the database's clock.
PAST, LATER = "past", "later"

# Steps of a worker. Locks are held as long as the step says; a crash in any of them rolls back.
IDLE, UNSURE, STARTED, WORKING, EFFECTS, FENCED = range(6)

# Steps of an edit: about to look; waiting for the row; row locked (or none found); row read, not locked (wrong);
# about to look into the past; bringing a row back from there; a new row inserted and not committed.
LOOK, WAIT, DECIDE, READ, LOOK_BACK, BRING, INSERTED = range(7)

# What a user is owed for a unit: an effect to come, one of a call still to begin, nothing more, no effect any more.
OWED, AGAIN, DONE, OFF = "owed", "again", "done", "off"

NONE = -1


class Row(NamedTuple):
    """One punctual_task row, and what punctual_away has of it; the last two fields are the search's own bookkeeping."""

    unit: int
    status: str = INIT
    current: bool = True
    execute: str = PAST  # execute_time; of what was claimed ahead of its time, claimed_due
    due: str | None = PAST  # due_at
    batch: int | None = None  # batch_no
    attempt: int = 0
    solo: bool = False
    past: bool = False  # in punctual_past
    run: int = NONE  # ran_in, of what is away or was
    leased: bool = False  # away, and until > clock_timestamp()
    early: tuple[int, str] | None = None  # a report about this run that came before the row was away
    fresh: bool = True  # carries the newest intent that was accepted for its unit
    calling: bool = False  # its handler was called and has no outcome yet


class Batch(NamedTuple):
    """One punctual_batch row, and the messages about it on their way."""

    ids: tuple[int, ...]
    unsent: bool = True  # claimed, and the dispatcher still has it in memory only
    copies: int = 0  # messages in the broker
    leased: bool = True  # lease_until > clock_timestamp()
    started: bool = False
    finished: int = 0  # finished_at: 0 is NULL, 2 means that it was written again

    def closed(self) -> Batch:
        """SET finished_at. (From here on the lease may as well have run out.)"""
        return self._replace(finished=min(self.finished + 1, 2), leased=False)


class Worker(NamedTuple):
    step: int = IDLE
    batch: int = NONE
    mine: tuple[int, ...] = ()  # ids it believes to be its own
    begun: tuple[int, ...] = ()  # those whose handler was called
    group: tuple[int, ...] = ()  # those it is settling now
    outcome: str = ""  # while UNSURE: whether its ticket is on the batch
    early: tuple[int, ...] = ()  # those that were not due when it loaded them, and that it has not looked at since


class Edit(NamedTuple):
    step: int
    verb: str
    unit: int
    row: int = NONE
    seen: str = ""  # the status it saw
    article: bool = False  # holds the lock of the business row


class Unit(NamedTuple):
    """Bookkeeping of the search: the promise to the user, and whether its last run was lost."""

    promise: str = OWED
    suspect: bool = False


class Left(NamedTuple):
    edits: int
    cancels: int
    replays: int
    discards: int
    doubles: int
    doubts: int
    refusals: int
    reports: int


class State(NamedTuple):
    rows: tuple[Row, ...]
    batches: tuple[Batch | None, ...]
    workers: tuple[Worker, ...]
    units: tuple[Unit, ...]
    left: Left
    edits: tuple[Edit, ...] = ()
    wheel: int = NONE  # an id whose alarm has rung
    loose: tuple[tuple, ...] = ()  # what a wrong protocol leaves between two transactions


class Move(NamedTuple):
    """One step of one process, with what its transaction wrote beside the task rows."""

    verb: str
    batch: int = NONE
    ids: tuple[int, ...] = ()
    note: str = ""
    effects: tuple[int, ...] = ()
    events: tuple[int, ...] = ()

    def __str__(self) -> str:
        words = [self.verb]
        if self.batch != NONE:
            words.append(f"batch {self.batch}")
        if self.ids:
            words.append("task " + ", ".join(map(str, self.ids)))
        if self.note:
            words.append(f"-> {self.note}")
        if self.effects:
            words.append("(effect of task " + ", ".join(map(str, self.effects)) + ")")
        return " ".join(words)


Moves = Iterator[tuple[Move, State]]

SPENT = Batch(ids=(), unsent=False, leased=False, started=True, finished=1)
AT_REST = Worker()


def first_state(scope: Scope) -> State:
    units = tuple(Unit(OWED if scope.scheduled else DONE) for _ in range(scope.units))
    when = LATER if scope.ahead else PAST
    return State(
        rows=tuple(Row(unit, execute=when, due=when) for unit in range(scope.units)) if scope.scheduled else (),
        batches=(),
        workers=(AT_REST,) * scope.workers,
        units=units,
        left=Left(
            *(scope.edits, scope.cancels, scope.replays, scope.discards),
            *(scope.doubles, scope.doubts, scope.refusals, scope.reports),
        ),
    )


def put(items: tuple, index: int, item: object) -> tuple:
    return (*items[:index], item, *items[index + 1 :])


def live(row: Row) -> bool:
    return row.due is not None or row.status in (RUNNING, AWAY)


def running_under(rows: Sequence[Row], ids: tuple[int, ...], batch: int) -> bool:
    """EXISTS (SELECT 1 FROM task WHERE id = ANY(ids) AND status = RUNNING AND batch_no = :batch)."""
    return any(rows[i].status == RUNNING and rows[i].batch == batch for i in ids)


def with_batch(state: State, number: int, batch: Batch) -> State:
    rows, batches, workers, units, left, edits, wheel, loose = state
    return State(rows, put(batches, number, batch), workers, units, left, edits, wheel, loose)


def with_worker(
    state: State,
    index: int,
    worker: Worker,
    batch: Batch | None = None,
    rows: tuple[Row, ...] | None = None,
    units: tuple[Unit, ...] | None = None,
) -> State:
    """The worker's next step, with what it wrote to its batch and elsewhere."""
    batches = state.batches if batch is None else put(state.batches, state.workers[index].batch, batch)
    workers = put(state.workers, index, worker)
    rows = state.rows if rows is None else rows
    units = state.units if units is None else units
    return State(rows, batches, workers, units, state.left, state.edits, state.wheel, state.loose)


def row_locked(state: State, task: int) -> bool:
    """An edit holds this row FOR UPDATE; all other verbs take task rows and commit in one step."""
    return bool(state.edits) and any(edit.step == DECIDE and edit.row == task for edit in state.edits)


def batch_locked(state: State, batch: int) -> bool:
    """A worker is between its fence and its commit."""
    return batch in [worker.batch for worker in state.workers if worker.step == FENCED]


def article_locked(state: State, unit: int) -> bool:
    """An edit, a handler's transaction or a forgotten session holds the business row of this unit."""
    if any(edit.article and edit.unit == unit for edit in state.edits) or ("session", unit) in state.loose:
        return True
    writing = [worker for worker in state.workers if worker.step >= EFFECTS and worker.outcome == "ok"]
    return any(state.rows[i].unit == unit for worker in writing for i in worker.group)


def canonical(state: State) -> State:
    """The same state under one name: workers are alike, and a closed batch that nobody holds is just spent."""
    rows, batches, workers, units, left, edits, wheel, loose = state
    for number, batch in enumerate(batches):
        if batch is SPENT or batch is None:
            continue
        _, unsent, copies, _, _, finished = batch
        if finished and not copies and not unsent and number not in [worker[1] for worker in workers]:
            batches = put(batches, number, SPENT)
    if batches is state.batches and workers[0] <= workers[-1] and len(edits) < 2:
        return state
    workers, edits = tuple(sorted(workers)), tuple(sorted(edits))
    return State(rows, batches, workers, units, left, edits, wheel, loose)
