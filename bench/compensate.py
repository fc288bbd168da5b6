"""compensate: the scan over 1,000,000 articles of which 1,000 are damaged, in seconds and in peak memory."""

import json
import os
import subprocess
import sys
from pathlib import Path

from .articles import analyse, make_articles, schedule_publishings
from .stack import Stack, execute, query

GOALS = {"scan_s": {"at_most": 10}, "peak_mb_above_start": {"at_most": 20}, "wrong": {"at_most": 0}}
PUBLISHED, APPROVED, PENDING = 600_000, 300_000, 100_000
DAMAGED = 1_000


def run(stack: Stack) -> dict:
    make_articles(PUBLISHED, "PUBLISHED", "now() - interval '1 day' - n * interval '1 second'")
    approved = make_articles(APPROVED, "AUDIT_SUCCESS", "now() + interval '1 day' + n * interval '1 second'")
    pending = make_articles(PENDING, "PENDING_AUDIT", "now() + interval '1 day' + n * interval '1 second'")
    schedule_publishings(approved)
    _schedule_audits(pending)
    analyse()
    healthy = _scan()
    _damage(approved, pending)
    dry = _scan("--dry-run")
    repairing = _scan()
    again = _scan()
    wrong = abs(dry["repairable"] - DAMAGED) + abs(repairing["repaired"] - DAMAGED)
    wrong += healthy["repaired"] + again["repaired"] + again["needs_person"]
    return {
        "scan_s": repairing["seconds"],
        "healthy_scan_s": healthy["seconds"],
        "dry_run_s": dry["seconds"],
        "walked": repairing["walked"],
        "repaired": repairing["repaired"],
        "peak_mb": repairing["peak_mb"],
        "peak_mb_above_start": round(repairing["peak_mb"] - repairing["start_mb"], 1),
        "wrong": wrong,
    }


_MEASURED = """
import json, sys, io
import django
django.setup()
from django.core.management import call_command
def mb():  # getrusage would tell the peak of the process that started this one
    return int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) / 1024
from django.db import connection
connection.ensure_connection()
start, out = mb(), io.StringIO()
try:
    call_command("compensate", "--json", *sys.argv[1:], stdout=out)
except SystemExit:
    pass
print(json.dumps({**json.loads(out.getvalue()), "start_mb": round(start, 1), "peak_mb": round(mb(), 1)}))
"""


def _scan(*options: str) -> dict:
    """The command, in a process of its own, so that the peak is its own."""
    ended = subprocess.run(
        [sys.executable, "-c", _MEASURED, *options],
        cwd=Path(__file__).parent.parent,
        env=os.environ | {"LOG_LEVEL": "ERROR"},
        capture_output=True,
        text=True,
    )
    if ended.returncode:
        raise SystemExit(ended.stderr)
    return json.loads(ended.stdout.splitlines()[-1])


def _schedule_audits(ids: range) -> None:
    from articles_app.units import AUDIT
    from django_punctual import ensure_many

    for first in range(ids.start, ids.stop, 10_000):
        keys = range(first, min(first + 10_000, ids.stop))
        ensure_many(AUDIT, [{"key": key, "delay": 86_400} for key in keys])


def _damage(approved: range, pending: range) -> None:
    """Tasks that are gone, tasks at another time, and articles that are live with a task still to come."""
    part = DAMAGED // 4
    gone = [str(id_) for id_ in (*approved[: part * 100 : 100], *pending[: part * 100 : 100])]
    execute("DELETE FROM punctual_task WHERE biz_key = ANY (%s)", [gone])
    moved = list(approved[50 : 50 + part * 100 : 100])
    execute("UPDATE article SET publish_time = publish_time + interval '1 hour' WHERE id = ANY (%s)", [moved])
    live = list(approved[51 : 51 + part * 100 : 100])
    execute("UPDATE article SET status = 'PUBLISHED', published_at = now() WHERE id = ANY (%s)", [live])
    ((left,),) = query("SELECT count(*) FROM punctual_task WHERE biz_key = ANY (%s)", [gone])
    if left or len({*gone, *map(str, moved), *map(str, live)}) != DAMAGED:
        raise SystemExit("the damage is not what it should be")
