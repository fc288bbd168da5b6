"""Rules: who is told of what; made, changed and deleted by people, each with an audit entry in its transaction."""

from collections.abc import Mapping, Set
from dataclasses import dataclass, fields, replace
from typing import Any
from urllib.parse import urlsplit

from django.db import IntegrityError
from django.db.models import Q
from django.db.models.functions import Now

from tasks_app.conf import conf
from tasks_app.core.alarms import OPERATORS_ONLY, Condition, refused_patterns
from tasks_app.core.errors import InvalidTask, NameTaken, NotThere, StaleRevision, shown
from tasks_app.database import atomic
from tasks_app.lifecycle.audit import Entry, Operator, audit
from tasks_app.lifecycle.quotas import refuse_archived
from tasks_app.lifecycle.request import checked_name
from tasks_app.models import AlarmChannel, AlarmIncident, AlarmRule, JobDefinition

from .channels import NAME_LENGTH

MOST_RULES = 200  # of one tenant
MOST_CHANNELS = 10  # of one rule
MOST_TYPES = 50
LEAST_SECONDS, MOST_SECONDS = 60, 7 * 86_400
RUNBOOK_LENGTH = 500
# The events that tell of what a rule is about. Without them nobody would ever be told.
EVENTS = {
    Condition.DEAD: ("task.dead",),
    Condition.LATE: ("task.late",),
    Condition.MISSED: ("job.missed", "task.cancelled"),
    Condition.SUSPENDED: ("subscription.suspended", "subscription.resumed"),
    Condition.QUARANTINE: ("installation.quarantined",),
}


@dataclass(frozen=True, slots=True)
class RuleRequest:
    name: str
    conditions: tuple[str, ...]
    channels: tuple[int, ...]
    task_types: tuple[str, ...] = ()
    job: int | None = None
    late_seconds: float | None = None
    running_seconds: float | None = None
    repeat_seconds: int = 1_800
    quiet_seconds: int = 600
    runbook: str = ""
    enabled: bool = True


FIELDS = tuple(field.name for field in fields(RuleRequest))


def create_rule(request: RuleRequest, operator: Operator, tenant: str | None) -> AlarmRule:
    """From now on; what happened before is nobody's alarm. Raises InvalidTask, NotForTenants or NameTaken."""
    with atomic(savepoint=False):
        refuse_archived(tenant)
        values = _checked(request, operator, tenant)
        if AlarmRule.objects.filter(tenant=tenant).count() >= MOST_RULES:
            raise InvalidTask(f"there are {MOST_RULES} alarm rules, the most that there can be. Delete one first.")
        rule = AlarmRule(tenant=tenant, created_by=operator.name, **values)
        _save(rule)
        _audit(operator, "create", rule, {"after": told(rule)})
    return find_rule(rule.id, tenant)


def edit_rule(
    rule_id: int, changes: Mapping[str, Any], operator: Operator, *, tenant: str | None, revision: int | None = None
) -> AlarmRule:
    """What is open stays open, and is told by the new rule, unless it is turned off."""
    with atomic(savepoint=False):
        rule = _locked(rule_id, tenant, revision)
        before = told(rule)
        for name in changes.keys() - set(FIELDS):
            raise InvalidTask(f"{name!r} is not a field of an alarm rule.")
        values = _checked(replace(RuleRequest(**before), **changes), operator, tenant, frozenset(rule.channels))
        for name, value in values.items():
            setattr(rule, name, value)
        rule.revision, rule.updated_at = rule.revision + 1, Now()
        _save(rule)
        if not rule.enabled:
            _close(rule)
        _audit(operator, "edit", rule, {"before": before, "after": told(rule)})
    return find_rule(rule.id, tenant)


def delete_rule(rule_id: int, operator: Operator, *, tenant: str | None, revision: int | None = None) -> AlarmRule:
    """Nobody is told any more; its incidents stay to be read for a while."""
    with atomic(savepoint=False):
        rule = _locked(rule_id, tenant, revision)
        _close(rule)
        _audit(operator, "delete", rule, {"before": told(rule)})
        AlarmRule.objects.filter(id=rule.id).delete()
    return rule


def find_rule(rule_id: int, tenant: str | None) -> AlarmRule:
    found: AlarmRule | None = AlarmRule.objects.filter(id=rule_id, tenant=tenant).first() if rule_id < 2**63 else None
    if found is None:
        raise NotThere(f"There is no alarm rule {rule_id}.")
    return found


def told(rule: AlarmRule) -> dict[str, Any]:
    """The rule as it was asked for."""
    return {name: getattr(rule, name) for name in FIELDS}


def _checked(
    request: RuleRequest, operator: Operator, tenant: str | None, told: Set[int] = frozenset()
) -> dict[str, Any]:
    checked_name("name", request.name, NAME_LENGTH)
    conditions = _conditions(request, tenant)
    late = request.late_seconds
    if Condition.LATE in conditions and late is not None and late < conf().LATE_SECONDS:
        raise InvalidTask(
            f"late_seconds={late:g} is less than {conf().LATE_SECONDS:g} s, from which on lateness is "
            'told at all. Raise it, or lower PUNCTUAL["LATE_SECONDS"].'
        )
    for name in ("repeat_seconds", "quiet_seconds"):
        value = getattr(request, name)
        if isinstance(value, bool) or not isinstance(value, int) or not LEAST_SECONDS <= value <= MOST_SECONDS:
            raise InvalidTask(f"{name}={shown(value)} must be whole seconds, from {LEAST_SECONDS} to {MOST_SECONDS:,}.")
    return {
        "name": request.name,
        "conditions": conditions,
        "task_types": _types(request),
        "job": _job(request, tenant),
        "late_seconds": request.late_seconds,
        "running_seconds": request.running_seconds,
        "channels": _channels(request, operator, tenant, told),
        "repeat_seconds": request.repeat_seconds,
        "quiet_seconds": request.quiet_seconds,
        "runbook": _runbook(request.runbook),
        "enabled": bool(request.enabled),
    }


