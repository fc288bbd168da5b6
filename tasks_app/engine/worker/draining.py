"""Whether somebody has drained this worker: it finishes what it has, and takes nothing more from the broker.

The reporter hears of it, and the transport goes by it; both are in the parent of the processes that run batches.
"""

import logging

from tasks_app.engine.nodes import NOT_DRAINED, Drain

log = logging.getLogger(__name__)


class Draining:
    def __init__(self) -> None:
        self.heard: Drain = NOT_DRAINED

    @property
    def on(self) -> bool:
        return self.heard.at is not None

    def hear(self, drain: Drain) -> None:
        if (drain.at is not None) != self.on:
            if drain.at is not None:
                log.warning("worker.drained by=%r reason=%r", drain.by, drain.reason)
            else:
                log.warning("worker.resumed")
        self.heard = drain


DRAINING = Draining()
