"""Calendars: sets of days off that jobs keep. All of it happens in the caller's transaction."""

from tasks_app.core.errors import NotThere
from tasks_app.engine.operations.calendars import (
    CalendarRequest,
    Imported,
    create_calendar,
    delete_calendar,
    edit_calendar,
    import_calendar,
)

__all__ = [
    "CalendarRequest",
    "Imported",
    "NotThere",
    "create_calendar",
    "delete_calendar",
    "edit_calendar",
    "import_calendar",
]
