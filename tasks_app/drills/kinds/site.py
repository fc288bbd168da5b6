"""All beats and workers of the active site are killed at once, and another site, which stood by, is activated."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from tasks_app.drills.drill import Drill
from tasks_app.drills.judging import Limits

if TYPE_CHECKING:
    from tasks_app.drills.scene import Scene

ACTIVE, OTHER = "a", "b"
NOTICED_SECONDS = 2.0  # until somebody has noticed
SLOW_TASKS, SLOW_SECONDS = 2, 2.0  # which run when it happens, and again at the other site


def prepare(scene: Scene) -> None:
    scene.stack.start_fleet(OTHER, stands_by=True)


def strike(scene: Scene) -> float:
    from django.core.management import call_command

    slow = set(scene.load.ask_slow(SLOW_TASKS, SLOW_SECONDS))
    scene.wait(lambda: slow & scene.calls.keys(), "a worker with a task that takes long")
    scene.say(f"kill -9 of all beats and workers of site {ACTIVE}, in the middle of a task")
    scene.stack.kill_fleet(ACTIVE)
    scene.pause(NOTICED_SECONDS)
    ordered = time.time()
    scene.say(f"manage.py site activate {OTHER}")
    call_command("site", "activate", OTHER, "--reason", "a drill: the other site is lost", stdout=sys.stderr)
    return ordered


SITE = Drill(
    "site",
    "kill -9 of all beats and workers of the active site in the middle of tasks; another, which stood by, is activated "
    f"after {NOTICED_SECONDS:g} s",
    Limits(rto=20),
    since="the order",
    strike=strike,
    prepare=prepare,
    site=ACTIVE,
)
