"""`python -m bench.peers [PEER ...] [--json]`: Punctual and its peers, measured the same way on this machine.

Each peer runs in an interpreter of its own, on a fresh embedded PostgreSQL and Valkey with fsync on.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from bench import punctual
from bench.stack import ROOT, fresh_stack
from tasks_app import embedded

from . import ours, table
from .programs import record

PROGRAMS = {
    "graphile-worker": "graphile_node.py",
    "pg-boss": "boss_node.py",
    "procrastinate": "procrastinate_pg.py",
    "celery": "celery_eta.py",
    "dramatiq": "dramatiq_delay.py",
    "apscheduler": "apscheduler_four.py",
}
PYTHON = ROOT / ".venv-peers" / "bin" / "python"
WANTED = {"most": 100_000, "rounds": 3, "rates": [200, 1000], "seconds": punctual.SECONDS}
TIMEOUT_SECONDS = 1200


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.peers", description=__doc__)
    parser.add_argument("peers", nargs="*", metavar="PEER", help=f"one or more of {', '.join(PROGRAMS)}; default all")
    parser.add_argument("--json", action="store_true", help="print one JSON object as the last line")
    options = parser.parse_args()
    unknown = [name for name in options.peers if name not in PROGRAMS]
    if unknown:
        parser.error(f"no peer named {unknown[0]!r}; there are {', '.join(PROGRAMS)}")
    if not PYTHON.exists():
        parser.error(f"{PYTHON} is missing, and the peers run in it. `make bench-peers` makes it.")
    answers = {}
    for name in options.peers or PROGRAMS:
        print(f"{name} …", flush=True)
        answers[name] = measure_peer(PROGRAMS[name])
    print("punctual …", flush=True)
    report = table.report(answers, measure_ours(answers))
    print(table.text(report))
    if options.json:
        print(json.dumps(report))
    return 0 if all(answer.get("drain") for answer in answers.values()) else 1


def measure_peer(program: str) -> dict:
    with tempfile.TemporaryDirectory(prefix="punctual-peers-") as folder:
        services = embedded.start(Path(folder) / "home")
        environment = os.environ | {
            "DATABASE_URL": services.database_url,
            "REDIS_URL": services.redis_url,
            record.FILE: str(Path(folder) / "records"),
        }
        command = [str(PYTHON), str(Path(__file__).parent / "programs" / program), json.dumps(WANTED)]
        try:
            ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=TIMEOUT_SECONDS)
        finally:
            services.discard()
    return answer_of(ended.returncode, ended.stdout, ended.stderr)


def answer_of(returncode: int, stdout: str, stderr: str) -> dict:
    """What a program measured: the JSON object in its last line, or why there is none."""
    if returncode == 0 and stdout.strip():
        return json.loads(stdout.strip().splitlines()[-1])
    print(stderr, file=sys.stderr)
    said = stderr.strip().splitlines() or ["it said nothing"]
    return {"reason": f"its program ended with {returncode}: {said[-1]}"}


def measure_ours(answers: dict[str, dict]) -> dict:
    sizes = {
        bench: sorted({WANTED["most"]} | {answer[bench]["tasks"] for answer in answers.values() if bench in answer})
        for bench in ("drain", "enqueue")
    }
    with fresh_stack() as stack:
        return ours.measure(stack, sizes, WANTED["rates"], WANTED["rounds"])


if __name__ == "__main__":
    sys.exit(main())
