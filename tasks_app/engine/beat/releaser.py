"""The net beside the workers: a walk over all that waits for others, for what nobody looked at after its parents ended.

A worker may have died between its settle and that look; a parent may have been cancelled, discarded or reaped.
"""

import logging
import time

from tasks_app.engine.wakeup import SENDER
from tasks_app.lifecycle.release import walk

SECONDS = 0.5  # that one run may walk; the next goes on where it ended

log = logging.getLogger(__name__)
_walked_to = 0  # where this process's walk goes on


def release(seconds: float = SECONDS) -> int:
    """Release what is found on the way, to the end of what waits at most; how many tasks."""
    global _walked_to
    deadline, found = time.monotonic() + seconds, 0
    while time.monotonic() < deadline:
        last, released = walk(_walked_to)
        found += released.tasks + released.cancelled
        if released.dues:
            SENDER.wake(released.dues)
        _walked_to = last or 0
        if last is None:
            break
    if found:
        log.info("task.released count=%d", found)
    return found
