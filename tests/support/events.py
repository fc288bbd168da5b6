"""What the outbox tells, event by event."""

from fnmatch import fnmatch

from tasks_app.core.events import Event, OutboxRow
from tasks_app.sql import execute

_COLUMNS = ", ".join(OutboxRow._fields)


def told(pattern: str = "*") -> list[Event]:
    """All events of this kind, in order."""
    rows = execute(f"SELECT {_COLUMNS} FROM punctual_outbox ORDER BY id")
    return [event for row in rows for event in OutboxRow(*row).events() if fnmatch(event.type, pattern)]


def kinds(pattern: str = "*") -> list[str]:
    return [event.type for event in told(pattern)]
