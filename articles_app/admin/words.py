"""What happened, in sentences: outcomes of a change of time, and the events of an article."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from django.contrib.messages import SUCCESS, WARNING
from django.utils.translation import gettext, gettext_lazy

from articles_app.lifecycle import TimeChange, TimeOutcome
from articles_app.models import Article, ArticleEvent
from articles_app.states import ArticleStatus

from .times import spoken

IS_A_DRAFT = gettext_lazy("It is a draft: it goes live only after you submit it.")


class Said(NamedTuple):
    level: int
    sentence: str


def said_of_time(change: TimeChange, article: Article, zone: ZoneInfo, now: datetime) -> Said:
    """The one sentence after a new publish time was saved."""
    new, old = spoken(change.new, zone, now), spoken(change.old, zone, now)
    if change.outcome is TimeOutcome.IGNORED:
        when = spoken(article.published_at or change.old, zone, now)
        return Said(WARNING, gettext("Already published at {when}; nothing was changed.").format(when=when))
    if change.outcome is TimeOutcome.SAVED:
        said = gettext("The publish time is now {new} instead of {old}.").format(new=new, old=old)
        return Said(SUCCESS, f"{said} {_WHAT_NOW[change.status]}")
    at_once = " " + gettext("That has passed, so it goes live at once.") if change.new <= now else ""
    if change.outcome is TimeOutcome.REPLACED:
        said = gettext(
            "It was already running, so the running attempt was superseded and a new one is scheduled for {new}."
        )
        return Said(WARNING, said.format(new=new) + at_once)
    if change.outcome is TimeOutcome.CREATED:
        said = gettext("Nothing was scheduled to move; a new attempt is scheduled for {new}.")
        return Said(SUCCESS, said.format(new=new) + at_once)
    return Said(SUCCESS, gettext("Moved: it goes live on {new} instead of {old}.").format(new=new, old=old) + at_once)


_WHAT_NOW = {
    ArticleStatus.DRAFT: IS_A_DRAFT,
    ArticleStatus.PENDING_AUDIT: gettext_lazy("It goes live then if the audit approves it."),
    ArticleStatus.AUDIT_FAIL: gettext_lazy("It was rejected: it goes live only after you submit it again."),
}


def said_of_offline(new: datetime | None, status: ArticleStatus, zone: ZoneInfo, now: datetime) -> Said:
    if new is None:
        return Said(SUCCESS, gettext("It stays online: the offline time was removed."))
    said = gettext("It goes offline on {time}.").format(time=spoken(new, zone, now))
    if new <= now and status == ArticleStatus.PUBLISHED:
        said += " " + gettext("That has passed, so it is taken offline at once.")
    return Said(SUCCESS, said)


def event_words(event: ArticleEvent, zone: ZoneInfo, now: datetime) -> str:
    """An event, for its article's timeline and for somebody who was overtaken."""
    words = _EVENTS.get(event.verb)
    return (
        words(event, _Times(event.detail, zone, now))
        if words
        else gettext("{verb} by {actor}").format(verb=event.verb, actor=event.actor)
    )


class _Times:
    """The instants in an event's detail, in words."""

    def __init__(self, detail: Mapping[str, Any], zone: ZoneInfo, now: datetime) -> None:
        self._detail, self._zone, self._now = detail, zone, now

    def __call__(self, name: str) -> str:
        try:
            return spoken(datetime.fromisoformat(self._detail[name]), self._zone, self._now)
        except (KeyError, TypeError, ValueError):
            return ""


_EVENTS: dict[str, Callable[[ArticleEvent, _Times], str]] = {
    "create": lambda e, t: gettext("Created by {actor}").format(actor=e.actor),
    "edit_content": lambda e, t: (
        gettext("Text edited by {actor}; that withdrew it")
        if e.source in (ArticleStatus.PENDING_AUDIT, ArticleStatus.AUDIT_SUCCESS)
        else gettext("Text edited by {actor}")
    ).format(actor=e.actor),
    "submit": lambda e, t: gettext("Submitted by {actor}").format(actor=e.actor),
    "withdraw": lambda e, t: gettext("Withdrawn by {actor}").format(actor=e.actor),
    "approve": lambda e, t: (
        gettext("Approved by {actor}: {reason}") if e.detail.get("reason") else gettext("Approved by {actor}")
    ).format(actor=e.actor, reason=e.detail.get("reason", "")),
    "reject": lambda e, t: gettext("Rejected by {actor}: {reason}").format(
        actor=e.actor, reason=e.detail.get("reason", "")
    ),
    "publish": lambda e, t: gettext("Went live"),
    "publish_now": lambda e, t: gettext("Published at once by {actor}").format(actor=e.actor),
    "take_offline": lambda e, t: gettext("Taken offline by {actor}").format(actor=e.actor),
    "back_to_draft": lambda e, t: gettext("Made a draft again by {actor}").format(actor=e.actor),
    "change_publish_time": lambda e, t: gettext("Publish time moved by {actor} from {old} to {new}").format(
        actor=e.actor, old=t("old"), new=t("new")
    ),
    "change_offline_time": lambda e, t: (
        gettext("Offline time set by {actor} to {new}").format(actor=e.actor, new=t("new"))
        if t("new")
        else gettext("Offline time removed by {actor}").format(actor=e.actor)
    ),
}
