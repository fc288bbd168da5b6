"""The states of a task and the table of its legal moves; writing them is lifecycle's business."""

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple


class Status(StrEnum):
    BLOCKED = "BLOCKED"  # waits for other tasks: for its turn among the instances of its job
    INIT = "INIT"  # scheduled, not yet tried
    RUNNING = "RUNNING"  # claimed by a batch
    AWAY = "AWAY"  # handed to somebody else, who reports its outcome
    SUCCESS = "SUCCESS"  # done; a rolling task is due again later
    FAIL = "FAIL"  # failed, will be tried again
    DEAD = "DEAD"  # gave up; has a dead letter
    CANCELLED = "CANCELLED"  # superseded, skipped, expired or cancelled, with a reason and by whom


class Move(NamedTuple):
    verb: str
    source: Status
    target: Status
    only: str = ""  # the condition under which this move is taken, for people


MOVES = (
    Move("claim", Status.INIT, Status.RUNNING),
    Move("claim", Status.FAIL, Status.RUNNING),
    Move("claim", Status.SUCCESS, Status.RUNNING, "rolling"),
    Move("mark_success", Status.RUNNING, Status.SUCCESS),
    Move("mark_fail_retryable", Status.RUNNING, Status.FAIL),
    Move("mark_fail_retryable", Status.RUNNING, Status.DEAD, "budget spent, not rolling"),
    Move("mark_fail_unrecoverable", Status.RUNNING, Status.DEAD),
    Move("mark_fail_unrecoverable", Status.RUNNING, Status.FAIL, "rolling"),
    Move("mark_not_yet", Status.RUNNING, Status.INIT),
    Move("mark_skipped", Status.RUNNING, Status.CANCELLED),
    Move("mark_away", Status.RUNNING, Status.AWAY),
    Move("return", Status.RUNNING, Status.INIT, "no failure yet"),
    Move("return", Status.RUNNING, Status.FAIL, "failed before"),
    Move("reap", Status.RUNNING, Status.INIT, "no failure yet"),
    Move("reap", Status.RUNNING, Status.FAIL, "failed before, or lost while alone"),
    Move("reap", Status.RUNNING, Status.DEAD, "lost while alone, budget spent, not rolling"),
    Move("complete", Status.AWAY, Status.SUCCESS),
    Move("fail", Status.AWAY, Status.FAIL),
    Move("fail", Status.AWAY, Status.DEAD, "final or budget spent, not rolling"),
    Move("lose", Status.AWAY, Status.FAIL),
    Move("lose", Status.AWAY, Status.DEAD, "budget spent, not rolling"),
    Move("reschedule", Status.BLOCKED, Status.BLOCKED),
    Move("reschedule", Status.INIT, Status.INIT),
    Move("reschedule", Status.FAIL, Status.FAIL),
    Move("reschedule", Status.SUCCESS, Status.SUCCESS, "rolling"),
    Move("reschedule", Status.RUNNING, Status.CANCELLED, "and a new row takes over"),
    Move("reschedule", Status.AWAY, Status.CANCELLED, "and a new row takes over"),
    Move("cancel", Status.BLOCKED, Status.CANCELLED),
    Move("cancel", Status.INIT, Status.CANCELLED),
    Move("cancel", Status.FAIL, Status.CANCELLED),
    Move("cancel", Status.RUNNING, Status.CANCELLED),
    Move("cancel", Status.AWAY, Status.CANCELLED),
    Move("cancel", Status.SUCCESS, Status.CANCELLED, "rolling"),
    Move("release", Status.BLOCKED, Status.INIT),
    Move("release", Status.BLOCKED, Status.CANCELLED, "a parent failed and its job says so, or nothing to do"),
    Move("yield", Status.INIT, Status.BLOCKED, "a backfill's, and another instance of its job has come"),
    Move("yield", Status.FAIL, Status.BLOCKED, "the same"),
    Move("replay", Status.DEAD, Status.INIT),
    Move("replay", Status.DEAD, Status.BLOCKED, "its job cares about overlap"),
    Move("discard", Status.DEAD, Status.CANCELLED),
)


UNDER_WAY = (Status.RUNNING, Status.AWAY)  # a try has begun and has no outcome yet
LIVE_THOUGH_NOT_DUE = (*UNDER_WAY, Status.BLOCKED)


def is_live(status: str, due: bool) -> bool:
    """Whether a row still has something to do; `due` says whether its due_at is set. live.sql says it to statements."""
    return due or status in LIVE_THOUGH_NOT_DUE


# ---- put aside ----

NEVER = "9000-01-01T00:00:00+00:00"  # what was put aside is due then
_NEVER = datetime.fromisoformat(NEVER)


def lies_aside(due_at: datetime | None) -> bool:
    """Of a task that is due then: in a rehearsal, or since its tenant was suspended. Its time is kept elsewhere."""
    return due_at is not None and due_at >= _NEVER
