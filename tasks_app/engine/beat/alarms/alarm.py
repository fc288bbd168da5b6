"""The chore `alarm`: from what happened and what is found to what is to be told. Sending is another chore's."""

from collections.abc import Callable

from tasks_app.lifecycle.alarms.incidents import MOST_AT_ONCE, calm_due, tell_due
from tasks_app.models import AlarmRule

from .looking import look
from .reading import forget_position, read_events

STEPS = 10


def alarm() -> str:
    """Returns what it did, for the log. Without rules nothing is looked at, and none of their incidents is open."""
    if not AlarmRule.objects.filter(enabled=True).exists():
        forget_position()
        return "no rules"
    read, seen = read_events(), look()
    calmed, told = _all(calm_due), _all(tell_due)
    return f"{read} rows, {seen} seen, {calmed} asked, {told} told"


def _all(step: Callable[[], int]) -> int:
    total = 0
    for _ in range(STEPS):
        done = step()
        total += done
        if done < MOST_AT_ONCE:
            break
    return total
