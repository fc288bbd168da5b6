"""The benches can be told apart and say what they measure; running them is for a quiet machine."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from bench.__main__ import NAMES, _meets

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("name", NAMES)
def test_every_bench_says_what_it_measures_and_what_is_wanted(name):
    bench = importlib.import_module(f"bench.{name}")

    assert bench.__doc__.startswith(f"{name}: ")
    assert all(goal.keys() <= {"at_least", "at_most"} for goal in bench.GOALS.values())


def test_a_goal_is_met_from_the_right_side():
    assert _meets(10, {"at_least": 10})
    assert not _meets(9, {"at_least": 10})
    assert _meets(10, {"at_most": 10})
    assert not _meets(11, {"at_most": 10})


def test_a_bench_that_does_not_exist_is_refused_with_the_names_there_are():
    ended = subprocess.run(
        [sys.executable, "-m", "bench", "drian"], cwd=ROOT, capture_output=True, text=True, timeout=60
    )

    assert ended.returncode == 2
    assert "drain" in ended.stderr
