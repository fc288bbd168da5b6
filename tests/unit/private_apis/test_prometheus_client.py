"""What we use of prometheus-client that it never promised."""

from prometheus_client import Metric
from prometheus_client.core import BucketSpan, NativeHistogram, Sample

from tasks_app.metrics import exposition


def test_prometheus_client_writes_a_native_histogram_that_it_is_given():
    family = Metric("a", "A histogram.", "histogram")
    native = NativeHistogram(3, 1.5, 2, 0.1, 0, pos_spans=[BucketSpan(-4, 2)], pos_deltas=[2, -1])
    family.samples.append(Sample("a", {"lane": "low"}, 0.0, native_histogram=native))

    line = (
        b'a{lane="low"} {count:3,sum:1.5,schema:2,zero_threshold:0.1,zero_count:0,positive_spans:[-4:2],'
        b"positive_deltas:[2,-1]}"
    )
    answer, _ = exposition._answer([family], "application/openmetrics-text; version=2.0.0")
    assert line in answer.splitlines()
