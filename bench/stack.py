"""A fresh stack to measure: embedded PostgreSQL with fsync on, Valkey, real beats and workers."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scheduler_project.temporary import temporary_stack

from .peers.programs import record

ROOT = Path(__file__).resolve().parent.parent


class Stack:
    def __init__(self, folder: Path, services) -> None:
        self.folder = folder
        self.services = services
        self.processes: list[subprocess.Popen] = []
        self._started = 0

    def start(self, *, beats: int = 1, workers: int = 1, concurrency: int = 2, **env: str) -> None:
        for _ in range(beats):
            self._celery("beat", env=env)
        for number in range(workers):
            options = [f"--concurrency={concurrency}", "-n", f"w{number}-{self._started}@bench"]
            self._celery("worker", *options, "--without-gossip", "--without-mingle", "--without-heartbeat", env=env)
        self._wait_until_live()

    def stop(self) -> None:
        self._end(self.processes)
        execute("DELETE FROM punctual_node")

    def stop_beats(self) -> None:
        self._end([process for process in self.processes if "beat" in process.args])

    def _end(self, processes: list[subprocess.Popen]) -> None:
        for process in processes:
            process.terminate()
        for process in processes:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.processes = [process for process in self.processes if process not in processes]

    def _celery(self, *arguments: str, env: dict[str, str]) -> None:
        self._started += 1
        log = (self.folder / f"{arguments[0]}-{self._started}.log").open("w")
        command = [sys.executable, "-m", "celery", "--quiet", "-A", "scheduler_project", *arguments]
        environment = os.environ | {"LOG_LEVEL": "WARNING"} | env
        self.processes.append(
            subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT)
        )

    def _wait_until_live(self) -> None:
        deadline = time.monotonic() + 120
        while query("SELECT count(*) FROM punctual_node")[0][0] < len(self.processes):
            dead = [process.args for process in self.processes if process.poll() is not None]
            if dead or time.monotonic() > deadline:
                logs = "\n".join(path.read_text()[-2000:] for path in self.folder.glob("*.log"))
                raise SystemExit(f"the stack did not come up: {dead}\n{logs}")
            time.sleep(0.05)


@contextmanager
def fresh_stack() -> Iterator[Stack]:
    """Temporary data and an empty database with the schema in it; processes are started by the bench."""
    with temporary_stack("bench", "bench.settings") as temporary:
        stack = Stack(temporary.folder, temporary.services)
        os.environ[record.FILE] = str(temporary.folder / "records")
        try:
            yield stack
        finally:
            if stack.processes:
                stack.stop()


def query(statement: str, params=None) -> list[tuple]:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(statement, params)
        return cursor.fetchall()


def execute(statement: str, params=None) -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(statement, params)


def empty_tables() -> None:
    """Also of what safeguards made of the last round: a thousand dead letters hold all lanes but one back."""
    execute(
        "TRUNCATE punctual_task, punctual_batch, punctual_attempt, punctual_dead_letter, punctual_outbox, bench_effect,"
        " punctual_past, punctual_past_batch, punctual_turn, punctual_safeguard, punctual_safeguard_incident,"
        " punctual_curb, punctual_pulse"
    )


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def wait_settled(expected: int, timeout: float = 300) -> None:
    """Until so many tasks were settled, asked of the batches so that asking costs nothing."""
    deadline = time.monotonic() + timeout
    settled = "SELECT coalesce(sum(ok + failed), 0) FROM punctual_batch WHERE task_type <> 'PUNCTUAL_CANARY'"
    while query(settled)[0][0] < expected:
        if time.monotonic() > deadline:
            raise SystemExit(f"not all of {expected} tasks were settled within {timeout:g} s")
        time.sleep(0.05)
