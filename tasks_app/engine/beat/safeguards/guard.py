"""The chore `safeguard`: one look at the pulse, and what follows from it, in one transaction."""

from tasks_app.database import atomic, on_commit
from tasks_app.engine.wakeup import SENDER
from tasks_app.lifecycle.safeguards.applying import Applied, apply
from tasks_app.models import Safeguard

from .pulse import read_pulse
from .rules import Rows, look


def guard() -> Applied | None:
    """Returns what changed; None if another beat is at it. A beat that dies on the way has changed nothing."""
    with atomic(savepoint=False):
        pulse = read_pulse()
        if pulse is None:
            return None
        rows: dict[str, Rows] = {}
        for row in Safeguard.objects.all():
            rows.setdefault(row.name, {})[row.subject] = row
        applied = apply(look(pulse, rows), pulse.now)
        if applied.any:
            on_commit(SENDER.wake_all)
    return applied
