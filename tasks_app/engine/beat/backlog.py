"""The lanes in which more is due than a claim takes, and those that tenants contend for."""

from collections import Counter
from collections.abc import Collection, Iterator

from .crowds import Crowds

# After so many full claims in a row a lane's backlog is shared between its tenants, if there are several.
CONTENDED_CLAIMS = 2


class Backlog(Collection[str]):
    def __init__(self, dispatcher: str) -> None:
        self.contended = Crowds(dispatcher)
        self.several_tenants = False  # whether there is more than one tenant
        self._full_claims: Counter[str] = Counter()  # by lane with a backlog: how many claims in a row were full
        self._locked: set[str] = set()  # lanes that were due and gave nothing: their rows are locked

    def __contains__(self, lane: object) -> bool:
        return lane in self._full_claims

    def __iter__(self) -> Iterator[str]:
        return iter(self._full_claims)

    def __len__(self) -> int:
        return len(self._full_claims)

    @property
    def locked(self) -> Collection[str]:
        """Lanes that were due, and whose claims in this poll got nothing."""
        return self._locked

    def begin_poll(self) -> None:
        self._locked = set()

    def note_locked(self, lane: str) -> None:
        self._locked.add(lane)

    def note_full_claim(self, lane: str) -> None:
        self._full_claims[lane] += 1
        if self.several_tenants and self._full_claims[lane] >= CONTENDED_CLAIMS:
            self.contended.begin(lane)

    def end(self, lane: str) -> bool:
        """The last claim of the lane was not full. Returns whether tenants contended for it until now."""
        self._full_claims.pop(lane, None)
        was_contended = lane in self.contended.lanes
        self.contended.end(lane)
        return was_contended

    def forget(self) -> None:
        self._full_claims.clear()
        self.contended.clear()
