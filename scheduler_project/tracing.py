"""Traces of this project's own processes: OpenTelemetry, set up by its usual variables. See docs/tracing.md.

Imported only if OTEL_EXPORTER_OTLP_ENDPOINT, or the one for traces, says where they go.
"""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.propagate import extract
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind, Status, StatusCode

_NAME, _UNNAMED = "service.name", "unknown_service"


def begin() -> None:
    """Once in a process, before it forks. Sampler, address, headers and attributes come from the environment."""
    if isinstance(trace.get_tracer_provider(), TracerProvider):
        return  # opentelemetry-instrument was there before
    resource = Resource.create()  # what OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES say
    if str(resource.attributes.get(_NAME, _UNNAMED)).startswith(_UNNAMED):
        resource = resource.merge(Resource({_NAME: "punctual"}))
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)


def request_middleware(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """A span around each request, in the trace of whoever sent it: what is scheduled inside belongs to it."""
    tracer = trace.get_tracer("punctual.web")

    def answer(request: HttpRequest) -> HttpResponse:
        method = request.method or "?"
        sent = {"http.request.method": method, "url.path": request.path}
        with tracer.start_as_current_span(method, extract(request.headers), SpanKind.SERVER, sent) as span:
            response = get_response(request)
            if (match := request.resolver_match) is not None:  # known only now
                span.update_name(f"{method} /{match.route}")
                span.set_attribute("http.route", f"/{match.route}")
            span.set_attribute("http.response.status_code", response.status_code)
            if response.status_code >= 500:
                span.set_status(Status(StatusCode.ERROR))
            return response

    return answer
