"""/alarms: rules, the channels that they tell, and the incidents that they found."""

from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Self
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from tasks_app.client.endpoints import PAGE, Cursor, Limit, Text
from tasks_app.core.alarms import AlertKind, ChannelKind, Condition
from tasks_app.core.errors import InvalidTask, TypeClosed
from tasks_app.core.routers import may_answer
from tasks_app.engine.operations import alarms as operations
from tasks_app.engine.operations.callers import Caller
from tasks_app.engine.watch.alarm_browse import (
    IncidentFilter,
    alerts_of_channel,
    alerts_of_incident,
    page_of_incidents,
    rule_names,
)
from tasks_app.lifecycle.alarms import channels, rules
from tasks_app.lifecycle.alarms.channels import MOST_PER_HOUR, ChannelRequest
from tasks_app.lifecycle.alarms.rules import RuleRequest
from tasks_app.lifecycle.alarms.view import title_of
from tasks_app.lifecycle.audit import Operator
from tasks_app.models import AlarmAlert, AlarmChannel, AlarmIncident, AlarmRule, JobDefinition

from .auth import caller
from .headers import tell_revision
from .idempotency import mutation
from .jobs import operator
from .problems import Problem
from .schemas import LARGEST_ID, Id, Key, NeededRevision, Page, Revision, id_of

router = Router(tags=["alarms"])


class AlarmScope(StrEnum):
    TENANT = "tenant"
    ALL = "all"


class AlertOutcome(StrEnum):
    WAITING = "WAITING"
    SENT = "SENT"
    FOLDED = "FOLDED"
    GIVEN_UP = "GIVEN_UP"


class _In(Schema):
    model_config = {"extra": "forbid", "use_enum_values": True}


Scoped = Annotated[AlarmScope, Query(description="`all`: those for all tenants, which only operators see")]


class AlarmRulePatch(_In):
    """The fields to change."""

    name: Text | None = Field(None, min_length=1)
    conditions: list[Condition] | None = Field(None, min_length=1, description="What it is about")
    channels: list[int] | None = Field(None, min_length=1, description="Who is told: the ids of channels")
    task_types: list[Text] | None = Field(None, description="Patterns such as `INVOICE_*`; none: all types")
    job: int | None = Field(None, ge=1, le=LARGEST_ID, description="This job alone")
    late_seconds: float | None = Field(None, gt=0, description="For `late`: more than this")
    running_seconds: float | None = Field(None, gt=0, description="For `running`: more than this")
    repeat_seconds: int | None = Field(None, description="While it goes on, told again no sooner than this")
    quiet_seconds: int | None = Field(None, description="Well again when it has not happened for so long")
    runbook: Text | None = Field(None, description="The address of a page that says what to do")
    enabled: bool | None = None
    reason: Text | None = Field(None, description="Why; kept in the audit")


class AlarmRuleIn(AlarmRulePatch):
    """A new rule."""

    name: Text = Field(min_length=1)
    conditions: list[Condition] = Field(min_length=1, description="What it is about")
    channels: list[int] = Field(min_length=1, description="Who is told: the ids of channels")
    scope: AlarmScope = Field(AlarmScope.TENANT, description="`all`: of all tenants, for operators")


class AlarmRuleOut(Schema):
    id: int
    revision: int
    scope: AlarmScope
    name: str
    conditions: list[Condition]
    channels: list[int]
    task_types: list[str]
    job: int | None
    late_seconds: float | None
    running_seconds: float | None
    repeat_seconds: int
    quiet_seconds: int
    runbook: str
    enabled: bool
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, rule: AlarmRule) -> "AlarmRuleOut":
        plain = {name: getattr(rule, name) for name in cls.model_fields if hasattr(rule, name)}
        return cls(**plain | {"scope": _scope(rule)})


class AlarmChannelPatch(_In):
    """The fields to change. The kind and the secret stay."""

    name: Text | None = Field(None, min_length=1)
    url: Text | None = Field(None, description="Where a webhook or a chat is called")
    to: list[Text] | None = Field(None, description="Mail addresses")
    most_per_hour: int | None = Field(None, ge=1, le=MOST_PER_HOUR, description="Beyond it, alerts are sent together")
    enabled: bool | None = None
    reason: Text | None = Field(None, description="Why; kept in the audit")


class AlarmChannelIn(AlarmChannelPatch):
    """A new channel."""

    name: Text = Field(min_length=1)
    kind: ChannelKind
    scope: AlarmScope = Field(AlarmScope.TENANT, description="`all`: for rules of all tenants, for operators")


