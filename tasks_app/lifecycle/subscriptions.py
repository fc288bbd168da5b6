"""Who is told of which events: subscriptions are made, changed, paused, resumed and deleted here, with who and why."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import IntegrityError
from django.db.models.functions import Now

from tasks_app import outgoing
from tasks_app.conf import conf
from tasks_app.core.errors import InvalidTask, NameTaken, NotThere, nearest, shown
from tasks_app.core.events import KINDS, problems_of
from tasks_app.core.targets import Target, ToWebhook, as_stored
from tasks_app.core.tenants import INTERNAL_TENANT, TENANT_LENGTH
from tasks_app.core.wildcards import PATTERN_LENGTH, refused
from tasks_app.database import atomic
from tasks_app.models import Delivery, OutboxWindow, Subscription
from tasks_app.sql import run

from . import signing_secrets
from .audit import Entry, Operator, audit
from .outbox import tell
from .quotas import refuse_archived
from .request import checked_instant, checked_name

NAME_LENGTH = 100
MOST_PATTERNS = 100
REASON_LENGTH = 1_000  # of what is kept of why it was suspended

Place = tuple[int, int, int]  # a cursor: a window, a row of it, and so many events of that


def subscribe(
    name: str,
    *,
    events: Sequence[str],
    to: Target,
    operator: Operator,
    tenant: str | None = None,
    task_types: Sequence[str] = (),
    since: datetime | None = None,
    new: bool = False,
) -> Subscription:
    """Tell a receiver of these events from now on, or from `since` on, as far back as they are kept.

    If there is a subscription of this name, it is changed to this and goes on from where it is; with `new`, that is
    NameTaken. A webhook that has no secret yet gets one: it is the `new_secret` of what is returned, and nowhere else.
    """
    wanted = _checked(name, events, to, tenant, task_types)
    if since is not None:
        checked_instant("since", since)
    of_name = Subscription.objects.select_for_update().filter(tenant=tenant, name=name)
    with atomic(savepoint=False):
        found = of_name.first()
        if found is not None:
            return _change(_not_new(found, new), wanted, operator, since)
        refuse_archived(tenant)
        try:
            with atomic():
                row = Subscription.objects.create(
                    name=name, tenant=tenant, created_by=operator.name, since=since or Now(), **wanted
                )
        except IntegrityError:  # somebody else has just made it, as when several processes of an app start
            return _change(_not_new(of_name.get(), new), wanted, operator, since)
        _go_to(row, since)
        audit(operator, "subscribe", [_entry(row, "created", _shown(wanted))])
        return _with_secret(row)


def find(name: str, tenant: str | None = None) -> Subscription:
    """Raises NotThere."""
    try:
        row: Subscription = Subscription.objects.get(tenant=tenant, name=name)
    except Subscription.DoesNotExist:
        known = Subscription.objects.filter(tenant=tenant).values_list("name", flat=True)[:1000]
        whose = "of all tenants" if tenant is None else f"of tenant {tenant!r}"
        raise NotThere(f"there is no subscription {name!r} {whose}.{nearest(str(name), known)}") from None
    return row


def pause(subscription_id: int, operator: Operator) -> bool:
    """Deliver nothing until it is resumed; False if it was not active. Events wait for it as long as they are kept."""
    with atomic(savepoint=False):
        row = _locked(subscription_id)
        if row.state != Subscription.ACTIVE:
            return False
        _set_state(row, Subscription.PAUSED, operator.reason)
        audit(operator, "pause", [_entry(row, "paused")])
    return True


def resume(subscription_id: int, operator: Operator, *, since: datetime | None = None) -> bool:
    """Continue from where it stopped, or from a time; False if it was active.

    An active one does not go back to a time: that is what `replay` does.
    """
    if since is not None:
        checked_instant("since", since)
    with atomic(savepoint=False):
        row = _locked(subscription_id)
        if row.state == Subscription.ACTIVE:
            if since is not None:
                raise InvalidTask(
                    f"since: subscription {row} is active, so it can't be resumed from a time. Replay it from then on, "
                    "or pause it first."
                )
            return False
        _set_state(row, Subscription.ACTIVE, "")
        if since is not None:
            _go_to(row, since)
        detail = None if since is None else {"since": since.isoformat()}
        audit(operator, "resume", [_entry(row, "resumed", detail)])
        tell("subscription.resumed", {"name": row.name, "by": operator.name}, tenant=_told(row))
    return True


def replay(subscription_id: int, since: datetime, operator: Operator) -> None:
    """Deliver again what was written since then, and go on from there; whatever its state, it stays in it."""
    checked_instant("since", since)
    with atomic(savepoint=False):
        row = _locked(subscription_id)
        _set_state(row, row.state, row.reason)
        _go_to(row, since)
        audit(operator, "replay", [_entry(row, "replayed", {"since": since.isoformat()})])


def rewind(subscription_id: int, since: datetime, operator: Operator) -> bool:
    """Deliver again what was written since then, if it is beyond that already; False if it is not, and nothing changes.

    Unlike `replay` it never moves on: what a subscriber has still to get from before is not left out.
    """
    with atomic(savepoint=False):
        row = _locked(subscription_id)
        since = since if row.since is None else max(since, row.since)
        window_no = run("window_at", {"since": since})[0][0]
        if window_no is None or row.window_no < window_no or (row.window_no, row.row_id) == (window_no, 0):
            return False
        _set_state(row, row.state, row.reason)
        Subscription.objects.filter(id=row.id).update(window_no=window_no, row_id=0, place=0)
        audit(operator, "replay", [_entry(row, "replayed", {"since": since.isoformat()})])
    return True


def skip(subscription_id: int, seen: Place, behind: Place, what: dict[str, Any], operator: Operator) -> bool:
    """Go on behind what it can't deliver; False if its cursor is not where it was `seen`, so it has gone on by itself.
    Whoever delivers it can't note anything any more."""
    with atomic(savepoint=False):
        row = _locked(subscription_id)
        if (row.window_no, row.row_id, row.place) != tuple(seen):
            return False
        _set_state(row, row.state, row.reason)
        window_no, row_id, place = behind
        Subscription.objects.filter(id=row.id).update(window_no=window_no, row_id=row_id, place=place)
        audit(operator, "skip", [_entry(row, "skipped", what)])
    return True


