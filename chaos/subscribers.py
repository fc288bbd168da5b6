"""Two subscribers to everything: one that takes all it gets, and one that is slow, refuses, or fails after taking."""

import random
import time

from django_punctual import Event, subscriber

from . import journal

GOOD, BAD = "chaos-good", "chaos-bad"
TASKS = "told"  # the journal that says which task each event was about
# Together seldom enough that its back-off does not outlast the run: of ten calls in a row one nearly always succeeds.
REFUSES, FAILS_AFTERWARDS, IS_SLOW = 0.15, 0.05, 0.2
SLOW_SECONDS = 0.1


class Away(ConnectionError):
    pass


@subscriber(GOOD)
def good(events: list[Event]) -> None:
    _note(GOOD, events)


@subscriber(BAD)
def bad(events: list[Event]) -> None:
    dice = random.random()
    if dice < REFUSES:
        raise Away("answered 500")
    if dice < REFUSES + IS_SLOW:
        time.sleep(SLOW_SECONDS)
    _note(BAD, events)
    if dice > 1 - FAILS_AFTERWARDS:
        raise Away("the answer was lost")


def _note(name: str, events: list[Event]) -> None:
    journal.append(name, "\n".join(event.id for event in events))
    journal.append(TASKS, "\n".join(f"{event.id} {event.task}" for event in events))
