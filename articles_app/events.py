"""Events about articles: one for each move, about the unit that publishes the article.

The lifecycle emits them while it holds the article's lock, so the events of one article are in order.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from django_punctual import emit_many
from django_punctual.events import declare_kind

from .units import PUBLISH, TENANT


class Changed(NamedTuple):
    """One article after a move, and what this kind of event carries besides."""

    article_id: int
    revision: int
    status: str
    more: Mapping[str, object] = {}


_FIELDS = {
    "article": {"type": "integer", "description": "The article's id."},
    "revision": {"type": "integer", "description": "The article's own revision: one more with every change."},
    "status": {"type": "string", "description": "The article's state afterwards."},
    "actor": {"type": "string", "description": "Who did it."},
}
_EXAMPLE = {"article": 42, "revision": 7, "status": "AUDIT_SUCCESS", "actor": "emma"}
_NULLABLE_TIME = {"type": ["string", "null"], "format": "date-time"}
_TIME = {"type": "string", "format": "date-time"}


def _declare(name: str, sentence: str, example: Mapping[str, object], **more: Mapping[str, object]) -> str:
    fields = _FIELDS | more
    schema: dict[str, object] = {"type": "object", "properties": fields, "required": list(fields)}
    return declare_kind(name, sentence, schema, _EXAMPLE | dict(example)).name


KINDS = {
    "create": _declare("article.created", "There is a new draft.", {"revision": 1, "status": "DRAFT"}),
    "edit_content": _declare(
        "article.edited", "The text of an article was changed; it is a draft again.", {"status": "DRAFT"}
    ),
    "submit": _declare("article.submitted", "An article is to be audited.", {"status": "PENDING_AUDIT"}),
    "withdraw": _declare(
        "article.withdrawn", "An article that waited for its audit or its time is a draft again.", {"status": "DRAFT"}
    ),
    "approve": _declare("article.approved", "An article goes live at its publish time.", {}),
    "reject": _declare("article.rejected", "An article did not pass its audit.", {"status": "AUDIT_FAIL"}),
    "publish": _declare("article.published", "An article is live.", {"status": "PUBLISHED"}),
    "take_offline": _declare("article.taken_offline", "An article is no longer live.", {"status": "OFFLINE"}),
    "back_to_draft": _declare(
        "article.reopened", "A rejected or an offline article is a draft again.", {"status": "DRAFT"}
    ),
    "change_publish_time": _declare(
        "article.publish_time_changed",
        "An article is to go live at another time.",
        {"old": "2026-11-16T09:00:00+00:00", "new": "2026-11-16T09:30:00+00:00", "outcome": "UPDATED"},
        old=_TIME | {"description": "The publish time before."},
        new=_TIME | {"description": "The publish time now."},
        outcome={
            "type": "string",
            "enum": ["SAVED", "UPDATED", "REPLACED", "CREATED"],
            "description": "What became of its task: docs/publish-time-rules.md.",
        },
    ),
    "change_offline_time": _declare(
        "article.offline_time_changed",
        "An article is to go offline at another time, or never.",
        {"status": "PUBLISHED", "new": None},
        new=_NULLABLE_TIME | {"description": "When it goes offline; null: never."},
    ),
}
KINDS["publish_now"] = KINDS["publish"]


def emit(verb: str, changed: Sequence[Changed], actor: str) -> None:
    """In the transaction of the move, in one statement however many they are."""
    if changed:
        payloads = [
            {"article": one.article_id, "revision": one.revision, "status": str(one.status), "actor": actor, **one.more}
            for one in changed
        ]
        keys = [one.article_id for one in changed]
        emit_many(KINDS[verb], payloads, tenant=TENANT, task_type=PUBLISH, keys=keys)
