"""What people ask for at any moment: reschedule and ensure (with locks), cancel, replay, discard."""

from __future__ import annotations

from . import over
from .leaving import leave
from .model import (
    AGAIN,
    AWAY,
    BRING,
    CANCELLED,
    DEAD,
    DECIDE,
    INIT,
    LATER,
    LOOK,
    LOOK_BACK,
    NONE,
    OFF,
    OWED,
    PAST,
    READ,
    RUNNING,
    SUCCESS,
    WAIT,
    Edit,
    Move,
    Moves,
    Row,
    State,
    article_locked,
    live,
    put,
    row_locked,
)
from .rules import Rules, Scope


def edit_opens(state: State, rules: Rules, scope: Scope) -> Moves:
    """BEGIN; the article first (lock order: business row, batch row, task rows)."""
    if not state.left.edits or len(state.edits) == scope.editors:
        return
    left = state.left._replace(edits=state.left.edits - 1)
    for unit in range(scope.units):
        for verb in scope.verbs:
            article = scope.article and rules.edit_locks_the_article_first
            if article and article_locked(state, unit):
                continue
            edit = Edit(LOOK, verb, unit, article=article)
            yield Move(f"{verb} of unit {unit} begins"), state._replace(left=left, edits=(*state.edits, edit))


def edit_goes_on(state: State, rules: Rules, scope: Scope) -> Moves:
    """The next step of each edit under way."""
    for index, edit in enumerate(state.edits):
        if edit.verb == "schedule":
            yield over.schedule(state, rules, index)
        elif edit.step == LOOK and scope.mover and not rules.past_is_looked_at_after_the_live and not edit.seen:
            yield over.look_back(state, rules, index)
        elif edit.step == LOOK:
            yield _look(state, rules, scope, index)
        elif edit.step == WAIT:
            if not row_locked(state, edit.row):
                yield _wake(state, scope, index)
        elif edit.step == LOOK_BACK:
            yield over.look_back(state, rules, index)
        elif edit.step == BRING:
            if not row_locked(state, edit.row):
                yield over.bring_back(state, rules, index)
        elif scope.article and not edit.article:
            if not article_locked(state, edit.unit):
                edits = put(state.edits, index, edit._replace(article=True))
                yield Move(f"{edit.verb} locks the article"), state._replace(edits=edits)
        elif edit.step == READ:
            yield _decide_unlocked(state, rules, index)
        else:
            yield _decide(state, rules, index)
    for item in state.loose:
        if item[0] == "insert after cancel":
            _, unit, verb, solo = item
            rest = state._replace(loose=tuple(other for other in state.loose if other != item))
            yield Move(f"{verb} inserts", events=(len(rest.rows),)), _accepted(rest, unit, _new_row(unit, verb, solo))


def _look(state: State, rules: Rules, scope: Scope, index: int) -> tuple[Move, State]:
    """SELECT ... WHERE unit AND current FOR UPDATE."""
    edit = state.edits[index]
    found = [i for i, row in enumerate(state.rows) if row.unit == edit.unit and row.current and not row.past]
    if not found and scope.mover and not edit.seen:
        after, note = edit._replace(step=LOOK_BACK), "no row"
    elif not found:
        after, note = edit._replace(step=DECIDE, row=NONE), "no row"
    elif not rules.reschedule_locks_then_decides:
        seen = state.rows[found[0]].status
        after, note = edit._replace(step=READ, row=found[0], seen=seen), f"saw {seen}"
    elif row_locked(state, found[0]):
        after, note = edit._replace(step=WAIT, row=found[0]), "waits"
    else:
        after, note = edit._replace(step=DECIDE, row=found[0]), "locked"
    move = Move(f"{edit.verb} looks at", ids=tuple(found), note=note)
    return move, state._replace(edits=put(state.edits, index, after))


def _wake(state: State, scope: Scope, index: int) -> tuple[Move, State]:
    """The lock is free: WHERE is checked on the newest version, and a row that lost `current`, or was moved,
    is no answer."""
    edit = state.edits[index]
    found = state.rows[edit.row].current and not state.rows[edit.row].past
    row, step = (edit.row, DECIDE) if found else (NONE, LOOK_BACK if scope.mover else DECIDE)
    after = edit._replace(step=step, row=row)
    edits = put(state.edits, index, after)
    move = Move(f"{edit.verb} waited for", ids=(edit.row,), note="locked" if found else "no row")
    return move, state._replace(edits=edits)


