"""What beats hung on, and what they skip since then."""

from dataclasses import dataclass
from datetime import datetime

from tasks_app.core.at_work import Kind
from tasks_app.sql import run

MOST = 200  # that are listed, those that are skipped first


@dataclass(frozen=True, slots=True)
class StallView:
    id: int
    kind: str
    place: str  # the part of the beat that worked on it
    item: str
    ends: int  # beats that ended on it
    skipped_at: datetime | None  # None: it is not skipped
    beat: str  # the last of them
    stack: str  # of its thread, the innermost call first
    seconds: float  # since the last of these ends
    name: str  # by which people know it; of a schedule, its first jobs

    @property
    def skipped(self) -> bool:
        return self.skipped_at is not None

    @property
    def is_part(self) -> bool:
        """Of the beat itself, which is never skipped."""
        return self.kind == Kind.PART

    @property
    def where(self) -> str:
        """The call that did not return."""
        return self.stack.partition("\n")[0]

    def __str__(self) -> str:
        of_chore = f" in {self.place}" if self.kind == Kind.TENANT else ""
        return f"{self.kind} {self.name}{of_chore} ({self.where or 'no stack is known'})"


def read_stalls() -> list[StallView]:
    return [StallView(*row) for row in run("status_stalls", {"most": MOST})]
