"""Owns Punctual's own figures in the comparison: the benches' functions, with the peers' numbers of tasks."""

import statistics
import tomllib

from bench import drain, enqueue, punctual
from bench.stack import ROOT, Stack, percentile

TASK_TYPE = "BENCH_STAMP"
SETTINGS = "one beat, one prefork worker with 2 processes; scheduled with schedule_many"


def measure(stack: Stack, sizes: dict[str, list[int]], rates: list[int], rounds: int) -> dict:
    """An answer in the shape of the peers', with a rate for every number of tasks that some peer was measured with."""
    return {
        "versions": {"punctual": tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]},
        "settings": SETTINGS,
        "enqueue": {size: _median(rounds, enqueue.measure, size) for size in sizes["enqueue"]},
        "drain": {size: _median(rounds, drain.measure_cold, stack, TASK_TYPE, size) for size in sizes["drain"]},
        "punctual": {str(rate): _punctual(stack, rate) for rate in rates},
    }


def _median(rounds: int, measure, *arguments) -> int:
    return round(statistics.median(measure(*arguments) for _ in range(rounds)))


def _punctual(stack: Stack, rate: int) -> dict:
    late = punctual.measure(stack, rate, TASK_TYPE)
    shares = {f"{name}_ms": round(percentile(late.warm, share), 2) for name, share in punctual.SHARES.items()}
    return {"tasks": len(late.cold) + len(late.warm)} | shares
