"""/subscriptions: who is told of which events; made, changed, tried out, paused and resumed; the last deliveries."""

from datetime import datetime
from typing import Any, Self

from django.db.models import Q
from django.http import HttpRequest
from ninja import Router, Schema, Status
from pydantic import Field

from tasks_app.client.endpoints import PAGE, Cursor, Limit, Text
from tasks_app.core.errors import NotForTenants
from tasks_app.core.routers import may_answer
from tasks_app.core.targets import ToWebhook, target_of
from tasks_app.database import atomic
from tasks_app.engine.operations import subscriptions
from tasks_app.engine.operations.callers import Caller
from tasks_app.engine.watch.relay_status import SubscriptionView, read_relay
from tasks_app.lifecycle import subscriptions as lifecycle
from tasks_app.models import Delivery, Subscription

from .auth import caller
from .enums import EventScope, SinkKind, SubscriptionState
from .idempotency import mutation
from .jobs import operator
from .problems import Problem
from .schemas import Id, Instant, Key, Model, Page, id_of

router = Router(tags=["subscriptions"])

_TARGET = (
    "Where the receiver is. A webhook has `url`; a stream `stream`, `maxlen` and `broker`; a queue `broker` and "
    "`queue`; python the `name` of a function"
)


class SubscriptionPatch(Model):
    """The fields to change. A new `sink` needs its `target`."""

    events: list[Text] | None = Field(None, description="Patterns such as task.dead or task.*; the last match decides")
    task_types: list[Text] | None = Field(None, description="Patterns of task types; empty: all")
    sink: SinkKind | None = None
    target: dict[str, Any] | None = Field(None, description=_TARGET)
    reason: Text | None = Field(None, description="Why; kept in the audit")


class SubscriptionIn(Model):
    """A new subscription."""

    name: Text
    events: list[Text] = Field(description="Patterns such as task.dead or task.*; the last match decides")
    task_types: list[Text] = Field([], description="Patterns of task types; empty: all")
    sink: SinkKind = Field(Subscription.WEBHOOK, description="Tokens of tenants have webhooks only")
    target: dict[str, Any] = Field(description=_TARGET)
    scope: EventScope = Field(EventScope.TENANT, description="`all` is for operators")
    since: Instant | None = Field(None, description="Also what happened since then, as far back as it is kept")
    reason: Text | None = Field(None, description="Why; kept in the audit")


class NotKeptOut(Schema):
    """Events that a pattern of a subscription matches and that this installation does not keep (EVENTS)."""

    pattern: str
    events: list[str]


class SubscriptionOut(Schema):
    """A subscription as it stood when it was read."""

    id: int
    name: str
    scope: EventScope = Field(description="Whether it gets the events of one tenant, or of all")
    events: list[str]
    not_kept: list[NotKeptOut] = Field(
        description="Events that its patterns match and that this installation does not keep, so it never gets them"
    )
    task_types: list[str]
    sink: SinkKind
    target: dict[str, Any]
    secrets: int = Field(description="How many secrets its webhooks are signed with")
    state: SubscriptionState
    state_reason: str = Field(description="Why it is paused or suspended")
    created_by: str
    created_at: datetime
    delivered: int = Field(description="How many events it has got")
    delivered_at: datetime | None
    failing_since: datetime | None = Field(description="Nothing could be delivered since then")
    attempts: int = Field(description="Failed ones in a row")
    next_try_at: datetime | None
    last_error: str
    waiting_events: int | None = Field(description="About how many it has still to get; null if not looked at")
    waiting_seconds: float | None = Field(description="How long the first of them has waited")

    @classmethod
    def of(cls, row: Subscription, lag: SubscriptionView | None, **more: object) -> Self:
        plain = {name: getattr(row, name) for name in cls.model_fields if hasattr(row, name)}
        return cls(
            **plain
            | {"scope": EventScope.ALL if row.tenant is None else EventScope.TENANT}
            | {"not_kept": [{"pattern": wanted, "events": list(left)} for wanted, left in subscriptions.not_kept(row)]}
            | {"secrets": len(row.secrets), "state_reason": row.reason}
            | {"waiting_events": lag and lag.waiting_events, "waiting_seconds": lag and lag.waiting_seconds}
            | more
        )


class SubscriptionMade(SubscriptionOut):
    """A subscription, and the secret that was made for it."""

    secret: str | None = Field(description="What its webhooks are signed with, shown this once; null if none was made")


class SubscriptionPage(Page):
    items: list[SubscriptionOut]


class SubscriptionReasonIn(Model):
    reason: Text = Field(min_length=1, description="Why; kept in the audit")


class SubscriptionResumeIn(SubscriptionReasonIn):
    since: Instant | None = Field(None, description="Left out: from where it stopped")


class SubscriptionReplayIn(SubscriptionReasonIn):
    since: Instant = Field(description="What was written since then is delivered again")


class SecretIn(Model):
    secret: Text | None = Field(
        default=None, description="whsec_ and 24 to 64 bytes in base64; left out: a new one is made"
    )
    reason: Text | None = Field(default=None, description="Why; kept in the audit")


