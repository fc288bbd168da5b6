"""What happened, in sentences: outcomes of a change of time, and the events of an article."""

from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple
from zoneinfo import ZoneInfo

from django.contrib.messages import SUCCESS, WARNING

from articles_app.lifecycle import TimeChange, TimeOutcome
from articles_app.models import Article, ArticleEvent
from articles_app.states import ArticleStatus

from .times import spoken

IS_A_DRAFT = "It is a draft: it goes live only after you submit it."


class Said(NamedTuple):
    level: int
    sentence: str


def said_of_time(change: TimeChange, article: Article, zone: ZoneInfo, now: datetime) -> Said:
    """The one sentence after a new publish time was saved."""
    new, old = spoken(change.new, zone, now), spoken(change.old, zone, now)
    if change.outcome is TimeOutcome.IGNORED:
        when = spoken(article.published_at or change.old, zone, now)
        return Said(WARNING, f"Already published at {when}; nothing was changed.")
    if change.outcome is TimeOutcome.SAVED:
        return Said(SUCCESS, f"The publish time is now {new} instead of {old}. {_WHAT_NOW[change.status]}")
    at_once = " That has passed, so it goes live at once." if change.new <= now else ""
    if change.outcome is TimeOutcome.REPLACED:
        words = "It was already running, so the running attempt was superseded and a new one is scheduled for"
        return Said(WARNING, f"{words} {new}.{at_once}")
    if change.outcome is TimeOutcome.CREATED:
        return Said(SUCCESS, f"Nothing was scheduled to move; a new attempt is scheduled for {new}.{at_once}")
    return Said(SUCCESS, f"Moved: it goes live on {new} instead of {old}.{at_once}")


_WHAT_NOW = {
    ArticleStatus.DRAFT: IS_A_DRAFT,
    ArticleStatus.PENDING_AUDIT: "It goes live then if the audit approves it.",
    ArticleStatus.AUDIT_FAIL: "It was rejected: it goes live only after you submit it again.",
}


def said_of_offline(new: datetime | None, status: ArticleStatus, zone: ZoneInfo, now: datetime) -> Said:
    if new is None:
        return Said(SUCCESS, "It stays online: the offline time was removed.")
    at_once = (
        " That has passed, so it is taken offline at once." if new <= now and status == ArticleStatus.PUBLISHED else ""
    )
    return Said(SUCCESS, f"It goes offline on {spoken(new, zone, now)}.{at_once}")


def event_words(event: ArticleEvent, zone: ZoneInfo, now: datetime) -> str:
    """An event, for its article's timeline and for somebody who was overtaken."""
    words = _EVENTS.get(event.verb)
    return words(event, _Times(event.detail, zone, now)) if words else f"{event.verb} by {event.actor}"


class _Times:
    """The instants in an event's detail, in words."""

    def __init__(self, detail: dict, zone: ZoneInfo, now: datetime) -> None:
        self._detail, self._zone, self._now = detail, zone, now

    def __call__(self, name: str) -> str:
        try:
            return spoken(datetime.fromisoformat(self._detail[name]), self._zone, self._now)
        except (KeyError, TypeError, ValueError):
            return ""


_EVENTS: dict[str, Callable[[ArticleEvent, _Times], str]] = {
    "create": lambda e, t: f"Created by {e.actor}",
    "edit_content": lambda e, t: (
        f"Text edited by {e.actor}"
        + ("; that withdrew it" if e.source in (ArticleStatus.PENDING_AUDIT, ArticleStatus.AUDIT_SUCCESS) else "")
    ),
    "submit": lambda e, t: f"Submitted by {e.actor}",
    "withdraw": lambda e, t: f"Withdrawn by {e.actor}",
    "approve": lambda e, t: f"Approved by {e.actor}",
    "reject": lambda e, t: f"Rejected by {e.actor}: {e.detail.get('reason', '')}",
    "publish": lambda e, t: "Went live",
    "publish_now": lambda e, t: f"Published at once by {e.actor}",
    "take_offline": lambda e, t: f"Taken offline by {e.actor}",
    "back_to_draft": lambda e, t: f"Made a draft again by {e.actor}",
    "change_publish_time": lambda e, t: f"Publish time moved by {e.actor} from {t('old')} to {t('new')}",
    "change_offline_time": lambda e, t: (
        f"Offline time set by {e.actor} to {t('new')}" if t("new") else f"Offline time removed by {e.actor}"
    ),
}
