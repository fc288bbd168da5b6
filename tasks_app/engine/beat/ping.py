"""The chore `ping`: a dead man's switch. As long as a beat looks, an address elsewhere is called every minute; whoever
has that address raises the alarm when the calls stop, also if nothing of this installation is left to do so.

The way Healthchecks has it: a POST to the address is well, one with `/fail` behind its path is not, and `/start` says
that somebody has begun to look again.
"""

import logging
import threading
from urllib.parse import urlsplit, urlunsplit

from django.db.models import F
from django.db.models.functions import Now

from tasks_app.conf import conf
from tasks_app.core.alarms import LOOKS, Condition, Occurrence
from tasks_app.models import MaintenanceEntry
from tasks_app.outgoing import Unreachable, post

log = logging.getLogger(__name__)

TIMEOUT_SECONDS = 10.0
PAUSE_SECONDS = 15.0  # between two looks: a trouble that passes within this time is none
AWAY_SECONDS = 180.0  # nobody has called for so long: somebody begins anew
BODY_BYTES = 10_000
FAIL, START = "/fail", "/start"

_stopped = threading.Event()


def ping(pause_seconds: float = PAUSE_SECONDS) -> str:
    """Returns what it did, for the log. Raises Refused if OUTGOING_ALLOW does not let it."""
    _stopped.clear()
    began = "began, " if _begins() and _call(START, b"") else ""
    troubles = _troubles(pause_seconds) if conf().PING_TROUBLE != "ignore" else []
    if _stopped.is_set():
        return f"{began}stopped"
    if troubles and conf().PING_TROUBLE == "silent":
        return f"{began}in trouble: nothing sent"
    words = "\n".join(f"{one.sample.get('sentence', one.cause)}" for one in troubles) or "All is well."
    sent = _call(FAIL if troubles else "", words.encode()[:BODY_BYTES])
    return f"{began}{'told' if sent else 'not told'} {'trouble' if troubles else 'well'}"


def stop_pinging() -> None:
    _stopped.set()


def _begins() -> bool:
    """Whether nobody has called for a while."""
    row = MaintenanceEntry.objects.filter(name="ping").annotate(ago=Now() - F("done_at")).first()
    return row is None or row.ago is None or row.ago.total_seconds() > AWAY_SECONDS


def _troubles(pause_seconds: float) -> list[Occurrence]:
    """What is found twice: a verdict may be bad for a moment, as while a beat takes over from another."""
    first = _look()
    if not first:
        return []
    _stopped.wait(pause_seconds)
    return [one for cause, one in _look().items() if cause in first]


def _look() -> dict[str, Occurrence]:
    return {one.cause: one for look in LOOKS for one in look() if one.condition is Condition.TROUBLE}


def _call(variant: str, body: bytes) -> bool:
    """A receiver that is away says so itself: it hears nothing."""
    try:
        answer = post(_address(variant), body, {"Content-Type": "text/plain; charset=utf-8"}, timeout=TIMEOUT_SECONDS)
    except Unreachable as error:
        log.warning("ping.not_sent error=%r", str(error))
        return False
    if not 200 <= answer.status < 300:
        log.warning("ping.not_taken status=%d", answer.status)
    return 200 <= answer.status < 300


def _address(variant: str) -> str:
    """Behind the path, before a query if there is one."""
    parts = urlsplit(conf().PING_URL)
    return urlunsplit(parts._replace(path=parts.path.rstrip("/") + variant if variant else parts.path))
