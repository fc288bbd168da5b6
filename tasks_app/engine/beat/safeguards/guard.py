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
        rows: dict[str, Rows] = {}
        for row in Safeguard.objects.all():
            rows.setdefault(row.name, {})[row.subject] = row
        pulse = read_pulse(known=bool(rows))
        if pulse is None:
            return None
        found = list(look(pulse, rows))
        if not rows and not any(one.over for one in found):
            return Applied()
        applied = apply(found, pulse.now)
        if applied.any:
            on_commit(SENDER.wake_all)
    return applied
