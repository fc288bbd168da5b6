"""How many tasks of a type go into one batch: about BATCH_TARGET_MS of work by its recent mean."""

import time

from tasks_app.conf import conf
from tasks_app.sql import run

_REFRESH_SECONDS = 0.1


class Pace:
    def __init__(self) -> None:
        self._sizes: dict[str, int] = {}
        self._read_at = float("-inf")

    @property
    def sizes(self) -> dict[str, int]:
        return self._sizes

    def note(self, claimed_types: set[str]) -> None:
        """Called after a claim: read the figures again if it is time to, and at once for a type without any."""
        unseen = not claimed_types <= self._sizes.keys()
        if unseen or time.monotonic() - self._read_at >= _REFRESH_SECONDS:
            self.refresh()

    def refresh(self) -> None:
        self._read_at = time.monotonic()
        for task_type, us_per_task in run("pace", {}):
            self._sizes[task_type] = size_for(us_per_task)


def size_for(us_per_task: float) -> int:
    target_us = conf().BATCH_TARGET_MS * 1000
    return max(1, min(conf().BATCH_MAX, int(target_us / max(us_per_task, 0.1))))
