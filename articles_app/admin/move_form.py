"""What a bulk move would do: the form that says by how much or to when, and what becomes of each article."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django import forms
from django.utils.translation import gettext, gettext_lazy
from unfold.widgets import UnfoldAdminIntegerFieldWidget, UnfoldAdminSelectWidget

from articles_app.models import Article
from articles_app.states import ArticleStatus

from .form import LocalTimeInput, LocalTimes, digest
from .times import zone_named

BY, TO = "by", "to"
TOO_LATE = (ArticleStatus.PUBLISHED, ArticleStatus.OFFLINE)


class MoveForm(LocalTimes):
    mode = forms.ChoiceField(
        choices=[(BY, gettext_lazy("By an amount")), (TO, gettext_lazy("To a time"))],
        initial=BY,
        widget=forms.RadioSelect,
    )
    direction = forms.ChoiceField(
        choices=[("later", gettext_lazy("later")), ("earlier", gettext_lazy("earlier"))],
        label=gettext_lazy("Direction"),
        required=False,
        widget=UnfoldAdminSelectWidget,
    )
    days = forms.IntegerField(
        label=gettext_lazy("Days"), min_value=0, max_value=3_650, required=False, widget=UnfoldAdminIntegerFieldWidget
    )
    hours = forms.IntegerField(
        label=gettext_lazy("Hours"), min_value=0, max_value=1_000, required=False, widget=UnfoldAdminIntegerFieldWidget
    )
    minutes = forms.IntegerField(
        label=gettext_lazy("Minutes"),
        min_value=0,
        max_value=10_000,
        required=False,
        widget=UnfoldAdminIntegerFieldWidget,
    )
    at = forms.CharField(required=False, label=gettext_lazy("New publish time for all of them"), widget=LocalTimeInput)

    def __init__(self, data: Mapping[str, Any] | None, zone: ZoneInfo) -> None:
        super().__init__(data)
        self.zone, self.unclear = (zone_named(data.get("zone")) if data else None) or zone, {}

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = self.cleaned_data
        if given.get("mode") == TO and "at" not in self.errors:
            given["at"] = self.read_time("at")
            if given["at"] is None and "at" not in self.errors:
                self.add_error("at", gettext("Enter the new publish time."))
        nothing = not self.errors and not any(given.get(name) for name in ("days", "hours", "minutes"))
        if given.get("mode") == BY and nothing:
            self.add_error("days", gettext("Enter by how much: days, hours or minutes."))
        return given

    def fingerprint(self) -> str:
        """Of what was typed: a preview counts only for the form that it was made from."""
        return digest("|".join(self.data.get(name, "") for name in (*self.fields, "at_meant", "zone")))

    def new_time(self, old: datetime) -> datetime:
        """Days are days of the calendar: nine o'clock stays nine o'clock. Hours and minutes are as long as they are."""
        given = self.cleaned_data
        if given["mode"] == TO:
            at: datetime = given["at"]
            return at
        sign = -1 if given["direction"] == "earlier" else 1
        local = old.astimezone(self.zone) + sign * timedelta(days=given["days"] or 0)
        span = timedelta(hours=given["hours"] or 0, minutes=given["minutes"] or 0)
        return local.astimezone(UTC) + sign * span


@dataclass
class Proposal:
    """What would become of the selection; nothing is written."""

    moves: list[tuple[Article, datetime]] = field(default_factory=list)
    too_late: list[Article] = field(default_factory=list)
    in_the_way: list[Article] = field(default_factory=list)  # they would go live after they went offline
    impossible: str = ""


def propose(form: MoveForm, articles: Iterable[Article]) -> Proposal:
    proposal = Proposal()
    for article in articles:
        if article.status in TOO_LATE:
            proposal.too_late.append(article)
            continue
        try:
            at = form.new_time(article.publish_time)
        except OverflowError:
            proposal.impossible = gettext(
                "Nothing was changed: article {id} would end up outside the calendar."
            ).format(id=article.id)
            continue
        if article.offline_time is not None and article.offline_time <= at:
            proposal.in_the_way.append(article)
        else:
            proposal.moves.append((article, at))
    return proposal
