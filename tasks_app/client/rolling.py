"""Tasks that repeat, all of a type at once: what comes due when, what fails, how to be next, another interval."""

from tasks_app.core.timer import Timer, timer_from
from tasks_app.lifecycle.rolling import Outlook, change_interval, failing_keys, front_of_line, outlook, timer_of

__all__ = [
    "Outlook",
    "Timer",
    "change_interval",
    "failing_keys",
    "front_of_line",
    "outlook",
    "timer_from",
    "timer_of",
]
