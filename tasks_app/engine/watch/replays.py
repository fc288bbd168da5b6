"""The tries of a task by the replay that they came after. Reads only.

Tries are numbered from 1 after each replay, so a number alone names several of them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from tasks_app.models import DlqEntry, TaskAttempt


@dataclass(frozen=True, slots=True)
class Replay:
    at: datetime
    by: str


@dataclass(slots=True)
class Tries:
    """Failed tries between two replays, the latest first."""

    replayed: bool  # they came after a replay
    replay: Replay | None = None  # which one; None: its dead letter is no longer kept
    attempts: list[TaskAttempt] = field(default_factory=list)


def replays_of(task_id: int) -> list[Replay]:
    """The earliest first, as far as their dead letters are kept."""
    letters = DlqEntry.objects.filter(task_id=task_id, replay_status=DlqEntry.REPLAYED).order_by("closed_at")
    return [Replay(one.closed_at, one.closed_by) for one in letters.only("closed_at", "closed_by")]


def before(replays: Sequence[Replay], at: datetime) -> Replay | None:
    """The last replay before this moment."""
    return next((one for one in reversed(replays) if one.at <= at), None)


def grouped(attempts: Iterable[TaskAttempt], replays: Sequence[Replay], *, rolls: bool) -> list[Tries]:
    """The group of the latest first. A task that `rolls` begins to count at each roll, and is never dead."""
    groups: list[Tries] = []
    last: TaskAttempt | None = None
    for one in sorted(attempts, key=lambda attempt: attempt.id):
        again = last is not None and one.attempt <= last.attempt and not rolls
        replay = before(replays, one.finished_at)
        if last is None or again or (replay is not None and replay.at > last.finished_at):
            groups.append(Tries(again or replay is not None, replay))
        groups[-1].attempts.insert(0, one)
        last = one
    if replays and (last is None or replays[-1].at > last.finished_at):
        groups.append(Tries(True, replays[-1]))
    return groups[::-1]
