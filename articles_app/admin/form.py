"""The article's form: what was typed, which of it the editor touched, and what the page showed before.

A page sends back a digest of every value that it showed. So an untouched field is never written, however old the page.
"""

from collections.abc import Mapping
from datetime import datetime
from hashlib import sha256
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django import forms
from django.utils.translation import gettext, gettext_lazy
from unfold.widgets import UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from articles_app.models import TITLE_LENGTH, Article
from articles_app.states import ArticleStatus

from .numbers import read_revision
from .times import UnclearTime, read_local, typed, with_offset, zone_named

BODY_LENGTH = 1_000_000
TEXT = ("title", "body")
TIMES = ("publish_time", "offline_time")
FIELDS = (*TEXT, *TIMES)
# What may still be changed of an article, by its state; None: it is not there yet.
EDITABLE = {
    None: FIELDS,
    ArticleStatus.DRAFT: FIELDS,
    ArticleStatus.PENDING_AUDIT: FIELDS,
    ArticleStatus.AUDIT_SUCCESS: FIELDS,
    ArticleStatus.AUDIT_FAIL: FIELDS,
    ArticleStatus.PUBLISHED: ("offline_time",),
    ArticleStatus.OFFLINE: (),
}


class LocalTimeInput(UnfoldAdminTextInputWidget):
    """The browser's own field for a date and a time: it has a keyboard, a calendar and a screen reader's words."""

    input_type = "datetime-local"

    def __init__(self) -> None:
        # Seconds can be typed; years of five digits can't.
        super().__init__({"step": "1", "max": "9999-12-31T23:59:59"})


class LocalTimes(forms.Form):
    """For forms with local times: they are read in the zone in which the page showed them."""

    zone: ZoneInfo
    unclear: dict[str, list[tuple[str, str]]]  # by field: the instants that may be meant, and how to say them

    def read_time(self, name: str) -> datetime | None:
        text = self.cleaned_data.get(name)
        if not text:
            return None
        try:
            return read_local(text, self.zone)
        except UnclearTime as error:
            meant = {at.isoformat(): at for at in error.instants}
            chosen = meant.get(self.data.get(f"{name}_meant", ""))
            # Also once chosen: a page that asks something else has to send the choice back.
            self.unclear[name] = [(iso, with_offset(at, self.zone)) for iso, at in meant.items()]
            if chosen is None:
                self.add_error(name, str(error))
            return chosen
        except ValueError as error:
            self.add_error(name, str(error))
            return None


class ArticleForm(LocalTimes):
    title = forms.CharField(label=gettext_lazy("Title"), max_length=TITLE_LENGTH, widget=UnfoldAdminTextInputWidget)
    body = forms.CharField(
        max_length=BODY_LENGTH, strip=False, label=gettext_lazy("Text"), widget=UnfoldAdminTextareaWidget({"rows": 12})
    )
    publish_time = forms.CharField(label=gettext_lazy("Publish on"), widget=LocalTimeInput)
    offline_time = forms.CharField(
        label=gettext_lazy("Take offline on"),
        required=False,
        widget=LocalTimeInput,
        help_text=gettext_lazy("Empty: it stays online."),
    )

    def __init__(
        self, data: Mapping[str, Any] | None, shown: Mapping[str, str], fields: tuple[str, ...] | None, zone: ZoneInfo
    ) -> None:
        """`shown` is what the page shows. Without `fields`, a page that was sent back says itself which it had."""
        super().__init__(data, initial=dict(shown))
        self.zone, self.unclear = zone, {}
        if fields is None:
            fields = tuple(name for name in FIELDS if f"base_{name}" in (data or {}))
        if data is not None:
            self.zone = zone_named(data.get("zone")) or zone
        for name in set(FIELDS) - set(fields):
            del self.fields[name]

    @property
    def revision(self) -> int:
        return read_revision(self.data.get("revision", ""))

    @property
    def creation(self) -> UUID | None:
        """The token of a form for a new article; None: it has none that can be read."""
        try:
            return UUID(self.data.get("creation", ""))
        except ValueError:
            return None

    @property
    def touched(self) -> set[str]:
        """What the editor changed, whatever the article is by now."""
        return {name for name in self.fields if digest(self.data.get(name, "")) != self.data.get(f"base_{name}")}

    def clean(self) -> dict[str, Any]:
        for name in TIMES:
            # An untouched time stays what it is, to the microsecond, and is not asked about again.
            if name in self.fields and name in self.touched and name not in self.errors:
                self.cleaned_data[name] = self.read_time(name)
        if self.cleaned_data.get("body") is not None and not self.cleaned_data["body"].strip():
            self.add_error("body", gettext("The text is empty."))
        cleaned: dict[str, Any] = self.cleaned_data
        return cleaned

    def wanted(self, *names: str) -> dict[str, Any]:
        """The touched ones of these fields, as they are to be written."""
        return {name: self.cleaned_data[name] for name in names if name in self.touched}


def shown_values(article: Article, zone: ZoneInfo) -> dict[str, str]:
    return {
        "title": article.title,
        "body": article.body,
        "publish_time": typed(article.publish_time, zone),
        "offline_time": typed(article.offline_time, zone),
    }


def digest(value: str) -> str:
    """Of a value as a form sends it: with other line ends, and spaces around it that nobody sees."""
    return sha256(value.replace("\r\n", "\n").strip().encode(errors="replace")).hexdigest()[:16]
