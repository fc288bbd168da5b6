"""The states of an article and the one table of its legal moves; writing them is lifecycle's business."""

from enum import StrEnum
from typing import NamedTuple


class Status(StrEnum):
    DRAFT = "DRAFT"  # being written
    PENDING_AUDIT = "PENDING_AUDIT"  # submitted, waits for a verdict
    AUDIT_SUCCESS = "AUDIT_SUCCESS"  # approved, waits for its publish time
    AUDIT_FAIL = "AUDIT_FAIL"  # rejected, with a reason
    PUBLISHED = "PUBLISHED"  # live
    OFFLINE = "OFFLINE"  # was live


class Move(NamedTuple):
    verb: str
    source: Status
    target: Status


MOVES = (
    Move("edit_content", Status.DRAFT, Status.DRAFT),
    Move("edit_content", Status.PENDING_AUDIT, Status.DRAFT),
    Move("edit_content", Status.AUDIT_SUCCESS, Status.DRAFT),
    Move("edit_content", Status.AUDIT_FAIL, Status.DRAFT),
    Move("submit", Status.DRAFT, Status.PENDING_AUDIT),
    Move("withdraw", Status.PENDING_AUDIT, Status.DRAFT),
    Move("withdraw", Status.AUDIT_SUCCESS, Status.DRAFT),
    Move("approve", Status.PENDING_AUDIT, Status.AUDIT_SUCCESS),
    Move("reject", Status.PENDING_AUDIT, Status.AUDIT_FAIL),
    Move("publish", Status.AUDIT_SUCCESS, Status.PUBLISHED),
    Move("publish_now", Status.AUDIT_SUCCESS, Status.PUBLISHED),
    Move("take_offline", Status.PUBLISHED, Status.OFFLINE),
    Move("back_to_draft", Status.AUDIT_FAIL, Status.DRAFT),
    Move("back_to_draft", Status.OFFLINE, Status.DRAFT),
    Move("change_publish_time", Status.DRAFT, Status.DRAFT),
    Move("change_publish_time", Status.PENDING_AUDIT, Status.PENDING_AUDIT),
    Move("change_publish_time", Status.AUDIT_FAIL, Status.AUDIT_FAIL),
    Move("change_publish_time", Status.AUDIT_SUCCESS, Status.AUDIT_SUCCESS),
    Move("change_offline_time", Status.DRAFT, Status.DRAFT),
    Move("change_offline_time", Status.PENDING_AUDIT, Status.PENDING_AUDIT),
    Move("change_offline_time", Status.AUDIT_FAIL, Status.AUDIT_FAIL),
    Move("change_offline_time", Status.AUDIT_SUCCESS, Status.AUDIT_SUCCESS),
    Move("change_offline_time", Status.PUBLISHED, Status.PUBLISHED),
)


def sources_of(verb: str) -> list[Status]:
    """Where the verb may start."""
    return [move.source for move in MOVES if move.verb == verb]


def target_of(verb: str) -> Status | None:
    """Where the verb leads; None: it changes no state."""
    targets = {move.target for move in MOVES if move.verb == verb}
    if len(targets) == 1:
        return targets.pop()
    return None


def allowed_moves(status: Status) -> list[str]:
    """The verbs that may start at this state."""
    return list(dict.fromkeys(move.verb for move in MOVES if move.source == status))
