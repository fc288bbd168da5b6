"""Calendars: created, changed, deleted; each with an audit entry in its transaction.

A change takes effect on what is planned from then on. What was planned before, a minute ahead, is planned again by a
planner: jobs/replanning.py.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import date
from typing import Any
from uuid import uuid4

from django.db import IntegrityError

from tasks_app.core.calendars import checked_days, checked_weekdays, refuse_both
from tasks_app.core.errors import InvalidTask, NameTaken, NotThere, StaleRevision, nearest, shown
from tasks_app.core.phrases import counted
from tasks_app.core.tenants import DEFAULT_TENANT, TENANT_LENGTH
from tasks_app.database import atomic
from tasks_app.lifecycle.audit import Entry, Operator, audit
from tasks_app.lifecycle.quotas import refuse_archived
from tasks_app.lifecycle.request import checked_name
from tasks_app.models import Calendar, JobDefinition
from tasks_app.models.calendar import CALENDAR_NAME_LENGTH
from tasks_app.sql import run

MOST_CALENDARS = 1_000  # of one tenant
_Given = Mapping[date, str] | Mapping[str, str] | Sequence[date | str]
_DAYS = ("weekdays", "days_off", "working_days")


@dataclass(frozen=True)
class CalendarRequest:
    """Every field a caller may set. Days are dates, or texts like 2026-12-25; a mapping says what each is called."""

    name: str
    weekdays: Sequence[int | str] = ()  # off in every week: 6 or "Saturday"
    days_off: _Given = ()
    working_days: _Given = ()  # on which people work though the weekday is off


FIELDS = tuple(field.name for field in fields(CalendarRequest))


def create(request: CalendarRequest, operator: Operator, *, tenant: str = DEFAULT_TENANT) -> Calendar:
    """A new calendar, which no job keeps yet."""
    checked_name("tenant", tenant, TENANT_LENGTH)
    values = _columns(request)
    with atomic():
        refuse_archived(tenant)
        if Calendar.objects.filter(tenant=tenant).count() >= MOST_CALENDARS:
            raise InvalidTask(f"tenant {tenant!r} has {MOST_CALENDARS:,} calendars, which is the most. Delete some.")
        try:
            with atomic():
                made: Calendar = Calendar.objects.create(tenant=tenant, created_by=operator.name, **values)
        except IntegrityError as error:
            raise _name_taken(error, tenant, values["name"]) from None
        made.refresh_from_db()
        _audit(operator, "create calendar", "created", made, {"after": _as_told(made)})
    return made


def edit(
    calendar_id: int,
    changes: Mapping[str, Any],
    operator: Operator,
    *,
    tenant: str = DEFAULT_TENANT,
    revision: int | None = None,
) -> Calendar:
    """The calendar with these fields changed; what was planned by its old days is planned again within seconds."""
    for name in changes:
        if name not in FIELDS:
            raise InvalidTask(f"a calendar has no field {name!r}.{nearest(name, FIELDS)}")
    with atomic():
        calendar = lock(tenant, calendar_id, revision)
        before = _as_told(calendar)
        request = replace(CalendarRequest(**{name: getattr(calendar, name) for name in FIELDS}), **changes)
        values = _columns(request)
        new_days = any(values[name] != getattr(calendar, name) for name in _DAYS)
        for name, value in values.items():
            setattr(calendar, name, value)
        calendar.version, calendar.revision = uuid4(), calendar.revision + 1
        calendar.changed = calendar.changed or new_days
        calendar.updated_at = run("clock", {})[0][0]
        try:
            with atomic():
                calendar.save()
        except IntegrityError as error:
            raise _name_taken(error, tenant, values["name"]) from None
        _audit(operator, "edit calendar", "edited", calendar, {"before": before, "after": _as_told(calendar)})
    return calendar


def delete(
    calendar_id: int, operator: Operator, *, tenant: str = DEFAULT_TENANT, revision: int | None = None
) -> Calendar:
    """The calendar is gone; refused while a job keeps it."""
    with atomic():
        calendar = lock(tenant, calendar_id, revision)
        # Locked alone: whoever gives it to a job locks it too, so none comes after this look.
        jobs = list(
            JobDefinition.objects.filter(calendar=calendar.id).order_by("id").values_list("name", flat=True)[:4]
        )
        if jobs:
            names = ", ".join(repr(name) for name in jobs[:3]) + (" and others" if len(jobs) > 3 else "")
            raise InvalidTask(
                f"calendar {calendar.name!r} is kept by {names}, so it can't be deleted. Give them another, or none."
            )
        Calendar.objects.filter(id=calendar.id).delete()
        _audit(operator, "delete calendar", "deleted", calendar, {"before": _as_told(calendar)})
    return calendar


def add_days(
    name: str,
    days: Mapping[date, str],
    operator: Operator,
    *,
    tenant: str = DEFAULT_TENANT,
    replace_all: bool = False,
) -> Calendar:
    """The calendar of that name with these days off, too, or instead of those it had; created if there is none."""
    with atomic():
        found = Calendar.objects.filter(tenant=tenant, name=name).first() if isinstance(name, str) else None
        if found is None:
            return create(CalendarRequest(name, days_off=days), operator, tenant=tenant)
        known = lock(tenant, found.id)
        kept = {} if replace_all else known.days_off
        return edit(found.id, {"days_off": kept | checked_days("days_off", days)}, operator, tenant=tenant)


def lock(tenant: str, calendar_id: object, revision: int | None = None) -> Calendar:
    number = calendar_id if isinstance(calendar_id, int) and 0 < calendar_id < 2**63 else -1
    calendar: Calendar | None = Calendar.objects.select_for_update().filter(tenant=tenant, id=number).first()
    if calendar is None:
        raise NotThere(f"there is no calendar {shown(calendar_id)}.")
    if revision is not None and calendar.revision != revision:
        raise StaleRevision(
            f"calendar {calendar.id} is at revision {calendar.revision}, not {revision}: somebody changed it. "
            "Read it again."
        )
    return calendar


def _columns(request: CalendarRequest) -> dict[str, Any]:
    values: dict[str, Any] = {
        "name": checked_name("name", request.name, CALENDAR_NAME_LENGTH),
        "weekdays": checked_weekdays(request.weekdays),
        "days_off": checked_days("days_off", request.days_off),
        "working_days": checked_days("working_days", request.working_days),
    }
    refuse_both(values["days_off"], values["working_days"])
    return values


def _as_told(calendar: Calendar) -> dict[str, Any]:
    """What an audit entry keeps of a calendar, before and after: of long lists only how many."""
    told = asdict(CalendarRequest(**{name: getattr(calendar, name) for name in FIELDS}))
    return {
        name: value if len(value) <= 100 or name == "name" else counted(len(value), "day")
        for name, value in told.items()
    } | {"revision": calendar.revision}


def _audit(operator: Operator, verb: str, outcome: str, calendar: Calendar, detail: dict[str, Any]) -> None:
    detail = detail | {"tenant": calendar.tenant, "name": calendar.name}
    audit(operator, verb, [Entry(f"calendar {calendar.id}", outcome, None, detail, calendar.tenant)])


def _name_taken(error: Exception, tenant: str, name: str) -> Exception:
    if "punctual_calendar_name" not in str(error):
        return error
    return NameTaken(f"tenant {tenant!r} already has a calendar named {name!r}. Choose another name, or edit that one.")