def _decide(state: State, rules: Rules, index: int) -> tuple[Move, State]:
    """With the row locked, what it is now decides; COMMIT."""
    edit = state.edits[index]
    closed = state._replace(edits=state.edits[:index] + state.edits[index + 1 :])
    if edit.row == NONE:
        return _insert(state, closed, rules, index)
    row = state.rows[edit.row]
    when = PAST if edit.verb == "ensure" else LATER
    if row.due is not None:  # INIT, FAIL or a rolling SUCCESS
        due = when if rules.reschedule_writes_due_at_too else row.due
        moved = row._replace(execute=when, due=due)
        move = Move(edit.verb, ids=(edit.row,), note="UPDATED", events=(edit.row,))
        return move, _accepted(closed, edit.unit, moved, edit.row)
    ensure = edit.verb == "ensure"
    if row.status == SUCCESS and not (ensure and rules.ensure_renews_success):
        after = _accepted(closed, edit.unit, row, edit.row) if ensure else closed
        return Move(edit.verb, ids=(edit.row,), note="IGNORED"), after
    if row.status == RUNNING and ensure and not rules.ensure_replaces_running:
        after = _accepted(closed, edit.unit, row, edit.row, AGAIN if row.calling else OWED)
        return Move(edit.verb, ids=(edit.row,), note="EXISTS"), after
    return _take_over(closed, rules, edit)


def _decide_unlocked(state: State, rules: Rules, index: int) -> tuple[Move, State]:
    """Wrong: UPDATE ... WHERE id AND status = :seen, and nobody looks whether a row moved."""
    edit = state.edits[index]
    row = state.rows[edit.row]
    if row.status == edit.seen and row.current:
        return _decide(state, rules, index)
    closed = state._replace(edits=state.edits[:index] + state.edits[index + 1 :])
    move = Move(edit.verb, ids=(edit.row,), note="UPDATED, it says, but 0 rows moved")
    return move, _accepted(closed, edit.unit, None)


def _insert(state: State, closed: State, rules: Rules, index: int) -> tuple[Move, State]:
    """INSERT ... ON CONFLICT DO NOTHING; 0 rows: somebody was faster, so look again. A row came: nobody else can
    insert one any more, so a look into the past is the last that is needed before the COMMIT."""
    edit = state.edits[index]
    rows = [row for row in state.rows if row.unit == edit.unit and row.current]
    if rules.insert_comes_before_a_last_look_back and edit.seen != "over" and any(row.past for row in rows):
        again = put(state.edits, index, edit._replace(step=LOOK, row=NONE))
        return Move(f"{edit.verb} inserts, and finds it over", note="rollback"), state._replace(edits=again)
    if not any(not row.past for row in rows):
        new = _new_row(edit.unit, edit.verb, False)
        move = Move(edit.verb, note="CREATED", events=(len(closed.rows),))
        return move, _accepted(closed, edit.unit, new)
    if rules.insert_of_0_rows_looks_again:
        again = put(state.edits, index, edit._replace(step=LOOK, row=NONE))
        return Move(f"{edit.verb} inserts 0 rows"), state._replace(edits=again)
    return Move(edit.verb, note="CREATED, it says, but 0 rows came"), _accepted(closed, edit.unit, None)


