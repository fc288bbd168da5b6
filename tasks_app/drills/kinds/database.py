"""PostgreSQL is killed with all its processes, and recovers from its log."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from tasks_app.drills.drill import Drill
from tasks_app.drills.judging import Limits

if TYPE_CHECKING:
    from tasks_app.drills.scene import Scene

AWAY_SECONDS = 3.0


def strike(scene: Scene) -> float:
    postgres = scene.stack.postgres
    scene.say(f"kill -9 of PostgreSQL and all its processes; it is away for {AWAY_SECONDS:g} s")
    scene.kill_server(postgres)
    scene.pause(AWAY_SECONDS)
    postgres.start()
    return time.time()


DATABASE = Drill(
    "database",
    f"kill -9 of PostgreSQL with all its processes; it is started again after {AWAY_SECONDS:g} s",
    Limits(rto=15),
    since="its return",
    strike=strike,
)
