"""How a row leaves RUNNING, by whatever door: one place, as in the product, so that no door forgets a column."""

from __future__ import annotations

from .model import AWAY, CANCELLED, DEAD, FAIL, INIT, LATER, PAST, SUCCESS, Row
from .rules import Rules, Scope


def leave(row: Row, rules: Rules, status: str, due: str | None, **changes: object) -> Row:
    """SET status = :status, due_at = :due, batch_no = NULL."""
    batch = None if rules.leaving_running_clears_batch_no else row.batch
    return row._replace(status=status, due=due, batch=batch, calling=False, **changes)


def hand_back(row: Row, rules: Rules, **changes: object) -> Row:
    """Due again at claimed_due, no retry used."""
    due = LATER if row.execute == LATER and rules.early_is_given_back_for_its_time else PAST
    return leave(row, rules, FAIL if row.attempt else INIT, due, **changes)


def fail(row: Row, rules: Rules, scope: Scope, **changes: object) -> Row:
    """One failure: back-off, or after the last one DEAD, which a rolling task never is."""
    if row.attempt + 1 < scope.failures:
        return leave(row, rules, FAIL, LATER, attempt=row.attempt + 1, **changes)
    if scope.rolling:
        return leave(row, rules, FAIL, LATER, attempt=0, **changes)
    return leave(row, rules, DEAD, None, attempt=row.attempt + 1, **changes)


def outcome(row: Row, rules: Rules, scope: Scope, name: str) -> Row:
    """mark_success, mark_fail_retryable, mark_fail_unrecoverable, mark_not_yet, mark_away, skip: each ends `solo`."""
    if name == "away":
        away = leave(row, rules, AWAY, None, solo=False, run=row.batch, leased=True)
        if row.early is None or row.early[0] != row.batch or not rules.away_takes_an_early_report:
            return away
        return outcome(away._replace(early=None), rules, scope, row.early[1])
    if name == "ok":
        return leave(row, rules, SUCCESS, LATER if scope.rolling else None, attempt=0, solo=False)
    if name == "fail" or scope.rolling:
        return fail(row, rules, scope, solo=False)
    if name == "dead":
        return leave(row, rules, DEAD, None, attempt=row.attempt + 1, solo=False)
    if name == "snooze":
        return leave(row, rules, INIT, LATER, execute=LATER, solo=False)
    return leave(row, rules, CANCELLED, None, solo=False)
