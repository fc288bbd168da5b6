"""Away: what somebody else has comes back by a report, which may come early, late or twice, or by silence."""

from __future__ import annotations

from .leaving import fail, outcome
from .model import AWAY, NONE, RUNNING, Move, Moves, Row, State, put, row_locked
from .rules import Rules, Scope
from .settle import promises_kept


def report(state: State, rules: Rules, scope: Scope) -> Moves:
    """SELECT ... WHERE id = :task FOR NO KEY UPDATE; and then, if status = AWAY AND ran_in = :run, what was reported.
    If it is RUNNING under that batch, the report is kept. Whoever was ever given an address may report at any time."""
    if not state.left.reports:
        return
    left = state.left._replace(reports=state.left.reports - 1)
    for i, row in enumerate(state.rows):
        if row.past or row_locked(state, i):
            continue
        for run in range(len(state.batches)):
            if _is_away(row, rules, run):
                yield from _reported(state._replace(left=left), rules, scope, i, run)
            elif row.status == RUNNING and row.batch == run and row.calling and row.early is None:
                for said in ("ok", "fail"):
                    kept = put(state.rows, i, row._replace(early=(run, said)))
                    yield Move("keep an early report about", run, (i,), said), state._replace(rows=kept, left=left)


def _reported(state: State, rules: Rules, scope: Scope, task: int, run: int) -> Moves:
    row = state.rows[task]
    done = put(state.rows, task, outcome(row, rules, scope, "ok"))
    units = promises_kept(state.units, state.rows, (task,))
    yield Move("complete", run, (task,), effects=(task,), events=(task,)), state._replace(rows=done, units=units)
    failed = put(state.rows, task, outcome(row, rules, scope, "fail"))
    yield Move("fail", run, (task,), events=(task,)), state._replace(rows=failed)
    if not row.leased:
        renewed = put(state.rows, task, row._replace(leased=True))
        yield Move("progress", run, (task,)), state._replace(rows=renewed)


def _is_away(row: Row, rules: Rules, run: int) -> bool:
    away = row.status == AWAY or (not rules.report_requires_away and row.run != NONE)
    return away and (row.run == run or not rules.report_names_its_run)


def lose(state: State, rules: Rules, scope: Scope) -> Moves:
    """UPDATE task ... FROM (SELECT ... WHERE status = AWAY AND ran_in = run AND until < clock_timestamp() FOR NO KEY
    UPDATE OF task, away SKIP LOCKED): one failure."""
    for i, row in enumerate(state.rows):
        if row.status != AWAY or row.past or row.leased or row_locked(state, i):
            continue
        if rules.lose_looks_again_at_the_lease:
            yield _lost(state, rules, scope, i)
        elif ("lose", i) not in state.loose:
            yield Move("lose reads", ids=(i,)), state._replace(loose=(*state.loose, ("lose", i)))
    for item in state.loose:
        if item[0] == "lose" and not row_locked(state, item[1]):
            rest = state._replace(loose=tuple(other for other in state.loose if other != item))
            if state.rows[item[1]].status == AWAY:
                yield _lost(rest, rules, scope, item[1])  # wrong: the lease was out when it was read
            else:
                yield Move("lose finds it home", ids=(item[1],)), rest


def _lost(state: State, rules: Rules, scope: Scope, task: int) -> tuple[Move, State]:
    row = state.rows[task]
    rows = put(state.rows, task, fail(row, rules, scope))
    return Move("lose", row.run, (task,), events=(task,)), state._replace(rows=rows)
