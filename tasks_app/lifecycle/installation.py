"""What this installation is, and whether it may dispatch: quarantine, and the ways out of it."""

from tasks_app.sql import run

ITSELF = "punctual"  # who acts, when nobody told it to


def quarantine(reason: str, *, by: str = ITSELF, using: str | None = None) -> bool:
    """From the commit on nothing is dispatched and nobody is called. False: it was in quarantine already, for another
    reason, which stays. `using` is another alias than ours: a restore knows the database that it has just made."""
    return bool(run("quarantine", {"reason": reason, "by": by}, using))
