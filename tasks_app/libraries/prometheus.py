"""prometheus-client: samples that were counted elsewhere, native histograms among them, which it calls experimental."""

from collections.abc import Callable

from tasks_app.libraries import Uses

with Uses("prometheus-client", ">=0.26,<0.27") as uses:
    from prometheus_client import Metric
    from prometheus_client.core import BucketSpan, NativeHistogram, Sample
    from prometheus_client.utils import floatToGoString

    uses.set_by(Metric.__init__, "samples")
    uses.of(Sample, "native_histogram")

__all__ = ["BucketSpan", "Metric", "NativeHistogram", "Sample", "number"]

number: Callable[[float], str] = floatToGoString  # as Prometheus writes it
