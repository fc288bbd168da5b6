"""The last ones to look: with all beats dead nobody evaluates alarm rules, so web processes and workers say that.

A look rides on what its process does anyway (a request, a probe, a worker's report), in a thread that ends with it: no
request waits for it, and no process has a thread for it. However many look, there is one incident and one alert: both
are rows in the database.
"""

import logging
import threading
import time
from datetime import timedelta

from django.db import DatabaseError, InterfaceError

from tasks_app.conf import conf
from tasks_app.core.alarms import Condition, Occurrence
from tasks_app.core.phrases import span
from tasks_app.database import close_connections
from tasks_app.lifecycle.installation import look as look_at_installation
from tasks_app.models import Installation
from tasks_app.sql import run

log = logging.getLogger(__name__)

SILENT_SECONDS = 30.0  # no sign of any beat for so long: none is left; a restart is quicker
CAUSE = "no_dispatcher"  # as the verdict calls it, so that the beats go on with the same incident


def look() -> float | None:
    """For how many seconds no beat has been there; None: one is.

    If none is, whoever has an alarm rule about trouble is told, as a beat would do it; that all is well again is told
    by the beat that comes back.
    """
    if look_at_installation().state != Installation.ACTIVE:
        return None  # a copy that nobody runs has had no beat for long, and should not say so to those of the original
    silent: float | None = run("last_beat", {})[0][0]
    if silent is None or silent < max(SILENT_SECONDS, 3 * conf().NODE_TTL_SECONDS):
        return None
    # Only now: a process that never needs them need not load them.
    from tasks_app.lifecycle.alarms.incidents import note, tell_due

    from .channels.sending import send_waiting

    if note([_nobody(silent)]):
        tell_due()
        send_waiting()
    return silent


def _nobody(silent: float) -> Occurrence:
    from .celery_app import command

    sample = {
        "sentence": f"P1: no beat has been alive for {span(timedelta(seconds=silent))}, so nothing is dispatched.",
        "way_out": f"Start `{command('beat')}`. Until then no other alarm is raised.",
    }
    return Occurrence(Condition.TROUBLE, None, CAUSE, sample=sample)


class Lookout:
    """Of one process: at most one look at a time, and none sooner than LOOKOUT_SECONDS after the last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._next_at = 0.0  # by the monotonic clock
        self._thread: threading.Thread | None = None

    def ride(self) -> threading.Thread | None:
        """Look if it is time to; returns at once, with the thread that looks."""
        now = time.monotonic()
        if not conf().LOOKOUT_SECONDS or not conf().ALARM_SECONDS:
            return None
        with self._lock:
            if now < self._next_at or (self._thread and self._thread.is_alive()):
                return None
            self._next_at = now + conf().LOOKOUT_SECONDS
            self._thread = threading.Thread(target=_look_and_leave, name="punctual-lookout", daemon=True)
            self._thread.start()
            return self._thread


LOOKOUT = Lookout()


def _look_and_leave() -> None:
    try:
        if silent := look():
            log.error("beat.none seconds=%.0f", silent)
    except (DatabaseError, InterfaceError) as error:
        log.warning("lookout.failed error=%r", str(error).strip())
    except Exception:
        log.exception("lookout.failed")
    finally:
        close_connections()
