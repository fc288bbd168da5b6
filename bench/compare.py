"""`python -m bench.compare NAME ... [--runs 7] [--json]`: this tree and the baseline commit in turns, on this machine.

The commit is in `bench/BASELINE`. Both trees run with this environment's libraries, and a bench that repeats its rounds
does one in each run. Each figure is shown with the medians of both trees, and with the median and the range of the
ratios of all pairs of runs. The range leaves out the lowest and the highest ratio.
"""

import argparse
import json
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from .__main__ import NAMES

ROOT = Path(__file__).resolve().parent.parent
BASELINE = (ROOT / "bench" / "BASELINE").read_text().strip()
RUNS = 7

# In either tree, whatever options its benches have.
ONE_ROUND = """
import importlib, sys
from bench.__main__ import run_one
bench = importlib.import_module(f"bench.{sys.argv[1]}")
if hasattr(bench, "ROUNDS"):
    bench.ROUNDS = 1
sys.exit(run_one(sys.argv[1], {}, as_json=True, check=False))
"""

Figures = dict[str, float]


class Comparison(NamedTuple):
    figure: str
    ours: float
    baseline: float
    ratio: float
    low: float
    high: float


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.compare", description=__doc__)
    parser.add_argument("names", nargs="+", metavar="NAME", choices=NAMES)
    parser.add_argument("--runs", type=int, default=RUNS, help=f"of each tree; default {RUNS}")
    parser.add_argument("--json", action="store_true", help="print one JSON object a bench")
    options = parser.parse_args()
    with baseline_tree() as baseline:
        for name in options.names:
            pairs = [_pair(name, number, baseline) for number in range(options.runs)]
            _show(name, compared(pairs), as_json=options.json)
    return 0


@contextmanager
def baseline_tree() -> Iterator[Path]:
    with TemporaryDirectory(prefix="punctual-baseline-") as folder:
        tree = Path(folder) / "tree"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(tree), BASELINE], check=True)
        try:
            yield tree
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)


def compared(pairs: list[tuple[Figures, Figures]]) -> list[Comparison]:
    """The figures that both trees measured in every run."""
    shared = set.intersection(*(set(figures) for pair in pairs for figures in pair))
    return [_compared(figure, pairs) for figure in pairs[0][0] if figure in shared]


def _compared(figure: str, pairs: list[tuple[Figures, Figures]]) -> Comparison:
    ours, theirs = [one[figure] for one, _ in pairs], [one[figure] for _, one in pairs]
    ratios = sorted(mine / other if other else float(mine == other) for mine, other in zip(ours, theirs, strict=True))
    inner = ratios[1:-1] or ratios
    medians = [statistics.median(numbers) for numbers in (ours, theirs, ratios)]
    return Comparison(figure, *medians, low=inner[0], high=inner[-1])


def _pair(name: str, number: int, baseline: Path) -> tuple[Figures, Figures]:
    """Every other pair begins with the baseline, so that a machine that slows down slows both alike."""
    trees = [ROOT, baseline] if number % 2 == 0 else [baseline, ROOT]
    measured = {tree: _measured(name, tree) for tree in trees}
    print(f"{name}: pair {number + 1} is measured", file=sys.stderr, flush=True)
    return measured[ROOT], measured[baseline]


def _measured(name: str, tree: Path) -> Figures:
    command = [sys.executable, "-c", ONE_ROUND, name]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} in {tree} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    found = json.loads(done.stdout.splitlines()[-1])
    return {key: value for key, value in found.items() if isinstance(value, int | float) and key != "met"}


def _show(name: str, comparisons: list[Comparison], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"bench": name, "figures": [one._asdict() for one in comparisons]}), flush=True)
        return
    print(f"{name:32} {'here':>12} {BASELINE:>12} {'ratio':>7}   range")
    for one in comparisons:
        numbers = f"{one.ours:12,.2f} {one.baseline:12,.2f} {one.ratio:7.3f}   {one.low:.3f} to {one.high:.3f}"
        print(f"  {one.figure:30} {numbers}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
