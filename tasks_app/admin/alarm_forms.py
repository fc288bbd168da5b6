"""What people type into the pages of alarms: a rule, a channel, and an order with its reason."""

from contextlib import suppress
from typing import Any
from uuid import uuid4

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext, gettext_lazy

from tasks_app.console.scope import member, whose
from tasks_app.core.alarms import OPERATORS_ONLY, WORDS, ChannelKind
from tasks_app.core.keyring import CannotUnseal
from tasks_app.engine.operations.api_tokens import listed
from tasks_app.lifecycle.alarms.channels import MOST_PER_HOUR, NAME_LENGTH, USUAL_PER_HOUR, ChannelRequest, target_of
from tasks_app.lifecycle.alarms.rules import RUNBOOK_LENGTH, RuleRequest
from tasks_app.models import AlarmChannel, AlarmRule

from .forms import TenantField, reason_field

LARGEST = 2**63 - 1
KIND_WORDS = {
    ChannelKind.WEBHOOK: gettext_lazy("webhook: signed JSON"),
    ChannelKind.EMAIL: gettext_lazy("email"),
    ChannelKind.CHAT: gettext_lazy("chat: Slack, Mattermost, Google Chat and others that take the same JSON"),
}
MINUTE = 60


class AlarmOrderForm(forms.Form):
    """An order with its reason; sent twice, it is carried out once."""

    reason = reason_field()
    operation = forms.UUIDField(widget=forms.HiddenInput)
    revision = forms.IntegerField(widget=forms.HiddenInput, required=False, min_value=0, max_value=2**31 - 1)

    def __init__(self, *args: Any, initial: dict[str, Any] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, initial={"operation": uuid4()} | (initial or {}), **kwargs)


class AlarmRuleForm(AlarmOrderForm):
    kept: tuple[int, ...] = ()  # channels of the operators that a member's rule tells, too: they stay

    name = forms.CharField(label=gettext_lazy("Name"), max_length=NAME_LENGTH)
    tenant = TenantField(label=gettext_lazy("Tenant; empty: all of them"), required=False)
    enabled = forms.BooleanField(label=gettext_lazy("It is on"), required=False)
    conditions = forms.MultipleChoiceField(
        label=gettext_lazy("When"),
        choices=[(str(one), gettext_lazy(words)) for one, words in WORDS.items()],
        widget=forms.CheckboxSelectMultiple,
    )
    late_seconds = forms.FloatField(label=gettext_lazy("Too late: more than this many seconds"), required=False)
    running_seconds = forms.FloatField(label=gettext_lazy("Too long: more than this many seconds"), required=False)
    task_types = forms.CharField(
        label=gettext_lazy("Task types, separated by commas, such as INVOICE_*; empty: all"),
        required=False,
        max_length=5_000,
    )
    job = forms.IntegerField(
        label=gettext_lazy("Only this job, by its number"), required=False, min_value=1, max_value=LARGEST
    )
    channels = forms.TypedMultipleChoiceField(
        label=gettext_lazy("Who is told"), coerce=int, widget=forms.CheckboxSelectMultiple
    )
    repeat_minutes = forms.IntegerField(label=gettext_lazy("While it goes on, told again after so many minutes"))
    quiet_minutes = forms.IntegerField(label=gettext_lazy("Well again after so many minutes without it"))
    runbook = forms.CharField(
        label=gettext_lazy("Address of a page that says what to do"), required=False, max_length=RUNBOOK_LENGTH
    )

    GROUPS = (
        (gettext_lazy("The rule"), ("name", "enabled")),
        (gettext_lazy("Whose tasks"), ("tenant", "task_types", "job")),
        (gettext_lazy("How long is too long"), ("late_seconds", "running_seconds")),
        (gettext_lazy("How often, and what to do"), ("repeat_minutes", "quiet_minutes", "runbook")),
        (gettext_lazy("Why"), ("reason",)),
    )

    def __init__(
        self, data: QueryDict | None, *, rule: AlarmRule | None, initial: dict[str, Any] | None = None
    ) -> None:
        usual = {"repeat_minutes": 30, "quiet_minutes": 10, "enabled": True} | (initial or {})
        super().__init__(data, initial=_of_rule(rule) if rule else usual)
        known = AlarmChannel.objects.filter(**whose()).order_by("name").values_list("id", "name", "tenant", "kind")
        self.fields["channels"].choices = [
            (number, f"{name} ({kind}, {gettext('operators') if tenant is None else tenant})")
            for number, name, tenant, kind in known
        ]
        if rule is not None:
            del self.fields["tenant"]
        if member() is not None:
            when = self.fields["conditions"]
            when.choices = [(one, words) for one, words in when.choices if one not in OPERATORS_ONLY]
            shown = {number for number, _ in self.fields["channels"].choices}
            self.kept = tuple(one for one in rule.channels if one not in shown) if rule else ()
            self.fields["channels"].required = not self.kept

    @property
    def groups(self) -> list[tuple[str, list[forms.BoundField]]]:
        return [(words, [self[name] for name in names if name in self.fields]) for words, names in self.GROUPS]

    @property
    def request(self) -> RuleRequest:
        given = self.cleaned_data
        return RuleRequest(
            name=given["name"],
            conditions=tuple(given["conditions"]),
            channels=(*self.kept, *given["channels"]),
            task_types=tuple(listed(given["task_types"])),
            job=given["job"],
            late_seconds=given["late_seconds"],
            running_seconds=given["running_seconds"],
            repeat_seconds=given["repeat_minutes"] * MINUTE,
            quiet_seconds=given["quiet_minutes"] * MINUTE,
            runbook=given["runbook"],
            enabled=given["enabled"],
        )


