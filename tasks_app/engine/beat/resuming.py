"""The chore `site`: lets the lanes of a site that was activated go on, the most urgent first."""

import threading
import time

from tasks_app.engine.wakeup import SENDER
from tasks_app.lifecycle.site import resume_step

SECONDS = 45.0  # that one run may take; the next goes on where it ended
LOOK_SECONDS = 0.5

_stopped = threading.Event()


def resume_lanes(seconds: float = SECONDS) -> str:
    """Until all lanes are open, or for so long. Returns what it did, for the log."""
    _stopped.clear()
    deadline, done = time.monotonic() + seconds, False
    while not done and not _stopped.is_set() and time.monotonic() < deadline:
        done = resume_step()
        SENDER.wake_all()
        if not done:
            _stopped.wait(LOOK_SECONDS)
    return "all lanes are open" if done else "some lanes wait"


def stop_resuming() -> None:
    """Between two looks."""
    _stopped.set()
