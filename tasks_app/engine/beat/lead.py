"""How long before its moment a task is claimed: as long as it takes to get it to a worker's handler, by what that took
lately."""

# From the claim to the start, until a batch has shown it.
WAY_UNSEEN_SECONDS = 0.002
# What a worker takes from the beginning of the start until it has its tasks and can wait for their moment.
START_SECONDS = 0.0015
# A slot that holds a task which is not due yet does nothing else: so long at most.
MOST_SECONDS = 0.020
# Our clock and the database's differ by less: what a look was meant for is not missed by a hair.
HAIR_SECONDS = 0.0005
_WEIGHT = 0.2  # of the last claim in their mean


class Lead:
    def __init__(self) -> None:
        self._claim = 0.001  # seconds that a claim takes
        self._way = WAY_UNSEEN_SECONDS

    @property
    def seconds(self) -> float:
        return min(self._claim + self._way + START_SECONDS, MOST_SECONDS)

    def note_claim(self, seconds: float) -> None:
        self._claim += _WEIGHT * (seconds - self._claim)

    def note_way(self, seconds: float | None) -> None:
        """From claim to start, of the type that was fastest lately: others may have waited for a slot."""
        if seconds is not None:
            self._way = max(seconds, 0.0)
