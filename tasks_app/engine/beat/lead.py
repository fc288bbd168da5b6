"""How long before its moment a task is claimed: as long as it takes to get it to a worker's handler, by what that took
lately. And what else is claimed with it, since the next claim would come too late for that."""

# From the claim to the start, until batches have shown it.
WAY_UNSEEN_SECONDS = 0.002
# A slot that holds a task which is not due yet does nothing else: so long at most, with slow machines in mind.
MOST_SECONDS = 0.050
MOST_WAY_SECONDS = 0.025  # of these; the rest is for what comes along
# Our clock and the database's differ by less: what a look was meant for is not missed by a hair.
HAIR_SECONDS = 0.0005
# Of the beat's, between two claims. To start and settle a batch takes a slot about as long as one: two slots that take
# turns keep up with batches that are two rounds apart, though each waits for the last moment of its batch.
ROUNDS = 2
_WEIGHT = 0.2  # of the last one in a mean


class Lead:
    def __init__(self) -> None:
        self._claim = 0.001  # seconds that a claim takes
        self._way = WAY_UNSEEN_SECONDS
        self._round = 0.002  # seconds that a look takes which claims something

    @property
    def seconds(self) -> float:
        """How long before its moment a task is claimed."""
        # Twice: the start begins within the way, and takes about as long as a claim.
        return min(2 * self._claim + self._way, MOST_WAY_SECONDS)

    @property
    def along(self) -> float:
        """What is due within so many seconds after it is claimed with it: a task that were left to the next claim would
        be late by as much as that comes later."""
        return min(ROUNDS * self._round, MOST_SECONDS - self.seconds)

    def note_claim(self, seconds: float) -> None:
        self._claim += _WEIGHT * (seconds - self._claim)

    def note_round(self, seconds: float) -> None:
        self._round += _WEIGHT * (seconds - self._round)

    def note_way(self, seconds: float | None) -> None:
        """From claim to start, of the type that was fastest lately: others may have waited for a slot."""
        if seconds is not None:
            self._way = max(seconds, 0.0)
