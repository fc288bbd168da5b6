"""The chore `tenants`: ends suspensions whose time has come, puts back what they held, and brings stored data under the
newest keys."""

import logging
import threading
import time

from tasks_app.core.at_work import MARKS, Kind
from tasks_app.engine.wakeup import SENDER
from tasks_app.lifecycle.audit import Operator
from tasks_app.lifecycle.held import held_tenants, put_back_held, room_of
from tasks_app.lifecycle.key_walk import step_walk
from tasks_app.lifecycle.stalls import SKIPPED
from tasks_app.lifecycle.tenants import resume_ended

log = logging.getLogger(__name__)

STEP = 1_000  # tasks in one transaction
CHORE = "tenants"
SECONDS = 20.0  # that one run may take; the next goes on where it ended

_stopped = threading.Event()


def tend_tenants(seconds: float = SECONDS) -> str:
    """Returns what it did, for the log."""
    _stopped.clear()
    resumed = resume_ended(Operator("beat", "the suspension has ended"))
    tasks = put_back(seconds)
    steps = walk_keys(seconds)
    return f"{resumed} resumed, {tasks} tasks put back, {steps} steps under newest keys"


def stop_tending_tenants() -> None:
    """Between two steps."""
    _stopped.set()


def walk_keys(seconds: float = SECONDS) -> int:
    """What is stored is brought under the newest keys, if somebody has ordered that. Returns how many steps."""
    deadline, steps = time.monotonic() + seconds, 0
    while not _stopped.is_set() and time.monotonic() < deadline and step_walk():
        steps += 1
    return steps


def put_back(seconds: float = SECONDS) -> int:
    """What lies aside for tenants that go on is due as before, as far as they may have it. Returns how many tasks."""
    deadline, tasks = time.monotonic() + seconds, 0
    tenants = [one for one in held_tenants() if one not in SKIPPED.of(Kind.TENANT, CHORE)]
    room = room_of(tenants)
    for tenant in tenants:
        with MARKS.on(Kind.TENANT, tenant, CHORE):
            tasks += _put_back_of(tenant, room.get(tenant), deadline)
    if tasks:
        SENDER.wake_all()
        log.info("tenant.put_back tasks=%d", tasks)
    return tasks


def _put_back_of(tenant: str, room: int | None, deadline: float) -> int:
    if room is not None:  # the rest waits for the next time, when some of these have ended
        return put_back_held(tenant, min(STEP, room)).tasks if room > 0 else 0
    tasks = 0
    while not _stopped.is_set() and time.monotonic() < deadline:
        step = put_back_held(tenant, STEP)
        tasks += step.tasks
        if not step.done:
            break  # done, or the rest is locked
    return tasks
