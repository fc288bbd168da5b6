"""metrics: a scrape beside 1,000,000 live tasks of 500 types and 100 tenants, what counting costs; and `idle` and
`punctual` with a scrape every 5 s beside those without."""

import gzip
import http.client
import os
import re
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from . import idle, punctual
from .api import _wait as wait_for
from .stack import ROOT, Stack, empty_tables, execute, percentile, query

GOALS = {
    "scrape_ms": 100,
    "sequential_scans": 0,
    "statements_more": 0.5,
    "cpu_percent_more": 0.5,
    "punctual_ratio": 1.2,
}
GOALS = {figure: {"at_most": most} for figure, most in GOALS.items()}
TASKS, TYPES, TENANTS = 1_000_000, 500, 100
DUE, SCRAPES, EVERY_SECONDS = 20_000, 30, 5.0
RATE, ROUNDS = 1_000, 3  # of `punctual`, in turns
PAUSE_SECONDS = 1.1  # longer than a process keeps what it has read
# What Prometheus 3 sends.
ASKED = {
    "Accept": "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
    "application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,"
    "text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
    "Accept-Encoding": "gzip",
}

# One in twenty has failed and waits for its next try; the first ones are due, in all lanes.
_TASKS = """
INSERT INTO punctual_task (tenant, task_type, biz_key, status, execute_time, due_at, lane, shard, max_retry, error_code)
SELECT 'tenant-' || n %% %(tenants)s, 'BENCH_' || n %% %(types)s, 'k' || n,
       CASE n %% 20 WHEN 0 THEN 'FAIL' ELSE 'INIT' END, now(),
       CASE WHEN n <= %(due)s THEN now() - interval '1 min' ELSE now() + interval '1 day' + n * interval '50 ms' END,
       (ARRAY['critical', 'high', 'default', 'low', 'deferred', 'backfill'])[1 + n %% 6], n %% 16, 5,
       CASE n %% 20 WHEN 0 THEN 'ERROR' ELSE '' END
FROM generate_series(1, %(tasks)s) AS n
"""
# What ran in the last half minute: a batch of each type in two lanes, of which each one is counted.
_BATCHES = """
INSERT INTO punctual_batch (
    batch_no, task_type, lane, ids, dispatcher, claimed_at, lease_until, started_at, finished_at, ok, failed, run_us,
    lateness)
SELECT gen_random_uuid(), 'BENCH_' || n %% %(types)s, (ARRAY['default', 'low'])[1 + n / %(types)s %% 2],
       ARRAY(SELECT generate_series(1, 100)), 'bench', now(), now(), now(), now() + n * interval '10 ms', 99, 1, 50000,
       ARRAY(SELECT generate_series(1, 104))
FROM generate_series(0, 3 * %(types)s - 1) AS n
"""
_LETTERS = """
INSERT INTO punctual_dead_letter (task_id, tenant, task_type, error_code, error_msg)
SELECT n, 'tenant-' || n %% %(tenants)s, 'BENCH_' || n %% %(types)s, 'ERROR', '' FROM generate_series(1, 20000) AS n
"""


def run(stack: Stack) -> dict:
    from tasks_app.engine.operations.api_tokens import issue_for_metrics
    from tasks_app.lifecycle.audit import Operator

    empty_tables()
    sizes = {"tasks": TASKS, "types": TYPES, "tenants": TENANTS, "due": DUE}
    execute(_TASKS, sizes)
    execute("VACUUM ANALYZE punctual_task")
    stack.start(workers=0)
    _wait_for_count()
    execute(_BATCHES, sizes)
    execute(_LETTERS, sizes)
    execute("ANALYZE punctual_batch, punctual_dead_letter")
    _, token = issue_for_metrics("bench", Operator("bench", "to measure"))
    with _web(stack) as port:
        figures = _scraped(port, token)
        execute("UPDATE punctual_task SET due_at = due_at + interval '2 days' WHERE due_at < now()")
        execute("VACUUM ANALYZE punctual_task")
        quiet, quiet_cpu = idle.measure(stack)
        with _scraping(port, token):
            statements, cpu = idle.measure(stack)
        scans = len(_sequential_scans())  # before the tables are emptied
        stack.stop()
        figures |= _beside_punctual(stack, port, token)
    return figures | {
        "sequential_scans": scans,
        "statements_more": round(statements - quiet, 2),  # a scrape is two: its token, and the figures
        "cpu_percent_more": round(cpu - quiet_cpu, 2),
        "statements_per_s": statements,
        "cpu_percent": cpu,
    }


