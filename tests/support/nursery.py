"""Starts Python programs in forks of a process that has imported their libraries already.

A beat, a worker or a web process spends most of its start on imports. What reads our settings, our own modules first of
all, depends on the environment, so each process imports it itself. But beats and workers are forks of a nursery that
has imported it too: there is one for each environment that was asked for, itself a fork of the first. Environments that
differ only in what is read LATE share one: whoever is born there reads its settings again.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.support.new_process import forget
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
# What beats and workers import of ours.
OURS = (
    "scheduler_project.celery",
    "tasks_app.engine.beat.process",
    "tasks_app.engine.worker.task",
)
# How variables begin that change nothing but addresses and lengths of time, which our code asks for when it needs them,
# and what Celery asks for when it starts.
LATE = (
    "CELERY_SKIP_CHECKS",
    "DATABASE_URL",
    "OUTGOING_ALLOW",
    "PUNCTUAL_DISPATCH_LEASE_SECONDS",
    "PUNCTUAL_DRILL",
    "REDIS_URL",
    "STANDBY",
    "TEST_",
)


@dataclass
class Born:
    """A process that a nursery started; used like a subprocess.Popen."""

    pid: int
    nursery: Nursery
    returncode: int | None = None

    def poll(self) -> int | None:
        if self.returncode is None:
            self.returncode = self.nursery.ask(poll=self.pid)
        return self.returncode

    def wait(self, timeout: float = 60) -> int:
        wait_until(lambda: self.poll() is not None, timeout, describe=f"the end of process {self.pid}")
        return self.returncode

    def terminate(self) -> None:
        if self.poll() is None:
            os.kill(self.pid, signal.SIGTERM)


def start(
    module: str,
    *args: str,
    env: dict[str, str],
    log: str,
    errors: str = "",
    ours: bool = False,
    lasting: bool = True,
) -> Born:
    """`python -m module args`, as the leader of a session of its own, saying all it has to say into the log, or its
    errors into a file of their own. `ours`: it is a beat or a worker, or needs as much of our code. Only what is
    `lasting` looks for garbage."""
    env = {name: value for name, value in env.items() if name != "PYTEST_CURRENT_TEST"}
    with _making:
        nursery = _of_environment(env, log) if ours else _first()
    return nursery.start(module, *args, env=env, log=log, errors=errors, lasting=lasting)


def run(
    module: str, *args: str, env: dict[str, str], ours: bool = False, timeout: float = 60
) -> subprocess.CompletedProcess[str]:
    """The same to its end, as subprocess.run."""
    with tempfile.TemporaryDirectory(prefix="punctual-nursery-") as folder:
        said, errors = Path(folder, "out"), Path(folder, "err")
        said.touch()
        errors.touch()
        born = start(module, *args, env=env, log=str(said), errors=str(errors), ours=ours, lasting=False)
        try:
            code = born.wait(timeout)
        except AssertionError:
            os.killpg(born.pid, signal.SIGKILL)
            raise
        return subprocess.CompletedProcess(
            [module, *args], code, *(one.read_bytes().decode() for one in (said, errors))
        )


def fork(*modules: str) -> Nursery:
    """One that is a fork of this process, with all that it has imported, and these. No connection may be open."""
    return Nursery(lambda address: _fork(address, *modules))


_making = threading.RLock()
_others: dict[tuple[tuple[str, str], ...], Nursery] = {}


@cache
def _first() -> Nursery:
    return Nursery(lambda address: subprocess.Popen([sys.executable, "-m", __name__, address], cwd=ROOT))


def _of_environment(env: dict[str, str], log: str) -> Nursery:
    fixed = tuple(sorted(env.items() - _late(env).items()))
    if fixed not in _others:
        _others[fixed] = Nursery(lambda address: start(__name__, address, *OURS, env=env, log=log))
    return _others[fixed]


class Nursery:
    """The test process's side of it."""

    def __init__(self, make: Callable[[str], subprocess.Popen | Born | _Child]) -> None:
        with tempfile.TemporaryDirectory(prefix="punctual-nursery-") as folder, socket.socket(socket.AF_UNIX) as door:
            door.bind(f"{folder}/door")
            door.listen()
            door.settimeout(60)
            self._process = make(f"{folder}/door")
            self._ours, _ = door.accept()
        self._ours.settimeout(None)
        self._lines = self._ours.makefile("rw")
        self._asking = threading.Lock()
        atexit.register(self._close)

    def start(
        self, module: str, *args: str, env: Mapping[str, str], log: str, errors: str = "", lasting: bool = True
    ) -> Born:
        asked = {"argv": [module, *args], "env": dict(env), "log": log, "errors": errors or log, "lasting": lasting}
        return Born(self.ask(**asked), self)

    def ask(self, **request: object) -> int | None:
        with self._asking:
            self._lines.write(json.dumps(request) + "\n")
            self._lines.flush()
            answer = self._lines.readline()
            assert answer, "the nursery has ended; the log says why"
            return json.loads(answer)

    def _close(self) -> None:
        self._lines.close()
        self._ours.close()
        self._process.wait(60)


