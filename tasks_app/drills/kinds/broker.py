"""The broker is flushed and killed while messages wait in its queues, and comes back empty."""

from __future__ import annotations

import signal
import time
from typing import TYPE_CHECKING

import redis

from tasks_app.drills.drill import Drill
from tasks_app.drills.judging import Limits

if TYPE_CHECKING:
    from tasks_app.drills.scene import Scene

PILED_SECONDS = 0.5  # nobody takes messages for so long, so that there are some to lose
AWAY_SECONDS = 5.0


def strike(scene: Scene) -> float:
    valkey = scene.stack.valkey
    for worker in scene.stack.workers:
        worker.signal(signal.SIGSTOP)
    scene.pause(PILED_SECONDS)
    redis.Redis.from_url(valkey.url, socket_timeout=10).flushall()
    scene.say(f"FLUSHALL, and kill -9 of the broker; it is away for {AWAY_SECONDS:g} s")
    scene.kill_server(valkey)
    for worker in scene.stack.workers:
        worker.signal(signal.SIGCONT)
    scene.pause(AWAY_SECONDS)
    valkey.start()
    return time.time()


BROKER = Drill(
    "broker",
    f"the broker flushed and killed with messages in its queues, back empty after {AWAY_SECONDS:g} s",
    Limits(rto=15),
    since="its return",
    strike=strike,
)
