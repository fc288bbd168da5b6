"""What an editor is asked before a button does it: whether to withdraw, and whether a time that has passed is meant."""

from datetime import datetime, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

from django.utils.translation import gettext

from articles_app.lifecycle import digest_of
from articles_app.models import Article, ArticleCreation
from articles_app.states import ArticleStatus

from .form import TEXT, ArticleForm
from .times import spoken

LATELY = timedelta(days=1)
ON_ITS_WAY = (ArticleStatus.PENDING_AUDIT, ArticleStatus.AUDIT_SUCCESS)


class Question(NamedTuple):
    key: str  # a yes counts for this and nothing else: another time is another question
    words: str
    yes: str


def questions(verb: str, article: Article | None, form: ArticleForm, zone: ZoneInfo, now: datetime) -> list[Question]:
    press = _Press(verb, article, form, zone, now)
    return [one for one in (press.withdrawal(), press.publication(), press.way_offline()) if one is not None]


def made_before(form: ArticleForm, author: str, now: datetime) -> Question | None:
    """The same person has lately made the same article by another form: somebody went back, and the page was new."""
    given = form.cleaned_data
    sent = digest_of(given["title"], given["body"], given["publish_time"], given["offline_time"] or None)
    same = ArticleCreation.objects.filter(sent=sent, article__author=author, article__created_at__gt=now - LATELY)
    first = same.exclude(token=form.creation).order_by("-article_id").values_list("article_id", flat=True).first()
    if first is None or ArticleCreation.objects.filter(token=form.creation).exists():
        return None  # a form that was sent itself is no question
    words = gettext(
        "You have already created article {first} with the same text and times. Create a second one?"
    ).format(first=first)
    return Question(f"twice {first}", words, gettext("Yes, create a second one"))


def publish_at_once(at: datetime, zone: ZoneInfo, now: datetime, *, approved: bool) -> Question:
    """About a publish time that has passed."""
    if approved:
        words = gettext("{time} has passed. Publish it immediately?")
        yes = gettext("Yes, publish it immediately")
    else:
        words = gettext("{time} has passed. Publish it immediately, as soon as it is approved?")
        yes = gettext("Yes, publish it immediately, as soon as it is approved")
    return Question(f"publish {at.isoformat()}", words.format(time=spoken(at, zone, now)), yes)


class _Press:
    """A button, and the article as it would be left."""

    def __init__(self, verb: str, article: Article | None, form: ArticleForm, zone: ZoneInfo, now: datetime) -> None:
        self.verb, self.article, self.touched, self.zone, self.now = verb, article, form.touched, zone, now
        self.status = None if article is None else ArticleStatus(article.status)
        self.publish_time, self.offline_time = (
            form.cleaned_data.get(name) or None if name in self.touched else getattr(article, name, None)
            for name in ("publish_time", "offline_time")
        )
        self.new_text = bool(self.touched & set(TEXT))

    def withdrawal(self) -> Question | None:
        saves = self.verb == "save" and self.new_text
        if self.article is None or self.status not in ON_ITS_WAY or not (saves or self.verb == "withdraw"):
            return None
        begins = (
            gettext("Save the text and withdraw the article? Nobody has approved the new text.")
            if saves
            else gettext("Withdraw it?")
        )
        waits = (
            gettext("It is scheduled to go live on {time}. As a draft it won't be published until you submit it again.")
            if self.status == ArticleStatus.AUDIT_SUCCESS
            else gettext(
                "It is in audit, to go live on {time}. As a draft it won't be published until you submit it again."
            )
        ).format(time=self._spoken(self.article.publish_time))
        yes = gettext("Yes, save the text and withdraw it") if saves else gettext("Yes, withdraw it")
        return Question("withdraw", f"{begins} {waits}", yes)

    def publication(self) -> Question | None:
        moves = self._moves_task() and "publish_time" in self.touched
        at = self._passed(self.publish_time)
        if at is None or not (moves or self.verb == "submit"):
            return None
        approved = moves and self.status == ArticleStatus.AUDIT_SUCCESS
        return publish_at_once(at, self.zone, self.now, approved=approved)

    def way_offline(self) -> Question | None:
        live = self.status == ArticleStatus.PUBLISHED and self.verb == "save"
        moves = (live or self._moves_task()) and "offline_time" in self.touched
        at = self._passed(self.offline_time)
        if at is None or not (moves or self.verb == "submit"):
            return None
        if live:
            words = gettext("{time} has passed. Take it offline immediately?")
            yes = gettext("Yes, take it offline immediately")
        else:
            words = gettext("{time} has passed. Take it offline as soon as it is live?")
            yes = gettext("Yes, take it offline as soon as it is live")
        return Question(f"offline {at.isoformat()}", words.format(time=self._spoken(at)), yes)

    def _moves_task(self) -> bool:
        """Saves times alone: with another text it is withdrawn, and waits for nothing."""
        return self.verb == "save" and self.status in ON_ITS_WAY and not self.new_text

    def _passed(self, at: datetime | None) -> datetime | None:
        """The time, if it has passed."""
        return at if at is not None and at <= self.now else None

    def _spoken(self, at: datetime) -> str:
        return spoken(at, self.zone, self.now)
