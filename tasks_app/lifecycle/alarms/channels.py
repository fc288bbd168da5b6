"""Channels: made, changed and deleted by people; what is secret about one is sealed before it is stored."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db.models.functions import Now

from tasks_app.core.alarms import ChannelKind
from tasks_app.core.errors import InvalidTask, NameTaken, NotForTenants, NotThere, StaleRevision, shown
from tasks_app.core.keyring import CannotUnseal
from tasks_app.database import atomic, unless_taken
from tasks_app.lifecycle.audit import Entry, Operator, audit
from tasks_app.lifecycle.quotas import refuse_archived
from tasks_app.lifecycle.request import checked_name
from tasks_app.lifecycle.signing_secrets import new_secret
from tasks_app.models import AlarmAlert, AlarmChannel, AlarmRule
from tasks_app.outgoing import Refused, checked
from tasks_app.sealing import seal, unseal

NAME_LENGTH = 100
MOST_CHANNELS = 100  # of one tenant
MOST_ADDRESSES = 20
MOST_PER_HOUR = 3_600
USUAL_PER_HOUR = 60


@dataclass(frozen=True, slots=True)
class Target:
    """Where a channel leads: an address and the secret that signs what is sent there, or people."""

    url: str = ""
    secret: str = ""
    to: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        """What is no secret: of an address the host, for its path may be all that a chat asks for."""
        return ", ".join(self.to)[:200] if self.to else str(checked(self.url))[:200]


@dataclass(frozen=True, slots=True)
class ChannelRequest:
    name: str
    kind: str
    url: str = ""
    to: tuple[str, ...] = ()
    most_per_hour: int = USUAL_PER_HOUR
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class NewChannel:
    channel: AlarmChannel
    secret: str  # shown this once; empty: nothing is signed


def create_channel(request: ChannelRequest, operator: Operator, tenant: str | None) -> NewChannel:
    """Raises InvalidTask, NotForTenants or NameTaken."""
    target = _target(_checked(request), operator)
    with atomic(savepoint=False):
        refuse_archived(tenant)
        if AlarmChannel.objects.filter(tenant=tenant).count() >= MOST_CHANNELS:
            raise InvalidTask(f"there are {MOST_CHANNELS} channels, the most that there can be. Delete one first.")
        channel = AlarmChannel(
            tenant=tenant,
            name=request.name,
            kind=request.kind,
            target="",
            shown=target.shown,
            most_per_hour=request.most_per_hour,
            permits=request.most_per_hour,
            enabled=request.enabled,
            created_by=operator.name,
        )
        _save(channel)
        _put(channel, target)
        _audit(operator, "create", channel, {"after": _told(channel)})
    return NewChannel(_fresh(channel), target.secret)


def edit_channel(
    channel_id: int,
    changes: Mapping[str, object],
    operator: Operator,
    *,
    tenant: str | None,
    revision: int | None = None,
) -> AlarmChannel:
    """Its secret stays, and so does its kind. It is tried again at once, whatever went wrong before."""
    with atomic(savepoint=False):
        channel = locked_channel(channel_id, tenant)
        _refuse_stale(channel, revision)
        before, target = _told(channel), _opened(channel)
        was = ChannelRequest(channel.name, channel.kind, target.url, target.to, channel.most_per_hour, channel.enabled)
        request = _checked(replace(was, **_known(changes)))
        if request.kind != channel.kind:
            raise InvalidTask(f"a channel stays a {channel.kind}; make a new one for {request.kind}.")
        if (request.url, request.to) != (target.url, target.to):
            target = replace(_target(request, operator), secret=target.secret)
            _put(channel, target)
        channel.name, channel.most_per_hour, channel.enabled = request.name, request.most_per_hour, request.enabled
        channel.permits = min(channel.permits, request.most_per_hour)
        channel.revision, channel.updated_at = channel.revision + 1, Now()
        channel.next_try_at = channel.failing_since = None
        channel.attempts, channel.error = 0, ""
        _save(channel)
        _audit(operator, "edit", channel, {"before": before, "after": _told(channel)})
    return _fresh(channel)


def delete_channel(
    channel_id: int, operator: Operator, *, tenant: str | None, revision: int | None = None
) -> AlarmChannel:
    """Refused while a rule names it: nobody would be told, and nobody would know."""
    with atomic(savepoint=False):
        channel = locked_channel(channel_id, tenant)
        _refuse_stale(channel, revision)
        using = list(AlarmRule.objects.filter(channels__contains=[channel.id]).values_list("name", flat=True)[:5])
        if using:
            raise InvalidTask(
                f"channel {channel.name!r} is named by {', '.join(map(repr, using))}. Take it out of the rule first."
            )
        AlarmAlert.objects.filter(channel=channel.id, done_at__isnull=True).update(
            done_at=Now(), outcome=AlarmAlert.GIVEN_UP, error="the channel was deleted"
        )
        _audit(operator, "delete", channel, {"before": _told(channel)})
        AlarmChannel.objects.filter(id=channel.id).delete()
    return channel


def target_of(channel: AlarmChannel) -> Target:
    """Raises CannotUnseal."""
    return unsealed(channel.target, channel.id)


def _opened(channel: AlarmChannel) -> Target:
    try:
        return target_of(channel)
    except CannotUnseal as error:
        raise InvalidTask(
            f"where channel {channel.name!r} leads can't be read any more ({error}) Make a new channel, and name it in "
            "the rules instead."
        ) from None


def unsealed(target: str, channel_id: int) -> Target:
    """Raises CannotUnseal."""
    found = json.loads(unseal(target, bound_to(channel_id)))
    return Target(found["url"], found["secret"], tuple(found["to"]))


def bound_to(channel_id: int) -> str:
    return f"punctual_alarm_channel {channel_id} target"


def find_channel(channel_id: int, tenant: str | None) -> AlarmChannel:
    found: AlarmChannel | None = (
        AlarmChannel.objects.filter(id=channel_id, tenant=tenant).first() if channel_id < 2**63 else None
    )
    if found is None:
        raise NotThere(f"There is no alarm channel {channel_id}.")
    return found


def locked_channel(channel_id: int, tenant: str | None) -> AlarmChannel:
    found: AlarmChannel | None = AlarmChannel.objects.select_for_update().filter(id=channel_id, tenant=tenant).first()
    if found is None:
        raise NotThere(f"There is no alarm channel {channel_id}.")
    return found


def _checked(request: ChannelRequest) -> ChannelRequest:
    checked_name("name", request.name, NAME_LENGTH)
    if request.kind not in list(ChannelKind):
        raise InvalidTask(
            f"kind={shown(request.kind)} is not a kind of channel; it is one of {', '.join(ChannelKind)}."
        )
    most = request.most_per_hour
    if isinstance(most, bool) or not isinstance(most, int) or not 1 <= most <= MOST_PER_HOUR:
        raise InvalidTask(f"most_per_hour={shown(most)} must be a whole number from 1 to {MOST_PER_HOUR:,}.")
    return replace(request, to=tuple(request.to))


def _target(request: ChannelRequest, operator: Operator) -> Target:
    if request.kind == ChannelKind.EMAIL:
        return _people(request, operator)
    if request.to:
        raise InvalidTask(f"a {request.kind} has no addresses of people (`to`); give its url, or make it an email.")
    try:
        checked(request.url)
    except Refused as error:
        raise InvalidTask(f"url: {error}") from None
    return Target(request.url, new_secret() if request.kind == ChannelKind.WEBHOOK else "")


def _people(request: ChannelRequest, operator: Operator) -> Target:
    if operator.tenant is not None:
        raise NotForTenants(
            "Mail goes out in this installation's name, so a channel that sends mail is made by its operators. "
            "Ask them for one, or use a webhook."
        )
    if request.url:
        raise InvalidTask("an email channel has no url; give the addresses of people in `to`.")
    if not 0 < len(request.to) <= MOST_ADDRESSES:
        raise InvalidTask(f"to: {len(request.to)} addresses are given; give 1 to {MOST_ADDRESSES}.")
    for address in request.to:
        try:
            validate_email(address)
        except ValidationError:
            raise InvalidTask(f"to: {shown(address)} is not a mail address, such as ops@example.com.") from None
    return Target(to=tuple(dict.fromkeys(request.to)))


def _put(channel: AlarmChannel, target: Target) -> None:
    channel.target, channel.shown = seal(json.dumps(asdict(target)), bound_to(channel.id)), target.shown
    AlarmChannel.objects.filter(id=channel.id).update(target=channel.target, shown=channel.shown)


def _save(channel: AlarmChannel) -> None:
    if unless_taken(lambda: channel.save() or channel) is None:
        raise NameTaken(f"there is an alarm channel {channel.name!r} already. Choose another name.")


def _fresh(channel: AlarmChannel) -> AlarmChannel:
    fresh: AlarmChannel = AlarmChannel.objects.get(id=channel.id)
    return fresh


def _known(changes: Mapping[str, Any]) -> Mapping[str, Any]:
    for name in changes.keys() - {field.name for field in fields(ChannelRequest)}:
        raise InvalidTask(f"{name!r} is not a field of a channel.")
    return changes


def _refuse_stale(channel: AlarmChannel, revision: int | None) -> None:
    if revision is not None and revision != channel.revision:
        raise StaleRevision(
            f"alarm channel {channel.name!r} has revision {channel.revision} now, and {revision} was given: somebody "
            "changed it. Read it again."
        )


def _told(channel: AlarmChannel) -> dict[str, Any]:
    return {name: getattr(channel, name) for name in ("name", "kind", "shown", "most_per_hour", "enabled")}


def _audit(operator: Operator, verb: str, channel: AlarmChannel, detail: dict[str, Any]) -> None:
    outcomes = {"create": "created", "edit": "edited", "delete": "deleted"}
    audit(operator, verb, [Entry(f"alarm channel {channel.id}", outcomes[verb], None, detail, channel.tenant)])
