"""OpenTelemetry's own SDK in the test's process: what is traced is kept in memory."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ALWAYS_ON, ParentBased

NAMES = ("schedule", "wait", "run", "settle")


class Traces:
    def __init__(self) -> None:
        self._kept = InMemorySpanExporter()
        self.provider = TracerProvider(sampler=ParentBased(ALWAYS_ON), shutdown_on_exit=False)
        self.provider.add_span_processor(SimpleSpanProcessor(self._kept))

    @contextmanager
    def request(self) -> Iterator[trace.Span]:
        """What a web framework does around a request."""
        with self.provider.get_tracer("web").start_as_current_span("GET /") as span:
            yield span

    @property
    def spans(self) -> list[ReadableSpan]:
        """Those that have ended, in that order."""
        return list(self._kept.get_finished_spans())

    def clear(self) -> None:
        self._kept.clear()

    def named(self, name: str) -> list[ReadableSpan]:
        return [span for span in self.spans if span.name.partition(" ")[0] == name]

    def one(self, name: str) -> ReadableSpan:
        [found] = self.named(name)
        return found

    @property
    def ids(self) -> set[int]:
        return {span.context.trace_id for span in self.spans}


@contextmanager
def tracing() -> Iterator[Traces]:
    """The process's tracer provider, for a while: OpenTelemetry itself lets it be set once."""
    traces = Traces()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trace, "_TRACER_PROVIDER", traces.provider)
        yield traces


@contextmanager
def not_sampled() -> Iterator[None]:
    """A request that its own web framework has left out."""
    provider = TracerProvider(sampler=ALWAYS_OFF, shutdown_on_exit=False)
    with provider.get_tracer("web").start_as_current_span("GET /"):
        yield


def parent_of(span: ReadableSpan) -> int | None:
    return None if span.parent is None else span.parent.span_id


def linked(span: ReadableSpan) -> list[int]:
    return [link.context.span_id for link in span.links]
