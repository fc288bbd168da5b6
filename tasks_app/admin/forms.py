"""What people type into the operator's pages, checked: the filter of the list, and an order with its reason."""

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode
from uuid import UUID, uuid4

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext, gettext_lazy

from tasks_app.conf import conf
from tasks_app.console.scope import member, working_in
from tasks_app.core.campaigns import CAP, CONFIRM_ABOVE, MOST, MOST_RUNNING, RATES
from tasks_app.core.errors import InvalidTask, PunctualError
from tasks_app.core.handlers import REGISTRY
from tasks_app.core.lanes import LANES
from tasks_app.core.moves import read_span
from tasks_app.core.states import Status
from tasks_app.core.tenants import TENANT_LENGTH
from tasks_app.engine.operations.campaigns import Pace
from tasks_app.engine.watch.audit_browse import AuditFilter
from tasks_app.engine.watch.browse import DUE, Bookmark, Filter
from tasks_app.engine.watch.listing import refuse_cold
from tasks_app.lifecycle.audit import ACTOR_LENGTH, REASON_LENGTH
from tasks_app.lifecycle.campaigns.begin import LANE, OWN_LANE
from tasks_app.lifecycle.operate import Verb, checked_move
from tasks_app.lifecycle.request import checked_instant
from tasks_app.models.schedule_task import KEY_LENGTH

from .words import VERBS

MOST_SELECTED = 1_000
IDS_LENGTH = 30_000  # characters: of more than a thousand ids, so that who sends more reads how many they are
FILTER_LENGTH = 8_000  # of the query of an address, which servers take no longer
STATE_WORDS = {
    DUE: gettext_lazy("Due now"),
    Status.INIT: gettext_lazy("Scheduled"),
    Status.RUNNING: gettext_lazy("Claimed or running"),
    Status.AWAY: gettext_lazy("Away, with somebody else"),
    Status.FAIL: gettext_lazy("Failed, to be tried again"),
    Status.DEAD: gettext_lazy("Dead"),
    Status.SUCCESS: gettext_lazy("Succeeded"),
    Status.CANCELLED: gettext_lazy("Cancelled"),
    Status.BLOCKED: gettext_lazy("Blocked"),
}


WHEN = [
    ("due", gettext_lazy("Due")),
    ("ran", gettext_lazy("Last ran")),
    ("changed", gettext_lazy("Last changed, or ended")),
]


class UtcField(forms.Field):
    """An instant in UTC, whatever time zone the user prefers elsewhere: the page says so beside it."""

    widget = forms.DateTimeInput(attrs={"type": "datetime-local", "step": 1})

    def to_python(self, value: object) -> datetime | None:
        if value in self.empty_values:
            return None
        try:
            typed = datetime.fromisoformat(str(value).strip())
            instant = typed.replace(tzinfo=UTC) if typed.tzinfo is None else typed.astimezone(UTC)
            return checked_instant("time", instant)
        except InvalidTask as error:  # which is a ValueError too
            raise forms.ValidationError(str(error)) from None
        except (ValueError, OverflowError):
            raise forms.ValidationError(
                gettext("{value!r} is not a time; enter it like 2027-03-01T09:00, in UTC.").format(
                    value=str(value)[:40]
                )
            ) from None


