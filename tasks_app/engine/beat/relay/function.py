"""Events to a Python function of an app."""

import time
from collections.abc import Iterator, Sequence

from tasks_app.core.events import Event
from tasks_app.core.subscribers import SUBSCRIBERS
from tasks_app.database import leave_other_databases
from tasks_app.models import Subscription

from .sink import Attempt


class FunctionSink:
    """Calls it with a list of events; when it returns, it has them."""

    def __init__(self, subscription: Subscription) -> None:
        self._name = subscription.target["name"]

    def deliver(self, events: Sequence[Event]) -> Iterator[Attempt]:
        function = SUBSCRIBERS.find(self._name)
        if function is None:
            raise LookupError(f"there is no subscriber {self._name!r} in this beat; deploy the app that has it")
        begun = time.perf_counter()
        try:
            function(events)
        finally:
            leave_other_databases()
        yield Attempt(events, True, "returned", (time.perf_counter() - begun) * 1000)

    def close(self) -> None:
        pass
