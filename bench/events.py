"""events: what telling costs: drain, and a single schedule(), with nothing, the usual and everything kept."""

import os
import statistics
import time

from . import drain
from .stack import Stack, empty_tables

GOALS = {"everything_to_nothing": {"at_least": 0.85}}
ROUNDS = 3
CALLS = 2_000
KEPT = {"nothing": "!*", "usual": "", "everything": "*"}


def run(stack: Stack) -> dict:
    """In turns, since one minute of a machine is not like the next."""
    drained, called = {name: [] for name in KEPT}, {name: [] for name in KEPT}
    for _ in range(ROUNDS):
        for name, patterns in KEPT.items():
            with _keeping(patterns):
                drained[name].append(drain.measure(stack))
                called[name].append(_call_us())
    per_s = {name: statistics.median(runs) for name, runs in drained.items()}
    return {
        **{f"{name}_per_s": round(one) for name, one in per_s.items()},
        "usual_to_nothing": round(per_s["usual"] / per_s["nothing"], 3),
        "everything_to_nothing": round(per_s["everything"] / per_s["nothing"], 3),
        **{f"schedule_us_{name}": round(statistics.median(runs)) for name, runs in called.items()},
        "runs_per_s": {name: [round(one) for one in runs] for name, runs in drained.items()},
    }


def _keeping(patterns: str):
    """In this process, which schedules, and in those that it starts."""
    from django.conf import settings
    from django.test import override_settings

    os.environ["BENCH_KEPT_EVENTS"] = patterns
    return override_settings(PUNCTUAL=settings.PUNCTUAL | ({"EVENTS": patterns.split(",")} if patterns else {}))


def _call_us() -> float:
    """The median time of one schedule() in a transaction of its own."""
    from django_punctual import schedule

    empty_tables()
    took = []
    for number in range(CALLS):
        began = time.perf_counter()
        schedule(drain.TYPE, f"call-{number}", delay=86_400)
        took.append(time.perf_counter() - began)
    return statistics.median(took) * 1_000_000
