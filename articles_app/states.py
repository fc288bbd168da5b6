"""The states of an article, and the table of all legal transitions. Only `lifecycle/` writes a state."""

from enum import StrEnum
from typing import NamedTuple


class ArticleStatus(StrEnum):
    DRAFT = "DRAFT"  # being written
    PENDING_AUDIT = "PENDING_AUDIT"  # submitted, waiting for the audit
    AUDIT_SUCCESS = "AUDIT_SUCCESS"  # approved, waiting for the publish time
    AUDIT_FAIL = "AUDIT_FAIL"  # rejected, with a reason
    PUBLISHED = "PUBLISHED"  # live
    OFFLINE = "OFFLINE"  # was live


class Move(NamedTuple):
    verb: str
    source: ArticleStatus
    target: ArticleStatus


MOVES = (
    Move("edit_content", ArticleStatus.DRAFT, ArticleStatus.DRAFT),
    Move("edit_content", ArticleStatus.PENDING_AUDIT, ArticleStatus.DRAFT),
    Move("edit_content", ArticleStatus.AUDIT_SUCCESS, ArticleStatus.DRAFT),
    Move("edit_content", ArticleStatus.AUDIT_FAIL, ArticleStatus.DRAFT),
    Move("submit", ArticleStatus.DRAFT, ArticleStatus.PENDING_AUDIT),
    Move("withdraw", ArticleStatus.PENDING_AUDIT, ArticleStatus.DRAFT),
    Move("withdraw", ArticleStatus.AUDIT_SUCCESS, ArticleStatus.DRAFT),
    Move("approve", ArticleStatus.PENDING_AUDIT, ArticleStatus.AUDIT_SUCCESS),
    Move("reject", ArticleStatus.PENDING_AUDIT, ArticleStatus.AUDIT_FAIL),
    Move("publish", ArticleStatus.AUDIT_SUCCESS, ArticleStatus.PUBLISHED),
    Move("publish_now", ArticleStatus.AUDIT_SUCCESS, ArticleStatus.PUBLISHED),
    Move("take_offline", ArticleStatus.PUBLISHED, ArticleStatus.OFFLINE),
    Move("back_to_draft", ArticleStatus.AUDIT_FAIL, ArticleStatus.DRAFT),
    Move("back_to_draft", ArticleStatus.OFFLINE, ArticleStatus.DRAFT),
    Move("change_publish_time", ArticleStatus.DRAFT, ArticleStatus.DRAFT),
    Move("change_publish_time", ArticleStatus.PENDING_AUDIT, ArticleStatus.PENDING_AUDIT),
    Move("change_publish_time", ArticleStatus.AUDIT_FAIL, ArticleStatus.AUDIT_FAIL),
    Move("change_publish_time", ArticleStatus.AUDIT_SUCCESS, ArticleStatus.AUDIT_SUCCESS),
    Move("change_offline_time", ArticleStatus.DRAFT, ArticleStatus.DRAFT),
    Move("change_offline_time", ArticleStatus.PENDING_AUDIT, ArticleStatus.PENDING_AUDIT),
    Move("change_offline_time", ArticleStatus.AUDIT_FAIL, ArticleStatus.AUDIT_FAIL),
    Move("change_offline_time", ArticleStatus.AUDIT_SUCCESS, ArticleStatus.AUDIT_SUCCESS),
    Move("change_offline_time", ArticleStatus.PUBLISHED, ArticleStatus.PUBLISHED),
)


def sources_of(verb: str) -> list[ArticleStatus]:
    """The states in which the verb is allowed."""
    return [move.source for move in MOVES if move.verb == verb]


def target_of(verb: str) -> ArticleStatus | None:
    """The state that the verb leads to, or None if it doesn't change the state."""
    targets = {move.target for move in MOVES if move.verb == verb}
    if len(targets) == 1:
        return targets.pop()
    return None


def allowed_moves(status: ArticleStatus) -> list[str]:
    """The verbs that are allowed in this state."""
    return list(dict.fromkeys(move.verb for move in MOVES if move.source == status))
