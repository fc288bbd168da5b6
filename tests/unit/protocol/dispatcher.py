"""What the beat processes do: claim, publish, return what could not be published; and what time and the broker do."""

from __future__ import annotations

from .leaving import hand_back
from .model import (
    AWAY,
    DONE,
    LATER,
    NONE,
    OWED,
    PAST,
    RUNNING,
    Batch,
    Move,
    Moves,
    State,
    batch_locked,
    put,
    row_locked,
    with_batch,
)
from .rules import Rules, Scope


def claim(state: State, rules: Rules, scope: Scope) -> Moves:
    """WITH c AS (SELECT ... WHERE due_at <= clock_timestamp() [+ :ahead] FOR NO KEY UPDATE SKIP LOCKED) UPDATE task SET
    status = RUNNING, batch_no = :b, due_at = NULL; INSERT INTO punctual_batch: one transaction."""
    if len(state.batches) == scope.batches:
        return
    together, alone = [], []
    for i, row in enumerate(state.rows):
        if row.due == PAST and not row.past and not row_locked(state, i):
            (alone if row.solo else together).append(i)
    if together:
        yield _claimed("claim", state, rules, scope, tuple(together))
    for i in alone:
        yield _claimed("claim", state, rules, scope, (i,))
    if scope.ahead:
        yield from _claim_ahead(state, rules, scope, together)
    if state.wheel != NONE and not row_locked(state, state.wheel):
        due = state.rows[state.wheel].due
        if due == PAST or (due == LATER and not rules.claim_by_id_repeats_due_at):
            yield _claimed("claim by id", state, rules, scope, (state.wheel,))


def _claim_ahead(state: State, rules: Rules, scope: Scope, due: list[int]) -> Moves:
    """What is not due yet comes along with what is."""
    early = [i for i, row in enumerate(state.rows) if row.due == LATER and not row.past and not row_locked(state, i)]
    groups = [tuple(sorted([*due, *(i for i in early if not state.rows[i].solo)]))]
    groups += [(i,) for i in early if state.rows[i].solo]
    for ids in groups:
        if any(i in early for i in ids):
            rows = tuple(row._replace(execute=LATER) if i in early else row for i, row in enumerate(state.rows))
            yield _claimed("claim ahead", state._replace(rows=rows), rules, scope, ids)


def _claimed(verb: str, state: State, rules: Rules, scope: Scope, ids: tuple[int, ...]) -> tuple[Move, State]:
    number, rows, units = len(state.batches), list(state.rows), list(state.units)
    for i in ids:
        row = rows[i]
        rows[i] = row._replace(status=RUNNING, batch=number, due=None)
        if scope.rolling and units[row.unit].promise == DONE:
            units[row.unit] = units[row.unit]._replace(promise=OWED)  # the next roll is a promise of its own
    batch, loose = Batch(ids), state.loose
    if not rules.claim_and_batch_row_are_one_transaction:
        batch, loose = None, (*loose, ("insert", number, ids))
    batches = (*state.batches, batch)
    after = state._replace(rows=tuple(rows), units=tuple(units), batches=batches, loose=loose, wheel=NONE)
    return Move(verb, number, ids), after


def publish(state: State, rules: Rules, scope: Scope) -> Moves:
    """One message with the batch number and nothing else."""
    for number, batch in enumerate(state.batches):
        if batch is not None and batch.unsent:
            sent = batch._replace(unsent=False, copies=batch.copies + 1)
            yield Move("publish", number), with_batch(state, number, sent)
    for item in state.loose:
        if item[0] == "insert":
            _, number, ids = item
            after = with_batch(state, number, Batch(ids))
            yield Move("insert the row of", number), after._replace(loose=_without(state.loose, item))


