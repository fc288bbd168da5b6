"""`python -m bench [NAME ...] [--json]`: measure on this machine, on a fresh stack, one process a bench."""

import argparse
import importlib
import json
import subprocess
import sys
from pathlib import Path

from .stack import fresh_stack

NAMES = ("floor", "drain", "size", "punctual", "herd", "enqueue", "effects", "io", "idle", "wheel", "fleet", "failover")
NAMES += ("midnight", "edits", "compensate", "admin", "rolling", "catalogue", "planner", "api", "cost", "coordination")
NAMES += ("archive",)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one or more of {', '.join(NAMES)}; default all")
    parser.add_argument("--json", action="store_true", help="print one JSON object as the last line")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in NAMES]
    if unknown:
        parser.error(f"no bench named {unknown[0]!r}; there are {', '.join(NAMES)}")
    if len(options.names) == 1:
        return run_one(options.names[0], as_json=options.json)
    # A process each: Django reads its settings once, and each bench has a stack of its own.
    flags = ["--json"] if options.json else []
    return max(
        subprocess.run([sys.executable, "-m", "bench", name, *flags], cwd=Path(__file__).parent.parent).returncode
        for name in options.names or NAMES
    )


def run_one(name: str, *, as_json: bool) -> int:
    bench = importlib.import_module(f"bench.{name}")
    print(bench.__doc__.strip(), flush=True)
    with fresh_stack() as stack:
        figures = bench.run(stack)
    met = all(_meets(figures[figure], goal) for figure, goal in bench.GOALS.items())
    if as_json:
        print(json.dumps({"bench": name, **figures, "goals": bench.GOALS, "met": met}))
        return 0
    for figure, value in figures.items():
        goal = bench.GOALS.get(figure)
        print(f"  {figure:28} {value}" + (f"   goal {_words(goal)}" if goal is not None else ""))
    return 0


def _meets(value: float, goal: dict) -> bool:
    return value >= goal["at_least"] if "at_least" in goal else value <= goal["at_most"]


def _words(goal: dict) -> str:
    (kind, value), *_ = goal.items()
    return f"{kind.replace('_', ' ')} {value:,}"


if __name__ == "__main__":
    sys.exit(main())
