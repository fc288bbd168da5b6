"""What recent claims say about the next: how many rows to ask for, how many tasks fit a batch, and how far ahead."""

from collections.abc import Collection, Mapping, Sequence

from tasks_app.lifecycle.claim import ClaimedBatch, LaneShare

from .batch_size import BatchSizes
from .claim_ahead import ClaimAhead
from .rows_asked import RowsAsked


class Estimates:
    def __init__(self) -> None:
        self.batch_sizes = BatchSizes()
        self.rows_asked = RowsAsked()
        self.claim_ahead = ClaimAhead()

    def sizes(self, *, early: bool = False) -> dict[str, int]:
        """How many tasks of each type fit a batch. An early batch has only as much work as fits the time until the next
        claim: the second task of a slow handler would be late, although another slot is free."""
        return self.batch_sizes.within(self.claim_ahead.included) if early else self.batch_sizes.sizes

    def note_published(self, batches: Collection[ClaimedBatch]) -> None:
        self.batch_sizes.note({batch.task_type for batch in batches})
        self.claim_ahead.note_way(self.batch_sizes.way)

    def note_rows(
        self, share: LaneShare, asked: int, batches: Sequence[ClaimedBatch], sizes: Mapping[str, int]
    ) -> None:
        """A claim of a lane asked for so many rows, in batches of these sizes, and got these."""
        if not batches:
            self.rows_asked.forget_mix(share.lane)
            return
        self.rows_asked.learn(share.lane, batches)
        self.rows_asked.learn_mix(share.lane, asked, share.batches, batches, sizes)
