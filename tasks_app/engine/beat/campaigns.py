"""Takes campaigns further, in a thread of its own: step by step at their rate, as long as there is one to work on."""

import logging
import threading
import time

from tasks_app.conf import conf
from tasks_app.database import our_connection
from tasks_app.engine.nodes import process_name
from tasks_app.engine.wakeup import SENDER
from tasks_app.lifecycle.campaigns import steps

log = logging.getLogger(__name__)

SECONDS = 45.0  # that one run may take; the next goes on where it ended
LONGEST_WAIT_SECONDS = 1.0  # for the next step of one that is slow: a new one may have been begun meanwhile

_stopped = threading.Event()


def run_campaigns(seconds: float = SECONDS) -> str:
    """Until nothing is left to do, or for so long. Returns what it did, for the log."""
    _stopped.clear()
    holder, deadline, done, tasks = process_name(), time.monotonic() + seconds, 0, 0
    while not _stopped.is_set() and time.monotonic() < deadline:
        stepped = run_once(holder)
        if stepped is not None:
            done, tasks = done + 1, tasks + stepped
            continue
        wait = steps.wait_seconds(holder)
        if wait is None:
            break
        _stopped.wait(min(max(wait, 0.05), LONGEST_WAIT_SECONDS))
    else:
        steps.release(holder)
    return f"{done} steps, {tasks} tasks"


def stop_campaigns() -> None:
    """Between two steps."""
    _stopped.set()


def run_once(holder: str) -> int | None:
    """One step, and one look at what became of earlier ones; how many tasks the step was for. None: there was none."""
    steps.measure()
    try:
        step = steps.step(holder)
    except steps.StepFailed as failed:
        cause = failed.__cause__ or failed
        log.error("campaign.step_failed campaign=%d error=%r", failed.campaign, str(cause).strip())
        our_connection().close()
        steps.hold_up(failed.campaign, cause)
        return None
    if step is None:
        return None
    if step.due is not None:
        SENDER.wake(dict.fromkeys(range(conf().SHARDS), step.due))
    if step.finished:
        log.info("campaign.finished campaign=%d", step.campaign)
    return step.tasks
