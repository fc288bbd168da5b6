"""What we use of prometheus-client that it never promised."""

from prometheus_client import Metric
from prometheus_client.core import BucketSpan, NativeHistogram, Sample
from prometheus_client.exposition import choose_encoder


class Registry:
    def __init__(self, *families: Metric) -> None:
        self._families = families

    def collect(self):
        return iter(self._families)


def test_prometheus_client_chooses_a_format_by_the_accept_header():
    found = {}
    for accept in ("", "application/openmetrics-text; version=1.0.0", "application/openmetrics-text; version=2.0.0"):
        encode, content_type = choose_encoder(accept)
        found[content_type.partition("; charset")[0]] = encode(Registry(Metric("a", "A gauge.", "gauge")))

    assert [*found] == [
        "text/plain; version=0.0.4",
        "application/openmetrics-text; version=1.0.0",
        "application/openmetrics-text; version=2.0.0",
    ]
    assert [text.endswith(b"# EOF\n") for text in found.values()] == [False, True, True]


def test_prometheus_client_writes_a_native_histogram_that_it_is_given():
    family = Metric("a", "A histogram.", "histogram")
    native = NativeHistogram(3, 1.5, 2, 0.1, 0, pos_spans=[BucketSpan(-4, 2)], pos_deltas=[2, -1])
    family.samples.append(Sample("a", {"lane": "low"}, 0.0, native_histogram=native))
    encode, _ = choose_encoder("application/openmetrics-text; version=2.0.0")

    line = (
        b'a{lane="low"} {count:3,sum:1.5,schema:2,zero_threshold:0.1,zero_count:0,positive_spans:[-4:2],'
        b"positive_deltas:[2,-1]}"
    )
    assert line in encode(Registry(family)).splitlines()
