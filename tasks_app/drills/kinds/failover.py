"""The primary is killed for good, and its synchronous standby is promoted."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from tasks_app.drills.drill import Drill
from tasks_app.drills.judging import Limits

if TYPE_CHECKING:
    from tasks_app.drills.scene import Scene

NOTICED_SECONDS = 2.0  # until whoever promotes standbys has noticed


def strike(scene: Scene) -> float:
    from tasks_app.lifecycle.installation import noted

    standby = scene.stack.standby
    assert standby is not None
    scene.wait(lambda: noted().standbys, "a beat that has seen the standby stream")
    scene.say("kill -9 of the primary and all its processes")
    scene.kill_server(scene.stack.postgres)
    scene.pause(NOTICED_SECONDS)
    standby.promote()
    scene.say("the standby is promoted")
    return time.time()


FAILOVER = Drill(
    "failover",
    f"kill -9 of the primary for good; its synchronous standby is promoted after {NOTICED_SECONDS:g} s",
    Limits(rto=15),
    since="the promotion",
    strike=strike,
    standby=True,
)
