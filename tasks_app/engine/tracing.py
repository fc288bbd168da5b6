"""OpenTelemetry, where the project has set it up: the tracer, and the spans of those who schedule.

Nothing of it is imported here until somebody else has. Then its global tracer provider is used; sampling and exporting
are the project's. What a worker does is in worker/spans.py.
"""

import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from tasks_app import __version__
from tasks_app.database import atomic

NAME = "punctual"
MOST_OF_ONE_CALL = 1_000  # tasks that are traced of those that one call schedules: nobody reads a longer trace

Keep = Callable[[Iterable[int]], None]  # these tasks belong to the trace

_tracer: tuple[object, Any] = (None, None)  # the provider that it was asked of, and the tracer


def tracer() -> Any:
    """None: nobody traces in this process."""
    global _tracer
    api = sys.modules.get("opentelemetry.trace")
    if api is None:
        return None
    provider = api.get_tracer_provider()
    if _tracer[0] is not provider:
        nobody = isinstance(provider, api.ProxyTracerProvider | api.NoOpTracerProvider)
        _tracer = provider, None if nobody else api.get_tracer(NAME, __version__)
    return _tracer[1]


def traced_call() -> bool:
    """Whether whoever calls is in a trace that is sampled."""
    if tracer() is None:
        return False
    context = _api().get_current_span().get_span_context()
    return bool(context.is_valid and context.trace_flags.sampled)


@contextmanager
def scheduling(name: str, attributes: dict[str, object]) -> Iterator[Keep]:
    """A span around what schedules tasks, in one transaction with it. Only for a traced call.

    Its block is given a function for the ids of what it has scheduled, or given another time."""
    from tasks_app.lifecycle.traces import Trace, keep_traces

    api = _api()
    with tracer().start_as_current_span(name, kind=api.SpanKind.PRODUCER, attributes=attributes) as span:
        with atomic(savepoint=False):

            def keep(ids: Iterable[int]) -> None:
                told = list(ids)
                parent, state = carried(span.get_span_context())
                keep_traces([Trace(one, parent, state) for one in sorted(told[:MOST_OF_ONE_CALL])])
                span.set_attribute("punctual.tasks", len(told))
                if len(told) == 1:
                    span.set_attribute("punctual.task", told[0])

            yield keep


def carried(context: Any) -> tuple[str, str | None]:
    """A span context as traceparent and tracestate."""
    flags = int(context.trace_flags)
    return f"00-{context.trace_id:032x}-{context.span_id:016x}-{flags:02x}", context.trace_state.to_header() or None


def headers() -> dict[str, str]:
    """For a call to another system, which goes on with the trace; none if this is in no trace."""
    if tracer() is None:
        return {}
    context = _api().get_current_span().get_span_context()
    if not context.is_valid:
        return {}
    parent, state = carried(context)
    return {"traceparent": parent} | ({"tracestate": state} if state else {})


def flush(seconds: float) -> None:
    """Send what is waiting to be sent, as this process is about to end. Not for longer, whoever doesn't answer."""
    if tracer() is not None and (send := getattr(_tracer[0], "force_flush", None)) is not None:
        sending = threading.Thread(target=send, args=[int(seconds * 1000)], daemon=True)
        sending.start()
        sending.join(seconds)


def _api() -> ModuleType:
    return sys.modules["opentelemetry.trace"]
