"""The buttons of an article's page: what each says before it is pressed, and what is then done, in one transaction."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID
from zoneinfo import ZoneInfo

from django.contrib.messages import INFO, SUCCESS
from django.db import transaction
from django.utils.translation import gettext, gettext_lazy

from articles_app import lifecycle
from articles_app.errors import InvalidArticle
from articles_app.lifecycle.write import Moved
from articles_app.models import Article, ArticleEvent
from articles_app.states import ArticleStatus

from .form import TEXT, TIMES, ArticleForm
from .times import spoken
from .words import IS_A_DRAFT, Said, said_of_offline, said_of_time


@dataclass(frozen=True)
class Button:
    """`text` may have {time}, the publish time as it stands in the form; form.js keeps it true while one types."""

    verb: str
    text: str
    past: str = ""  # instead, where {time} has passed
    if_text: str = ""  # instead, once title or text were touched
    if_time: str = ""  # instead, once a time was touched, and the text was not
    primary: bool = False
    only_with_text: bool = False  # makes sense only once the text was touched

    def says(self, time: str, passed: bool, touched: set[str]) -> str:
        text = self.past if passed and self.past else self.text
        if self.if_text and touched & set(TEXT):
            text = self.if_text
        elif self.if_time and touched & set(TIMES):
            text = self.if_time
        return text.replace("{time}", time)

    def hidden(self, touched: set[str]) -> bool:
        return self.only_with_text and not touched & set(TEXT)


_SAVE_DRAFT = Button("save", gettext_lazy("Save the draft, without submitting"))
# The first one once the text was touched: nobody has approved it, and the article is to go live all the same.
_AGAIN = Button(
    "submit",
    gettext_lazy("Save the text, submit it again, and publish on {time}"),
    past=gettext_lazy("Save the text, submit it again, and publish as soon as it is approved"),
    primary=True,
    only_with_text=True,
)
_SAVE_SCHEDULED = Button(
    "save",
    gettext_lazy("Save changes"),
    if_text=gettext_lazy("Save the text as a draft: not published until you submit it again"),
    if_time=gettext_lazy("Save the new times: publish on {time}"),
    primary=True,
)
_WITHDRAW = Button("withdraw", gettext_lazy("Withdraw: back to a draft, not published"))
BUTTONS: dict[ArticleStatus | None, list[Button]] = {
    None: [
        Button(
            "submit",
            gettext_lazy("Create, submit, and publish on {time}"),
            past=gettext_lazy("Create, submit, and publish as soon as it is approved"),
            primary=True,
        ),
        Button("save", gettext_lazy("Create as a draft, without submitting")),
    ],
    ArticleStatus.DRAFT: [
        Button(
            "submit",
            gettext_lazy("Submit, and publish on {time}"),
            past=gettext_lazy("Submit, and publish as soon as it is approved"),
            primary=True,
        ),
        _SAVE_DRAFT,
    ],
    ArticleStatus.PENDING_AUDIT: [_AGAIN, _SAVE_SCHEDULED, _WITHDRAW],
    ArticleStatus.AUDIT_SUCCESS: [
        _AGAIN,
        _SAVE_SCHEDULED,
        Button("publish_now", gettext_lazy("Publish now")),
        _WITHDRAW,
    ],
    ArticleStatus.AUDIT_FAIL: [
        Button(
            "submit",
            gettext_lazy("Submit again, and publish on {time}"),
            past=gettext_lazy("Submit again, and publish as soon as it is approved"),
            primary=True,
        ),
        Button(
            "save",
            gettext_lazy("Save changes, without submitting"),
            if_text=gettext_lazy("Save the text as a draft, without submitting"),
        ),
    ],
    ArticleStatus.PUBLISHED: [
        Button("save", gettext_lazy("Save the offline time"), primary=True),
        Button("take_offline", gettext_lazy("Take offline now")),
    ],
    ArticleStatus.OFFLINE: [
        Button("back_to_draft", gettext_lazy("Back to a draft, to edit and publish it again"), primary=True)
    ],
}
HARMLESS_TO_TIMES = {"approve", "publish"}
VERBS = {button.verb for buttons in BUTTONS.values() for button in buttons}


def create(
    verb: str, form: ArticleForm, actor: str, token: UUID, zone: ZoneInfo, now: datetime
) -> tuple[int, list[Said]]:
    """A new article, and submitted if the button said so; AlreadyCreated if its form was sent before."""
    with transaction.atomic():
        article = lifecycle.create(
            title=form.cleaned_data["title"],
            body=form.cleaned_data["body"],
            author=actor,
            publish_time=form.cleaned_data["publish_time"],
            offline_time=form.cleaned_data["offline_time"] or None,
            token=token,
        )
        if verb != "submit":
            return article.id, [Said(SUCCESS, gettext("Created.") + f" {IS_A_DRAFT}")]
        lifecycle.submit(article.id, actor=actor, revision=1)
    return article.id, [_submitted(article.publish_time, zone, now)]


def perform(verb: str, article: Article, form: ArticleForm, actor: str, zone: ZoneInfo, now: datetime) -> list[Said]:
    """Write what was touched, then do what the button says; all of it, or, if anything is refused, nothing."""
    only_times = verb == "save" and form.touched <= set(TIMES)
    revision = base_revision(article, form.revision, HARMLESS_TO_TIMES if only_times else {"approve"})
    act = _Act(article.id, ArticleStatus(article.status), revision, actor, zone, now)
    with transaction.atomic():
        if verb == "publish_now" and form.touched & set(TEXT):
            raise InvalidArticle(
                gettext("Nobody has approved the text as it is now. Submit it again, or leave the text alone.")
            )
        if verb in ("take_offline", "back_to_draft"):
            act.move(verb)
        else:
            act.write_text(form)
            act.write_times(form, skip_publish=verb == "publish_now")
            act.do(verb)
    return act.said or [Said(INFO, gettext("Nothing was changed."))]


def base_revision(article: Article, read: int, harmless: set[str]) -> int:
    """What the editor has read; or the article's, if nothing but what is harmless has been done to it since.

    An approval changes nothing that the page shows, nor does going live for somebody who only moves a time: that is
    carried out, or answered, not refused.
    """
    since = ArticleEvent.objects.filter(article_id=article.id, revision__gt=read).values_list("verb", flat=True)
    return article.revision if read > 0 and set(since) <= harmless else read


class _Act:
    """One press of a button: each write starts from the revision that the one before has left."""

    def __init__(
        self, article_id: int, status: ArticleStatus, revision: int, actor: str, zone: ZoneInfo, now: datetime
    ) -> None:
        self.id, self.status, self.revision, self.actor = article_id, status, revision, actor
        self.zone, self.now = zone, now
        self.said: list[Said] = []
        self.withdrew = False  # by saving another text

    def write_text(self, form: ArticleForm) -> None:
        wanted = form.wanted(*TEXT)
        if wanted:
            before = self.status
            self._moved(lifecycle.edit_content(self.id, **wanted, actor=self.actor, revision=self.revision))
            self.withdrew = before in (ArticleStatus.PENDING_AUDIT, ArticleStatus.AUDIT_SUCCESS)
            saved = (
                gettext("The text was saved, and the article withdrawn: nobody has approved this text.")
                if self.withdrew
                else gettext("The text was saved.")
            )
            self.said.append(Said(SUCCESS, f"{saved} {IS_A_DRAFT}"))

    def write_times(self, form: ArticleForm, skip_publish: bool) -> None:
        """Both may move, and one has to stay before the other at every step."""
        wanted = form.wanted(*TIMES)
        if skip_publish:
            wanted.pop("publish_time", None)
        offline = wanted.get("offline_time")
        offline_first = offline is None or offline > Article.objects.get(id=self.id).publish_time
        for name in reversed(TIMES) if offline_first else TIMES:
            if name in wanted and name == "publish_time":
                self._change_publish_time(wanted[name])
            elif name in wanted:
                self._moved(
                    lifecycle.change_offline_time(self.id, wanted[name], actor=self.actor, revision=self.revision).moved
                )
                self.said.append(said_of_offline(wanted[name], self.status, self.zone, self.now))

    def _change_publish_time(self, at: datetime) -> None:
        change = lifecycle.change_publish_time(self.id, at, actor=self.actor, revision=self.revision)
        self.revision, self.status = change.revision, change.status
        self.said.append(said_of_time(change, Article.objects.get(id=self.id), self.zone, self.now))

    def do(self, verb: str) -> None:
        if verb == "submit":
            if self.status == ArticleStatus.AUDIT_FAIL:
                self._moved(lifecycle.back_to_draft(self.id, actor=self.actor, revision=self.revision))
            self._moved(lifecycle.submit(self.id, actor=self.actor, revision=self.revision))
            self.said = [_submitted(Article.objects.get(id=self.id).publish_time, self.zone, self.now)]
        elif verb != "save" and not (verb == "withdraw" and self.withdrew):
            self.move(verb)

    def move(self, verb: str) -> None:
        self._moved(getattr(lifecycle, verb)(self.id, actor=self.actor, revision=self.revision))
        self.said.append(Said(SUCCESS, _DONE[verb]))

    def _moved(self, moved: Moved) -> None:
        self.revision, self.status = moved.revision, moved.target


_DONE = {
    "withdraw": gettext_lazy("Withdrawn: it is a draft again and will not be published."),
    "publish_now": gettext_lazy("Published: it is live now."),
    "take_offline": gettext_lazy("Taken offline: readers can't see it any more."),
    "back_to_draft": gettext_lazy("It is a draft again: edit it, and submit it to publish it again."),
}


def _submitted(publish_time: datetime, zone: ZoneInfo, now: datetime) -> Said:
    if publish_time <= now:
        return Said(
            SUCCESS, gettext("Submitted. Its publish time has passed, so it goes live as soon as it is approved.")
        )
    return Said(
        SUCCESS,
        gettext("Submitted. If it is approved, it goes live on {time}.").format(time=spoken(publish_time, zone, now)),
    )
