"""The chore `unfreeze`: lets go of what a recovery holds that nobody goes on with."""

from tasks_app.database import atomic, on_commit
from tasks_app.engine.wakeup import SENDER
from tasks_app.lifecycle.recovery import let_go_abandoned


def unfreeze() -> str:
    """Returns what it did, for the log."""
    with atomic():
        gone = let_go_abandoned()
        if gone:
            on_commit(SENDER.wake_all)
    return f"{len(gone)} let go"
