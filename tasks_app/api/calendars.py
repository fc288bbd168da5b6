"""/calendars: sets of days off that jobs keep; create, list, read, change, fill from a file, delete."""

from datetime import datetime
from typing import Any

from django.http import HttpRequest
from ninja import Router, Schema
from pydantic import Field

from tasks_app.client.endpoints import PAGE, Cursor, Limit, Text
from tasks_app.core.errors import NotForTenants
from tasks_app.core.routers import may_answer
from tasks_app.engine.operations import calendars
from tasks_app.engine.operations.calendars import CalendarRequest
from tasks_app.engine.operations.callers import Caller
from tasks_app.models import Calendar

from .auth import caller
from .headers import tell_revision
from .idempotency import mutation
from .jobs import operator
from .problems import Problem
from .schemas import Id, Key, Model, NeededRevision, Page, Revision

router = Router(tags=["calendars"])
_DAYS = "Each day, such as 2026-12-25, with what it is called; that may be empty"


class CalendarPatch(Model):
    """The fields to change. A list replaces the old one as a whole."""

    name: Text | None = None
    weekdays: list[int] | None = Field(None, description="Off in every week; 1 is Monday, 7 is Sunday")
    days_off: dict[str, str] | None = Field(None, description=_DAYS)
    working_days: dict[str, str] | None = Field(
        None, description="Days on which people work though their weekday is off, in the same way"
    )
    reason: Text | None = Field(None, description="Why; kept in the audit")


class CalendarIn(CalendarPatch):
    """A new calendar."""

    name: Text


class CalendarOut(Schema):
    """A calendar as it stands."""

    id: int
    name: str
    revision: int = Field(description="Grows with every change; also in `ETag`")
    weekdays: list[int]
    days_off: dict[str, str]
    working_days: dict[str, str]
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, calendar: Calendar) -> "CalendarOut":
        return cls(**{name: getattr(calendar, name) for name in cls.model_fields})


class CalendarFileIn(Model):
    """An iCalendar file, for the calendar of that name."""

    name: Text = Field(description="It is created if there is none")
    ics: str = Field(description="The file as text: its all-day events are added to the days off")
    years: int = Field(10, description="Recurring events are expanded so many years ahead, 1 to 50")
    replace: bool = Field(False, description="Its days off are then those of the file alone")
    reason: Text | None = Field(None, description="Why; kept in the audit")


class CalendarFileOut(Schema):
    calendar: CalendarOut
    days: int = Field(description="How many days the file has")
    left_out: list[str] = Field(description="What is not among them, in sentences")


class CalendarPage(Page):
    items: list[CalendarOut]


@router.get("", response=CalendarPage, summary="List calendars, by name")
def list_calendars(request: HttpRequest, after: Cursor = None, limit: Limit = PAGE) -> dict[str, object]:
    found = Calendar.objects.filter(tenant=caller(request).tenant).order_by("name")
    if after is not None:
        found = found.filter(name__gt=after.replace("\0", ""))
    page = list(found[: limit + 1])
    more = page[limit - 1].name if len(page) > limit else None
    return {"items": [CalendarOut.of(one) for one in page[:limit]], "next": more}


@router.post("", response={201: CalendarOut}, summary="Create a calendar")
@may_answer("SCH_409_DUPLICATE")
@mutation
def create_calendar(request: HttpRequest, body: CalendarIn, idempotency_key: Key = None) -> tuple[int, CalendarOut]:
    asked = _may_change(request)
    made = calendars.create_calendar(
        CalendarRequest(**_given(body)), operator(request, body.reason), tenant=asked.tenant
    )
    return 201, CalendarOut.of(made)


@router.post("/import", response=CalendarFileOut, summary="Fill a calendar from an iCalendar file")
@mutation
def import_calendar(
    request: HttpRequest, body: CalendarFileIn, idempotency_key: Key = None
) -> tuple[int, CalendarFileOut]:
    """A file may have 500,000 bytes, and its events may go through 100,000 days."""
    asked, by = _may_change(request), operator(request, body.reason)
    done = calendars.import_calendar(
        body.name, body.ics, by, tenant=asked.tenant, years=body.years, replace=body.replace
    )
    return 200, CalendarFileOut(calendar=CalendarOut.of(done.calendar), days=done.days, left_out=list(done.left_out))


@router.get("/{calendar_id}", response=CalendarOut, summary="Read a calendar")
def read_calendar(request: HttpRequest, calendar_id: Id) -> CalendarOut:
    found = Calendar.objects.filter(tenant=caller(request).tenant, id=calendar_id).first()
    if found is None:
        raise Problem("SCH_404_NOT_FOUND", f"There is no calendar {calendar_id}.")
    tell_revision(request, found.revision)
    return CalendarOut.of(found)


@router.patch("/{calendar_id}", response=CalendarOut, summary="Change a calendar")
@may_answer("SCH_409_DUPLICATE")
@mutation
def edit_calendar(
    request: HttpRequest, calendar_id: Id, body: CalendarPatch, if_match: NeededRevision, idempotency_key: Key = None
) -> tuple[int, CalendarOut]:
    """What jobs have planned by its old days and nobody has claimed is planned again within seconds."""
    asked, by = _may_change(request), operator(request, body.reason)
    edited = calendars.edit_calendar(calendar_id, _given(body), by, tenant=asked.tenant, revision=_revision(if_match))
    return 200, CalendarOut.of(edited)


@router.delete("/{calendar_id}", response={204: None}, summary="Delete a calendar")
@mutation
def delete_calendar(
    request: HttpRequest, calendar_id: Id, if_match: Revision = None, idempotency_key: Key = None
) -> tuple[int, None]:
    """Refused while a job keeps it."""
    asked = _may_change(request)
    calendars.delete_calendar(calendar_id, operator(request), tenant=asked.tenant, revision=_revision(if_match))
    return 204, None


def _may_change(request: HttpRequest) -> Caller:
    """A calendar decides for jobs of any type."""
    asked = caller(request)
    if asked.types is not None:
        raise NotForTenants(
            "this token is limited to some task types, and a calendar is for jobs of all; it may read it."
        )
    return asked


def _given(body: CalendarPatch) -> dict[str, Any]:
    """The fields that were sent; null is an empty list."""
    sent = body.model_dump(exclude_unset=True, exclude={"reason"})
    return {name: () if value is None else value for name, value in sent.items()}


def _revision(etag: str | None) -> int | None:
    return None if etag is None else int(etag.removeprefix("W/").strip('"'))
