"""One of two beats is killed, and is not started again: the other takes its shards over."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from tasks_app.drills.drill import Drill
from tasks_app.drills.judging import Limits

if TYPE_CHECKING:
    from tasks_app.drills.scene import Scene


def strike(scene: Scene) -> float:
    victim = scene.stack.beats[0]
    pid = victim.process.pid
    scene.wait(lambda: scene.shards_of(pid), f"shards of beat {pid}")
    scene.say(f"kill -9 of beat {pid}, which has {scene.shards_of(pid)} shards")
    killed = time.time()
    victim.kill()
    return killed


DISPATCHER = Drill(
    "dispatcher", "kill -9 of one of two beats, which stays dead", Limits(rto=10), since="the kill", strike=strike
)
