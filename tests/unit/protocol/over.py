"""What is over: the mover takes it to the past, verbs find it there, and it comes back when something takes over."""

from __future__ import annotations

from .model import (
    BRING,
    CANCELLED,
    DEAD,
    DECIDE,
    INSERTED,
    LOOK,
    NONE,
    RUNNING,
    SUCCESS,
    Edit,
    Move,
    Moves,
    Row,
    State,
    put,
    row_locked,
)
from .rules import Rules, Scope


def move(state: State, rules: Rules, scope: Scope) -> Moves:
    """DELETE FROM punctual_task WHERE (SELECT ... is over FOR UPDATE SKIP LOCKED); INSERT INTO punctual_past."""
    if not scope.mover:
        return
    for i, row in enumerate(state.rows):
        if not row.past and not row_locked(state, i) and _may_go(row, rules):
            yield Move("move to the past", ids=(i,)), state._replace(rows=put(state.rows, i, row._replace(past=True)))


def _may_go(row: Row, rules: Rules) -> bool:
    return _over(row) if rules.mover_takes_only_what_is_over else row.status != RUNNING


def _over(row: Row) -> bool:
    return row.due is None and (row.status in (SUCCESS, CANCELLED) or (row.status == DEAD and not row.current))


def look_back(state: State, rules: Rules, index: int) -> tuple[Move, State]:
    """SELECT ... FROM punctual_past WHERE unit AND current: in a later snapshot than the look at what is live, and
    without a lock. What somebody else is just bringing back is there until they commit."""
    edit = state.edits[index]
    found = [i for i, row in enumerate(state.rows) if row.unit == edit.unit and row.current and row.past]
    move = Move(f"{edit.verb} looks back at", ids=tuple(found), note="" if found else "no row")
    if not found:
        first = not rules.past_is_looked_at_after_the_live  # wrong: what is live is looked at only now
        after = edit._replace(step=LOOK, seen="no row") if first else edit._replace(step=DECIDE, row=NONE)
        return move, _goes_on(state, index, after)
    if edit.verb == "reschedule" and state.rows[found[0]].status == SUCCESS:
        return move._replace(note="IGNORED"), _closed(state, index)
    if rules.takeover_brings_the_row_back:
        return move, _goes_on(state, index, edit._replace(step=BRING, row=found[0]))
    return move, _goes_on(state, index, edit._replace(step=DECIDE, row=NONE, seen="over"))  # wrong


def bring_back(state: State, rules: Rules, index: int) -> tuple[Move, State]:
    """DELETE FROM punctual_past WHERE current ... RETURNING; INSERT INTO punctual_task ON CONFLICT DO NOTHING. From
    here on the row is locked, and for all others in the past until the commit. 0 rows: somebody was faster, so look
    again."""
    edit = state.edits[index]
    row = state.rows[edit.row]
    taken = any(other.unit == edit.unit and other.current and not other.past for other in state.rows)
    if rules.bring_back_looks_again_at_the_row and (not row.past or not row.current or taken):
        again = edit._replace(step=LOOK, row=NONE)
        return Move(f"{edit.verb} brings back", ids=(edit.row,), note="0 rows"), _goes_on(state, index, again)
    return Move(f"{edit.verb} brings back", ids=(edit.row,)), _goes_on(state, index, edit._replace(step=DECIDE))


def schedule(state: State, rules: Rules, index: int) -> tuple[Move, State]:
    """`schedule` with an idempotency key that the unit's first row has: INSERT ... ON CONFLICT DO NOTHING, then SELECT
    FROM punctual_past WHERE idem_key, COMMIT. Whoever finds a row answers EXISTS."""
    edit = state.edits[index]
    insert_now = (edit.step == LOOK) == rules.insert_comes_before_the_look_for_its_idem_key
    if insert_now:
        verb = "schedule inserts"
        found = [i for i, row in enumerate(state.rows) if row.unit == edit.unit and not row.past]
    else:
        verb = "schedule looks back for its key"
        found = [i for i, row in enumerate(state.rows) if row.unit == edit.unit and row.past]
    if found:
        return Move(verb, ids=tuple(found), note="EXISTS"), _closed(state, index)
    if edit.step == LOOK:
        return Move(verb), _goes_on(state, index, edit._replace(step=INSERTED))
    # The intent is the one that the key stands for, so what is owed stays as it is.
    after = _closed(state, index)
    return Move(verb, note="CREATED", events=(len(state.rows),)), after._replace(rows=(*state.rows, Row(edit.unit)))


def _goes_on(state: State, index: int, edit: Edit) -> State:
    return state._replace(edits=put(state.edits, index, edit))


def _closed(state: State, index: int) -> State:
    return state._replace(edits=state.edits[:index] + state.edits[index + 1 :])
