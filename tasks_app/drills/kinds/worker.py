"""One of two workers is killed in the middle of its tasks, and is not started again."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from tasks_app.drills.drill import Drill
from tasks_app.drills.judging import Limits

if TYPE_CHECKING:
    from tasks_app.drills.scene import Scene

SLOW_TASKS, SLOW_SECONDS = 2, 2.0  # they run again on the other worker, whose slots they take for so long


def strike(scene: Scene) -> float:
    slow = set(scene.load.ask_slow(SLOW_TASKS, SLOW_SECONDS))
    scene.wait(lambda: slow & scene.calls.keys(), "a worker with a task that takes long")
    pid = next(scene.calls[key][-1] for key in slow & scene.calls.keys())
    victim = next(one for one in scene.stack.workers if one.has(pid))
    scene.say(f"kill -9 of worker {victim.process.pid} and its children, in the middle of a task")
    killed = time.time()
    victim.kill()
    return killed


WORKER = Drill(
    "worker",
    "kill -9 of one of two workers in the middle of its tasks; it stays dead",
    Limits(rto=45, in_flight=None),
    since="the kill",
    strike=strike,
)
