"""Real beats and workers under faults by script, judged by the oracle; docs/chaos.md has the results at full scale."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from chaos.scenarios import FULL

ROOT = Path(__file__).resolve().parent.parent.parent


# A scenario takes half a minute to two, on a busy machine more. Past faulthandler_timeout pytest takes the test for
# hung and ends without a word of it, so these are shorter.
DEADLINE_SECONDS = 170
FULL_DEADLINE_SECONDS = 580


def chaos(name: str, *options: str, deadline: float = DEADLINE_SECONDS) -> dict:
    """The verdict; a failing run shows all it said."""
    ended = subprocess.run(
        [sys.executable, "-m", "chaos", name, "--json", *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=deadline,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return json.loads(ended.stdout.splitlines()[-1])


@pytest.mark.scale
def test_a_small_run_with_a_bit_of_every_fault_loses_and_doubles_nothing():
    found = chaos("small", "--tasks", "400", "--seed", "7")

    assert found["passed"]
    assert found["accepted"] > 400
    assert found["finished"] >= found["accepted"]
    assert (found["lost"], found["doubled_transactional"], found["stuck"], found["unexpected"]) == (0, 0, 0, 0)
    assert len(found["rto"]) == 7
    assert found["in_the_past"] > 400, "the mover had nothing to do"
    assert found["asked_again"] > 0


@pytest.mark.scale
@pytest.mark.parametrize("name", FULL)
def test_twenty_thousand_tasks_survive(name, request):
    if "scale" not in request.config.getoption("markexpr"):
        pytest.skip("a minute long: run with -m scale")
    assert chaos(name, deadline=FULL_DEADLINE_SECONDS)["passed"]


def test_a_scenario_that_does_not_exist_is_refused_with_the_names_there_are():
    ended = subprocess.run([sys.executable, "-m", "chaos", "kil"], cwd=ROOT, capture_output=True, text=True, timeout=60)

    assert ended.returncode == 2
    assert "stall-broker" in ended.stderr
