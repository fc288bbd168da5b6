"""What was so a moment ago, and is likely to be so still: a hint, which saves a vain attempt."""

import time
from collections.abc import Hashable

SECONDS = 60.0
MOST = 10_000


class Lately:
    def __init__(self) -> None:
        self._until: dict[Hashable, float] = {}  # by the monotonic clock

    def note(self, what: Hashable) -> None:
        if len(self._until) >= MOST:
            self._until.clear()
        self._until[what] = time.monotonic() + SECONDS

    def __contains__(self, what: Hashable) -> bool:
        return self._until.get(what, 0.0) > time.monotonic()
