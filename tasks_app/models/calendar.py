"""A calendar: a named set of days off, for the jobs of one tenant."""

from collections.abc import Iterable
from datetime import date
from typing import NamedTuple
from uuid import UUID, uuid4

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from tasks_app.core.at_work import MARKS, Kind
from tasks_app.core.calendars import Days
from tasks_app.core.errors import InvalidTask
from tasks_app.core.tenants import DEFAULT_TENANT, TENANT_LENGTH

from .base import ArrayField, OurModel

CALENDAR_NAME_LENGTH = 100
_KEPT = 200  # calendars whose days a process remembers


class Version(NamedTuple):
    """Of which calendar some days are, as it was when."""

    calendar: int
    version: UUID


class Calendar(OurModel):
    tenant = models.CharField(max_length=TENANT_LENGTH, db_collation="C", db_default=DEFAULT_TENANT)
    name: str = models.CharField(max_length=CALENDAR_NAME_LENGTH, db_collation="C")
    revision = models.IntegerField(db_default=1, help_text="Grows with every change; an edit names the one it saw.")
    # Not a number that grows: one that was rolled back could come again, with other days.
    version = models.UUIDField(default=uuid4, help_text="Another one with every change.")
    weekdays = ArrayField(models.SmallIntegerField(), default=list, help_text="Off in every week; 1 is Monday.")
    days_off = models.JSONField(default=dict, help_text="Days off, each with what it is called.")
    working_days = models.JSONField(default=dict, help_text="On these, people work though their weekday is off.")
    changed = models.BooleanField(
        db_default=False, help_text="Some of what was planned by its days of before is not planned again yet."
    )
    created_by = models.CharField(max_length=150, db_default="")
    created_at = models.DateTimeField(db_default=Now())
    updated_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "punctual_calendar"
        verbose_name = "calendar"
        indexes = [models.Index(fields=["id"], name="punctual_calendar_changed", condition=Q(changed=True))]
        constraints = [models.UniqueConstraint(fields=["tenant", "name"], name="punctual_calendar_name")]
        default_permissions = ()

    def __str__(self) -> str:
        return self.name

    @property
    def days(self) -> Days:
        return Days(
            Version(self.id, self.version),
            self.name,
            frozenset(self.weekdays),
            _read(self.days_off),
            _read(self.working_days),
        )


def _read(stored: dict[str, str]) -> dict[date, str]:
    return {date.fromisoformat(day): note for day, note in stored.items()}


_known: dict[int, Days] = {}


def days_of(calendar: int) -> Days:
    """The days of this calendar as they are now."""
    try:
        return days_of_all([calendar])[calendar]
    except KeyError:
        raise InvalidTask(f"calendar {calendar} is gone; give the job another one, or none.") from None


def days_of_all(calendars: Iterable[int]) -> dict[int, Days]:
    """The days of those that there are. The list of days is read only if it has changed: it may be long."""
    versions = dict(Calendar.objects.filter(id__in=calendars).values_list("id", "version"))
    found = {
        one: known for one, version in versions.items() if (known := _known.get(one)) and known.key.version == version
    }
    for calendar in Calendar.objects.filter(id__in=versions.keys() - found.keys()):
        with MARKS.on(Kind.CALENDAR, calendar.id, "planner"):
            found[calendar.id] = calendar.days
    if len(_known) > _KEPT:
        _known.clear()
    _known.update(found)
    return found
