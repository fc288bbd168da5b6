"""traces: drain as it is, with 1 % of all tasks traced and sent to a collector, and with logs as JSON, in turns."""

import statistics

from . import drain
from .receiver import receiver
from .stack import Stack

GOALS = {"traced_ratio": {"at_least": 0.95}, "json_ratio": {"at_least": 0.97}}
ROUNDS = 3
SHARE = "0.01"


def run(stack: Stack) -> dict:
    """The collector is a process that answers and does nothing else."""
    plain, traced, as_json = [], [], []
    with receiver() as address:
        tracing = {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": address, "PUNCTUAL_TRACE_SHARE": SHARE}
        for _ in range(ROUNDS):
            plain.append(drain.measure(stack))
            traced.append(drain.measure(stack, **tracing))
            as_json.append(drain.measure(stack, LOG_FORMAT="json"))
    return {
        "traced_ratio": _ratio(traced, plain),
        "json_ratio": _ratio(as_json, plain),
        "plain_per_s": [round(one) for one in plain],
        "traced_per_s": [round(one) for one in traced],
        "json_per_s": [round(one) for one in as_json],
    }


def _ratio(ours: list[float], plain: list[float]) -> float:
    return round(statistics.median(one / other for one, other in zip(ours, plain, strict=True)), 3)