def _take_over(closed: State, rules: Rules, edit: Edit) -> tuple[Move, State]:
    """The old row gives up `current` (and is CANCELLED if it was RUNNING), a new one points back: one transaction."""
    old = closed.rows[edit.row]
    under_way = old.status in (RUNNING, AWAY)
    answer = "REPLACED" if under_way else "CREATED"
    status = CANCELLED if under_way else old.status
    solo = old.solo and rules.solo_is_copied_on_takeover
    told = (edit.row,) if under_way else ()
    kept = not rules.replaced_row_loses_current_at_once
    gone = leave(old, rules, status, None, current=kept, execute=PAST, attempt=0, solo=False, past=False)
    rest = closed._replace(rows=put(closed.rows, edit.row, gone))
    if not rules.replacement_is_one_transaction:
        later = ("insert after cancel", edit.unit, edit.verb, solo)
        move = Move(f"{edit.verb} cancels and commits", ids=(edit.row,), events=told)
        return move, rest._replace(loose=(*rest.loose, later))
    new = len(rest.rows)
    move = Move(edit.verb, ids=(edit.row,), note=f"{answer} by task {new}", events=(*told, new))
    return move, _accepted(rest, edit.unit, _new_row(edit.unit, edit.verb, solo))


def _new_row(unit: int, verb: str, solo: bool) -> Row:
    when = PAST if verb == "ensure" else LATER
    return Row(unit, execute=when, due=when, solo=solo)


def _accepted(state: State, unit: int, row: Row | None, at: int = NONE, promise: str = OWED) -> State:
    """The answer went out: from now on an effect is owed, and only this row may bring it."""
    rows = tuple(other._replace(fresh=False) if other.unit == unit else other for other in state.rows)
    if row is not None:
        row = row._replace(fresh=True)
        rows = (*rows, row) if at == NONE else put(rows, at, row)
    return state._replace(rows=rows, units=put(state.units, unit, state.units[unit]._replace(promise=promise)))


def cancel(state: State, rules: Rules, scope: Scope) -> Moves:
    """UPDATE task SET status = CANCELLED, due_at = NULL, batch_no = NULL WHERE id = :id AND current AND live."""
    if not state.left.cancels:
        return
    left = state.left._replace(cancels=state.left.cancels - 1)
    for i, row in enumerate(state.rows):
        if not row.current or not live(row) or row_locked(state, i):
            continue
        units = put(state.units, row.unit, state.units[row.unit]._replace(promise=OFF))
        due = None if rules.cancel_clears_due_at else row.due
        gone = leave(row, rules, CANCELLED, due, execute=PAST)
        if row.status == SUCCESS and not rules.cancel_takes_a_rolling_success:
            gone = row
        yield (
            Move("cancel", ids=(i,), events=(i,)),
            state._replace(rows=put(state.rows, i, gone), units=units, left=left),
        )


def replay(state: State, rules: Rules, scope: Scope) -> Moves:
    """UPDATE task SET status = INIT, due_at = now, attempt = 0 WHERE id = :id AND status = DEAD AND current."""
    if not state.left.replays:
        return
    left = state.left._replace(replays=state.left.replays - 1)
    for i, row in enumerate(state.rows):
        dead = row.status == DEAD or (row.status in (SUCCESS, CANCELLED) and not rules.replay_requires_dead)
        if dead and (row.current or not rules.replay_requires_current) and not row_locked(state, i):
            attempt = 0 if rules.replay_starts_a_new_budget else row.attempt
            again = row._replace(status=INIT, due=PAST, attempt=attempt)
            yield Move("replay", ids=(i,), events=(i,)), state._replace(rows=put(state.rows, i, again), left=left)


def discard(state: State, rules: Rules, scope: Scope) -> Moves:
    """UPDATE task SET status = CANCELLED WHERE id = :id AND status = DEAD AND current."""
    if not state.left.discards:
        return
    left = state.left._replace(discards=state.left.discards - 1)
    for i, row in enumerate(state.rows):
        dead = row.status == DEAD or (live(row) and not rules.discard_requires_dead)
        if dead and (row.current or not rules.discard_requires_current) and not row_locked(state, i):
            units = put(state.units, row.unit, state.units[row.unit]._replace(promise=OFF))
            rows = put(state.rows, i, row._replace(status=CANCELLED))
            yield Move("discard", ids=(i,), events=(i,)), state._replace(rows=rows, units=units, left=left)


def give_up(state: State, rules: Rules, scope: Scope) -> Moves:
    """A process with an edit under way dies: ROLLBACK."""
    for index, edit in enumerate(state.edits):
        edits = state.edits[:index] + state.edits[index + 1 :]
        yield Move(f"{edit.verb} rolls back"), state._replace(edits=edits)
