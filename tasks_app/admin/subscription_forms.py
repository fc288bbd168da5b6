"""What people type into the pages of subscriptions: who is told of what, and an order with its reason."""

from typing import Any
from uuid import uuid4

from django import forms
from django.utils.translation import gettext, gettext_lazy

from tasks_app.console.scope import member
from tasks_app.core.targets import STREAM_USUAL, Target, ToFunction, ToQueue, ToStream, ToWebhook, target_of
from tasks_app.lifecycle.subscriptions import NAME_LENGTH
from tasks_app.models import Subscription

from .forms import TenantField, UtcField, reason_field

_OTHER_SINKS = ("stream", "maxlen", "broker", "queue", "function")  # the fields of what is no webhook
_SINKS = {
    Subscription.WEBHOOK: gettext_lazy("A webhook: each event is posted to an address, signed"),
    Subscription.STREAM: gettext_lazy("A Redis stream"),
    Subscription.QUEUE: gettext_lazy("A queue of a message broker"),
    Subscription.PYTHON: gettext_lazy("A Python function of an app; the beats run it"),
}


class PatternsField(forms.CharField):
    """Words with spaces, commas or new lines between them."""

    widget = forms.Textarea(attrs={"rows": 2, "spellcheck": "false"})

    def clean(self, value: object) -> list[str]:
        typed: str = super().clean(value)
        return typed.replace(",", " ").split()


class SubscriptionOrderForm(forms.Form):
    since = UtcField(label=gettext_lazy("From this time on (UTC)"), required=False)
    event = forms.CharField(label=gettext_lazy("The event, by its id"), max_length=50)
    reason = reason_field()
    operation = forms.UUIDField(widget=forms.HiddenInput)

    def __init__(
        self, *args: Any, since: str = "", since_needed: bool = False, event: str | None = None, **kwargs: Any
    ) -> None:
        """`since`: what the time is asked with; it is not asked for without. `event`: the one that is meant."""
        super().__init__(*args, initial={"operation": uuid4(), "event": event}, **kwargs)
        if event is None:
            del self.fields["event"]
        if since:
            self.fields["since"].label, self.fields["since"].required = (
                gettext("{label} (UTC)").format(label=since),
                since_needed,
            )
        else:
            del self.fields["since"]


class SubscriptionForm(SubscriptionOrderForm):
    name = forms.CharField(label=gettext_lazy("Name"), max_length=NAME_LENGTH)
    tenant = TenantField(label=gettext_lazy("Tenant; empty: events of all tenants"), required=False)
    events = PatternsField(
        label=gettext_lazy("Events, such as task.dead, task.* or !task.late; the last that matches decides")
    )
    task_types = PatternsField(label=gettext_lazy("Task types, with * if you like; empty: all"), required=False)
    sink = forms.ChoiceField(label=gettext_lazy("Goes to"), choices=list(_SINKS.items()))
    url = forms.CharField(label=gettext_lazy("Webhook: its address"), required=False, max_length=2000)
    stream = forms.CharField(label=gettext_lazy("Stream: its name"), required=False)
    maxlen = forms.IntegerField(
        label=gettext_lazy("Stream: how many entries it keeps, about"), required=False, min_value=1
    )
    broker = forms.CharField(
        label=gettext_lazy(
            "Queue or stream: the broker's name in the settings (BROKERS); a stream without one is in our own Redis"
        ),
        required=False,
    )
    queue = forms.CharField(label=gettext_lazy("Queue: its name"), required=False)
    function = forms.CharField(label=gettext_lazy("Python: the function's name, as @subscriber has it"), required=False)
    field_order = (
        *("name", "tenant", "events", "task_types", "sink", "url", "stream", "maxlen", "broker", "queue", "function"),
        *("since", "reason", "operation"),
    )

    def __init__(self, *args: Any, subscription: Subscription | None = None, **kwargs: Any) -> None:
        super().__init__(
            *args, since="" if subscription else gettext("Also what happened since; empty: from now on"), **kwargs
        )
        self.subscription = subscription
        if member() is not None:
            self._bind_to_tenant()
        if subscription is None:
            self.initial |= {"sink": Subscription.WEBHOOK, "maxlen": STREAM_USUAL}
            return
        del self.fields["name"], self.fields["tenant"]
        target = dict(subscription.target)
        if subscription.sink == Subscription.PYTHON:
            target["function"] = target.pop("name")
        self.initial |= target | {
            "events": " ".join(subscription.events),
            "task_types": " ".join(subscription.task_types),
            "sink": subscription.sink,
        }

    def _bind_to_tenant(self) -> None:
        """A tenant's events go out of the house only: streams, queues and functions are everybody's. One that operators
        have made for it keeps its receiver."""
        kept = self.subscription is not None and self.subscription.sink != Subscription.WEBHOOK
        for name in (*_OTHER_SINKS, "sink", *(("url",) if kept else ())):
            del self.fields[name]

    @property
    def target(self) -> Target:
        given = self.cleaned_data
        if self.subscription is not None and "url" not in self.fields:
            return target_of(self.subscription.sink, self.subscription.target)
        match given.get("sink", Subscription.WEBHOOK):
            case Subscription.WEBHOOK:
                return ToWebhook(given["url"])
            case Subscription.STREAM:
                return ToStream(given["stream"], given["maxlen"] or STREAM_USUAL, given["broker"])
            case Subscription.QUEUE:
                return ToQueue(given["broker"], given["queue"])
        return ToFunction(given["function"])

    def blame(self, error: Exception) -> None:
        """Beside the field that the sentence begins with, if it has one."""
        word = str(error).split(" ", 1)[0].strip(":")
        self.add_error(word if word in self.fields else None, str(error))
