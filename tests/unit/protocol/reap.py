"""Reap: what happens to the tasks of a batch whose lease ran out."""

from __future__ import annotations

from .leaving import fail, hand_back
from .model import PAST, RUNNING, Batch, Move, Moves, Row, State, batch_locked, put, row_locked
from .rules import Rules, Scope


def reap(state: State, rules: Rules, scope: Scope) -> Moves:
    """WITH b AS (UPDATE punctual_batch SET finished_at = clock_timestamp() WHERE batch_no IN (SELECT ... WHERE
    finished_at IS NULL AND lease_until < clock_timestamp() FOR UPDATE SKIP LOCKED) RETURNING ...)
    UPDATE task ... FROM b WHERE id = ANY(b.ids) AND status = RUNNING AND task.batch_no = b.batch_no."""
    for number, batch in enumerate(state.batches):
        if batch is None or batch.leased or batch_locked(state, number):
            continue
        if batch.finished and rules.reap_requires_finished_at_null:
            continue
        if rules.reap_is_one_statement:
            yield from _reaped(state, rules, scope, number)
        elif ("reap", number) not in state.loose:
            yield Move("reap reads", number), state._replace(loose=(*state.loose, ("reap", number)))
    for item in state.loose:
        if item[0] == "reap":
            yield from _writes_what_it_read(state, rules, scope, item)


def _writes_what_it_read(state: State, rules: Rules, scope: Scope, item: tuple) -> Moves:
    """Wrong: the lease was out when it was read, and nobody looks again."""
    number = item[1]
    rest = state._replace(loose=tuple(other for other in state.loose if other != item))
    if state.batches[number].finished:
        yield Move("reap finds closed", number), rest
    elif not batch_locked(state, number):
        yield from _reaped(rest, rules, scope, number)


def _reaped(state: State, rules: Rules, scope: Scope, number: int) -> Moves:
    batch, rows, units = state.batches[number], list(state.rows), state.units
    for i in batch.ids:
        row = rows[i]
        if rules.reap_repeats_status_and_batch_no and (row.status != RUNNING or row.batch != number):
            continue
        if row_locked(state, i):
            if rules.reap_waits_for_locked_tasks:
                return  # until the edit is over; then WHERE is checked on the newest version
            continue
        rows[i] = _lost(row, batch, rules, scope)
        if batch.started:
            units = put(units, row.unit, units[row.unit]._replace(suspect=True))
    if rules.reap_sets_finished_at:
        batch = batch.closed()
    moved = tuple(i for i in batch.ids if rows[i] != state.rows[i])
    after = state._replace(rows=tuple(rows), units=units, batches=put(state.batches, number, batch))
    yield Move("reap", number, moved, events=tuple(i for i in moved if rows[i].due != PAST)), after


def _lost(row: Row, batch: Batch, rules: Rules, scope: Scope) -> Row:
    """Never started, or one of several: due again, no retry used. Lost while alone: one failure. Lost in any way
    after the start: alone from now on, since it may be what killed the worker."""
    if not batch.started:
        return hand_back(row, rules) if rules.reap_of_unstarted_uses_no_retry else fail(row, rules, scope)
    if len(batch.ids) == 1:
        return fail(row, rules, scope, solo=row.solo or rules.reap_of_one_marks_solo)
    solo = row.solo or rules.reap_of_several_marks_solo
    if rules.reap_of_several_uses_no_retry:
        return hand_back(row, rules, solo=solo)
    return fail(row, rules, scope, solo=solo)
