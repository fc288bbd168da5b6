"""wheel: reading ahead into a wheel beside plain looks at the due index: lateness, statements a second and CPU."""

from .idle import _cpu_seconds, _statements
from .punctual import SECONDS, measure
from .stack import Stack, percentile

GOALS: dict = {}
WAYS = {"plain": "0", "wheel": "2"}
ROUNDS = 2


def run(stack: Stack) -> dict:
    figures: dict = {}
    for rate in (200, 1000):
        for _ in range(ROUNDS):
            # One after the other in each round, so that both meet the same noise.
            for way, seconds in WAYS.items():
                for name, value in _measure(stack, rate, seconds).items():
                    figures.setdefault(f"{name}_{way}_at_{rate}", []).append(value)
    return {
        name: sorted(values)[len(values) // 2] if len(values) % 2 else round(sum(values) / len(values), 2)
        for name, values in figures.items()
    }


def _measure(stack: Stack, rate: int, seconds: str) -> dict:
    used: dict = {}

    def around() -> None:
        """At the start and at the end of the measured time."""
        now = {"statements": _statements(), "cpu": _cpu_seconds(stack)}
        used.update({name: now[name] - used.get(name, 0.0) for name in now})

    late = measure(stack, rate, around=around, PUNCTUAL_READ_AHEAD_SECONDS=seconds)
    return {
        "lateness_p50_ms": round(percentile(late.warm, 0.50), 2),
        "lateness_p99_ms": round(percentile(late.warm, 0.99), 2),
        "statements_per_s": round(used["statements"] / SECONDS, 1),
        "cpu_percent": round(100 * used["cpu"] / SECONDS, 1),
    }
