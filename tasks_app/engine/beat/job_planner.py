"""The planner of a beat: turns jobs into instances a little ahead of their time, in a thread of its own.

Each plans the shards that its beat dispatches, and all of them while it dispatches none: a beat that has lost its
broker can still plan. Any number of planners may do the same: each locks the schedules it works on, and an instance is
unique in the database.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from django.db import DatabaseError, InterfaceError

from tasks_app.conf import conf
from tasks_app.core.at_work import MARKS, Kind
from tasks_app.database import our_connection
from tasks_app.engine.barrier import BARRIER
from tasks_app.engine.wakeup import SENDER
from tasks_app.lifecycle.audit import Operator
from tasks_app.lifecycle.jobs.planning import PLANNER, plan_due
from tasks_app.lifecycle.jobs.replanning import replan_changed
from tasks_app.lifecycle.jobs.verbs import RESUMED, resume_due
from tasks_app.lifecycle.shards import all_shards
from tasks_app.sql import array, run

from .leases import Leases

log = logging.getLogger(__name__)

STEPS = 50  # in one look; then somebody may ask it to stop
REST = 2.0  # as many times as long as a step took, a planner that has time lets live work have its turn


@dataclass(frozen=True, slots=True)
class PlanReport:
    """What one go of the planner did."""

    instances: int
    resumed: int
    done: bool  # False: there is more to plan at once


def plan_once(shards: Iterable[int] = (), rest: Callable[[float], object] = lambda seconds: None) -> PlanReport:
    """Resume what was paused until now, and plan what fires soon in these shards, or in all; step by step, with a rest
    after each as long as no firing is near. Before that, what a changed calendar makes wrong is planned again."""
    shards, ahead = list(shards) or all_shards(), conf().PLAN_AHEAD_SECONDS
    if not run("to_plan", {"shards": array(shards), "ahead": ahead})[0][0]:
        return PlanReport(0, 0, done=True)
    resumed, instances = resume_due(Operator("planner", "the pause has ended")), 0
    if replan_changed() or resumed:
        SENDER.wake_all()  # some of what fell into the pause, or what a calendar adds, may be due
    for _ in range(STEPS):
        begun = time.monotonic()
        step = plan_due(shards, ahead)
        instances += step.instances
        SENDER.wake(step.dues)
        if not step.cursors:
            return PlanReport(instances, resumed, done=resumed < RESUMED)
        if step.slack > ahead / 2:
            rest(REST * (time.monotonic() - begun))
    return PlanReport(instances, resumed, done=False)


class JobPlanner(threading.Thread):
    def __init__(self, leases: Leases) -> None:
        super().__init__(name="punctual-planner", daemon=True)
        self._leases = leases
        self._stopped = threading.Event()

    def run(self) -> None:
        while not self._stopped.is_set():
            wait = conf().PLAN_SECONDS
            try:
                with MARKS.on(Kind.PART, PLANNER, PLANNER, patient=True):
                    if BARRIER.acting and not plan_once(self._leases.held, self._stopped.wait).done:
                        wait = 0.0
            except Exception as error:
                known = isinstance(error, DatabaseError | InterfaceError)
                log.error("planner.failed error=%r", str(error), exc_info=not known)
                our_connection().close()
            self._stopped.wait(wait)
        our_connection().close()

    def stop(self) -> None:
        self._stopped.set()
        if self.is_alive():
            self.join(timeout=5)
