"""`python -m chaos [SCENARIO ...|all] [--seed N] [--tasks N] [--json]`: break a fresh stack and judge what is left."""

import argparse
import json
import subprocess
import sys
from pathlib import Path

from .report import lines
from .scenarios import ALL, FULL

TASKS, SEED = 20_000, 1


def main() -> int:
    options = _parse()
    if len(options.names) == 1:
        return run_one(options.names[0], options)
    return run_each(options)


def run_one(name: str, options: argparse.Namespace) -> int:
    from .runner import run

    scenario = ALL[name]
    print(f"{name}: {scenario.story}. Seed {options.seed}, {options.tasks:,} tasks, {scenario.seconds:g} s.")
    for fault in scenario.script(options.seed):
        print(f"  {fault}", flush=True)
    result = run(scenario, options.seed, options.tasks)
    print("\n".join(lines(result)), flush=True)
    if options.json:
        print(json.dumps(result.as_dict()))
    return 0 if result.passed else 1


def run_each(options: argparse.Namespace) -> int:
    """A process each: Django reads its settings once, and each scenario has a stack of its own."""
    failed, results = [], []
    for name in options.names:
        command = [sys.executable, "-m", "chaos", name, "--seed", str(options.seed), "--tasks", str(options.tasks)]
        command += ["--json"]
        last = ""
        with subprocess.Popen(command, cwd=Path(__file__).parent.parent, stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout:
                if not line.startswith("{"):
                    print(line, end="", flush=True)
                last = line
        if process.returncode:
            failed.append(name)
        results.append(json.loads(last) if last.startswith("{") else {"scenario": name, "passed": False})
    passed = len(options.names) - len(failed)
    print(f"{passed} of {len(options.names)} scenarios passed" + (f"; failed: {', '.join(failed)}" if failed else ""))
    if options.json:
        print(json.dumps({"passed": not failed, "scenarios": results}))
    return 1 if failed else 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m chaos", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="SCENARIO", help=f"all, or some of {', '.join(ALL)}; default all")
    parser.add_argument("--seed", type=int, default=SEED, help="same seed, same faults")
    parser.add_argument("--tasks", type=int, default=TASKS, help=f"spread over each run; default {TASKS:,}")
    parser.add_argument("--json", action="store_true", help="print one JSON object as the last line")
    options = parser.parse_args()
    if not options.names or options.names == ["all"]:
        options.names = list(FULL)
    unknown = [name for name in options.names if name not in ALL]
    if unknown:
        parser.error(f"no scenario named {unknown[0]!r}; there are {', '.join(ALL)}")
    if options.tasks < 1:
        parser.error(f"--tasks is {options.tasks}; a run needs at least one")
    return options


if __name__ == "__main__":
    sys.exit(main())
