"""Writes a snapshot as Prometheus and OpenMetrics read it, in the format that the scraper asks for."""

import time
from collections.abc import Iterable, Iterator
from itertools import accumulate

from prometheus_client import CollectorRegistry, make_wsgi_app
from prometheus_client.registry import Collector

from tasks_app import __version__
from tasks_app.core import metrics as catalogue
from tasks_app.core.metrics import BATCH_BOUNDS, LATENESS_STEP, METRICS, Kind, classic_bounds_seconds
from tasks_app.libraries.prometheus import BucketSpan, Metric, NativeHistogram, Sample, number

from .reading import Histogram, Labels, Snapshot

_SUFFIX = {Kind.COUNTER: "_total", Kind.GAUGE: ""}
_LATENESS = "lateness_seconds"
_RENAMING = ("escaping=dots", "escaping=values")  # schemes by which even a plain name is written otherwise
# Buckets of lateness are those of schema 2: they grow by 2^(1/4). The bound of the first is 2^-12 s: this one is the
# zero bucket, and the next has the number that follows.
_SCHEMA, _ZERO_THRESHOLD, _FIRST_INDEX = 2, 2.0**-12, -47


class Families(Collector):
    def __init__(self, families: Iterable[Metric]) -> None:
        self._families = list(families)

    def collect(self) -> Iterator[Metric]:
        return iter(self._families)


def written(snapshot: Snapshot, *, up: bool, accept: str = "") -> tuple[bytes, str]:
    """The text and its content type. Native histograms are for those who ask for OpenMetrics 2.0: no other text format
    has them."""
    _, content_type = _answer((), accept)
    openmetrics = content_type.startswith("application/openmetrics-text")
    native = content_type.startswith("application/openmetrics-text; version=2")
    families = families_of(snapshot, up=up, native=native)
    if native or content_type.endswith(_RENAMING):
        return _answer(families, accept)
    return encoded(families, openmetrics=openmetrics), content_type


def _answer(families: Iterable[Metric], accept: str) -> tuple[bytes, str]:
    """What prometheus_client answers to a scraper, and its content type."""
    registry, headers = CollectorRegistry(), {}
    registry.register(Families(families))
    request = {"REQUEST_METHOD": "GET", "PATH_INFO": "/metrics", "QUERY_STRING": "", "HTTP_ACCEPT": accept}
    [body] = make_wsgi_app(registry, disable_compression=True)(request, lambda _, given: headers.update(given))
    return body, headers["Content-Type"]


def encoded(families: Iterable[Metric], *, openmetrics: bool) -> bytes:
    """Byte for byte what prometheus_client writes, in a fraction of the time: it asks of the name and of each label of
    every sample whether they are valid, and all of ours are."""
    lines = []
    for family in families:
        name = f"{family.name}_total" if family.type == Kind.COUNTER and not openmetrics else family.name
        words = _escaped(family.documentation) if openmetrics else _escaped_help(family.documentation)
        lines.append(f"# HELP {name} {words}\n# TYPE {name} {family.type}\n")
        for sample in family.samples:
            told = number(sample.value)
            if sample.labels:
                labels = ",".join([f'{label}="{_escaped(value)}"' for label, value in sorted(sample.labels.items())])
                lines.append(f"{sample.name}{{{labels}}} {told}\n")
            else:
                lines.append(f"{sample.name} {told}\n")
    if openmetrics:
        lines.append("# EOF\n")
    return "".join(lines).encode()


def _escaped(text: str) -> str:
    return _escaped_help(text).replace('"', r"\"")


def _escaped_help(text: str) -> str:
    return text.replace("\\", r"\\").replace("\n", r"\n")


def families_of(snapshot: Snapshot, *, up: bool, native: bool = False) -> Iterator[Metric]:
    own: dict[str, dict[Labels, float]] = {"up": {(): float(up)}, "build_info": {(__version__,): 1.0}}
    if snapshot.values:
        own["read_age_seconds"] = {(): max(0.0, time.monotonic() - snapshot.read_at)}
    for one in METRICS:
        family = Metric(one.full_name, one.help, one.kind)
        if one.kind is Kind.HISTOGRAM:
            for values, histogram in sorted(snapshot.histograms.get(one.name, {}).items()):
                family.samples += _histogram(one, values, histogram, native=native)
        else:
            name = one.full_name + _SUFFIX[one.kind]
            found = own.get(one.name) or snapshot.values.get(one.name, {})
            family.samples += [
                Sample(name, dict(zip(one.labels, values, strict=True)), value)
                for values, value in sorted(found.items())
                if len(values) == len(one.labels)  # else another version has written it
            ]
        yield family


def _histogram(metric: catalogue.Metric, values: Labels, histogram: Histogram, *, native: bool) -> Iterator[Sample]:
    labels = dict(zip(metric.labels, values, strict=True))
    lateness = metric.name == _LATENESS
    bounds, step = (classic_bounds_seconds(), LATENESS_STEP) if lateness else (BATCH_BOUNDS, 1)
    up_to = [0, *accumulate(histogram.buckets)]
    count = up_to[-1]
    if native and lateness:
        yield Sample(metric.full_name, labels, 0.0, native_histogram=_native(histogram, count))
    for place, bound in enumerate(bounds):
        bucket = labels | {"le": number(bound)}
        yield Sample(f"{metric.full_name}_bucket", bucket, up_to[min(place * step + 1, len(up_to) - 1)])
    yield Sample(f"{metric.full_name}_bucket", labels | {"le": "+Inf"}, count)
    yield Sample(f"{metric.full_name}_count", labels, count)
    yield Sample(f"{metric.full_name}_sum", labels, histogram.total)


def _native(histogram: Histogram, count: int) -> NativeHistogram:
    """All buckets that are kept. Their bounds are 2.4 % above those of the schema, an eighth of a bucket's width."""
    none, *some = histogram.buckets
    used = some[: max((place for place, tasks in enumerate(some, start=1) if tasks), default=0)]
    deltas = [tasks - before for tasks, before in zip(used, [0, *used], strict=False)]
    return NativeHistogram(
        count,
        histogram.total,
        _SCHEMA,
        _ZERO_THRESHOLD,
        zero_count=none,
        pos_spans=[BucketSpan(_FIRST_INDEX, len(used))] if used else None,
        pos_deltas=deltas if used else None,
    )