class AlarmChannelOut(Schema):
    id: int
    revision: int
    scope: AlarmScope
    name: str
    kind: ChannelKind
    shown: str = Field(description="Where it leads, without what may be secret about it")
    most_per_hour: int
    enabled: bool
    failing_since: datetime | None = Field(description="Nothing could be sent since then")
    error: str = Field(description="Of the last try, if that failed")
    sent_at: datetime | None = Field(description="When something was last sent")
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, channel: AlarmChannel, **more: object) -> Self:
        plain = {name: getattr(channel, name) for name in cls.model_fields if hasattr(channel, name)}
        return cls(**plain | {"scope": _scope(channel)} | more)


class NewAlarmChannelOut(AlarmChannelOut):
    """A new channel, with the secret that signs what is sent to it: this is the only time that it is shown."""

    secret: str | None = Field(description="For webhooks, as in the Standard Webhooks scheme; otherwise null")


class AlarmChannelTestOut(Schema):
    ok: bool
    words: str = Field(description="What the other side said, or why it could not be reached")


class AlertOut(Schema):
    id: UUID = Field(description="Stays the same however often it is sent: `webhook-id`, and part of the `Message-ID`")
    channel: int
    kind: AlertKind
    title: str
    created_at: datetime
    attempts: int
    outcome: AlertOutcome
    error: str

    @classmethod
    def of(cls, alert: AlarmAlert) -> "AlertOut":
        plain = {name: getattr(alert, name) for name in cls.model_fields if hasattr(alert, name)}
        return cls(**plain | {"title": alert.body["title"], "outcome": alert.outcome or AlertOutcome.WAITING})


class IncidentOut(Schema):
    id: int
    scope: AlarmScope
    rule: int
    rule_name: str | None = Field(description="Null: the rule has been deleted")
    condition: Condition
    cause: str = Field(description="What its occurrences have in common, such as an error code")
    task_type: str | None
    job: int | None = Field(description="The job, if the rule is about one")
    title: str
    count: int
    opened_at: datetime
    seen_at: datetime = Field(description="When it was last seen")
    told_at: datetime | None = Field(description="When an alert about it was last written")
    closed_at: datetime | None = Field(description="Null: it is open")
    well: bool = Field(description="Whether it is known to be well again")

    @classmethod
    def of(cls, one: AlarmIncident, names: dict[int, str], **more: object) -> Self:
        plain = {name: getattr(one, name) for name in cls.model_fields if hasattr(one, name)}
        told = {"scope": _scope(one), "rule_name": names.get(one.rule), "task_type": one.task_type or None}
        told |= {"title": title_of(one), "well": one.outcome == AlarmIncident.WELL}
        return cls(**plain | told | more)


class IncidentDetailOut(IncidentOut):
    alerts: list[AlertOut]


class AlarmRulePage(Page):
    items: list[AlarmRuleOut]


class AlarmChannelPage(Page):
    items: list[AlarmChannelOut]


class AlertPage(Schema):
    items: list[AlertOut]


class IncidentPage(Page):
    items: list[IncidentOut]


@router.get("/rules", response=AlarmRulePage, summary="List the alarm rules, by name")
@may_answer("SCH_403_FORBIDDEN")
def list_alarm_rules(
    request: HttpRequest, scope: Scoped = AlarmScope.TENANT, after: Cursor = None, limit: Limit = PAGE
) -> dict[str, object]:
    asked = caller(request)
    found, more = _by_name(AlarmRule.objects.filter(tenant=_tenant(asked, scope)), after, limit)
    return {"items": [AlarmRuleOut.of(rule) for rule in found if _may_see(asked, rule)], "next": more}


@router.post("/rules", response={201: AlarmRuleOut}, summary="Create an alarm rule")
@may_answer("SCH_403_TYPE_CLOSED", "SCH_409_DUPLICATE")
@mutation
def create_alarm_rule(request: HttpRequest, body: AlarmRuleIn, idempotency_key: Key = None) -> tuple[int, AlarmRuleOut]:
    asked, given = caller(request), _given(body)
    tenant = _tenant(asked, given.pop("scope", AlarmScope.TENANT))
    made = RuleRequest(**{"task_types": (), **given})
    _refuse_beyond(asked, made)
    return 201, AlarmRuleOut.of(rules.create_rule(made, _operator(request, body.reason), tenant))


@router.get("/rules/{rule_id}", response=AlarmRuleOut, summary="Read an alarm rule")
def read_alarm_rule(request: HttpRequest, rule_id: Id) -> AlarmRuleOut:
    rule = _rule(request, rule_id)
    tell_revision(request, rule.revision)
    return AlarmRuleOut.of(rule)


@router.patch("/rules/{rule_id}", response=AlarmRuleOut, summary="Change an alarm rule")
@may_answer("SCH_403_TYPE_CLOSED", "SCH_409_DUPLICATE")
@mutation
def edit_alarm_rule(
    request: HttpRequest, rule_id: Id, body: AlarmRulePatch, if_match: NeededRevision, idempotency_key: Key = None
) -> tuple[int, AlarmRuleOut]:
    """A field that is left out stays as it is. What is open stays open, unless the rule is turned off."""
    rule = _rule(request, rule_id)
    edited = rules.edit_rule(
        rule.id, _given(body), _operator(request, body.reason), tenant=rule.tenant, revision=_revision(if_match)
    )
    _refuse_beyond(caller(request), edited)
    return 200, AlarmRuleOut.of(edited)


