"""Calendars as callers see them: created, changed, deleted, and filled from an iCalendar file."""

from typing import NamedTuple

from tasks_app.core.errors import InvalidTask, shown
from tasks_app.core.ics_file import MOST_BYTES, Read, read_days
from tasks_app.core.tenants import DEFAULT_TENANT
from tasks_app.lifecycle.audit import Operator
from tasks_app.lifecycle.calendars import CalendarRequest, add_days
from tasks_app.lifecycle.calendars import create as create_calendar
from tasks_app.lifecycle.calendars import delete as delete_calendar
from tasks_app.lifecycle.calendars import edit as edit_calendar
from tasks_app.models import Calendar
from tasks_app.sql import run

__all__ = [
    "MOST_BYTES",
    "CalendarRequest",
    "Imported",
    "create_calendar",
    "delete_calendar",
    "edit_calendar",
    "import_calendar",
    "read_file",
]

YEARS = (1, 50)


class Imported(NamedTuple):
    calendar: Calendar
    days: int  # that the file has
    left_out: tuple[str, ...]  # sentences about what is not among them


def import_calendar(
    name: str,
    content: bytes | str,
    operator: Operator,
    *,
    tenant: str = DEFAULT_TENANT,
    years: int = 10,
    replace: bool = False,
) -> Imported:
    """Add the all-day events of an iCalendar file to the days off of the calendar of that name, or create it.

    Recurring events are expanded for so many years. `replace`: its days off are then those of the file alone.
    """
    read = read_file(content, years)
    return Imported(
        add_days(name, read.days, operator, tenant=tenant, replace_all=replace), len(read.days), read.left_out
    )


def read_file(content: bytes | str, years: int = 10) -> Read:
    """The days of an iCalendar file, and what is left out of it; nothing is written."""
    if isinstance(years, bool) or not isinstance(years, int) or not YEARS[0] <= years <= YEARS[1]:
        raise InvalidTask(f"years={shown(years)} must be a whole number from {YEARS[0]} to {YEARS[1]}.")
    if not isinstance(content, bytes | str):
        raise InvalidTask(f"an iCalendar file is bytes or text, not {shown(content)}.")
    today = run("clock", {})[0][0].date()
    return read_days(content.encode() if isinstance(content, str) else content, today, years)
