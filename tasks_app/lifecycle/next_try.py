"""When what rolls or has failed is due again, where one statement decides it for many types: reap, lose, fail."""

import json
from collections.abc import Sequence
from datetime import datetime

from tasks_app.core import retry
from tasks_app.core.handlers import REGISTRY
from tasks_app.core.timer import Timer
from tasks_app.sql import array, run


def delays() -> dict[str, str]:
    """The back-off of handlers that brought their own, and the usual one, as next_try.sql takes them."""
    own = {handler.name: handler.policy.steps() for handler in REGISTRY if handler.policy != retry.DEFAULT_BACKOFF}
    return {"delays": json.dumps(own), "usual": json.dumps(retry.DEFAULT_BACKOFF.steps())}


def timers() -> dict[str, Timer]:
    """By type, of those that have one."""
    return {handler.name: handler.timer for handler in REGISTRY if handler.timer is not None}


def wait_for(timer: Timer, rolls: Sequence[tuple[int, datetime]]) -> None:
    """Let these tasks, which were given a next roll in this transaction, wait for their timer from then on."""
    ids, was = zip(*rolls, strict=True)
    run("roll_to", {"ids": array(ids), "was": list(was), "dues": timer.at_or_after(was)})
