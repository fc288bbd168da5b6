"""What a worker does with a batch until it settles: start (again), load, begin, heartbeat, return; and how it dies."""

from __future__ import annotations

from .dispatcher import return_batch
from .leaving import hand_back
from .model import (
    AGAIN,
    AT_REST,
    EFFECTS,
    FENCED,
    LATER,
    OWED,
    RUNNING,
    STARTED,
    UNSURE,
    WORKING,
    Move,
    Moves,
    State,
    Worker,
    batch_locked,
    put,
    row_locked,
    with_batch,
    with_worker,
)
from .rules import Rules, Scope
from .settle import close_if_empty, fence, settle, settle_opens


def start(state: State, rules: Rules, scope: Scope) -> Moves:
    """UPDATE punctual_batch SET started_at, lease_until WHERE batch_no = :b AND started_at IS NULL AND finished_at
    IS NULL. 0 rows: the message is dropped, which is the same as losing it."""
    if AT_REST not in state.workers:
        return
    for number, batch in enumerate(state.batches):
        if batch is None or not batch.copies or batch_locked(state, number):
            continue
        if scope.pauses:
            used_up = with_batch(state, number, batch._replace(copies=batch.copies - 1))
            yield from return_batch(used_up, rules, number, "give back, its lane being paused,")
        resting, used_up = state.workers.index(AT_REST), batch._replace(copies=batch.copies - 1)
        refused = (batch.started and rules.start_requires_started_at_null) or (
            batch.finished and rules.start_requires_finished_at_null
        )
        taken = used_up if refused else used_up._replace(started=True, leased=True)
        after = state._replace(batches=put(state.batches, number, taken))
        if not refused:
            yield Move("start", number), after._replace(workers=put(state.workers, resting, Worker(STARTED, number)))
        if state.left.doubts:
            left = state.left._replace(doubts=state.left.doubts - 1)
            unsure = Worker(UNSURE, number, outcome="" if refused else "own")
            workers = put(state.workers, resting, unsure)
            yield Move("start", number, note="but the answer is lost"), after._replace(workers=workers, left=left)


def _start_again(state: State, rules: Rules, index: int, worker: Worker) -> Moves:
    """The same, or started_at is set and ticket = :ticket. 0 rows: another delivery has it, or it is closed."""
    number, batch = worker.batch, state.batches[worker.batch]
    if not rules.start_is_asked_for_again and worker.outcome:
        yield Move("drop, having no answer,", number), with_worker(state, index, AT_REST)
        return
    if batch_locked(state, number):
        return
    ours = worker.outcome or not rules.start_again_requires_the_ticket
    if not ours or (batch.finished and rules.start_requires_finished_at_null):
        yield Move("start again finds taken", number), with_worker(state, index, AT_REST)
    else:
        taken = batch._replace(started=True, leased=True)
        yield Move("start again", number), with_worker(state, index, Worker(STARTED, number), taken)


def run(state: State, rules: Rules, scope: Scope) -> Moves:
    """The next step of every worker that has started a batch."""
    for index, worker in enumerate(state.workers):
        if worker.step == UNSURE:
            yield from _start_again(state, rules, index, worker)
        elif worker.step == STARTED:
            yield _load(state, rules, index)
        elif worker.step == WORKING:
            if worker.outcome == "return":
                yield from _return(state, rules, index, worker)
            elif worker.outcome:
                yield from settle_opens(state, rules, index, worker.group, worker.outcome)
            elif worker.mine:
                if worker.early:
                    yield from _look_again(state, rules, index)
                yield from _begin(state, rules, index)
                yield from _choose(state, rules, scope, index)
            else:
                yield _close(state, index, "close, being empty,")
        elif worker.step == EFFECTS:
            yield from fence(state, rules, index, worker)
        elif worker.step == FENCED:
            yield from settle(state, rules, scope, index)


def goes_astray(state: State, rules: Rules, scope: Scope) -> Moves:
    """What may happen to a worker besides: a heartbeat, a shutdown, a timeout, death."""
    for index, worker in enumerate(state.workers):
        if worker.step:
            yield from _heartbeat(state, rules, index, worker)
            if worker.step == WORKING and not worker.outcome:
                yield from _return(state, rules, index, worker)
            if worker.step == EFFECTS and scope.timeouts:
                yield _time_out(state, rules, index, worker)
            # Locks go, uncommitted effects are rolled back, memory is gone.
            yield Move("the worker dies that has", worker.batch), with_worker(state, index, AT_REST)


def _load(state: State, rules: Rules, index: int) -> tuple[Move, State]:
    """SELECT ... WHERE id = ANY(ids) AND status = RUNNING AND batch_no = :b; none left: close the batch."""
    number, rows = state.workers[index].batch, state.rows
    ids = state.batches[number].ids
    if rules.load_repeats_status_and_batch_no:
        ids = tuple(i for i in ids if rows[i].status == RUNNING and rows[i].batch == number)
    if ids:
        early = tuple(i for i in ids if rows[i].execute == LATER)
        return Move("load", number, ids), with_worker(state, index, Worker(WORKING, number, ids, early=early))
    if not rules.empty_start_closes_the_batch:
        return Move("load nothing of", number), with_worker(state, index, AT_REST)
    return _close(state, index, "load nothing of, and close,")


def _close(state: State, index: int, verb: str) -> tuple[Move, State]:
    """UPDATE punctual_batch SET finished_at WHERE batch_no = :b AND finished_at IS NULL."""
    number = state.workers[index].batch
    batch = state.batches[number]
    return Move(verb, number), with_worker(state, index, AT_REST, batch if batch.finished else batch.closed())


