"""Settle: one transaction, as steps that hold their locks: effects, then the batch row, then the task rows."""

from __future__ import annotations

from collections.abc import Sequence

from .leaving import outcome as settled
from .model import (
    AGAIN,
    AT_REST,
    DONE,
    EFFECTS,
    FENCED,
    OWED,
    RUNNING,
    SUCCESS,
    WORKING,
    Batch,
    Move,
    Moves,
    Row,
    State,
    Unit,
    Worker,
    article_locked,
    batch_locked,
    put,
    row_locked,
    running_under,
    with_worker,
)
from .rules import Rules, Scope


def settle_opens(state: State, rules: Rules, index: int, group: tuple[int, ...], outcome: str) -> Moves:
    """BEGIN; `ok` comes with effects, whose business rows are locked first and until the end."""
    worker = state.workers[index]
    chosen = Worker(EFFECTS, worker.batch, worker.mine, worker.begun, group, outcome, worker.early)
    if outcome != "ok":
        yield from fence(state, rules, index, chosen)
    elif any(article_locked(state, state.rows[i].unit) for i in group):
        return
    elif rules.effect_and_settle_are_one_transaction:
        yield Move("write effects", worker.batch, group), with_worker(state, index, chosen)
    else:
        units = promises_kept(state.units, state.rows, group)
        move = Move("commit effects", worker.batch, group, effects=group)
        yield move, with_worker(state, index, chosen, units=units)


def fence(state: State, rules: Rules, index: int, worker: Worker) -> Moves:
    """UPDATE punctual_batch ... WHERE batch_no = :b AND finished_at IS NULL; 0 rows: ROLLBACK, nothing is ours."""
    if batch_locked(state, worker.batch):
        return
    if state.batches[worker.batch].finished and rules.settle_requires_finished_at_null:
        yield Move("settle finds closed", worker.batch, note="rollback"), with_worker(state, index, AT_REST)
    else:
        yield Move("fence", worker.batch), with_worker(state, index, worker._replace(step=FENCED))


def settle(state: State, rules: Rules, scope: Scope, index: int) -> Moves:
    """UPDATE task SET ... WHERE id = ANY(group) AND status = RUNNING AND batch_no = :b RETURNING id; COMMIT.
    It waits for rows that an edit has locked, and then checks its WHERE on the newest version."""
    worker = state.workers[index]
    if any(row_locked(state, i) for i in worker.group):
        return
    moved = tuple(i for i in worker.group if _ours(state.rows[i], rules, worker.batch))
    if worker.outcome == "ok" and moved != worker.group and rules.settle_rolls_back_on_lost_ids:
        yield _once_more(state, index, worker, moved)
        return
    move, committed, rest = _commit(state, rules, scope, worker, moved)
    batch = committed.batches[worker.batch]
    done = AT_REST if batch.finished and not rest.mine else rest
    yield move, with_worker(committed, index, done)
    if state.left.doubts:
        unsure = with_worker(committed, index, worker._replace(step=WORKING))
        left = state.left._replace(doubts=state.left.doubts - 1)
        yield move._replace(note=f"{move.note}, but the answer is lost"), unsure._replace(left=left)


def _once_more(state: State, index: int, worker: Worker, moved: tuple[int, ...]) -> tuple[Move, State]:
    """ROLLBACK, and again with only those that are still ours."""
    lost = [i for i in worker.group if i not in moved]
    mine = tuple(i for i in worker.mine if i not in lost)
    begun = tuple(i for i in worker.begun if i not in lost)
    again = Worker(WORKING, worker.batch, mine, begun, moved, "ok" if moved else "", worker.early)
    move = Move("settle misses", worker.batch, tuple(lost), "rollback")
    return move, with_worker(state, index, again)


def _commit(
    state: State, rules: Rules, scope: Scope, worker: Worker, moved: tuple[int, ...]
) -> tuple[Move, State, Worker]:
    number, rows, units = worker.batch, list(state.rows), state.units
    for i in moved:
        unit = rows[i].unit
        rows[i] = settled(rows[i], rules, scope, worker.outcome)
        units = put(units, unit, units[unit]._replace(suspect=False))
    effects = worker.group if worker.outcome == "ok" and rules.effect_and_settle_are_one_transaction else ()
    if worker.outcome == "away":
        effects = tuple(i for i in moved if rows[i].status == SUCCESS)  # reported early
    units = promises_kept(units, rows, moved if worker.outcome == "skip" else effects)
    events = moved if rules.settle_events_come_from_returning else worker.group
    batch = close_if_empty(state.batches[number], number, rows, rules)
    mine = tuple(i for i in worker.mine if i not in worker.group)
    rest = Worker(WORKING, number, mine, tuple(i for i in worker.begun if i in mine), early=worker.early)
    after = state._replace(rows=tuple(rows), units=units, batches=put(state.batches, number, batch))
    return Move("settle", number, moved, worker.outcome, effects, events), after, rest


def close_if_empty(batch: Batch, number: int, rows: Sequence[Row], rules: Rules) -> Batch:
    """SET finished_at in the transaction that leaves no RUNNING row under the batch."""
    if rules.settle_closes_only_an_empty_batch and running_under(rows, batch.ids, number):
        return batch
    return batch.closed()


def _ours(row: Row, rules: Rules, number: int) -> bool:
    running = row.status == RUNNING or not rules.settle_repeats_status
    return running and (row.batch == number or not rules.settle_repeats_batch_no)


def promises_kept(units: tuple[Unit, ...], rows: Sequence[Row], ids: tuple[int, ...]) -> tuple[Unit, ...]:
    for i in ids:
        unit = units[rows[i].unit]
        kept = OWED if unit.promise == AGAIN else DONE
        units = put(units, rows[i].unit, unit._replace(promise=kept))
    return units