def unsubscribe(subscription_id: int, operator: Operator) -> None:
    with atomic(savepoint=False):
        row = _locked(subscription_id)
        Delivery.objects.filter(subscription_id=row.id).delete()
        Subscription.objects.filter(id=row.id).delete()
        audit(operator, "unsubscribe", [_entry(row, "deleted")])


def add_secret(subscription_id: int, operator: Operator, secret: str | None = None) -> str:
    """Sign its webhooks with one more secret, a new one or this; returns it, for the last time."""
    with atomic(savepoint=False):
        row = _locked(subscription_id)
        if row.sink != ToWebhook.sink:
            raise InvalidTask(f"subscription {row} is no webhook; only those are signed.")
        text = signing_secrets.add_to(row, secret)
        _set_state(row, row.state, row.reason)
        audit(operator, "add secret", [_entry(row, "added")])
    return text


def withdraw_old_secrets(subscription_id: int, operator: Operator) -> int:
    """Sign its webhooks with the newest secret alone; returns how many were withdrawn."""
    with atomic(savepoint=False):
        row = _locked(subscription_id)
        withdrawn = signing_secrets.withdraw_old(row)
        if withdrawn:
            _set_state(row, row.state, row.reason)
            audit(operator, "withdraw secrets", [_entry(row, "withdrawn", {"secrets": withdrawn})])
    return withdrawn


def suspend(subscription_id: int, node_id: UUID, fence: int, reason: str) -> bool:
    """Its receiver could not be reached for too long. Only whoever delivers it may do this; False: nobody did."""
    with atomic(savepoint=False):
        params = {"id": subscription_id, "node_id": node_id, "fence": fence, "reason": reason[:REASON_LENGTH]}
        moved = run("suspend_subscription", params)
        for tenant, name in moved:
            tell("subscription.suspended", {"name": name, "reason": reason[:REASON_LENGTH]}, tenant=tenant)
    return bool(moved)


