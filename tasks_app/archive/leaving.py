"""The notes on partitions that leave for the archive: whose turn it is, by a lease with a fence; what went wrong."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import NamedTuple, Self

from tasks_app.database import atomic
from tasks_app.sql import Row, run

LEASE_SECONDS = 300.0
RENEW_SECONDS = 20.0
ERROR_LENGTH = 300


class Overtaken(Exception):
    """Somebody else has taken the partition over, since nothing was heard of us for too long."""


class Leaving:
    """A partition that is ours to write."""

    def __init__(self, name: str, mark: str, fence: int, restored: list[str]) -> None:
        self.name, self.mark, self.fence, self.restored = name, mark, fence, restored
        self._renewed = monotonic()

    @classmethod
    def take(cls, name: str, holder: str) -> Self | None:
        """None: somebody has it, or it was restored and stays for now."""
        taken = run("take_leaving", {"name": name, "holder": holder[:200], "lease": LEASE_SECONDS})
        return cls(name, *_row(taken[0])) if taken else None

    @classmethod
    def restore(cls, name: str, keep_seconds: float) -> Self | None:
        """For what comes back: it stays. None: somebody writes it to the archive right now."""
        taken = run("keep_restored", {"name": name, "keep": keep_seconds})
        return cls(name, *_row(taken[0])) if taken else None

    def hold(self) -> None:
        """Renew the lease, when it is time."""
        if monotonic() - self._renewed < RENEW_SECONDS:
            return
        if not run("hold_leaving", self._mine | {"lease": LEASE_SECONDS}):
            raise Overtaken(self.name)
        self._renewed = monotonic()

    def release(self, error: str = "") -> None:
        run("release_leaving", self._mine | {"error": error[:ERROR_LENGTH]})

    @contextmanager
    def closing(self) -> Iterator[None]:
        """A transaction in which the partition is dropped, and its note goes."""
        with atomic():
            if not run("close_leaving", self._mine):
                raise Overtaken(self.name)
            yield

    def note_restored(self, file: str) -> bool:
        """In the transaction in which its rows come. False: they have come already."""
        return bool(run("note_restored", self._mine | {"file": file}))

    @property
    def _mine(self) -> dict[str, object]:
        return {"name": self.name, "fence": self.fence}


class _Row(NamedTuple):
    mark: str
    fence: int
    restored: list[str]


def _row(row: Row) -> _Row:
    mark, fence, restored = row
    return _Row(mark.hex[:12], fence, restored)
