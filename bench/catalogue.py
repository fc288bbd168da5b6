"""catalogue: a stack with 1,000,000 rolling tasks that are not due: statements a second, and 100,000 more imported."""

import os
import subprocess
import sys
import tempfile
import time

from . import idle
from .stack import ROOT, Stack, empty_tables, execute, query

GOALS = {"statements_more": 0.2, "import_s": 10, "spread": 1.5, "coverage_ms": 1000}
GOALS = {figure: {"at_most": most} for figure, most in GOALS.items()}
PRODUCTS = 1_000_000
IMPORTED = 100_000
SECONDS = 75  # whatever a beat does once a minute, from its start on, is in it once

_PRODUCTS = """
INSERT INTO product (product_code, name, stock_quantity, stock_synced_at)
SELECT 'C' || n, 'Product ' || n, n %% 1000, now() FROM generate_series(1, %(number)s) AS n
"""
# Written by SQL, since a million products are not what the import is measured with.
_TASKS = """
INSERT INTO punctual_task (tenant, task_type, biz_key, status, execute_time, due_at, lane, shard, limited, max_retry,
                           repeat_after)
SELECT 'internal', 'STOCK_SYNC', 'C' || n, 'SUCCESS', now(), now() + interval '1 day' + n * interval '0.7 seconds',
       'low', %(shard)s, TRUE, 250, interval '10 days'
FROM generate_series(1, %(number)s) AS n
"""


def run(stack: Stack) -> dict:
    empty_tables()
    without = _idle(stack)
    fill(PRODUCTS)
    beside = _idle(stack)
    seconds = _import()
    return {
        "statements_per_s": beside,
        "statements_per_s_without": without,
        "statements_more": round(beside - without, 2),
        "import_s": round(seconds, 2),
        "spread": round(_spread(), 2),
        "coverage_ms": round(_coverage_ms()),
    }


def _idle(stack: Stack) -> float:
    """Without autovacuum, whose transactions are counted like statements, and come when they like."""
    _autovacuum("off")
    execute("UPDATE punctual_chore SET next_at = now()")  # both times the minute begins with the beat
    stack.start(workers=0)
    time.sleep(5)
    before = idle._statements()
    time.sleep(SECONDS)
    rate = (idle._statements() - before) / SECONDS
    stack.stop()
    _autovacuum("on")
    return round(rate, 2)


def _autovacuum(state: str) -> None:
    execute(f"ALTER SYSTEM SET autovacuum = {state}")
    execute("SELECT pg_reload_conf()")


def fill(products: int) -> None:
    """So many of them, each with its rolling task."""
    from inventory_app.units import STOCK_SYNC
    from tasks_app.lifecycle.shards import shards_of

    [shard] = shards_of(["internal"], [STOCK_SYNC], ["C1"])
    execute(_PRODUCTS, {"number": products})
    execute(_TASKS, {"number": products, "shard": shard})
    execute("VACUUM ANALYZE punctual_task, product")


def _import() -> float:
    """The command, as a person runs it: half of the products were never synced, half come with a sync date."""
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        file.write("code,name,quantity,synced_at\n")
        now = query("SELECT clock_timestamp()")[0][0].isoformat()
        for n in range(IMPORTED):
            file.write(f"N{n},Product {n},{n % 100},{now}\n" if n % 2 else f"N{n},Product {n},,\n")
        file.flush()
        started = time.monotonic()
        command = [sys.executable, "manage.py", "stock", "import", file.name]
        done = subprocess.run(command, cwd=ROOT, env=os.environ, capture_output=True, text=True)
        seconds = time.monotonic() - started
    if done.returncode or not done.stdout.startswith(f"{IMPORTED:,} added"):
        raise SystemExit(done.stdout + done.stderr)
    return seconds


def _spread() -> float:
    """The busiest hour of the imported ones that came with a date, against the mean: 1 is perfectly even."""
    ((most, mean),) = query(
        "SELECT max(n), avg(n)::float8 FROM (SELECT count(*) AS n FROM punctual_task WHERE biz_key LIKE 'N%%'"
        " AND due_at > now() + interval '1 minute' AND due_at < now() + interval '239 hours'"
        " GROUP BY date_bin('1 hour', due_at, now())) AS hours"
    )
    return most / mean


def _coverage_ms() -> float:
    from inventory_app.coverage import read_coverage

    started = time.monotonic()
    read_coverage()
    return (time.monotonic() - started) * 1000
