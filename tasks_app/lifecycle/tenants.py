"""Tenants: made, changed, suspended and resumed, each with an audit entry and an event in its transaction. How they go
into the archive is in tenant_archive.py.

A tenant needs no row: without one it is active and has no quotas. Rows are made when somebody names a tenant here, or
gives it a token, and by a beat for those that it meets when it counts.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from tasks_app.conf import conf
from tasks_app.core.errors import InvalidTask, NameTaken, NothingToDo, NotThere, StaleRevision, nearest, shown
from tasks_app.core.handlers import refuse_bad_lane
from tasks_app.core.retry_budget import checked_budget
from tasks_app.core.tenants import (
    CONTACT_LENGTH,
    INTERNAL_TENANT,
    MOST_CONTACTS,
    QUOTAS,
    TENANT_LENGTH,
    TITLE_LENGTH,
    checked_quotas,
    checked_weight,
)
from tasks_app.core.zones import zone_of
from tasks_app.database import atomic, on_commit
from tasks_app.models import Tenant
from tasks_app.sql import run

from .audit import Entry, Operator, audit
from .data_keys import newest_keys
from .key_walk import order_walk
from .outbox import tell
from .past import kept_days, longest_within
from .quotas import refuse_archived
from .request import checked_instant, checked_name
from .tenant_archive import give_up
from .tenant_defaults import WITHOUT, forget

DEFAULTS = ("lane", "retention", "retry_share", "retry_burst")
FIELDS = ("title", "timezone", "contacts", "weight", "encrypted", *DEFAULTS, *QUOTAS)
ENDED = 100  # suspensions that one look ends, at most


class Changed(NamedTuple):
    """A tenant after an order, and whether that has changed anything."""

    row: Tenant
    changed: bool


def create(name: str, operator: Operator, **given: object) -> Tenant:
    """A tenant that nobody has named before, with what is given of FIELDS."""
    name = checked_tenant(name)
    values = _checked(name, given) if given else {}
    with atomic(savepoint=False):
        row, new = Tenant.objects.get_or_create(name=name, defaults=values)
        if not new:
            refuse_archived(name)
            raise NameTaken(f"there is a tenant {name!r} already. Edit it.")
        refuse_odd_defaults(row)
        if values.get("encrypted"):
            _encrypt(name, operator)
        on_commit(lambda: forget(name))
        _audit(operator, "create", "created", row, {"after": shown_fields(row)})
        tell("tenant.created", _told(row, operator), tenant=name)
    return found(name)


def edit(name: str, changes: Mapping[str, object], operator: Operator, *, seen: str | None = None) -> Changed:
    """What is given of FIELDS is so from now on; a quota of None is none.

    `seen`: `version_of` the row that the caller saw. StaleRevision if it is another one by now.
    """
    name = checked_tenant(name)
    values = _checked(name, changes)
    with atomic(savepoint=False):
        row = _locked(name)
        refuse_archived(name)
        if seen is not None and seen != version_of(row):
            raise StaleRevision(
                f"tenant {name!r} was changed at {version_of(row)}, after you opened it; nothing was changed now. Look "
                "at it again, and change it if that is still needed.",
                row,
            )
        before = shown_fields(row)
        for field, value in values.items():
            setattr(row, field, value)
        after = shown_fields(row)
        if after == before:
            return Changed(row, changed=False)
        # It is counted anew: until then a larger quota must not be refused, nor a smaller one by an estimate.
        refuse_odd_defaults(row)
        row.at_limit = row.at_limit and row.max_tasks is not None and (row.tasks or 0) >= row.max_tasks
        row.near = [quota for quota in row.near if getattr(row, quota) is not None]
        row.tasks = None if row.max_tasks is None else row.tasks
        row.jobs = None if row.max_jobs is None else row.jobs
        row.updated_at = run("clock", {})[0][0]
        row.save()
        on_commit(lambda: forget(name))
        if row.encrypted and not before["encrypted"]:
            _encrypt(name, operator)
        _audit(operator, "edit", "edited", row, {"before": before, "after": after})
        tell("tenant.edited", _told(row, operator), tenant=name)
    return Changed(row, changed=True)


def suspend(name: str, operator: Operator, *, until: datetime | None = None) -> Changed:
    """From the commit on nothing of it is started or planned. What runs goes on, and all its data stays."""
    name = checked_tenant(name)
    if name == INTERNAL_TENANT:
        raise InvalidTask(
            f"tenant {name!r} has the scheduler's own tasks, by which it tells that it is alive, and can't be "
            "suspended. Pause a lane, or put the installation into quarantine."
        )
    now = run("clock", {})[0][0]
    if until is not None and checked_instant("until", until) <= now:
        raise InvalidTask(f"until={until.isoformat()} has passed already; give a time to come, or none.")
    with atomic(savepoint=False):
        row = _locked(name, make=True)
        refuse_archived(name)
        if row.suspended and (row.until, row.reason) == (until, operator.reason):
            return Changed(row, changed=False)
        row.since = row.since if row.suspended else now
        row.state, row.until, row.reason, row.changed_by = Tenant.SUSPENDED, until, operator.reason, operator.name
        row.save()
        detail = {"until": until and until.isoformat()}
        _audit(operator, "suspend", "suspended", row, detail)
        tell("tenant.suspended", _told(row, operator, reason=operator.reason, **detail), tenant=name)
    return Changed(row, changed=True)


def resume(name: str, operator: Operator) -> Changed:
    """What lies aside is put back by a beat, and goes on by its own rules: what has expired meanwhile does not run."""
    name = checked_tenant(name)
    with atomic(savepoint=False):
        row = _locked(name)
        if row.archived:
            refuse_archived(name)
        if not row.suspended:
            return Changed(row, changed=False)
        give_up(row)
        _resume(row, operator)
    return Changed(row, changed=True)


def resume_ended(operator: Operator) -> int:
    """Resume those that were suspended until a time that has passed. Returns how many."""
    with atomic(savepoint=False):
        now = run("clock", {})[0][0]
        ended = Tenant.objects.select_for_update(skip_locked=True).filter(state=Tenant.SUSPENDED, until__lte=now)
        rows = list(ended.order_by("name")[:ENDED])
        for row in rows:
            _resume(row, operator)
    return len(rows)


def know(names: Iterable[str]) -> None:
    """Rows for those that have none."""
    if given := sorted(set(names)):
        run("know_tenants", {"names": given})


def found(name: str) -> Tenant:
    """NotThere if it has no row."""
    row: Tenant | None = Tenant.objects.filter(name=name).first()
    if row is None:
        raise NotThere(f"there is no tenant {shown(name)}.")
    return row


def refuse_odd_defaults(row: Tenant) -> None:
    """What does not go together."""
    if row.retry_burst is not None and row.retry_share is None:
        raise InvalidTask(
            f"retry_burst={row.retry_burst} without retry_share is no budget. Say which share of all tries may be "
            "retries, or leave both out."
        )
    if row.max_history_days is not None and kept_days(shortest := longest_within(0)) > row.max_history_days:
        raise InvalidTask(
            f"max_history_days={row.max_history_days} won't do: the shortest retention class, {shortest.name!r}, keeps "
            f"what is over for {kept_days(shortest):g} days. Give as many, or make a shorter one in RETENTION of the "
            "settings."
        )


def timezone_of(name: str) -> str:
    """Of its new jobs that fire by the clock and name none."""
    return Tenant.objects.filter(name=name).values_list("timezone", flat=True).first() or "UTC"


def checked_tenant(name: object) -> str:
    return checked_name("tenant", name, TENANT_LENGTH)


def shown_fields(row: Tenant) -> dict[str, object]:
    """What people can change, as the audit has it."""
    return {name: getattr(row, name) for name in FIELDS}


def version_of(row: Tenant) -> str:
    """Another one after each change of FIELDS."""
    updated_at: datetime = row.updated_at
    return updated_at.astimezone(UTC).isoformat()


def _resume(row: Tenant, operator: Operator) -> None:
    since = row.since
    row.state, row.until, row.reason, row.changed_by = Tenant.ACTIVE, None, "", operator.name
    row.since = run("clock", {})[0][0]
    row.save()
    detail = {"suspended_since": since.isoformat()}
    _audit(operator, "resume", "resumed", row, detail)
    tell("tenant.resumed", _told(row, operator, **detail), tenant=row.name)


def _encrypt(name: str, operator: Operator) -> None:
    """It has a key from now on, and what is stored of it is brought under that."""
    newest_keys([name])
    order_walk(operator)


def _locked(name: str, *, make: bool = False) -> Tenant:
    """Its row, until the end of the transaction. NotThere if it has none, unless one may be made."""
    if make:
        know([name])
    row: Tenant | None = Tenant.objects.select_for_update().filter(name=name).first()
    if row is None:
        raise NotThere(f"there is no tenant {name!r}. `manage.py tenant create` makes one.")
    return row


def _checked(name: str, given: Mapping[str, Any]) -> dict[str, object]:
    if unknown := [field for field in given if field not in FIELDS]:
        raise InvalidTask(f"a tenant has no {shown(unknown[0])}; it has {', '.join(FIELDS)}.")
    values: dict[str, object] = dict(checked_quotas({field: given[field] for field in QUOTAS if field in given}))
    if name == INTERNAL_TENANT and any(value is not None for value in values.values()):
        raise InvalidTask(f"tenant {name!r} has the scheduler's own tasks, and can have no quotas.")
    if "encrypted" in given:
        values["encrypted"] = _checked_encrypted(name, given["encrypted"])
    if "title" in given:
        values["title"] = checked_name("title", given["title"], TITLE_LENGTH) if given["title"] != "" else ""
    if "timezone" in given:
        values["timezone"] = given["timezone"] and zone_of(given["timezone"]).key
    if "contacts" in given:
        values["contacts"] = checked_contacts(given["contacts"])
    if "weight" in given:
        values["weight"] = checked_weight(given["weight"])
    values |= _checked_defaults(name, {field: given[field] for field in DEFAULTS if field in given})
    if not values:
        raise NothingToDo(f"nothing was given to change; a tenant has {', '.join(FIELDS)}.")
    return values


def _checked_defaults(name: str, given: Mapping[str, object]) -> dict[str, object]:
    named = {field: value for field, value in given.items() if value not in ("", None)}
    if name in WITHOUT and named:
        field, value = next(iter(named.items()))
        raise InvalidTask(
            f"{field}={shown(value)} won't do: tenant {name!r} goes by the settings and what types say. Set it there."
        )
    if "lane" in named:
        refuse_bad_lane(named["lane"], InvalidTask)
    classes = conf().retention_classes
    if "retention" in named and str(named["retention"]) not in classes:
        raise InvalidTask(
            f"retention={shown(named['retention'])} is no retention class.{nearest(str(named['retention']), classes)} "
            f"There are {', '.join(classes)}; RETENTION of the settings makes more."
        )
    for field, value in named.items():
        if field in ("retry_share", "retry_burst"):
            checked_budget(field, value)
    return {
        field: "" if value is None and field in ("lane", "retention") else value for field, value in given.items()
    } | {field: None for field in ("retry_share", "retry_burst") if field in given and field not in named}


def _checked_encrypted(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise InvalidTask(f"encrypted={shown(value)} won't do: it must be true or false.")
    if value and name == INTERNAL_TENANT:
        raise InvalidTask(f"tenant {name!r} has the scheduler's own tasks, which have nothing to hide.")
    return value


def checked_contacts(given: object) -> list[str]:
    """Addresses of mail, each once."""
    if not isinstance(given, Sequence) or isinstance(given, str) or len(given) > MOST_CONTACTS:
        raise InvalidTask(f"contacts={shown(given)} won't do: it must be a list of at most {MOST_CONTACTS} addresses.")
    for one in given:
        checked_name("contact", one, CONTACT_LENGTH)
        try:
            validate_email(one)
        except ValidationError:
            raise InvalidTask(f"contact {one!r} is no mail address, such as 'team@example.com'.") from None
    return list(dict.fromkeys(given))


def _audit(operator: Operator, verb: str, outcome: str, row: Tenant, detail: dict[str, Any]) -> None:
    audit(operator, verb, [Entry(f"tenant {row.name}", outcome, detail=detail, tenant=row.name)])


def _told(row: Tenant, operator: Operator, **more: object) -> dict[str, object]:
    return {"name": row.name, "by": operator.name} | more