def main(address: str, *modules: str) -> None:
    """Serve until the test process is gone. Returns in a new process too, once it has become what was asked for."""
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(address)
    # Nothing of what is imported is garbage: neither this process nor those that are born here look for any in it.
    gc.disable()
    for name in (*LIBRARIES, *modules):
        importlib.import_module(name)
    gc.freeze()
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


@dataclass
class _Child:
    pid: int

    def wait(self, timeout: float) -> None:
        os.waitpid(self.pid, 0)


def _fork(address: str, *modules: str) -> _Child:
    if pid := os.fork():
        return _Child(pid)
    # Not a step further in what this process was about to do, nor what it does at its end.
    code = 1
    try:
        forget()
        main(address, *modules)
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _status(pid: int) -> int | None:
    done, status = os.waitpid(pid, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if done else None


def _become(argv: list[str], env: dict[str, str], log: str, errors: str, lasting: bool) -> None:
    if lasting:
        gc.enable()
    os.setsid()
    append = os.O_WRONLY | os.O_APPEND
    for number, (path, mode) in enumerate([(os.devnull, os.O_RDONLY), (log, append), (errors, append)]):
        opened = os.open(path, mode)
        os.dup2(opened, number)
        os.close(opened)
    here = _late(os.environ)
    os.environ.clear()
    os.environ.update(env)
    tempfile.tempdir = None  # the environment says where
    if "tasks_app.celery" in sys.modules and _late(env) != here:
        _read_settings_again()
    if shutdown := sys.modules.get("tasks_app.engine.worker.shutdown"):
        importlib.reload(shutdown)  # its flag is memory that all forks would share
    sys.path[0] = str(ROOT)
    sys.path[1:1] = filter(None, env.get("PYTHONPATH", "").split(os.pathsep))
    sys.argv = argv
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        runpy.run_module(argv[0], run_name="__main__", alter_sys=True)
    finally:
        gc.freeze()  # else the interpreter looks through all of it before it ends


def _late(env: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in env.items() if name.startswith(LATE)}


def _read_settings_again() -> None:
    """In another environment than the one that our modules were imported in."""
    from django.conf import settings
    from django.core.signals import setting_changed
    from django.db import connections
    from django.db.utils import ConnectionHandler

    from tasks_app.engine.celery_app import app
    from tests.support import project_celery

    for name in dict.fromkeys(["scheduler_project.settings", "tests.settings", settings.SETTINGS_MODULE]):
        if name in sys.modules:
            read = importlib.reload(sys.modules[name])
    for name in filter(str.isupper, dir(read)):
        setattr(settings, name, getattr(read, name))
    setting_changed.send(sender=None, setting="PUNCTUAL", value=settings.PUNCTUAL, enter=True)
    for one in connections.all(initialized_only=True):
        del connections[one.alias]
    connections.settings.update(ConnectionHandler(settings.DATABASES).settings)
    # The options of both Celery apps are read when they are first asked for.
    sys.modules.pop("tasks_app.engine.celery_options", None)
    app.config_from_object("tasks_app.engine.celery_options")
    project_celery.app.conf.broker_url = project_celery.broker_url()


if __name__ == "__main__":
    main(*sys.argv[1:])
