"""Starts Python programs in forks of one process that has imported their libraries already.

A beat, a worker or a web process spends most of its start on importing the same libraries. Everything that reads our
settings, our own modules first of all, is still imported by each of them.
"""

from __future__ import annotations

import atexit
import importlib
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import threading
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.support.wait import wait_until

ROOT = Path(__file__).resolve().parent.parent.parent

LIBRARIES = (
    "celery.apps.beat",
    "celery.apps.worker",
    "celery.bin.celery",
    "celery.concurrency.prefork",
    "celery.fixups.django",
    "celery.worker.autoscale",
    "celery.worker.components",
    "celery.worker.consumer",
    "celery.worker.strategy",
    "cronsim",
    "django.contrib.admin",
    "django.contrib.postgres.fields",
    "django.core.mail",
    "django.core.management",
    "django.db.backends.postgresql.base",
    "django.db.migrations.writer",
    "django.views.debug",
    "gunicorn.app.wsgiapp",
    "gunicorn.workers.gthread",
    "httpx",
    "kombu.transport.redis",
    "psycopg.types.json",
    "pydantic",
    "redis",
)


@dataclass
class Born:
    """A process that the nursery started; used like a subprocess.Popen."""

    pid: int
    returncode: int | None = None

    def poll(self) -> int | None:
        if self.returncode is None:
            self.returncode = _nursery().ask(poll=self.pid)
        return self.returncode

    def wait(self, timeout: float) -> int:
        wait_until(lambda: self.poll() is not None, timeout, describe=f"the end of process {self.pid}")
        return self.returncode


def start(module: str, *args: str, cwd: str, env: dict[str, str], log: str) -> Born:
    """`python -m module args`, as the leader of a session of its own, saying all it has to say into the log."""
    return Born(_nursery().ask(argv=[module, *args], cwd=cwd, env=env, log=log))


class _Nursery:
    """The test process's side of it."""

    def __init__(self) -> None:
        self._ours, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, "-m", __name__, str(theirs.fileno())]
            self._process = subprocess.Popen(command, cwd=ROOT, pass_fds=[theirs.fileno()])
        self._lines = self._ours.makefile("rw")
        self._asking = threading.Lock()
        atexit.register(self._close)

    def ask(self, **request: object) -> int | None:
        with self._asking:
            self._lines.write(json.dumps(request) + "\n")
            self._lines.flush()
            return json.loads(self._lines.readline())

    def _close(self) -> None:
        self._lines.close()
        self._ours.close()
        self._process.wait(10)


_making = threading.Lock()


def _nursery() -> _Nursery:
    with _making:
        return _the_one()


@cache
def _the_one() -> _Nursery:
    return _Nursery()


def main(number: int) -> None:
    """Serve until the test process is gone. Returns in a new process too, once it has become what was asked for."""
    for name in LIBRARIES:
        importlib.import_module(name)
    connection = socket.socket(fileno=number)
    lines = connection.makefile("rw")
    for line in lines:
        request = json.loads(line)
        answer = _status(request["poll"]) if "poll" in request else os.fork()
        if "argv" in request and answer == 0:
            os.close(connection.detach())
            _become(**request)
            return
        lines.write(json.dumps(answer) + "\n")
        lines.flush()


def _status(pid: int) -> int | None:
    done, status = os.waitpid(pid, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if done else None


def _become(argv: list[str], cwd: str, env: dict[str, str], log: str) -> None:
    os.setsid()
    for mode, path, *numbers in ((os.O_RDONLY, os.devnull, 0), (os.O_WRONLY | os.O_APPEND, log, 1, 2)):
        opened = os.open(path, mode)
        for number in numbers:
            os.dup2(opened, number)
        os.close(opened)
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    sys.path[0] = cwd
    sys.argv = argv
    signal.signal(signal.SIGINT, signal.default_int_handler)
    runpy.run_module(argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