@router.delete("/rules/{rule_id}", response={204: None}, summary="Delete an alarm rule")
@mutation
def delete_alarm_rule(
    request: HttpRequest, rule_id: Id, if_match: Revision = None, idempotency_key: Key = None
) -> tuple[int, None]:
    rule = _rule(request, rule_id)
    rules.delete_rule(rule.id, _operator(request), tenant=rule.tenant, revision=_revision(if_match))
    return 204, None


@router.get("/channels", response=AlarmChannelPage, summary="List the alarm channels, by name")
@may_answer("SCH_403_FORBIDDEN")
def list_alarm_channels(
    request: HttpRequest, scope: Scoped = AlarmScope.TENANT, after: Cursor = None, limit: Limit = PAGE
) -> dict[str, object]:
    found, more = _by_name(AlarmChannel.objects.filter(tenant=_tenant(caller(request), scope)), after, limit)
    return {"items": [AlarmChannelOut.of(channel) for channel in found], "next": more}


@router.post("/channels", response={201: NewAlarmChannelOut}, summary="Create an alarm channel")
@may_answer("SCH_409_DUPLICATE")
@mutation
def create_alarm_channel(request: HttpRequest, body: AlarmChannelIn) -> tuple[int, NewAlarmChannelOut]:
    """What is secret about it is stored encrypted, and its secret is in this answer alone. So there is no
    Idempotency-Key, which would keep the answer: sent twice, the second time the name is taken. Mail goes out in the
    installation's name, so that operators make the channels that send it."""
    given = _given(body)
    tenant = _tenant(caller(request), given.pop("scope", AlarmScope.TENANT))
    made = channels.create_channel(ChannelRequest(**given), _operator(request, body.reason), tenant)
    return 201, NewAlarmChannelOut.of(made.channel, secret=made.secret or None)


@router.get("/channels/{channel_id}", response=AlarmChannelOut, summary="Read an alarm channel")
def read_alarm_channel(request: HttpRequest, channel_id: Id) -> AlarmChannelOut:
    channel = _channel(request, channel_id)
    tell_revision(request, channel.revision)
    return AlarmChannelOut.of(channel)


@router.patch("/channels/{channel_id}", response=AlarmChannelOut, summary="Change an alarm channel")
@may_answer("SCH_409_DUPLICATE")
@mutation
def edit_alarm_channel(
    request: HttpRequest, channel_id: Id, body: AlarmChannelPatch, if_match: NeededRevision, idempotency_key: Key = None
) -> tuple[int, AlarmChannelOut]:
    """It is tried again at once, whatever went wrong before."""
    channel, by = _channel(request, channel_id), _operator(request, body.reason)
    edited = channels.edit_channel(channel.id, _given(body), by, tenant=channel.tenant, revision=_revision(if_match))
    return 200, AlarmChannelOut.of(edited)


@router.delete("/channels/{channel_id}", response={204: None}, summary="Delete an alarm channel")
@mutation
def delete_alarm_channel(
    request: HttpRequest, channel_id: Id, if_match: Revision = None, idempotency_key: Key = None
) -> tuple[int, None]:
    """Refused while a rule names it."""
    channel = _channel(request, channel_id)
    channels.delete_channel(channel.id, _operator(request), tenant=channel.tenant, revision=_revision(if_match))
    return 204, None


@router.post("/channels/{channel_id}/test", response=AlarmChannelTestOut, summary="Send a test alert to a channel")
@may_answer("SCH_429_RETRY_LIMITED")
def test_alarm_channel(request: HttpRequest, channel_id: Id) -> AlarmChannelTestOut:
    """Sent at once; the answer says what came of it. It counts as one of the alerts that the channel may get."""
    tested = operations.test_channel(_channel(request, channel_id), _operator(request))
    return AlarmChannelTestOut(ok=tested.ok, words=tested.words)


@router.get("/channels/{channel_id}/alerts", response=AlertPage, summary="Read the last alerts of a channel")
def read_channel_alerts(request: HttpRequest, channel_id: Id) -> dict[str, object]:
    asked, channel = caller(request), _channel(request, channel_id)
    found = alerts_of_channel(channel.id) if asked.types is None else []
    return {"items": [AlertOut.of(alert) for alert in found]}


