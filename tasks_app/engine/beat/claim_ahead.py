"""How long before its due time a task is claimed: as long as recent batches took from the claim to a worker's handler.
And which tasks a claim includes because the next claim would be too late for them."""

# From the claim to the start, until batches have shown it.
WAY_UNSEEN_SECONDS = 0.002
# A slot that holds a task before its due time does nothing else. This bounds that time, also on slow machines.
MOST_SECONDS = 0.050
MOST_WAY_SECONDS = 0.025  # of these; the rest is for the tasks that a claim includes
# Our clock and the database's differ by less: a claim made for a due time does not miss it.
CLOCK_MARGIN_SECONDS = 0.0005
# Rounds of the beat between two claims of a slot. To start and settle a batch takes a slot about one round: two slots
# in turns keep up with batches that are two rounds apart, though each waits until the last task of its batch is due.
ROUNDS = 2
_WEIGHT = 0.2  # of the last one in a mean


class ClaimAhead:
    def __init__(self) -> None:
        self._claim = 0.001  # seconds that a claim takes
        self._way = WAY_UNSEEN_SECONDS
        self._round = 0.002  # seconds that a poll with a claim takes

    @property
    def seconds(self) -> float:
        """How long before its due time a task is claimed."""
        # Twice: the start begins within the way, and takes about as long as a claim.
        return min(2 * self._claim + self._way, MOST_WAY_SECONDS)

    @property
    def included(self) -> float:
        """A claim includes the tasks that are due within so many seconds after its first one: the next claim comes that
        much later, and they would be late."""
        return min(ROUNDS * self._round, MOST_SECONDS - self.seconds)

    def horizon(self, late: float) -> float:
        """How far ahead a claim includes tasks if its first one is late by so many seconds. The later it is, the fewer
        are included: a slot that waits for them can't catch up."""
        return self.seconds + max(self.included - late, 0.0) + CLOCK_MARGIN_SECONDS

    def note_claim(self, seconds: float) -> None:
        self._claim += _WEIGHT * (seconds - self._claim)

    def note_round(self, seconds: float) -> None:
        self._round += _WEIGHT * (seconds - self._round)

    def note_way(self, seconds: float | None) -> None:
        """From claim to start, of the type that was fastest recently: others may have waited for a slot."""
        if seconds is not None:
            self._way = max(seconds, 0.0)
