"""For LOGGING: JSON lines, and the fields of the task that runs."""

from tasks_app.logs import JsonFormatter, TaskFilter, fields_here

__all__ = ["JsonFormatter", "TaskFilter", "fields_here"]