class SecretOut(Schema):
    secret: str = Field(description="Shown this once; the old ones stay valid until they are withdrawn")


class WithdrawnOut(Schema):
    withdrawn: int = Field(description="How many secrets no longer sign")


class TestedOut(Schema):
    """What the receiver said to a test event."""

    delivered: bool
    response: str = Field(description="As the receiver says it, such as 200; or the name of an error")
    ms: float
    said: str = Field(description="How its answer began, or what went wrong")


class DeliveryOut(Schema):
    """One call to a receiver."""

    id: int
    at: datetime
    ok: bool
    response: str = Field(description="As the receiver says it, such as 200; or the name of an error")
    ms: float
    count: int = Field(description="How many events it carried")
    event_ids: list[str] = Field(description="The first of them")
    said: str = Field(description="How its answer began, or what went wrong")

    @classmethod
    def of(cls, row: Delivery) -> "DeliveryOut":
        plain = {name: getattr(row, name) for name in cls.model_fields if hasattr(row, name)}
        return cls(**plain | {"response": row.status, "said": row.answer})


class DeliveryPage(Page):
    items: list[DeliveryOut]


@router.get("", response=SubscriptionPage, summary="List the subscriptions, oldest first")
def list_subscriptions(request: HttpRequest, after: Cursor = None, limit: Limit = PAGE) -> dict[str, object]:
    asked, lags = caller(request), _lags(request)
    whose = Q(tenant=asked.tenant) | (Q(tenant=None) if asked.is_operator else Q(pk__in=[]))
    rows = Subscription.objects.filter(whose, id__gt=0 if after is None else id_of(after)).order_by("id")
    found = list(rows[: limit + 1])
    items = [SubscriptionOut.of(row, lags.get(row.id)) for row in found[:limit] if _sees(asked, row)]
    return {"items": items, "next": str(found[limit - 1].id) if len(found) > limit else None}


@router.post("", response={201: SubscriptionMade}, summary="Subscribe to events")
@may_answer("SCH_403_FORBIDDEN", "SCH_409_DUPLICATE", "SCH_422_INVALID")
def create_subscription(request: HttpRequest, body: SubscriptionIn) -> Status[SubscriptionMade]:
    """Takes no Idempotency-Key: its answer has a secret, which is stored nowhere. If the answer is lost, a repeat is
    409, and another secret can be had."""
    asked = caller(request)
    if body.scope == EventScope.ALL:
        asked.refuse_outsider("a subscription of all tenants")
    _refuse_foreign(asked, body.sink, body.task_types)
    row = subscriptions.create(
        body.name,
        events=body.events,
        to=target_of(str(body.sink), body.target),
        operator=operator(request, body.reason),
        tenant=None if body.scope == EventScope.ALL else asked.tenant,
        task_types=body.task_types,
        since=body.since,
    )
    return Status(201, SubscriptionMade.of(row, None, secret=row.new_secret))


@router.get("/{subscription_id}", response=SubscriptionOut, summary="Read a subscription")
def read_subscription(request: HttpRequest, subscription_id: Id) -> SubscriptionOut:
    return SubscriptionOut.of(_own(request, subscription_id), _lags(request).get(subscription_id))


@router.patch("/{subscription_id}", response=SubscriptionMade, summary="Change a subscription")
@may_answer("SCH_403_FORBIDDEN")
def change_subscription(request: HttpRequest, subscription_id: Id, body: SubscriptionPatch) -> SubscriptionMade:
    """It goes on from where it is. The same change twice changes nothing more, so it takes no Idempotency-Key."""
    row, asked = _own(request, subscription_id), caller(request)
    sink = str(body.sink or row.sink)
    if sink != row.sink and body.target is None:
        raise Problem("SCH_422_INVALID", f"target: a {sink} needs one of its own; the old one is of a {row.sink}.")
    task_types = row.task_types if body.task_types is None else body.task_types
    _refuse_foreign(asked, None if body.target is None else sink, task_types)
    changed = subscriptions.change(
        row.id,
        operator(request, body.reason),
        events=row.events if body.events is None else body.events,
        to=target_of(sink, row.target if body.target is None else body.target),
        task_types=task_types,
    )
    return SubscriptionMade.of(changed, _lags(request).get(row.id), secret=changed.new_secret)


@router.delete("/{subscription_id}", response={204: None}, summary="Delete a subscription")
@mutation
def delete_subscription(request: HttpRequest, subscription_id: Id, idempotency_key: Key = None) -> tuple[int, None]:
    """Nothing more is delivered, and its secrets are forgotten."""
    lifecycle.unsubscribe(_own(request, subscription_id).id, operator(request))
    return 204, None


@router.post("/{subscription_id}/pause", response=SubscriptionOut, summary="Pause a subscription")
@mutation
def pause_subscription(
    request: HttpRequest, subscription_id: Id, body: SubscriptionReasonIn, idempotency_key: Key = None
) -> tuple[int, SubscriptionOut]:
    """Events wait for it as long as they are kept. One that is not active stays as it is."""
    lifecycle.pause(_own(request, subscription_id).id, operator(request, body.reason))
    return 200, SubscriptionOut.of(subscriptions.found(subscription_id), _lags(request).get(subscription_id))