def _conditions(request: RuleRequest, tenant: str | None) -> list[str]:
    known = [str(one) for one in Condition]
    for one in request.conditions:
        if one not in known:
            raise InvalidTask(f"{shown(one)} is not a condition; there are {', '.join(known)}.")
    if not request.conditions:
        raise InvalidTask(f"conditions: none is given; name at least one of {', '.join(known)}.")
    for condition, name in ((Condition.LATE, "late_seconds"), (Condition.RUNNING, "running_seconds")):
        _refuse_odd_seconds(condition, name, getattr(request, name), condition in request.conditions)
    for one in OPERATORS_ONLY:
        if one in request.conditions and tenant is not None:
            raise InvalidTask(f"condition {str(one)!r} is of all tenants; only a rule for all tenants can have it.")
    kept = conf().kept_events
    for one in request.conditions:
        for event in EVENTS.get(Condition(one), ()):
            if event not in kept:
                raise InvalidTask(
                    f'condition {one!r} needs the event {event}, which PUNCTUAL["EVENTS"] leaves out. Add it there.'
                )
    return [one for one in known if one in request.conditions]


def _refuse_odd_seconds(condition: Condition, name: str, value: object, wanted: bool) -> None:
    if not wanted and value is not None:
        raise InvalidTask(f"{name} is given, but condition {str(condition)!r} is not. Add it, or leave {name} out.")
    if wanted and (isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 30 * 86_400):
        raise InvalidTask(
            f"condition {str(condition)!r} needs {name}: more than 0 and at most {30 * 86_400:,} seconds; "
            f"it is {shown(value)}."
        )


def _types(request: RuleRequest) -> list[str]:
    patterns = list(dict.fromkeys(request.task_types))
    if len(patterns) > MOST_TYPES:
        raise InvalidTask(f"task_types: {len(patterns)} are given; give at most {MOST_TYPES}, or one with a *.")
    if problem := refused_patterns(patterns):
        raise InvalidTask(f"task_types: {problem}")
    return patterns


def _job(request: RuleRequest, tenant: str | None) -> int | None:
    if request.job is None:
        return None
    jobs = JobDefinition.objects.filter(id=request.job)
    if not isinstance(request.job, int) or not (jobs if tenant is None else jobs.filter(tenant=tenant)).exists():
        raise InvalidTask(f"there is no job {shown(request.job)}.")
    return request.job


def _channels(request: RuleRequest, operator: Operator, tenant: str | None, told: Set[int]) -> list[int]:
    """Of the rule's own tenant; an operator may give a tenant's rule one of the operators'. What it has `told` so far
    may stay: none that a rule names is deleted, and a member does not see those of the operators."""
    ids = list(dict.fromkeys(request.channels))
    if not 0 < len(ids) <= MOST_CHANNELS:
        raise InvalidTask(f"channels: {len(ids)} are given; name 1 to {MOST_CHANNELS}.")
    open_to = Q(tenant=tenant) if operator.tenant is not None else Q(tenant=tenant) | Q(tenant=None)
    # Locked: whoever deletes one looks for rules that name it.
    locked = AlarmChannel.objects.select_for_update().filter(open_to, id__in=ids)
    found = set(locked.values_list("id", flat=True))
    if missing := [one for one in ids if one not in found | told]:
        raise InvalidTask(f"there is no alarm channel {missing[0]} that this rule could use.")
    return ids


def _runbook(text: str) -> str:
    if not text:
        return ""
    checked_name("runbook", text, RUNBOOK_LENGTH)
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.netloc or " " in text:
        raise InvalidTask(f"runbook {shown(text)} is not an address of a page; it begins with https:// or http://.")
    return text


def _locked(rule_id: int, tenant: str | None, revision: int | None) -> AlarmRule:
    rule: AlarmRule | None = AlarmRule.objects.select_for_update().filter(id=rule_id, tenant=tenant).first()
    if rule is None:
        raise NotThere(f"There is no alarm rule {rule_id}.")
    if revision is not None and revision != rule.revision:
        raise StaleRevision(
            f"alarm rule {rule.name!r} has revision {rule.revision} now, and {revision} was given: somebody changed "
            "it. Read it again."
        )
    return rule


def _save(rule: AlarmRule) -> None:
    try:
        with atomic():
            rule.save()
    except IntegrityError:
        raise NameTaken(f"there is an alarm rule {rule.name!r} already. Choose another name.") from None


def _close(rule: AlarmRule) -> None:
    AlarmIncident.objects.filter(rule=rule.id, closed_at__isnull=True).update(
        closed_at=Now(), outcome=AlarmIncident.GONE, tell_at=None
    )


def _audit(operator: Operator, verb: str, rule: AlarmRule, detail: dict[str, Any]) -> None:
    outcomes = {"create": "created", "edit": "edited", "delete": "deleted"}
    audit(operator, verb, [Entry(f"alarm rule {rule.id}", outcomes[verb], None, detail, rule.tenant)])
