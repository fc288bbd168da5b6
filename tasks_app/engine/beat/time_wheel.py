"""Mass due times: thousands of tasks that are due at once are claimed earlier than others, and held until they are due.

To claim them takes far longer than tasks are claimed ahead. A slot that gets a batch early waits and does nothing else,
so workers get the held batches just before the due time, unless the beat ends.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from tasks_app.conf import conf
from tasks_app.lifecycle.claim import MOST_COUNTED, ClaimedBatch, LaneView

from .claim_ahead import ClaimAhead

# Fewer tasks are claimed within the time that any task is claimed ahead.
LEAST = 1_000
# A change of a claimed task replaces it, which takes longer than to move it.
MOST_SECONDS = 0.4
_LARGE = 500  # rows of a claim whose fixed cost is a small part
_WEIGHT = 0.2  # of the last one in a mean


class TimeWheel:
    def __init__(self, claim_ahead: ClaimAhead) -> None:
        self._claim_ahead = claim_ahead
        self._row = 20e-6  # seconds that a claim takes for each row
        self._held: list[tuple[float, ClaimedBatch]] = []  # with its due time
        self._locked: dict[str, float | None] = {}  # by lane: a due time of which a claim got nothing

    def coming(self, lanes: Iterable[LaneView], now: float) -> list[LaneView]:
        """Lanes whose next due time is a mass due time that can be claimed before other tasks of any lane are due."""
        lanes = [view for view in lanes if view.next_due is not None and view.slots]
        first = min((view.due for view in lanes), default=now)
        return [
            view
            for view in lanes
            if view.same_due >= LEAST
            and self._locked.get(view.lane) != view.next_due
            and now + self._claim_seconds(view) < first - self._claim_ahead.seconds
        ]

    def begins(self, view: LaneView) -> float:
        """When the first claim of a mass due time is made: with time for one claim more than needed."""
        seconds = MOST_SECONDS
        if view.same_due < MOST_COUNTED:
            seconds = min(self._row * view.same_due + self._claim_seconds(view), MOST_SECONDS)
        return view.due - self._claim_ahead.seconds - seconds

    def _claim_seconds(self, view: LaneView) -> float:
        """At most half of the time that there is, after slow claims too: else no claim would correct the estimate."""
        return min(self._row * min(conf().BATCH_MAX, view.same_due), MOST_SECONDS / 2)

    def note_claim(self, view: LaneView, batches: Sequence[ClaimedBatch], seconds: float) -> None:
        rows = sum(batch.size for batch in batches)
        if rows >= _LARGE:
            self._row += _WEIGHT * (seconds / rows - self._row)
        if not rows:  # another transaction has locked them; they are claimed when they are due
            self._locked[view.lane] = view.next_due

    def hold(self, batches: Sequence[ClaimedBatch], view: LaneView) -> None:
        self._held += [(view.due, batch) for batch in batches]

    def held(self) -> Counter[str]:
        """How many batches of each lane are held."""
        return Counter(batch.lane for _, batch in self._held)

    def take(self, now: float) -> list[ClaimedBatch]:
        """Take the batches that are to be published by now."""
        soon = now + self._claim_ahead.seconds
        taken = [batch for due, batch in self._held if due <= soon]
        self._held = [(due, batch) for due, batch in self._held if due > soon]
        return taken

    @property
    def next(self) -> float | None:
        """When the next batch is to be published."""
        return min((due - self._claim_ahead.seconds for due, _ in self._held), default=None)