def _beside_punctual(stack: Stack, port: int, token: str) -> dict:
    """How late the latest in a hundred tasks start at RATE, without scrapes and with them."""
    plain, scraped = [], []
    for _ in range(ROUNDS):
        plain.append(_p99(punctual.measure(stack, RATE)))
        scraped.append(_p99(punctual.measure(stack, RATE, around=_Around(_scraping(port, token)))))
    return {
        "punctual_ratio": round(statistics.median(one / other for one, other in zip(scraped, plain, strict=True)), 2),
        "plain_p99_ms": [round(one, 2) for one in plain],
        "scraped_p99_ms": [round(one, 2) for one in scraped],
    }


def _p99(late: punctual.Late) -> float:
    return percentile(late.warm, 0.99)


class _Around:
    """Enters a context when it is called for the first time, and leaves it at the second."""

    def __init__(self, context: AbstractContextManager) -> None:
        self._context, self._inside = context, False

    def __call__(self) -> None:
        self._inside = not self._inside
        if self._inside:
            self._context.__enter__()
        else:
            self._context.__exit__(None, None, None)


def _wait_for_count() -> None:
    deadline = time.monotonic() + 60
    while not query("SELECT count(*) FROM punctual_count_pass WHERE at IS NOT NULL")[0][0]:
        if time.monotonic() > deadline:
            raise SystemExit("no beat has counted within a minute")
        time.sleep(0.1)


def _scraped(port: int, token: str) -> dict:
    """When all batches are counted, as Prometheus asks for it; over a new connection each time."""
    deadline = time.monotonic() + 120
    while _value(_get(port, token)[0], "punctual_batches_total") < 3 * TYPES:
        if time.monotonic() > deadline:
            raise SystemExit("not all batches were counted within two minutes")
        time.sleep(1)
    times, counts = [], []
    for _ in range(SCRAPES):
        time.sleep(PAUSE_SECONDS)
        text, took = _get(port, token)
        times.append(took)
        counts.append(1000 * _value(text, "punctual_count_duration_seconds"))
    return {
        "scrape_ms": round(percentile(times, 0.95), 1),
        "scrape_p50_ms": round(percentile(times, 0.50), 1),
        "series": sum(not line.startswith("#") for line in text.splitlines()),
        "bytes": len(text),
        "count_ms": round(percentile(counts, 0.50), 1),
        "count_most_ms": round(max(counts), 1),
    }


def _get(port: int, token: str) -> tuple[str, float]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    started = time.monotonic()
    connection.request("GET", "/metrics", headers=ASKED | {"Authorization": f"Bearer {token}"})
    answer = connection.getresponse()
    body = answer.read()
    took = (time.monotonic() - started) * 1000
    connection.close()
    text = (gzip.decompress(body) if answer.headers["Content-Encoding"] == "gzip" else body).decode()
    if answer.status != 200 or _value(text, "punctual_up") != 1:
        raise SystemExit(f"/metrics answered {answer.status}: {text[:300]}")
    return text, took


def _value(text: str, name: str) -> float:
    """Of all its series together."""
    return sum(float(value) for value in re.findall(rf"^{name}(?:{{.*}})? (\S+)$", text, re.MULTILINE))


@contextmanager
def _scraping(port: int, token: str) -> Iterator[None]:
    ended = threading.Event()

    def scrape() -> None:
        while not ended.wait(EVERY_SECONDS):
            _get(port, token)

    thread = threading.Thread(target=scrape)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _sequential_scans() -> list[str]:
    """In the plans of what a scrape and a count do, over a table that grows with the tasks there are."""
    from tasks_app.sql import _files, _text

    found = []
    for name, path in _files().items():
        if path.parent.name == "metrics":
            numbers: dict[str, int] = {}
            text = re.sub(
                r"%\((\w+)\)s|%%",
                lambda one, numbers=numbers: f"${numbers.setdefault(one[1], len(numbers) + 1)}" if one[1] else "%",
                _text(name),
            )
            plan = "\n".join(line for (line,) in query("EXPLAIN (GENERIC_PLAN) " + text.replace("%", "%%"), ()))
            tables = re.findall(r"Seq Scan on (punctual_(?:task|past\w*|batch|dead_letter)\b)", plan)
            found += [f"{name}: {table}" for table in tables]
    return found


@contextmanager
def _web(stack: Stack) -> Iterator[int]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "gunicorn", "scheduler_project.wsgi", "--bind", f"127.0.0.1:{port}"]
    command += ["--workers", "1", "--threads", "8", "--no-control-socket", "--preload"]
    with open(stack.folder / "web.log", "w") as log:
        web = subprocess.Popen(command, cwd=ROOT, env=os.environ | {"LOG_LEVEL": "ERROR"}, stdout=log, stderr=log)
    try:
        wait_for(port)
        yield port
    finally:
        web.terminate()
        web.wait(20)
