"""What is due at one moment in masses: claimed earlier than anything else, and held until its moment is near.

To claim it takes far longer than a task is claimed ahead. But a slot that has a batch waits for its moment and does
nothing else, so no worker gets one early, unless the beat ends.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from tasks_app.conf import conf
from tasks_app.lifecycle.claim import MOST_COUNTED, ClaimedBatch, LaneView

from .lead import Lead

# Fewer are claimed in about the time that any task is claimed ahead.
LEAST = 1_000
# Whoever changes a task that is claimed has it replaced, which takes longer than to move it.
MOST_SECONDS = 0.4
_LARGE = 500  # rows of a claim, if what any claim takes is little of it
_WEIGHT = 0.2  # of the last one in a mean


class TimeWheel:
    def __init__(self, lead: Lead) -> None:
        self._lead = lead
        self._row = 20e-6  # seconds that a claim takes for each row
        self._held: list[tuple[float, ClaimedBatch]] = []  # with the moment that it is due
        self._in_vain: dict[str, float | None] = {}  # lanes, and the moment of which a claim got nothing

    def coming(self, lanes: Iterable[LaneView], now: float) -> list[LaneView]:
        """Those in which it is the next that is due, and more of it can be claimed before anything else in any lane."""
        lanes = [view for view in lanes if view.next_due is not None and view.slots]
        first = min((view.due for view in lanes), default=now)
        return [
            view
            for view in lanes
            if view.same_due >= LEAST
            and self._in_vain.get(view.lane) != view.next_due
            and now + self._claim_seconds(view) < first - self._lead.seconds
        ]

    def begins(self, view: LaneView) -> float:
        """When the first of it is claimed: with time for one claim more than it takes."""
        seconds = MOST_SECONDS
        if view.same_due < MOST_COUNTED:
            seconds = min(self._row * view.same_due + self._claim_seconds(view), MOST_SECONDS)
        return view.due - self._lead.seconds - seconds

    def _claim_seconds(self, view: LaneView) -> float:
        """However slow claims have been: else none would be made any more, and nobody would see that they are not."""
        return min(self._row * min(conf().BATCH_MAX, view.same_due), MOST_SECONDS / 2)

    def note_claim(self, view: LaneView, batches: Sequence[ClaimedBatch], seconds: float) -> None:
        rows = sum(batch.size for batch in batches)
        if rows >= _LARGE:
            self._row += _WEIGHT * (seconds / rows - self._row)
        if not rows:  # somebody has locked them; they are claimed when they are due
            self._in_vain[view.lane] = view.next_due

    def hold(self, batches: Sequence[ClaimedBatch], view: LaneView) -> None:
        self._held += [(view.due, batch) for batch in batches]

    def held(self) -> Counter[str]:
        """Batches of each lane."""
        return Counter(batch.lane for _, batch in self._held)

    def take(self, now: float) -> list[ClaimedBatch]:
        """Those that are to be published by now."""
        soon = now + self._lead.seconds
        taken = [batch for due, batch in self._held if due <= soon]
        self._held = [(due, batch) for due, batch in self._held if due > soon]
        return taken

    @property
    def next(self) -> float | None:
        """When something of it is to be published."""
        return min((due - self._lead.seconds for due, _ in self._held), default=None)
