"""submit, approve and reject: an article and its audit."""

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from articles_app.conf import conf
from articles_app.units import AUDIT, PUBLISH
from django_punctual import cancel, ensure

from .write import Moved, checked, move

REASON_LENGTH = 2_000
SAME_TEXT = "(%(content_revision)s::int IS NULL OR locked.content_revision = %(content_revision)s::int)"


def submit(article_id: int, *, actor: str, revision: int | None = None) -> Moved:
    """To be audited, at once or AUDIT_LEAD_SECONDS before its publish time."""
    with transaction.atomic():
        moved = move("submit", article_id, actor=actor, revision=revision, sets="audit_reason = ''")
        # ensure, not schedule: an audit of the old text may be settling right now, and this one must still run.
        ensure(AUDIT, article_id, by=actor, **audit_options(moved.publish_time))
    return moved


def approve(article_id: int, *, actor: str, revision: int | None = None, reason: str = "") -> Moved:
    """Approved by a person; the audit that was scheduled is called off."""
    with transaction.atomic():
        moved = write_approval(article_id, actor=actor, revision=revision, reason=reason)
        cancel(AUDIT, article_id, reason=f"approved by {actor}", by=actor)
    return moved


def reject(article_id: int, *, reason: str, actor: str, revision: int | None = None) -> Moved:
    """Rejected by a person; the audit that was scheduled is called off."""
    with transaction.atomic():
        moved = write_rejection(article_id, reason=reason, actor=actor, revision=revision)
        cancel(AUDIT, article_id, reason=f"rejected by {actor}", by=actor)
    return moved


def write_approval(
    article_id: int,
    *,
    actor: str,
    revision: int | None = None,
    content_revision: int | None = None,
    reason: str = "",
) -> Moved:
    """Approved, and scheduled to go live at its publish time, in one transaction.

    With `content_revision`, only if that is still the text that was judged.
    """
    with transaction.atomic():
        moved = move(
            "approve",
            article_id,
            actor=actor,
            revision=revision,
            guard=SAME_TEXT,
            detail="jsonb_build_object('content_revision', moved.content_revision)"
            " || CASE WHEN %(reason)s::text = '' THEN '{}' ELSE jsonb_build_object('reason', %(reason)s::text) END",
            params={
                "content_revision": content_revision,
                "reason": reason and checked("reason", reason, REASON_LENGTH),
            },
        )
        ensure(PUBLISH, article_id, at=moved.publish_time, by=actor)
    return moved


def write_rejection(
    article_id: int, *, reason: str, actor: str, revision: int | None = None, content_revision: int | None = None
) -> Moved:
    """Rejected, with the reason that its author will read."""
    return move(
        "reject",
        article_id,
        actor=actor,
        revision=revision,
        sets="audit_reason = %(reason)s",
        guard=SAME_TEXT,
        detail="jsonb_build_object('content_revision', moved.content_revision, 'reason', %(reason)s::text)",
        params={"content_revision": content_revision, "reason": checked("reason", reason, REASON_LENGTH)},
    )


def audit_options(publish_time: datetime) -> dict[str, Any]:
    """When the audit runs, as options of schedule()."""
    lead = conf().AUDIT_LEAD_SECONDS
    return {"delay": 0} if lead is None else {"at": publish_time - timedelta(seconds=lead)}