@router.post("/{subscription_id}/resume", response=SubscriptionOut, summary="Resume a subscription")
@mutation
def resume_subscription(
    request: HttpRequest, subscription_id: Id, body: SubscriptionResumeIn, idempotency_key: Key = None
) -> tuple[int, SubscriptionOut]:
    """From where it stopped, or from a time. One that is active stays as it is, and `since` is refused: replay it."""
    lifecycle.resume(_own(request, subscription_id).id, operator(request, body.reason), since=body.since)
    return 200, SubscriptionOut.of(subscriptions.found(subscription_id), _lags(request).get(subscription_id))


@router.post(
    "/{subscription_id}/replay", response=SubscriptionOut, summary="Deliver again what was written since a time"
)
@mutation
def replay_subscription(
    request: HttpRequest, subscription_id: Id, body: SubscriptionReplayIn, idempotency_key: Key = None
) -> tuple[int, SubscriptionOut]:
    """And go on from there; the events have their old ids."""
    lifecycle.replay(_own(request, subscription_id).id, body.since, operator(request, body.reason))
    return 200, SubscriptionOut.of(subscriptions.found(subscription_id), _lags(request).get(subscription_id))


@router.post("/{subscription_id}/test", response=TestedOut, summary="Send a test event now")
def test_subscription(request: HttpRequest, subscription_id: Id) -> TestedOut:
    """To this receiver alone, whatever the state of the subscription; once, and nothing is retried."""
    said = subscriptions.send_test(_own(request, subscription_id).id, operator(request))
    return TestedOut(delivered=said.ok, response=said.status, ms=round(said.ms, 3), said=said.answer)


@router.post("/{subscription_id}/secrets", response={201: SecretOut}, summary="Sign with one more secret")
def add_subscription_secret(
    request: HttpRequest, subscription_id: Id, body: SecretIn | None = None
) -> Status[SecretOut]:
    """Takes no Idempotency-Key: the answer is stored nowhere."""
    body = body or SecretIn()
    with atomic():
        row = _own(request, subscription_id)
        text = lifecycle.add_secret(row.id, operator(request, body.reason), body.secret)
    return Status(201, SecretOut(secret=text))


@router.post(
    "/{subscription_id}/secrets/withdraw", response=WithdrawnOut, summary="Withdraw all secrets but the newest"
)
@mutation
def withdraw_subscription_secrets(
    request: HttpRequest, subscription_id: Id, body: SubscriptionReasonIn, idempotency_key: Key = None
) -> tuple[int, WithdrawnOut]:
    done = lifecycle.withdraw_old_secrets(_own(request, subscription_id).id, operator(request, body.reason))
    return 200, WithdrawnOut(withdrawn=done)


@router.get("/{subscription_id}/deliveries", response=DeliveryPage, summary="List its last deliveries, latest first")
def list_deliveries(
    request: HttpRequest, subscription_id: Id, after: Cursor = None, limit: Limit = PAGE
) -> dict[str, object]:
    """The last hundred or so are kept."""
    rows = Delivery.objects.filter(subscription_id=_own(request, subscription_id).id).order_by("-id")
    if after is not None:
        rows = rows.filter(id__lt=id_of(after))
    items = list(rows[: limit + 1])
    more = str(items[limit - 1].id) if len(items) > limit else None
    return {"items": [DeliveryOut.of(one) for one in items[:limit]], "next": more}


def _own(request: HttpRequest, subscription_id: int) -> Subscription:
    row: Subscription | None = Subscription.objects.filter(id=subscription_id).first()
    if row is None or not _sees(caller(request), row):
        raise Problem("SCH_404_NOT_FOUND", f"There is no subscription {subscription_id}.")
    return row


def _sees(asked: Caller, row: Subscription) -> bool:
    """Of its tenant, or an operator's of all tenants; and not beyond the types that it may see."""
    if row.tenant is None:
        return asked.is_operator
    return row.tenant == asked.tenant and _within(asked, row.task_types)


def _within(asked: Caller, task_types: list[str]) -> bool:
    return asked.types is None or (bool(task_types) and all(one in asked.types for one in task_types))


def _refuse_foreign(asked: Caller, sink: str | None, task_types: list[str]) -> None:
    """A tenant's events go out of the house only; its streams, queues and functions belong to everybody."""
    if sink not in (None, ToWebhook.sink) and not asked.is_operator:
        raise NotForTenants(f"A token can't send events to a {sink}; it can have them as a webhook.")
    if not _within(asked, task_types):
        named = ", ".join(sorted(asked.types or ()))
        raise Problem("SCH_403_FORBIDDEN", f"task_types: this token may see {named}. Name some of them, without a *.")


def _lags(request: HttpRequest) -> dict[int, SubscriptionView]:
    asked = caller(request)
    return {one.id: one for one in read_relay(None if asked.is_operator else asked.tenant).subscriptions}
