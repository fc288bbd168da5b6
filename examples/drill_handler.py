"""Drills as tasks: copy this into a module `handlers` of an app of yours; examples/drills.yaml has the job for it.

A worker runs `manage.py drill` as a process of its own. If a limit is missed, or a figure is worse than last time, the
task is dead with the sentences that say so: an alarm rule for dead tasks of this type tells somebody.
"""

import subprocess
import sys

from django_punctual import Task, UnrecoverableError, handler

CODES = {1: "DRILL_MISSED", 2: "DRILL_FAILED", 3: "DRILL_WORSE"}


@handler("OPS_DRILL", timeout=3600, max_retry=0)
def drill(task: Task) -> str:
    command = [sys.executable, "manage.py", "drill", task.payload.get("drill", "all"), "--compare"]
    command += ["--report", task.payload["report"]]
    ended = subprocess.run(command, capture_output=True, text=True)
    if ended.returncode:
        said = [line for line in (ended.stdout + ended.stderr).splitlines() if line.startswith(("!", "  Missed"))]
        words = " ".join(line.strip() for line in said) or ended.stderr[-500:]
        raise UnrecoverableError(words, code=CODES.get(ended.returncode, "DRILL_FAILED"))
    return ended.stdout