class TenantField(forms.CharField):
    """A tenant; of somebody who works in one it is that, and no other can be sent."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"max_length": TENANT_LENGTH, "label": gettext_lazy("Tenant")} | kwargs)

    def get_bound_field(self, form: forms.Form, field_name: str) -> forms.BoundField:
        if (own := working_in()) is not None:
            self.initial, self.widget.attrs["readonly"], self.label = own, True, gettext("Tenant")
        return super().get_bound_field(form, field_name)

    def bound_data(self, data: object, initial: object) -> object:
        return working_in() or super().bound_data(data, initial)

    def clean(self, value: object) -> str:
        own = working_in()
        if own is None:
            typed: str = super().clean(value)
            return typed
        if value not in (None, "", own):
            raise forms.ValidationError(gettext("You work in tenant {tenant}, and in no other.").format(tenant=own))
        return own


class LaneField(forms.ChoiceField):
    """A lane; of somebody who works in one tenant one that is open to them."""

    def clean(self, value: object) -> str:
        lane: str = super().clean(value)
        asked = member()
        if asked is not None and lane and lane != OWN_LANE:
            try:
                asked.refuse_closed_lane(lane)
            except PunctualError as error:
                raise forms.ValidationError(str(error)) from None
        return lane


def reason_field() -> forms.CharField:
    return forms.CharField(
        label=gettext_lazy("Reason"),
        max_length=REASON_LENGTH,
        widget=forms.Textarea(attrs={"rows": 2}),
        error_messages={"required": gettext_lazy("Say briefly why, for whoever reads it later.")},
    )


def cap_field() -> forms.IntegerField:
    return forms.IntegerField(
        label=gettext_lazy("At most so many tasks"), initial=CAP, min_value=1, max_value=MOST, required=False
    )


def rate_field() -> forms.FloatField:
    lowest, highest = RATES
    return forms.FloatField(
        label=gettext_lazy("Tasks a second (empty: no limit)"), min_value=lowest, max_value=highest, required=False
    )


def most_running_field() -> forms.IntegerField:
    return forms.IntegerField(
        label=gettext_lazy("At most so many under way at once (empty: no limit)"),
        min_value=1,
        max_value=MOST_RUNNING,
        required=False,
    )


def lane_field() -> LaneField:
    """Where tasks wait that are to run again."""
    own = (OWN_LANE, gettext_lazy("each in its own lane"))
    return LaneField(
        label=gettext_lazy("Run them in lane"),
        choices=[*((lane, lane) for lane in LANES), own],
        initial=LANE,
        required=False,
    )


def pace_of(given: dict[str, Any]) -> Pace:
    """Of a form with some of the fields above."""
    return Pace(given.get("cap") or CAP, given.get("rate"), given.get("lane") or LANE, given.get("most_running"))


class FilterForm(forms.Form):
    key = forms.CharField(label=gettext_lazy("Key"), required=False, max_length=KEY_LENGTH + 1, strip=False)
    state = forms.ChoiceField(
        label=gettext_lazy("State"), required=False, choices=[("", gettext_lazy("Any")), *STATE_WORDS.items()]
    )
    type = forms.CharField(label=gettext_lazy("Type"), required=False, max_length=100)
    lane = forms.ChoiceField(
        label=gettext_lazy("Lane"),
        required=False,
        choices=[("", gettext_lazy("Any")), *((lane, lane) for lane in LANES)],
    )
    tenant = TenantField(required=False)
    job = forms.IntegerField(label=gettext_lazy("Job"), required=False, min_value=1, max_value=2**63 - 1)
    when = forms.ChoiceField(label=gettext_lazy("Time"), required=False, choices=WHEN)
    since = UtcField(label=gettext_lazy("From (UTC)"), required=False)
    until = UtcField(label=gettext_lazy("Until (UTC)"), required=False)
    cold = forms.BooleanField(label=gettext_lazy("The archive too: slower"), required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["key"].widget.attrs |= {"placeholder": "article-42 or article-*", "autocomplete": "off"}
        self.fields["type"].widget.attrs |= {"list": "task-types", "autocomplete": "off"}
        if conf().ARCHIVE_URL:
            self.fields["cold"].label = gettext("Older than {days:g} days too: slower").format(
                days=conf().KEEP_HOT_DAYS
            )
        else:
            del self.fields["cold"]

    def clean(self) -> dict[str, Any]:
        cleaned = _in_order(self, super().clean())
        if cleaned.get("cold") and not self.errors:
            try:
                refuse_cold(self.filter)
            except InvalidTask as error:
                self.add_error("cold", str(error))
        return cleaned

    @property
    def filter(self) -> Filter:
        given = self.cleaned_data
        when, typed = given["when"] or "due", given["key"] or ""
        key, begin = ("", typed[:-1]) if typed.endswith("*") else (typed, None)
        return Filter(
            tenant=given["tenant"] or None,
            state=given["state"] or None,
            task_type=given["type"] or None,
            lane=given["lane"] or None,
            key=key or None,
            key_prefix=begin,
            job=given["job"],
            **{f"{when}_from": given["since"], f"{when}_to": given["until"]},
        )

    @property
    def query(self) -> str:
        """The filter as the query of a URL, without what is empty."""
        return urlencode({name: self.data[name] for name in self.fields if self.data.get(name)})

    @property
    def words(self) -> list[tuple[str, str]]:
        """The filter as people read it."""
        timed = {"when"} if not (self.data.get("since") or self.data.get("until")) else set()
        return [
            (field.label, dict(getattr(field, "choices", ())).get(self.data[name], self.data[name]))
            for name, field in self.fields.items()
            if self.data.get(name) and name not in timed
        ]

    @property
    def types(self) -> list[str]:
        return sorted(handler.name for handler in REGISTRY)


class AuditForm(forms.Form):
    """What the list of audit entries is searched for."""

    actor = forms.CharField(label=gettext_lazy("Who"), required=False, max_length=ACTOR_LENGTH)
    verb = forms.CharField(label=gettext_lazy("Action"), required=False, max_length=20)
    subject = forms.CharField(label=gettext_lazy("Subject"), required=False, max_length=250)
    task = forms.IntegerField(label=gettext_lazy("Task"), required=False, min_value=1, max_value=2**63 - 1)
    tenant = TenantField(required=False)
    reason = forms.CharField(label=gettext_lazy("Reason"), required=False, max_length=REASON_LENGTH)
    since = UtcField(label=gettext_lazy("From (UTC)"), required=False)
    until = UtcField(label=gettext_lazy("Until (UTC)"), required=False)
    each = forms.BooleanField(label=gettext_lazy("Each task of an order"), required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["subject"].widget.attrs |= {"placeholder": "job 7 or lane low", "autocomplete": "off"}

    def clean(self) -> dict[str, Any]:
        return _in_order(self, super().clean())

    def filter(self, hidden: Collection[str]) -> AuditFilter:
        given: dict[str, Any] = {name: value or None for name, value in self.cleaned_data.items()}
        each, task = given.pop("each"), given.pop("task")
        # Where only one tenant's entries are shown, the order that a task is a part of may be none of them.
        one_by_one = each or task or given["subject"] or given["tenant"] or working_in() is not None
        return AuditFilter(task_id=task, hidden=hidden, orders=not one_by_one, **given)

    @property
    def query(self) -> str:
        """The filter as the query of a URL, without what is empty."""
        return urlencode({name: self.data[name] for name in self.fields if self.data.get(name)})


class BulkForm(forms.Form):
    """What is to be done, and to what of a list: those chosen, or everything that the filter finds; neither by default.

    Whoever inherits it has a `verb`, and says what the list is of.
    """

    CHOSEN, MATCHING = "chosen", "matching"
    TOO_MANY: str  # what is said of this list
    NOT_A_LIST: str
    NONE: str
    MOST: int  # of them that can be chosen one by one
    FILTER: type[forms.Form]

    scope = forms.ChoiceField(choices=[(CHOSEN, CHOSEN), (MATCHING, MATCHING)], widget=forms.HiddenInput)
    ids = forms.CharField(required=False, widget=forms.HiddenInput, max_length=IDS_LENGTH)
    filter = forms.CharField(required=False, widget=forms.HiddenInput, max_length=FILTER_LENGTH)
    operation = forms.UUIDField(required=False, widget=forms.HiddenInput)

    def clean_verb(self) -> Verb:
        return Verb(self.cleaned_data["verb"])

    def clean_ids(self) -> list[int]:
        words = self.cleaned_data["ids"].split(",") if self.cleaned_data["ids"] else []
        if len(words) > self.MOST:
            raise forms.ValidationError(self.TOO_MANY.format(count=len(words), most=self.MOST))
        if not all(word.isascii() and word.isdecimal() and len(word) < 20 and 0 < int(word) < 2**63 for word in words):
            raise forms.ValidationError(self.NOT_A_LIST.format(ids=self.cleaned_data["ids"][:40]))
        return sorted({int(word) for word in words})

    def clean_filter(self) -> object:
        self.filter_form = self.FILTER(QueryDict(self.cleaned_data["filter"]))
        if not self.filter_form.is_valid():
            raise forms.ValidationError(
                gettext("The filter is not valid: {errors}").format(errors=self.filter_form.errors.as_text())
            )
        return self.filter_form.filter

    def clean_operation(self) -> UUID:
        return self.cleaned_data["operation"] or uuid4()

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean()
        if cleaned.get("scope") == self.CHOSEN and not cleaned.get("ids") and "ids" not in self.errors:
            self.add_error("ids", self.NONE)
        return cleaned


class OrderForm(BulkForm):
    """An order for tasks."""

    TOO_MANY = gettext_lazy("{count:,} tasks are selected; at most {most:,} can be. Choose everything that matches.")
    NOT_A_LIST = gettext_lazy("{ids!r} is not a list of tasks.")
    NONE = gettext_lazy("No task is selected.")
    MOST, FILTER = MOST_SELECTED, FilterForm

    verb = forms.ChoiceField(choices=[(verb.value, verb.value) for verb in VERBS], widget=forms.HiddenInput)
    newest = forms.IntegerField(required=False, min_value=0, max_value=2**63 - 1, widget=forms.HiddenInput)


class SpanField(forms.CharField):
    """A length of time, such as +2h or -15min."""

    def __init__(self, placeholder: str, **kwargs: Any) -> None:
        super().__init__(required=False, max_length=40, **kwargs)
        self.widget.attrs |= {"placeholder": placeholder, "autocomplete": "off"}

    def clean(self, value: object) -> timedelta | None:
        text = super().clean(value)
        try:
            return read_span(text) if text else None
        except InvalidTask:
            raise forms.ValidationError(
                gettext("{value!r} is not a length of time; write it like +2h, -15min or 1h30m.").format(value=text)
            ) from None


class ConfirmedForm(forms.Form):
    """Of an order for more than a few: whoever gives it types how many it is for, and it is for no more than that."""

    confirm = forms.CharField(required=False, max_length=20)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["confirm"].widget.attrs |= {"autocomplete": "off", "inputmode": "numeric"}

    def refuse_unconfirmed(self, number: int) -> None:
        typed = "".join(one for one in self.cleaned_data.get("confirm") or "" if one.isalnum())
        if number > CONFIRM_ABOVE and typed != str(number):
            words = gettext("This is for up to {number:,} tasks. Type {number} to confirm it; nothing was changed.")
            self.add_error("confirm", words.format(number=number))


class ManyForm(ConfirmedForm):
    """An order for those chosen, or for everything that matches: its pace, and how many there were in its preview."""

    cap = cap_field()
    rate = rate_field()
    lane = lane_field()
    counted = forms.IntegerField(required=False, min_value=0, max_value=2**63 - 1, widget=forms.HiddenInput)
    reason = reason_field()

    @property
    def most(self) -> int:
        """It is for no more than this; without a count, because there were too many, for as many as it may take."""
        given = self.cleaned_data
        if given.get("scope") == BulkForm.CHOSEN:
            return len(given.get("ids") or ())
        counted, cap = given.get("counted"), given.get("cap") or CAP
        return cap if counted is None else min(cap, counted)

    @property
    def pace(self) -> Pace:
        pace = pace_of(self.cleaned_data)
        return pace._replace(cap=max(self.most, min(pace.cap, CONFIRM_ABOVE)))

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean()
        self.refuse_unconfirmed(self.most)
        return cleaned


class ReasonForm(ManyForm, OrderForm):
    """An order that is to be carried out; for everything that matches, with its pace."""

    at = UtcField(label=gettext_lazy("New time (UTC)"), required=False)
    by = SpanField("+2h, -15min", label=gettext_lazy("Or later (+) or earlier (-) by"))
    over = SpanField("1h", label=gettext_lazy("Spread over, from the new time or from now on"))

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean()
        cleaned["move"] = None
        if cleaned.get("verb") is Verb.MOVE and not self.errors.keys() & {"at", "by", "over"}:
            if not any(cleaned[name] for name in ("at", "by", "over")):
                self.add_error("at", gettext("Give the new time, by how much to move them, or over how long."))
            elif cleaned["by"] and (cleaned["at"] or cleaned["over"]):
                self.add_error("by", gettext("Give either this, or the new time and over how long; not both."))
            else:
                try:
                    cleaned["move"] = checked_move(cleaned["at"], cleaned["by"], cleaned["over"])
                except InvalidTask as error:
                    self.add_error("by" if cleaned["by"] else "over", str(error))
        return cleaned


class UndoForm(ConfirmedForm):
    operation = forms.UUIDField(widget=forms.HiddenInput)
    reason = reason_field()

    def __init__(self, number: int, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, initial={"operation": uuid4()}, **kwargs)
        self.number = number

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean()
        self.refuse_unconfirmed(self.number)
        return cleaned


def _in_order(form: forms.Form, cleaned: dict[str, Any]) -> dict[str, Any]:
    since, until = cleaned.get("since"), cleaned.get("until")
    if since and until and until <= since:
        form.add_error("until", gettext("It must be later than the start."))
    return cleaned


def parse_bookmark(text: str) -> Bookmark | None:
    try:
        return Bookmark.read(text) if text else None
    except InvalidTask as error:
        raise forms.ValidationError(str(error)) from None


def written_bookmark(bookmark: Bookmark | None) -> str:
    return str(bookmark or "")
