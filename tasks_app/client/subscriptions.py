"""Subscriptions: have events delivered to a function, a stream, a queue or a webhook, and stop it again.

`django_punctual` has what is needed every day; pausing, resuming and replaying are here as well.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TypeVar

from tasks_app.core.errors import NotThere
from tasks_app.core.events import Event
from tasks_app.core.subscribers import SUBSCRIBERS, Subscriber
from tasks_app.core.targets import Target, ToFunction, ToQueue, ToStream, ToWebhook
from tasks_app.lifecycle import subscriptions as _verbs
from tasks_app.lifecycle.audit import Operator
from tasks_app.models import Subscription

__all__ = [
    "Event",
    "Subscription",
    "Target",
    "ToFunction",
    "ToQueue",
    "ToStream",
    "ToWebhook",
    "add_secret",
    "find_subscription",
    "pause_subscription",
    "replay_subscription",
    "resume_subscription",
    "subscribe",
    "subscriber",
    "unsubscribe",
    "withdraw_old_secrets",
]

Function = TypeVar("Function", bound=Subscriber)


def subscriber(name: str) -> Callable[[Function], Function]:
    """Register a function that events can be delivered to: it is called with a list of them, by a beat.

    Put it in a module named `subscribers` of an installed app, and subscribe it with `ToFunction(name)`. When it
    returns, it has them; if it raises, all of them come again. So it may get an event twice, with the same id.
    """

    def register(function: Function) -> Function:
        SUBSCRIBERS.add(name, function)
        return function

    return register


def subscribe(
    name: str,
    *,
    events: Sequence[str],
    to: Target,
    tenant: str | None = None,
    task_types: Sequence[str] = (),
    since: datetime | None = None,
    operator: Operator | None = None,
) -> Subscription:
    """Have events delivered from now on, or from `since` on, in your own transaction. Calling it again changes nothing;
    with other arguments it changes the subscription, which goes on from where it is.

    `events` and `task_types` are patterns such as `task.*` or `!task.failed`; the last that matches decides. Without a
    tenant, the events of all tenants are delivered. A webhook gets a secret to check signatures with when it is made:
    the `new_secret` of what is returned, this once.
    """
    by = operator or _app("subscribed by an app")
    return _verbs.subscribe(name, events=events, to=to, operator=by, tenant=tenant, task_types=task_types, since=since)


def unsubscribe(name: str, *, tenant: str | None = None, operator: Operator | None = None) -> bool:
    """Deliver nothing more, and forget how far it got; False if there is no such subscription."""
    try:
        _verbs.unsubscribe(_verbs.find(name, tenant).id, operator or _app("unsubscribed by an app"))
    except NotThere:
        return False
    return True


def find_subscription(name: str, *, tenant: str | None = None) -> Subscription:
    """Raises NotThere."""
    return _verbs.find(name, tenant)


def pause_subscription(name: str, operator: Operator, *, tenant: str | None = None) -> bool:
    """Deliver nothing until it is resumed; False if it was not active."""
    return _verbs.pause(_verbs.find(name, tenant).id, operator)


def resume_subscription(
    name: str, operator: Operator, *, tenant: str | None = None, since: datetime | None = None
) -> bool:
    """Go on from where it stopped, or from a time; False if it was active."""
    return _verbs.resume(_verbs.find(name, tenant).id, operator, since=since)


def replay_subscription(name: str, since: datetime, operator: Operator, *, tenant: str | None = None) -> None:
    """Deliver again what was written since then."""
    _verbs.replay(_verbs.find(name, tenant).id, since, operator)


def add_secret(name: str, operator: Operator, *, tenant: str | None = None, secret: str | None = None) -> str:
    """Sign a webhook's events with one more secret, a new one or yours; returns it, for the last time."""
    return _verbs.add_secret(_verbs.find(name, tenant).id, operator, secret)


def withdraw_old_secrets(name: str, operator: Operator, *, tenant: str | None = None) -> int:
    """Sign a webhook's events with its newest secret alone; returns how many were withdrawn."""
    return _verbs.withdraw_old_secrets(_verbs.find(name, tenant).id, operator)


def _app(reason: str) -> Operator:
    return Operator("app", reason)
