"""Where the next scan of each lane starts: nothing before that position was due when it was last scanned."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import inf

from tasks_app.conf import conf
from tasks_app.lifecycle.claim import ClaimedBatch, LaneView, Place

# Claims of a backlog continue where the last one ended. What is before that is scanned again this often: another
# transaction may have had a row locked.
BACKLOG_SCAN_SECONDS = 5.0
# A due time as a floating-point number differs slightly from the one in the row.
ROUNDING_SECONDS = 0.001


class ScanPositions:
    def __init__(self) -> None:
        self._by_lane: dict[str, Place] = {}
        self._waiting_from = -inf  # claim time of the oldest batch of ours that waits, by the database's clock
        self._full_scan_at = -inf  # time of the last full scan, by the monotonic clock
        self._backlog_scan_at = -inf  # the same for lanes with a backlog

    @property
    def by_lane(self) -> Mapping[str, Place]:
        """A lane without a position is scanned from the low-water mark."""
        return self._by_lane

    @property
    def waiting_from(self) -> float:
        """Waiting batches are counted from this claim time on."""
        return self._waiting_from

    def forget(self) -> None:
        self.restart_all()
        self._waiting_from = self._full_scan_at = self._backlog_scan_at = -inf

    def wake(self, due: float) -> None:
        """From this time on tasks may be due that the last scan did not see."""
        self._by_lane = {lane: min(since, just_before(due)) for lane, since in self._by_lane.items()}

    def restart(self, lane: str) -> None:
        self._by_lane.pop(lane, None)

    def restart_all(self) -> None:
        self._by_lane = {}

    def full_scan_is_due(self, now: float) -> bool:
        return now - self._full_scan_at >= conf().LOOK_SECONDS

    def begin_full_scan(self, now: float, backlog: Collection[str]) -> bool:
        """Scan from the low-water mark, and count all waiting batches. Lanes with a backlog keep their positions for
        longer; returns whether none did."""
        self._full_scan_at, self._waiting_from = now, -inf
        kept = backlog if now - self._backlog_scan_at < BACKLOG_SCAN_SECONDS else ()
        self._by_lane = {lane: since for lane, since in self._by_lane.items() if lane in kept}
        if kept:
            return False
        self._backlog_scan_at = now
        return True

    def note_waiting_from(self, claimed_at: float) -> None:
        """The oldest batch of ours that waits was claimed at this time."""
        self._waiting_from = claimed_at - ROUNDING_SECONDS

    def note_scan(self, views: Iterable[LaneView], begun: float) -> None:
        """A scan of these lanes began at this time, by the database's clock."""
        for view in views:
            # A later write that is due before now sends a signal; a lost signal costs LOOK_SECONDS.
            self._by_lane[view.lane] = just_before(min(begun, view.next_due or begun))

    def continue_backlog(self, lane: str, batches: Sequence[ClaimedBatch]) -> None:
        """The next claim of a backlog starts at the first row that this one left."""
        if batches and (left := batches[0].left_from) is not None:
            self._by_lane[lane] = left


def just_before(due: float) -> Place:
    return Place(due - ROUNDING_SECONDS)
