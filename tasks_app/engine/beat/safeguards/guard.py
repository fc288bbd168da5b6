"""The chore `safeguard`: one look at the pulse, and what follows from it, in one transaction."""

from tasks_app.core.phrases import first_line
from tasks_app.database import atomic, on_commit
from tasks_app.engine.wakeup import SENDER
from tasks_app.lifecycle.safeguards.applying import Applied, apply
from tasks_app.lifecycle.scopes import release_held_back
from tasks_app.models import Safeguard

from .pulse import read_pulse
from .rules import look


class SafeguardsFailed(Exception):
    """Some safeguards could not be looked at, or not take their step; the others have, and why is in the log."""


def guard() -> Applied | None:
    """Returns what changed; None if another beat is at it. A beat that dies on the way has changed nothing."""
    with atomic(savepoint=False):
        rows: dict[str, dict[str, Safeguard]] = {}
        for row in Safeguard.objects.all():
            rows.setdefault(row.name, {})[row.subject] = row
        pulse = read_pulse(known=bool(rows))
        if pulse is None:
            return None
        found, failed = look(pulse, rows)
        applied = apply(found, pulse.now) if rows or any(one.over for one in found) else Applied()
        if applied.any:
            on_commit(SENDER.wake_all)
    for scope in sorted(applied.freed):
        SENDER.wake(release_held_back(scope))
    if failed := {**failed, **applied.failed}:
        raise SafeguardsFailed("; ".join(f"safeguard {name}: {_words(error)}" for name, error in failed.items()))
    return applied


def _words(error: Exception) -> str:
    return first_line(str(error)) or type(error).__name__
