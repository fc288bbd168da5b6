"""The chore `overdue`: carries out what an operator has ordered for tasks that are overdue, page by page."""

import logging
import threading
import time

from tasks_app.engine.wakeup import SENDER
from tasks_app.lifecycle.overdue import step

log = logging.getLogger(__name__)

SECONDS = 45.0  # that one run may take; the next goes on where it ended
PAUSE_SECONDS = 0.05  # somebody else has locked what is left

_stopped = threading.Event()


def carry_out(seconds: float = SECONDS) -> str:
    """Until it is done, or for so long. Returns what it did, for the log."""
    _stopped.clear()
    deadline, tasks = time.monotonic() + seconds, 0
    while not _stopped.is_set() and time.monotonic() < deadline:
        stepped = step()
        tasks += stepped.tasks
        if stepped.done:
            SENDER.wake_all()
            break
        if not stepped.tasks:
            _stopped.wait(PAUSE_SECONDS)
    return f"{tasks} tasks"


def stop_carrying_out() -> None:
    """Between two pages."""
    _stopped.set()
