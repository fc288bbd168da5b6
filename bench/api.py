"""api: 50 clients create, trigger and read jobs over HTTP, through two processes of gunicorn."""

import http.client
import json
import os
import socket
import subprocess
import sys
import threading
import time

from .stack import ROOT, Stack, percentile

GOALS: dict = {}
CLIENTS, REQUESTS = 50, 20  # of each kind


def run(stack: Stack) -> dict:
    from tasks_app.engine.operations.api_tokens import issue
    from tasks_app.lifecycle.audit import Operator

    stack.start()
    token = issue("bench", "default", Operator("bench", "to measure"), can_write=True)[1]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "gunicorn", "scheduler_project.wsgi", "--bind", f"127.0.0.1:{port}"]
    # Loaded before it listens: else the first requests of all clients wait for that.
    command += ["--workers", "2", "--threads", "8", "--no-control-socket", "--preload"]
    with open(stack.folder / "web.log", "w") as log:
        web = subprocess.Popen(command, cwd=ROOT, env=os.environ | {"LOG_LEVEL": "ERROR"}, stdout=log, stderr=log)
    try:
        _wait(port)
        return _measure(port, token)
    finally:
        web.terminate()
        web.wait(20)
        stack.stop()


def _measure(port: int, token: str) -> dict:
    figures = {}
    ids: list[int] = []
    for kind in ("create", "trigger", "read"):
        started = time.monotonic()
        times, answers = _all_clients(port, token, kind, ids)
        seconds = time.monotonic() - started
        if kind == "create":
            ids = [answer["id"] for answer in answers]
        figures[f"{kind}_p50_ms"] = round(percentile(times, 0.50), 1)
        figures[f"{kind}_p99_ms"] = round(percentile(times, 0.99), 1)
        figures[f"{kind}_per_s"] = round(len(times) / seconds)
    return figures


def _all_clients(port: int, token: str, kind: str, ids: list[int]) -> tuple[list[float], list[dict]]:
    times: list[float] = []
    answers: list[dict] = []

    def client(number: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        for n in range(REQUESTS):
            method, path, body = _request(kind, number * REQUESTS + n, ids)
            headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
            headers["Idempotency-Key"] = f"{kind}-{number}-{n}"
            began = time.monotonic()
            connection.request(method, path, json.dumps(body), headers)
            answer = connection.getresponse()
            content = answer.read()
            times.append((time.monotonic() - began) * 1000)
            if answer.status >= 300:
                raise SystemExit(f"{method} {path} answered {answer.status}: {content[:300]}")
            answers.append(json.loads(content))

    threads = [threading.Thread(target=client, args=[number]) for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if len(times) < CLIENTS * REQUESTS:
        raise SystemExit(f"only {len(times)} of {CLIENTS * REQUESTS} requests were answered")
    return times, answers


def _request(kind: str, number: int, ids: list[int]) -> tuple[str, str, object]:
    if kind == "create":
        job = {"name": f"bench-{number}", "task_type": "BENCH_NOOP", "cron": f"{number % 60} 3 * * *"}
        return "POST", "/api/v1/jobs", job
    return (
        ("POST", f"/api/v1/jobs/{ids[number]}/trigger", {})
        if kind == "trigger"
        else ("GET", f"/api/v1/jobs/{ids[number]}", {})
    )


def _wait(port: int) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise SystemExit("the web process did not come up")
