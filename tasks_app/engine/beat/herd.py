"""What is due at one moment in masses: claimed earlier than anything else, and held until its moment is near.

To claim it takes far longer than a task is claimed ahead. But a slot that has a batch waits for its moment and does
nothing else, so no worker gets one early.
"""

from collections.abc import Iterable, Sequence

from tasks_app.conf import conf
from tasks_app.lifecycle.claim import ClaimedBatch, LaneView

from .lead import Lead

# Fewer are claimed in about the time that any task is claimed ahead.
LEAST = 1_000
# Whoever changes a task that is claimed has it replaced, which takes longer than to move it.
MOST_SECONDS = 0.4
_LARGE = 500  # rows of a claim, if what any claim takes is little of it
_WEIGHT = 0.2  # of the last one in a mean


class Herd:
    def __init__(self, lead: Lead) -> None:
        self._lead = lead
        self._row = 20e-6  # seconds that a claim takes for each row
        self._held: list[tuple[float, ClaimedBatch]] = []  # with the moment that it is due

    def coming(self, lanes: Iterable[LaneView], now: float) -> list[LaneView]:
        """Those in which it is the next that is due, and more of it can be claimed before it is published."""
        claim = self._row * conf().BATCH_MAX
        return [
            view
            for view in lanes
            if view.herd >= LEAST and view.next_due is not None and now + claim < view.next_due - self._lead.seconds
        ]

    def begins(self, view: LaneView) -> float:
        """When the first of it is claimed."""
        return view.next_due - self._lead.seconds - min(self._row * view.herd, MOST_SECONDS)

    def note_claim(self, batches: Sequence[ClaimedBatch], seconds: float) -> None:
        rows = sum(batch.size for batch in batches)
        if rows >= _LARGE:
            self._row += _WEIGHT * (seconds / rows - self._row)

    def hold(self, batches: Sequence[ClaimedBatch], view: LaneView) -> None:
        self._held += [(view.next_due, batch) for batch in batches]

    def held(self, lane: str) -> int:
        """Batches."""
        return sum(batch.lane == lane for _, batch in self._held)

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
