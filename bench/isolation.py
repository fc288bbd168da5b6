"""isolation: GET and POST /tasks of a tenant, with row-level security and without, request by request in turn."""

import http.client
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from .api import _wait
from .stack import ROOT, Stack, empty_tables, execute, percentile

GOALS = {"api_ratio": {"at_most": 1.1}}
TASKS, TENANTS = 200_000, 100
REQUESTS, WARM = 600, 50  # of each kind and way
LOGINS = {"with": "bench_web", "without": "bench_plain"}  # the second may not become another role, so there is no scope

_TASKS = """
INSERT INTO punctual_task (tenant, task_type, biz_key, status, execute_time, due_at, entry_at,
                           lane, shard, max_retry, payload)
SELECT 'tenant-' || n %% %(tenants)s, 'BENCH_NOOP', 'k' || n, 'INIT', due.at, due.at, due.at, 'default',
       hashint8(n) & 15, 3, jsonb_build_object('order', n)
FROM generate_series(1, %(tasks)s) AS n CROSS JOIN (SELECT now() + interval '1 day') AS due(at)
"""
_LOGINS = """
CREATE ROLE bench_web LOGIN IN ROLE punctual_engine;
CREATE ROLE bench_plain LOGIN;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO bench_plain;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO bench_plain;
"""


def run(stack: Stack) -> dict:
    from tasks_app.engine.operations.api_tokens import issue
    from tasks_app.lifecycle.audit import Operator

    empty_tables()
    execute(_TASKS, {"tasks": TASKS, "tenants": TENANTS})
    execute("VACUUM ANALYZE punctual_task")
    execute(_LOGINS)
    token = issue("bench", "tenant-0", Operator("bench", "to measure"), can_write=True)[1]
    with ExitStack() as ending:
        ways = {way: ending.enter_context(_web(stack, login)) for way, login in LOGINS.items()}
        figures: dict[str, float] = {}
        for kind in ("get", "post"):
            times = _measure(ways, token, kind)
            for way, taken in times.items():
                figures[f"{kind}_p50_ms_{way}"] = round(percentile(taken, 0.5), 2)
                figures[f"{kind}_p95_ms_{way}"] = round(percentile(taken, 0.95), 2)
            figures[f"{kind}_ratio"] = round(percentile(times["with"], 0.95) / percentile(times["without"], 0.95), 3)
    return figures | {"api_ratio": max(figures["get_ratio"], figures["post_ratio"])}


def _measure(ways: dict[str, int], token: str, kind: str) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {way: [] for way in ways}
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    for number in range(WARM + REQUESTS):
        # Who is first changes: the second finds pages and locks as the first has left them.
        for way in list(ways)[:: 1 if number % 2 else -1]:
            task = {"task_type": "BENCH_NOOP", "key": f"{way}-{number}", "delay": 86_400, "payload": {"order": number}}
            given = ("GET", "/api/v1/tasks", None) if kind == "get" else ("POST", "/api/v1/tasks", json.dumps(task))
            link = http.client.HTTPConnection("127.0.0.1", ways[way], timeout=60)
            link.connect()
            began = time.perf_counter()
            link.request(*given, headers)
            answer = link.getresponse()
            content = answer.read()
            link.close()
            if number >= WARM:
                times[way].append((time.perf_counter() - began) * 1000)
            if answer.status >= 300 or not content:
                raise SystemExit(f"{given[0]} {given[1]} answered {answer.status}: {content[:300]}")
    return times


@contextmanager
def _web(stack: Stack, login: str) -> Iterator[int]:
    """A web process of this login; yields its port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = stack.services.database_url.replace("//punctual@", f"//{login}@")
    command = [sys.executable, "-m", "gunicorn", "scheduler_project.wsgi", "--bind", f"127.0.0.1:{port}"]
    command += ["--workers", "1", "--threads", "2", "--no-control-socket", "--preload"]
    with open(stack.folder / f"{login}.log", "w") as log:
        environment = os.environ | {"LOG_LEVEL": "ERROR", "DATABASE_URL": url}
        web = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
    try:
        _wait(port)
        yield port
    finally:
        web.terminate()
        web.wait(20)
