"""`python -m bench [NAME ...] [--json] [--check]`: measure on this machine, on a fresh stack, one process a bench."""

import argparse
import importlib
import json
import subprocess
import sys
from pathlib import Path

from .stack import fresh_stack

NAMES = ("floor", "drain", "size", "punctual", "herd", "enqueue", "effects", "io", "idle", "fleet", "failover")
NAMES += ("midnight", "edits", "compensate", "console", "rolling", "catalogue", "planner", "api", "cost")
NAMES += (
    "coordination",
    "callbacks",
    "receivers",
    "turns",
    "graph",
    "traces",
    "relay",
    "events",
    "archive",
    "encrypted",
    "backup",
    "replay",
    "backfill",
    "metrics",
    "tail",
    "isolation",
    "tenants",
    "past",
    "sustain",
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one or more of {', '.join(NAMES)}; default all")
    parser.add_argument("--json", action="store_true", help="print one JSON object as the last line")
    parser.add_argument("--check", action="store_true", help="end with 1 if a goal is not met")
    of_benches = {
        "rate": parser.add_argument("--rate", type=int, help="sustain, tail: tasks a second; receivers: calls"),
        "late": parser.add_argument("--late", type=int, help="tail: ms from which on a task is looked into"),
        "seconds": parser.add_argument("--seconds", type=int, help="sustain: how long"),
        "rows": parser.add_argument(
            "--rows", type=int, help="past, console: finished tasks; tenants: due tasks of the large one"
        ),
    }
    options = parser.parse_args()
    given = {name: value for name in of_benches if (value := getattr(options, name)) is not None}
    unknown = [name for name in options.names if name not in NAMES]
    if unknown:
        parser.error(f"no bench named {unknown[0]!r}; there are {', '.join(NAMES)}")
    if len(options.names) == 1:
        return run_one(options.names[0], given, as_json=options.json, check=options.check)
    if given:
        parser.error(f"--{next(iter(given))} belongs to one bench; name that one alone")
    # A process each: Django reads its settings once, and each bench has a stack of its own.
    flags = [flag for flag, wanted in (("--json", options.json), ("--check", options.check)) if wanted]
    return max(
        subprocess.run([sys.executable, "-m", "bench", name, *flags], cwd=Path(__file__).parent.parent).returncode
        for name in options.names or NAMES
    )


def run_one(name: str, given: dict[str, int], *, as_json: bool, check: bool) -> int:
    bench = importlib.import_module(f"bench.{name}")
    for option in given.keys() - {*getattr(bench, "OPTIONS", ())}:
        raise SystemExit(f"bench {name} has no option --{option}")
    print(bench.__doc__.strip(), flush=True)
    with fresh_stack() as stack:
        figures = bench.run(stack, **given)
    met = all(_meets(figures[figure], goal) for figure, goal in bench.GOALS.items())
    if as_json:
        print(json.dumps({"bench": name, **figures, "goals": bench.GOALS, "met": met}))
        return int(check and not met)
    for figure, value in figures.items():
        goal = bench.GOALS.get(figure)
        shown = "not measured" if value is None else value
        print(f"  {figure:28} {shown}" + (f"   goal {_words(goal)}" if goal is not None else ""))
    return int(check and not met)


def _meets(value: float | None, goal: dict) -> bool:
    if value is None:  # not measured, since an option said so
        return True
    return value >= goal["at_least"] if "at_least" in goal else value <= goal["at_most"]


def _words(goal: dict) -> str:
    (kind, value), *_ = goal.items()
    return f"{kind.replace('_', ' ')} {value:,}"


if __name__ == "__main__":
    sys.exit(main())
