"""Which sink a subscription has."""

from collections.abc import Callable

from tasks_app.models import Subscription

from .function import FunctionSink
from .queue import QueueSink
from .sink import Sink
from .stream import StreamSink
from .webhook import WebhookSink

SINKS: dict[str, Callable[[Subscription], Sink]] = {
    Subscription.PYTHON: FunctionSink,
    Subscription.STREAM: StreamSink,
    Subscription.QUEUE: QueueSink,
    Subscription.WEBHOOK: WebhookSink,
}


def sink_for(subscription: Subscription) -> Sink:
    return SINKS[subscription.sink](subscription)
