"""archive: a day of 1,000,000 tasks to Parquet, and one key searched in 90 such days; bytes a row, and memory."""

import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from .stack import ROOT, Stack, execute, query

GOALS = {
    "rows_per_s": {"at_least": 100_000},
    "peak_growth": {"at_most": 1.2},
    "search_s": {"at_most": 5},
}
ROWS = 1_000_000
FEW = ROWS // 4  # beside which the memory is compared
DAYS = 90
SEARCHES = 5

# Scattered keys, payloads and times of their own; written by SQL, since running them is not what is measured here.
FILL = """
INSERT INTO punctual_past (id, tenant, task_type, biz_key, current, token, status, execute_time, claimed_due, lane,
                           shard, solo, limited, attempt, retry_count, max_retry, start_time, finish_time, error_code,
                           error_msg, cancelled_by, payload, created_at, updated_at, ran_in, retention, worker)
SELECT n, 'tenant-' || n %% 50, 'TYPE_' || n %% 20, md5(n::text), TRUE, gen_random_uuid(), 'SUCCESS', at, at, 'default',
       n %% 16, FALSE, FALSE, 0, 0, 5, at + interval '13 ms', at + interval '21 ms', '', '', '',
       jsonb_build_object('order', n, 'customer', md5((n %% 1000)::text), 'amount', n %% 977, 'note', 'by mail'),
       at - interval '1 hour', at + interval '21 ms', md5((n / 500)::text)::uuid, 'default', 'w' || n %% 7 || '@host'
FROM generate_series(1, %(rows)s) AS n
CROSS JOIN LATERAL (SELECT %(day)s::timestamptz + n * (interval '23 hours' / %(rows)s) AS at) AS one
"""


def run(stack: Stack) -> dict:
    folder = stack.folder / "archive"
    folder.mkdir()
    few = _leave(folder, _day(40), FEW)
    shutil.rmtree(folder / "tasks")
    whole = _leave(folder, _day(20), ROWS)
    size = sum(file.stat().st_size for file in folder.rglob("*.parquet"))
    _copy_days(folder)
    return {
        "rows_per_s": round(ROWS / whole["seconds"]),
        "peak_mb": round(whole["peak_mb"]),
        "peak_growth": round(whole["peak_mb"] / few["peak_mb"], 2),
        "bytes_per_row": round(size / ROWS, 1),
        "search_s": round(_search_s(folder), 2),
    }


def _day(ago: int) -> datetime:
    return datetime.combine(datetime.now(UTC).date(), datetime.min.time(), UTC) - timedelta(days=ago)


def _leave(folder: Path, day: datetime, rows: int) -> dict:
    """Fill a day, and have a process of its own archive it: how long it took, and its memory."""
    from tasks_app.storage.partitions import make

    [name] = make("punctual_past_default", [day], timedelta(days=1))
    execute(FILL, {"rows": rows, "day": day})
    execute(f"VACUUM ANALYZE {name}")
    execute("CHECKPOINT")
    environment = os.environ | {"ARCHIVE_URL": str(folder)}
    command = [sys.executable, "-m", "bench.archive"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    if done.returncode or query("SELECT count(*) FROM punctual_past")[0][0]:
        raise SystemExit(done.stdout + done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def _copy_days(folder: Path) -> None:
    """The day as 89 more: each is a file of its own, and each has the key, so that none can be left out."""
    from tasks_app.archive.manifest import folder_of, manifest_name, read_manifests
    from tasks_app.archive.place import place_of

    place = place_of(str(folder))
    [first] = read_manifests(place, place.files("tasks/default"))
    if shutil.disk_usage(folder).free < 2 * DAYS * first.bytes:
        raise SystemExit(f"{DAYS} days need {DAYS * first.bytes / 1e9:.0f} GB of free disk, twice")
    for number in range(1, DAYS):
        back = timedelta(days=number)
        target = folder_of("tasks/default", first.since - back)
        parts = []
        for part in first.parts:
            name = f"{target}/{Path(part.name).name}"
            (folder / target).mkdir(parents=True, exist_ok=True)
            shutil.copyfile(folder / part.name, folder / name)
            parts.append(replace(part, name=name, since=part.since - back, until=part.until - back))
        mark = f"{number:012x}"
        copy = replace(first, since=first.since - back, until=first.until - back, mark=mark, parts=parts)
        place.write(manifest_name(target, mark, copy.fence), copy.to_json())


def _search_s(folder: Path) -> float:
    from tasks_app.archive.place import place_of
    from tasks_app.archive.search import ColdFilter, search

    place, seconds = place_of(str(folder)), []
    for number in range(SEARCHES):
        [(key,)] = query("SELECT md5(%s)", [str(1 + number * ROWS // SEARCHES)])
        started = time.monotonic()
        found = search(place, ColdFilter(key=key), limit=DAYS + 1).rows
        seconds.append(time.monotonic() - started)
        if len(found) != DAYS:
            raise SystemExit(f"{key} was found {len(found)} times, not {DAYS}")
    return statistics.median(seconds)


def _archive_now() -> None:
    """As the chore does it."""
    import django

    django.setup()
    from tasks_app.archive.leave import leave_all
    from tasks_app.archive.place import the_archive

    started = time.monotonic()
    done = leave_all(the_archive(), "bench")
    seconds = time.monotonic() - started
    if not done.written or done.waiting:
        raise SystemExit(str(done))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "peak_mb": peak}))


if __name__ == "__main__":
    _archive_now()
