"""The net beside the reaper: a slow walk over the ids for rows that are RUNNING although nobody has them."""

import logging
import time

from tasks_app.lifecycle.reap import rescue_stranded

SECONDS = 1.0  # that one run may walk; the next goes on where it ended

log = logging.getLogger(__name__)
_walked_to = 0  # where this process's walk over the ids goes on


def rescue(seconds: float = SECONDS) -> list[int]:
    """Bring back what is found on the way; to the end of the ids at most."""
    global _walked_to
    deadline, found = time.monotonic() + seconds, []
    while time.monotonic() < deadline:
        step = rescue_stranded(_walked_to)
        found += step.ids
        _walked_to = step.last or 0
        if step.last is None:
            break
    if found:
        log.error(
            "task.stranded count=%d ids=%s reason=%r", len(found), found[:20], "RUNNING without an unfinished batch"
        )
    return found