def publish_fails(state: State, rules: Rules, scope: Scope) -> Moves:
    """The broker does not answer, and may have the message all the same; or the dispatcher dies before."""
    for number, batch in enumerate(state.batches):
        if batch is None or not batch.unsent:
            continue
        if scope.refusals:
            yield from return_batch(state, rules, number)
        dead = batch._replace(unsent=False)
        yield Move("the dispatcher dies before it publishes", number), with_batch(state, number, dead)
        if state.left.refusals:
            sent = with_batch(state, number, batch._replace(copies=batch.copies + 1))
            left = state.left._replace(refusals=state.left.refusals - 1)
            yield Move("publish", number, note="but the answer is lost"), sent._replace(left=left)


def taken_over(state: State, rules: Rules, scope: Scope) -> Moves:
    """Another beat returns what nobody has started, published or not; and its dispatcher, which was perhaps only
    frozen, may publish it later."""
    if scope.takeovers:
        for number, batch in enumerate(state.batches):
            if batch is not None and not batch.finished:
                yield from return_batch(state, rules, number, "return the unstarted", unsent=batch.unsent)


def return_batch(
    state: State, rules: Rules, number: int, verb: str = "return the unpublished", *, unsent: bool = False
) -> Moves:
    """UPDATE punctual_batch SET finished_at WHERE batch_no = :b AND started_at IS NULL AND finished_at IS NULL; and
    its tasks are due again, no retry used."""
    batch = state.batches[number]._replace(unsent=unsent)
    if batch_locked(state, number) or any(row_locked(state, i) for i in batch.ids):
        return
    if batch.finished or (batch.started and rules.return_batch_requires_started_at_null):
        yield Move(verb, number, note="0 rows"), with_batch(state, number, batch)
        return
    rows = list(state.rows)
    for i in batch.ids:
        if rows[i].status == RUNNING and rows[i].batch == number:
            rows[i] = hand_back(rows[i], rules)._replace(calling=rows[i].calling)
    after = with_batch(state, number, batch.closed())
    yield Move(verb, number), after._replace(rows=tuple(rows))


def time_passes(state: State, rules: Rules, scope: Scope) -> Moves:
    """The moment that a row waits for arrives (and the wheel's alarm rings), or a lease runs out."""
    for i, row in enumerate(state.rows):
        if scope.ahead and row.status == RUNNING and row.execute == LATER:
            yield (
                Move("the time comes of", ids=(i,)),
                state._replace(rows=put(state.rows, i, row._replace(execute=PAST))),
            )
        if row.due is not None and (row.due == LATER or row.execute == LATER):
            rows = put(state.rows, i, row._replace(due=PAST, execute=PAST))
            wheel = i if scope.wheel else NONE
            yield Move("the time comes of", ids=(i,)), state._replace(rows=rows, wheel=wheel)
        if row.leased and row.status == AWAY:
            rows = put(state.rows, i, row._replace(leased=False))
            yield Move("the lease runs out of", ids=(i,)), state._replace(rows=rows)
    for number, batch in enumerate(state.batches):
        if batch is not None and batch.leased and not batch.finished:
            yield Move("the lease runs out of", number), with_batch(state, number, batch._replace(leased=False))


def messages_stray(state: State, rules: Rules, scope: Scope) -> Moves:
    """The broker loses a message or delivers it twice; a beat dies between two transactions."""
    for number, batch in enumerate(state.batches):
        if batch is None:
            continue
        if batch.copies:
            lost = batch._replace(copies=batch.copies - 1)
            yield Move("the broker loses a message of", number), with_batch(state, number, lost)
            if state.left.doubles:
                doubled = with_batch(state, number, batch._replace(copies=batch.copies + 1))
                left = state.left._replace(doubles=state.left.doubles - 1)
                yield Move("the broker doubles a message of", number), doubled._replace(left=left)
    for item in state.loose:
        if item[0] in ("insert", "reap", "lose"):
            after = state._replace(loose=_without(state.loose, item))
            yield Move(f"a beat dies before the {item[0]} of", item[1]), after


def _without(loose: tuple[tuple, ...], item: tuple) -> tuple[tuple, ...]:
    return tuple(other for other in loose if other != item)
