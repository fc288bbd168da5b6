"""A collector of traces: a real HTTP server that takes what OpenTelemetry's exporter sends, and reads it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.support.receiver import Receiver, receiver


class Sent(NamedTuple):
    """A span as it arrived."""

    name: str
    trace: str
    id: str
    parent: str  # empty: it has none
    service: str
    attributes: dict[str, object]
    failed: bool
    events: tuple[str, ...]
    links: tuple[str, ...]


class Collector:
    def __init__(self, there: Receiver) -> None:
        self.url = there.url
        self._there = there

    @property
    def spans(self) -> list[Sent]:
        return [span for call in list(self._there.calls) for span in _read(call.body)]

    def named(self, name: str, **attributes: object) -> list[Sent]:
        wanted = {f"punctual.{key}": value for key, value in attributes.items()}
        return [one for one in self.spans if one.name == name and wanted.items() <= one.attributes.items()]

    def one(self, name: str, **attributes: object) -> Sent:
        [found] = self.named(name, **attributes)
        return found

    def way_to(self, span: Sent) -> list[str]:
        """The names of all spans that it is in, the first one first."""
        known = {one.id: one for one in self.spans}
        way = [span.name]
        while (span := known.get(span.parent)) is not None:
            way.insert(0, span.name)
        return way


@contextmanager
def collector() -> Iterator[Collector]:
    with receiver() as there:
        yield Collector(there)


def _read(body: bytes) -> Iterator[Sent]:
    for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
        service = _attributes(resource.resource.attributes)["service.name"]
        for scope in resource.scope_spans:
            for span in scope.spans:
                yield Sent(
                    span.name,
                    span.trace_id.hex(),
                    span.span_id.hex(),
                    span.parent_span_id.hex(),
                    service,
                    _attributes(span.attributes),
                    span.status.code == span.status.STATUS_CODE_ERROR,
                    tuple(event.name for event in span.events),
                    tuple(link.span_id.hex() for link in span.links),
                )


def _attributes(given) -> dict[str, object]:
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in given}
