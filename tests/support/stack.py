"""Real beat, worker and web processes on the test database, to be killed and stopped."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote, unquote, urlencode, urlsplit

from django.conf import settings
from django.db import connection

from chaos.proxy import Proxy
from tasks_app.models import Node
from tests.support import nursery
from tests.support.wait import wait_until

ROOT = Path(__file__).resolve().parent.parent.parent
CELERY = ("celery", "-A", "scheduler_project")
CELERY_NAMES = ("beat", "worker")
P = TypeVar("P", bound=Proxy)


def url_of_test_database(**through: object) -> str:
    """The test database, as another process names it; `through` another host and port."""
    wanted = connection.settings_dict
    query = {key: value for key, value in (("host", wanted["HOST"]), ("port", wanted["PORT"])) if value} | through
    login = quote(wanted["USER"]) + (":" + quote(wanted["PASSWORD"]) if wanted["PASSWORD"] else "")
    return f"postgresql://{login}@/{wanted['NAME']}?{urlencode(query)}"


@dataclass
class Process:
    name: str
    popen: subprocess.Popen | nursery.Born
    log: Path

    @property
    def pid(self) -> int:
        return self.popen.pid

    def kill(self) -> None:
        """kill -9, children too: the machine lost power."""
        self._signal_group(signal.SIGKILL)
        self.popen.wait(60)

    def signal(self, signum: int) -> None:
        os.kill(self.pid, signum)

    def signal_all(self, signum: int) -> None:
        self._signal_group(signum)

    def terminate(self, timeout: float = 80) -> int:
        """SIGTERM to the parent, as a supervisor does; returns the exit code."""
        self.signal(signal.SIGTERM)
        return self.popen.wait(timeout)

    @property
    def alive(self) -> bool:
        return self.popen.poll() is None

    def children(self) -> list[int]:
        found = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        return [int(pid) for pid in found]

    def text(self) -> str:
        return self.log.read_text(errors="replace")

    def _signal_group(self, signum: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signum)


@dataclass
class Stack:
    folder: Path
    settings_module: str = "tests.settings"
    wsgi: str = "scheduler_project.wsgi"
    knobs: dict[str, object] = field(default_factory=dict)  # what its processes have in PUNCTUAL instead
    processes: list[Process] = field(default_factory=list)
    url: str = ""  # of the web process, once there is one

    def web(self, port: int = 0, **env: str) -> Process:
        """The admin, served as in production, by one process; at a port of its own if none is given."""
        options = ["--bind", f"127.0.0.1:{port}", "--workers", "1", "--graceful-timeout", "1"]
        process = self._start("web", ["gunicorn", self.wsgi, *options], env)
        listening = wait_until(
            lambda: not process.alive or re.search(r"Listening at: (http://\S+)", process.text()),
            timeout=30,
            describe=self.logs,
        )
        assert process.alive, f"web ended at once:\n{process.text()}"
        self.url = listening[1]
        return process

    def run(self, name: str, command: list[str], **env: str) -> Process:
        """A program of this environment, whatever folder the command says it is in."""
        program = Path(command[0]).name
        return self._start(name, [program, *command[1:]], env, ours=program == CELERY[0])

    def beat(self, *options: str, **env: str) -> Process:
        process = self._start("beat", [*CELERY, "beat", *options], env)
        self._wait_for_node(process, Node.BEAT)
        return process

    def worker(self, concurrency: int = 2, queues: str = "", **env: str) -> Process:
        options = ["worker", f"--concurrency={concurrency}", "--without-gossip", "--without-mingle", "-n"]
        options += [f"w{len(self.processes)}@test"] + (["-Q", queues] if queues else [])
        process = self._start("worker", [*CELERY, *options], env)
        self._wait_for_node(process, Node.WORKER)
        return process

    def stop(self) -> None:
        for process in self.processes:
            process.signal_all(signal.SIGCONT)
            process.kill()

    def logs(self) -> str:
        return "\n".join(f"--- {p.name} {p.pid}\n{p.text()[-4000:]}" for p in self.processes)

    def _start(self, name: str, command: list[str], env: dict[str, str], ours: bool = False) -> Process:
        log = self.folder / f"{name}-{len(self.processes)}.log"
        log.touch()
        given = {
            "DATABASE_URL": url_of_test_database(),
            "REDIS_URL": settings.PUNCTUAL["REDIS_URL"],
            "DJANGO_SETTINGS_MODULE": self.settings_module,
            "TEST_PUNCTUAL": json.dumps(self.knobs),
        }
        if name in CELERY_NAMES:
            # Django's checks, and all pages and the API for them, take longer than the rest of a start. A worker that
            # makes them is in test_readiness.py.
            given["CELERY_SKIP_CHECKS"], ours = "1", True
        every = {**os.environ, **given, **env}
        born = nursery.start(*command, env=every, log=str(log), ours=ours)
        process = Process(name, born, log)
        self.processes.append(process)
        return process

    def _wait_for_node(self, process: Process, kind: str) -> None:
        wait_until(
            lambda: not process.alive or Node.objects.filter(kind=kind, name__endswith=f":{process.pid}").exists(),
            timeout=30,
            describe=self.logs,
        )
        assert process.alive, f"{process.name} ended at once:\n{process.text()}"


def database_proxy(kind: type[P] = Proxy) -> P:
    """A proxy in front of the test database."""
    wanted = connection.settings_dict
    if wanted["HOST"].startswith("/"):
        return kind(f"{wanted['HOST']}/.s.PGSQL.{wanted['PORT'] or 5432}")
    return kind((wanted["HOST"], int(wanted["PORT"] or 5432)))


def redis_proxy() -> Proxy:
    """A proxy in front of the tests' Redis."""
    parts = urlsplit(settings.PUNCTUAL["REDIS_URL"])
    return Proxy(unquote(parts.path) if parts.scheme == "unix" else (parts.hostname, parts.port or 6379))


def through(*, database: Proxy | None = None, redis: Proxy | None = None) -> dict[str, str]:
    """The environment of a process that goes through these proxies."""
    env = {}
    if database is not None:
        env["DATABASE_URL"] = url_of_test_database(host="127.0.0.1", port=database.port)
    if redis is not None:
        parts = urlsplit(settings.PUNCTUAL["REDIS_URL"])
        login = parts.netloc.rpartition("@")[0]
        env["REDIS_URL"] = f"redis://{login + '@' if login else ''}127.0.0.1:{redis.port}/0"
    return env


def new_stack(settings_module: str = "tests.settings", **options: str) -> Stack:
    return Stack(Path(tempfile.mkdtemp(prefix="punctual-stack-")), settings_module, **options)


@contextlib.contextmanager
def serving(**env: str) -> Iterator[Stack]:
    """A web process with these variables, ended at the end."""
    stack = new_stack()
    try:
        stack.web(**env)
        yield stack
    finally:
        stack.stop()
        shutil.rmtree(stack.folder, ignore_errors=True)