def _checked(
    name: str, events: Iterable[str], to: Target, tenant: str | None, task_types: Iterable[str]
) -> dict[str, Any]:
    checked_name("subscription", name, NAME_LENGTH)
    if tenant is not None:
        checked_name("tenant", tenant, TENANT_LENGTH)
    events, task_types = _patterns("events", events), _patterns("task_types", task_types)
    if not events:
        raise InvalidTask("events is empty; name at least one, such as 'task.dead', or '*' for all that are kept.")
    for problem in problems_of(events, "events"):
        raise InvalidTask(problem)
    for event in events:
        if event in KINDS and event not in conf().kept_events:
            raise InvalidTask(
                f'events has {event!r}, which this installation does not keep: PUNCTUAL["EVENTS"] is '
                f"{list(conf().EVENTS)}. Have it kept there, or leave it out."
            )
    if not hasattr(to, "sink"):
        raise InvalidTask(f"to is {shown(to)}; it must be a ToFunction, ToStream, ToQueue or ToWebhook.")
    to.check(conf().BROKERS)
    if isinstance(to, ToWebhook):
        outgoing.checked(to.url)
    return {"events": events, "task_types": task_types, "sink": to.sink, "target": as_stored(to)}


def _patterns(what: str, given: Iterable[str]) -> list[str]:
    if isinstance(given, str):
        raise InvalidTask(f"{what} is {shown(given)}; it must be a list of patterns.")
    patterns = [checked_name(what, one, PATTERN_LENGTH) for one in given]
    if len(patterns) > MOST_PATTERNS:
        raise InvalidTask(f"{what} has {len(patterns)} patterns; {MOST_PATTERNS} is the most. Use * in some of them.")
    if too_much := next(filter(None, map(refused, patterns)), None):
        raise InvalidTask(f"{what} has {too_much}")
    return patterns


def _not_new(row: Subscription, new: bool) -> Subscription:
    if new:
        whose = "of all tenants" if row.tenant is None else f"of tenant {row.tenant!r}"
        raise NameTaken(f"There is a subscription {row.name!r} {whose} already. Change that one, or choose a new name.")
    return row


def _change(row: Subscription, wanted: dict[str, Any], operator: Operator, since: datetime | None) -> Subscription:
    """Whoever delivers it notices: its fencing number has grown."""
    before = {field: getattr(row, field) for field in wanted}
    if before != wanted:
        for field, value in wanted.items():
            setattr(row, field, value)
        row.save(update_fields=list(wanted))
        _set_state(row, row.state, row.reason)
        audit(operator, "subscribe", [_entry(row, "changed", {"before": _shown(before), "after": _shown(wanted)})])
    if since is not None:
        _set_state(row, row.state, row.reason)
        _go_to(row, since)
    return _with_secret(row)


def _with_secret(row: Subscription) -> Subscription:
    """The row as it is now. A webhook without a secret gets its first one, told this once."""
    row.refresh_from_db()
    row.new_secret = signing_secrets.add_to(row) if row.sink == ToWebhook.sink and not row.secrets else None
    return row


def _locked(subscription_id: int) -> Subscription:
    row: Subscription | None = Subscription.objects.select_for_update().filter(id=subscription_id).first()
    if row is None:
        raise NotThere(f"there is no subscription number {subscription_id}.")
    return row


def _set_state(row: Subscription, state: str, reason: str) -> None:
    """And take it from whoever delivers it: what that one notes from now on is void."""
    Subscription.objects.filter(id=row.id).update(
        state=state,
        reason=reason,
        updated_at=Now(),
        holder=None,
        holder_name="",
        fence=row.fence + 1,
        failing_since=None,
        attempts=0,
        next_try_at=None,
        last_error="" if state == Subscription.ACTIVE else row.last_error,
    )
    row.refresh_from_db()


def _go_to(row: Subscription, since: datetime | None) -> None:
    """To the first window that may have something from then on; without a time, behind the newest."""
    window_no = None if since is None else run("window_at", {"since": since})[0][0]
    if window_no is None:
        newest = OutboxWindow.objects.order_by("-no").values_list("no", flat=True).first()
        window_no = 1 if newest is None else newest + 1
    cursor = {"window_no": window_no, "row_id": 0, "place": 0}
    Subscription.objects.filter(id=row.id).update(**cursor, **({} if since is None else {"since": since}))


def _entry(row: Subscription, outcome: str, detail: dict[str, Any] | None = None) -> Entry:
    return Entry(f"subscription {row}", outcome, tenant=row.tenant, detail=detail)


def _shown(wanted: dict[str, Any]) -> dict[str, Any]:
    return {field: wanted[field] for field in ("events", "task_types", "sink", "target")}


def _told(row: Subscription) -> str:
    return INTERNAL_TENANT if row.tenant is None else row.tenant