@router.get("/incidents", response=IncidentPage, summary="List incidents, the newest first")
@may_answer("SCH_403_FORBIDDEN")
def list_incidents(
    request: HttpRequest,
    scope: Scoped = AlarmScope.TENANT,
    open: Annotated[bool, Query(description="Only those that are not over")] = False,
    rule: Annotated[int | None, Query(ge=1, le=LARGEST_ID)] = None,
    after: Cursor = None,
    limit: Limit = PAGE,
) -> dict[str, object]:
    asked = caller(request)
    wanted = IncidentFilter(_tenant(asked, scope), open_only=open, types=asked.types, rule=rule)
    found, more = page_of_incidents(wanted, None if after is None else id_of(after), limit)
    names = rule_names(found)
    return {"items": [IncidentOut.of(one, names) for one in found], "next": more and str(more)}


@router.get("/incidents/{incident_id}", response=IncidentDetailOut, summary="Read an incident, with its alerts")
def read_incident(request: HttpRequest, incident_id: Id) -> IncidentDetailOut:
    asked = caller(request)
    one = AlarmIncident.objects.filter(id=incident_id).first()
    if one is None or not _own(asked, one) or (asked.types is not None and one.task_type not in asked.types):
        raise Problem("SCH_404_NOT_FOUND", f"There is no incident {incident_id}.")
    whose = None if asked.is_operator else asked.tenant
    alerts = [AlertOut.of(alert) for alert in alerts_of_incident(one.id, whose)]
    return IncidentDetailOut.of(one, rule_names([one]), alerts=alerts)


def _by_name(found: QuerySet, after: str | None, limit: int) -> tuple[list[Any], str | None]:
    """A page of what has names, and the name after which the next one goes on."""
    rows = list(found.filter(name__gt=after or "").order_by("name")[: limit + 1])
    return rows[:limit], rows[limit - 1].name if len(rows) > limit else None


def _scope(row: AlarmRule | AlarmChannel | AlarmIncident) -> AlarmScope:
    return AlarmScope.ALL if row.tenant is None else AlarmScope.TENANT


def _tenant(asked: Caller, scope: str) -> str | None:
    if scope == AlarmScope.ALL:
        asked.refuse_outsider("an alarm rule or channel of scope `all`")
        return None
    return asked.tenant


def _own(asked: Caller, row: AlarmRule | AlarmChannel | AlarmIncident) -> bool:
    return row.tenant == asked.tenant or (row.tenant is None and asked.is_operator)


def _rule(request: HttpRequest, rule_id: int) -> AlarmRule:
    rule: AlarmRule | None = AlarmRule.objects.filter(id=rule_id).first()
    if rule is None or not _own(caller(request), rule) or not _may_see(caller(request), rule):
        raise Problem("SCH_404_NOT_FOUND", f"There is no alarm rule {rule_id}.")
    return rule


def _channel(request: HttpRequest, channel_id: int) -> AlarmChannel:
    channel: AlarmChannel | None = AlarmChannel.objects.filter(id=channel_id).first()
    if channel is None or not _own(caller(request), channel):
        raise Problem("SCH_404_NOT_FOUND", f"There is no alarm channel {channel_id}.")
    return channel


def _may_see(asked: Caller, rule: AlarmRule | RuleRequest) -> bool:
    """A token for some types has to do with rules that are about these alone."""
    if asked.types is None:
        return True
    named = set(rule.task_types)
    if rule.job is not None and not named:
        named = set(JobDefinition.objects.filter(id=rule.job, tenant=asked.tenant).values_list("task_type", flat=True))
    return bool(named) and named <= asked.types and Condition.SUSPENDED not in rule.conditions


def _refuse_beyond(asked: Caller, rule: AlarmRule | RuleRequest) -> None:
    if not _may_see(asked, rule):
        usable = ", ".join(asked.usable_types()[:20])
        raise TypeClosed(f"this token may make alarms for its own types alone. Name them in task_types: {usable}.")


def _operator(request: HttpRequest, reason: str | None = None) -> Operator:
    """A member is bound to the tenant as its tokens are: mail goes out in the installation's name."""
    asked = caller(request)
    return replace(operator(request, reason), tenant=None if asked.everywhere else asked.tenant)


def _revision(etag: str | None) -> int | None:
    return None if etag is None else int(etag.removeprefix("W/").strip('"'))


_EMPTY = {"task_types": (), "runbook": "", "to": (), "url": ""}  # what null means, where null is no value
_NULLABLE = ("job", "late_seconds", "running_seconds")


def _given(body: AlarmRulePatch | AlarmChannelPatch) -> dict[str, Any]:
    """The fields that were sent; null takes a value away where there need not be one."""
    found = {}
    for name, value in body.model_dump(exclude_unset=True, exclude={"reason"}).items():
        if value is None and name not in _NULLABLE and name not in _EMPTY:
            raise InvalidTask(f"{name} is null; give a value, or leave it out.")
        value = _EMPTY.get(name) if value is None else value
        found[name] = tuple(value) if isinstance(value, list) else value
    return found
