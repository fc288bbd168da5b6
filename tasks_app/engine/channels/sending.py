"""Sends the alerts that wait, each channel by itself, so that one that is slow or dead holds up no other. It is the
chore `alert` of the beats; if none is left, whoever notices that does it.

A channel is held by a lease while it is sent to: if its sender is killed, another goes on where it was, and sends the
alert that was under way again, with the same id.
"""

import json
import logging
import random
import threading
import time
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from tasks_app.core.errors import PunctualError
from tasks_app.database import atomic, close_connections
from tasks_app.engine.channels import NotSent, send
from tasks_app.lifecycle.alarms.alerts import digest_body
from tasks_app.lifecycle.alarms.channels import unsealed
from tasks_app.sql import run

log = logging.getLogger(__name__)

THREADS = 16  # channels that this beat sends to at the same time
WAIT_SECONDS = 5.0  # a look waits no longer for them: the next one must come
SERVE_SECONDS = 30.0  # for one channel; then it is anybody's again
LEASE_SECONDS = 60.0  # longer than any call takes
WAITING = 500  # alerts that are looked at, and told as one if they are too many
FIRST_PAUSE_SECONDS, MOST_PAUSE_SECONDS = 5.0, 1_800.0
GIVE_UP_SECONDS = 86_400.0

_stopped = threading.Event()
_threads: list[threading.Thread] = []  # that are sending


@dataclass(frozen=True, slots=True)
class Waiting:
    id: UUID
    kind: str
    body: dict[str, Any]
    attempts: int
    age_seconds: float
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Held:
    """A channel that this thread may send to."""

    id: int
    fence: int


@dataclass(frozen=True, slots=True)
class Outbound:
    """What to send next, and where; or how long to wait for that."""

    kind: str = ""
    target: str = ""
    alert: Waiting | None = None
    wait_seconds: float = 0.0


def send_waiting() -> str:
    """Returns what it did, for the log. A channel that takes longer than a moment goes on in its thread."""
    _stopped.clear()
    _threads[:] = [one for one in _threads if one.is_alive()]
    held = [Held(*row) for row in run("take_channels", {"lease": LEASE_SECONDS, "most": THREADS - len(_threads)})]
    begun = [threading.Thread(target=_serve, args=[one], name="punctual-alert", daemon=True) for one in held]
    _threads.extend(begun)
    for thread in begun:
        thread.start()
    ends = time.monotonic() + WAIT_SECONDS
    for thread in begun:
        thread.join(max(0.0, ends - time.monotonic()))
    return f"{len(held)} channels"


def stop_sending() -> None:
    _stopped.set()


def _serve(held: Held) -> None:
    """What waits for one channel, in order, until one can't be sent."""
    ends, pause = time.monotonic() + SERVE_SECONDS, 0.0
    try:
        while time.monotonic() < ends and not _stopped.is_set():
            out = _next(held)
            if out is None or out.alert is None:
                pause = 0.0 if out is None else out.wait_seconds
                break
            if not _deliver(held, out, out.alert):
                break
        run("release_channel", {"channel": held.id, "fence": held.fence, "pause": pause})
    except Exception:
        log.exception("alert.failed channel=%d", held.id)  # its lease runs out
    finally:
        close_connections()


def _next(held: Held) -> Outbound | None:
    """None: the channel is somebody else's by now, or turned off."""
    with atomic(savepoint=False):
        asked = {"channel": held.id, "fence": held.fence, "lease": LEASE_SECONDS, "most": WAITING}
        rows = run("next_alert", asked)
        if not rows:
            return None
        kind, target, permits, most_per_hour, *_ = rows[0]
        waiting = [Waiting(*row[4:]) for row in rows if row[4] is not None]
        if not waiting:
            return Outbound()
        if permits < 1:
            return Outbound(wait_seconds=(1 - permits) * 3_600 / most_per_hour)
        first = waiting[0] if len(waiting) <= permits else _fold(held, waiting)
        return Outbound(kind, target, first)


def _fold(held: Held, waiting: list[Waiting]) -> Waiting:
    """More than the channel may be told one by one: they go as one, and each is done with it."""
    told = Waiting(uuid4(), "digest", digest_body([one.body for one in waiting]), 0, 0.0, waiting[0].created_at)
    params = {"id": told.id, "channel": held.id, "fence": held.fence, "body": json.dumps(told.body)}
    run("fold_alerts", params | {"ids": [one.id for one in waiting]})
    return told


def _deliver(held: Held, out: Outbound, alert: Waiting) -> bool:
    try:
        answer = send(out.kind, unsealed(out.target, held.id), alert.id, alert.body)
    except (NotSent, PunctualError) as error:
        _not_sent(held, alert, str(error), getattr(error, "retry_after", None))
        return False
    run("mark_sent", {"id": alert.id, "channel": held.id})
    log.info("alert.sent channel=%d alert=%s kind=%s ms=%.0f", held.id, alert.id, alert.kind, answer.ms)
    return True


def _not_sent(held: Held, alert: Waiting, error: str, asked: float | None) -> None:
    """The channel is tried again later, and no later for one alert than for another."""
    pause = min(FIRST_PAUSE_SECONDS * 2 ** min(alert.attempts, 20), MOST_PAUSE_SECONDS) * random.uniform(0.8, 1.2)
    params = {
        "id": alert.id,
        "channel": held.id,
        "error": error,
        "pause": min(max(pause, asked or 0.0), MOST_PAUSE_SECONDS),
        "give_up": alert.age_seconds > GIVE_UP_SECONDS,
    }
    run("mark_unsent", params)
    log.warning("alert.not_sent channel=%d alert=%s attempts=%d error=%r", held.id, alert.id, alert.attempts + 1, error)