def _look_again(state: State, rules: Rules, index: int) -> Moves:
    """SELECT id, claimed_due <= now() ... WHERE id = ANY(early) AND status = RUNNING AND batch_no = :b, and the batch
    is not finished: what is missing is gone, what is due may begin."""
    worker = state.workers[index]
    number, rows = worker.batch, state.rows
    ours = () if state.batches[number].finished else worker.early
    ours = tuple(i for i in ours if rows[i].status == RUNNING and rows[i].batch == number)
    early = tuple(i for i in ours if rows[i].execute == LATER and rules.early_waits_for_its_time)
    if early != worker.early:
        mine = tuple(i for i in worker.mine if i not in worker.early or i in ours)
        looked = worker._replace(mine=mine, early=early)
        yield Move("look again at", number, worker.early), with_worker(state, index, looked)


def _begin(state: State, rules: Rules, index: int) -> Moves:
    """Call the handler of the next task, in the order of the ids; whether the task is still ours shows later. One that
    was early has been looked at again."""
    worker = state.workers[index]
    for i in worker.mine:
        if i in worker.begun:
            continue
        if i in worker.early and (rules.early_is_looked_at_again or state.rows[i].execute == LATER):
            return
        row, rows, units = state.rows[i], state.rows, state.units
        if row.status == RUNNING and row.batch == worker.batch:
            rows = put(rows, i, row._replace(calling=True))
            if units[row.unit].promise == AGAIN:
                units = put(units, row.unit, units[row.unit]._replace(promise=OWED))
        begun = worker._replace(begun=(*worker.begun, i))
        yield Move("begin", worker.batch, (i,)), with_worker(state, index, begun, None, rows, units)
        return


def _choose(state: State, rules: Rules, scope: Scope, index: int) -> Moves:
    """Settle everything begun, or a single one of several now and the others later, with any outcome."""
    begun = state.workers[index].begun
    groups = [begun, *((i,) for i in begun)] if len(begun) > 1 else [begun] if begun else []
    for group in groups:
        for outcome in scope.outcomes:
            yield from settle_opens(state, rules, index, group, outcome)


def _heartbeat(state: State, rules: Rules, index: int, worker: Worker) -> Moves:
    """UPDATE punctual_batch SET lease_until WHERE batch_no = :b AND finished_at IS NULL; 0 rows: stop. Ids that are
    no longer ours come back, and those not yet begun are skipped."""
    number, batch = worker.batch, state.batches[worker.batch]
    if worker.step in (UNSURE, FENCED) or batch_locked(state, number):
        return
    if batch.finished and rules.heartbeat_requires_finished_at_null:
        if worker.step == WORKING:
            yield Move("heartbeat finds closed", number), with_worker(state, index, AT_REST)
        return
    mine = worker.mine
    if rules.heartbeat_skips_lost_ids:
        mine = tuple(i for i in mine if i in worker.begun or state.rows[i].batch == number)
    if not batch.leased or mine != worker.mine:
        outcome = "" if len(mine) == len(worker.begun) and worker.outcome == "return" else worker.outcome
        kept = worker._replace(mine=mine, outcome=outcome, early=_among(worker.early, mine))
        yield Move("heartbeat", number), with_worker(state, index, kept, batch._replace(leased=True))


def _return(state: State, rules: Rules, index: int, worker: Worker) -> Moves:
    """On shutdown (or a paused lane, or an unknown type) tasks never begun are due again, no retry used: the
    batch row, finished_at IS NULL; then the tasks, status = RUNNING AND batch_no = :b."""
    number, batch, ids = worker.batch, state.batches[worker.batch], worker.mine
    if rules.return_takes_only_tasks_never_begun:
        ids = tuple(i for i in ids if i not in worker.begun)
    if not ids or batch_locked(state, number) or any(row_locked(state, i) for i in ids):
        return
    if batch.finished and rules.return_requires_finished_at_null:
        yield Move("return finds closed", number), with_worker(state, index, AT_REST)
        return
    rows = list(state.rows)
    for i in ids:
        if rows[i].status == RUNNING and (rows[i].batch == number or not rules.return_repeats_batch_no):
            rows[i] = hand_back(rows[i], rules)._replace(calling=rows[i].calling)  # a call goes on, if there was one
    batch = close_if_empty(batch, number, rows, rules)
    mine = tuple(i for i in worker.mine if i not in ids)
    kept = Worker(WORKING, number, mine, tuple(i for i in worker.begun if i in mine), early=_among(worker.early, mine))
    moved = tuple(i for i in ids if rows[i] != state.rows[i])
    done = AT_REST if batch.finished and not mine else kept
    yield Move("return", number, moved, events=moved), with_worker(state, index, done, batch, tuple(rows))
    if state.left.doubts:
        unsure = with_worker(state, index, worker._replace(outcome="return"), batch, tuple(rows))
        left = state.left._replace(doubts=state.left.doubts - 1)
        move = Move("return", number, moved, "but the answer is lost", events=moved)
        yield move, unsure._replace(left=left)


def _among(early: tuple[int, ...], mine: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(i for i in early if i in mine)


def _time_out(state: State, rules: Rules, index: int, worker: Worker) -> tuple[Move, State]:
    """A transactional handler over its time: its session is ended (rolled back), then it is settled."""
    kept = Worker(WORKING, worker.batch, worker.mine, worker.begun, early=worker.early)
    after = with_worker(state, index, kept)
    if not rules.timeout_ends_the_session:
        sessions = [("session", state.rows[i].unit) for i in worker.group]
        after = after._replace(loose=(*state.loose, *sessions))
    return Move("time out", worker.batch, worker.group), after