class AlarmChannelForm(AlarmOrderForm):
    name = forms.CharField(label=gettext_lazy("Name"), max_length=NAME_LENGTH)
    tenant = TenantField(label=gettext_lazy("Tenant; empty: the operators'"), required=False)
    kind = forms.ChoiceField(
        label=gettext_lazy("Kind"), choices=[(str(one), words) for one, words in KIND_WORDS.items()]
    )
    url = forms.CharField(label=gettext_lazy("Address of the webhook or chat"), required=False, max_length=2_000)
    to = forms.CharField(label=gettext_lazy("Or mail addresses, separated by commas"), required=False, max_length=5_000)
    most_per_hour = forms.IntegerField(
        label=gettext_lazy("Alerts in an hour, at most"), min_value=1, max_value=MOST_PER_HOUR
    )
    enabled = forms.BooleanField(label=gettext_lazy("It is on"), required=False)
    field_order = ("name", "tenant", "kind", "url", "to", "most_per_hour", "enabled", "reason", "operation", "revision")

    def __init__(self, data: QueryDict | None, *, channel: AlarmChannel | None) -> None:
        super().__init__(data, initial=_of_channel(channel))
        if member() is not None:  # mail goes out in the installation's name: its operators say to whom
            del self.fields["to"]
            kinds = self.fields["kind"]
            kinds.choices = [(one, words) for one, words in kinds.choices if one != ChannelKind.EMAIL]
        if channel is not None:
            for name in ("tenant", "kind"):
                del self.fields[name]
            if channel.kind == ChannelKind.EMAIL:
                del self.fields["url"]
            else:
                self.fields.pop("to", None)
                self.fields["url"].label = gettext("Another address; empty: it stays at {shown}").format(
                    shown=channel.shown
                )

    @property
    def values(self) -> dict[str, Any]:
        """The fields of a channel that were typed in."""
        given = {name: self.cleaned_data[name] for name in ("name", "most_per_hour", "enabled")}
        if "kind" in self.fields:
            given["kind"] = self.cleaned_data["kind"]
        if "to" in self.fields:
            given["to"] = tuple(listed(self.cleaned_data["to"]))
        if "url" in self.fields and ("kind" in self.fields or self.cleaned_data["url"]):
            given["url"] = self.cleaned_data["url"]
        return given

    @property
    def request(self) -> ChannelRequest:
        return ChannelRequest(**self.values)


def _of_rule(rule: AlarmRule) -> dict[str, Any]:
    plain = (
        "name",
        "enabled",
        "conditions",
        "late_seconds",
        "running_seconds",
        "job",
        "channels",
        "runbook",
        "revision",
    )
    return {name: getattr(rule, name) for name in plain} | {
        "task_types": ", ".join(rule.task_types),
        "repeat_minutes": rule.repeat_seconds // MINUTE,
        "quiet_minutes": rule.quiet_seconds // MINUTE,
    }


def _of_channel(channel: AlarmChannel | None) -> dict[str, Any]:
    """Without the address, which may be a secret; the people who get mail are none."""
    if channel is None:
        return {"most_per_hour": USUAL_PER_HOUR, "enabled": True}
    found = {name: getattr(channel, name) for name in ("name", "most_per_hour", "enabled", "revision")}
    if channel.kind == ChannelKind.EMAIL:
        with suppress(CannotUnseal):  # saving says so
            found["to"] = ", ".join(target_of(channel).to)
    return found
