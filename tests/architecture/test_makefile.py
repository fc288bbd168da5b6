"""Which Python `make` takes for its environment: one that was built without optimisation makes every test slower."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
OWN = Path("/usr/bin/python3")
VERSION = "import ensurepip, sys, venv; print(*sys.version_info[:2])"


def taken(folder: Path, first_on_path: str, *given: str) -> str:
    """What make takes if the first Python on PATH is this script."""
    python = folder / "python3"
    python.write_text(f"#!/bin/sh\n{first_on_path}\n")
    python.chmod(0o755)
    env = {name: value for name, value in os.environ.items() if name not in ("PYTHON", "MAKEFLAGS", "MAKELEVEL")}
    command = ["make", "--no-print-directory", "--eval", "taken: ; @echo $(PYTHON)", "taken", *given]
    env |= {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture(scope="module")
def version() -> str:
    """Of the system's own Python, if it can make environments."""
    if sys.platform != "linux" or not OWN.exists():
        pytest.skip("the system has no Python of its own")
    told = subprocess.run([OWN, "-c", VERSION], capture_output=True, text=True)
    if told.returncode:
        pytest.skip("the system's own Python makes no environments")
    return told.stdout.strip()


def test_the_systems_own_is_taken_in_place_of_one_of_its_version_without_optimisation(tmp_path, version):
    assert taken(tmp_path, f"echo {version}") == str(OWN)
    assert taken(tmp_path, "echo 3 99") == "python3"
    assert taken(tmp_path, "exit 0") == "python3", "it was built with optimisation, and told nothing"
    assert taken(tmp_path, "exit 1") == "python3", "it is broken; what makes the environment says so"


def test_whoever_names_one_gets_it(tmp_path, version):
    assert taken(tmp_path, f"echo {version}", "PYTHON=python3.12") == "python3.12"
