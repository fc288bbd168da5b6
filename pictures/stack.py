"""A real installation on temporary data: two beats, two workers, the web process, and those that it calls."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from scheduler_project.temporary import temporary_stack
from tasks_app.embedded.processes import spawn

from .receiver import Receiver

T = TypeVar("T")
ROOT = Path(__file__).resolve().parent.parent
PATIENCE_SECONDS = 60
QUIET = ("--without-gossip", "--without-mingle", "--without-heartbeat")
BEATS, WORKERS, SLOTS = ("beat-1", "beat-2"), ("worker-1", "worker-2"), 4
UNKNOWN = "X-"  # how the codes begin that the stock system doesn't know


@dataclass
class Stack:
    folder: Path
    receiver: Receiver
    url: str = ""  # of the web process
    processes: list[subprocess.Popen] = field(default_factory=list)

    @property
    def mail_down(self) -> Path:
        """As long as this file is there, the shop's mail server does not answer."""
        return self.folder / "mail-down"

    def start(self) -> None:
        """All processes; it returns when beats and workers are at work."""
        from tasks_app.models import Node

        self._python("web-1", "-m", "gunicorn", "scheduler_project.wsgi", "--bind", "127.0.0.1:0", "--workers", "1")
        for name in BEATS:
            self._celery(name, "beat")
        for name in WORKERS:
            self._celery(name, "worker", f"--concurrency={SLOTS}", "-n", f"{name}@shop", *QUIET)
        self.url = self.wait(lambda: self._said("web-1", r"Listening at: (http://\S+)"), "the web process")
        self.wait(lambda: Node.objects.count() == len(BEATS + WORKERS), "beats and workers")

    def start_stock_system(self) -> str:
        """Before all others, which have to know its address."""
        os.environ["STOCK_SWITCH"] = json.dumps({"unknown": [f"{UNKNOWN}*"]})
        self._python("stock", "-u", str(ROOT / "examples" / "stock_service.py"), "--port", "0")
        return self.wait(lambda: self._said("stock", r"(http://\S+?/stock)"), "the stock system")

    def wait(self, condition: Callable[[], T], what: str) -> T:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not (found := condition()):
            ended = [process.args for process in self.processes if process.poll() is not None]
            if ended or time.monotonic() > deadline:
                logs = "\n".join(f"--- {path.name}\n{path.read_text()[-2000:]}" for path in self.folder.glob("*.log"))
                raise SystemExit(f"{logs}\nwaited in vain for {what}; ended meanwhile: {ended}")
            time.sleep(0.1)
        return found

    def stop(self) -> None:
        """At once: whatever they do, nobody needs it any more."""
        for process in self.processes:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self.processes.clear()

    def _celery(self, name: str, *arguments: str) -> None:
        self._python(name, "-m", "celery", "--quiet", "-A", "scheduler_project", *arguments)

    def _python(self, name: str, *arguments: str) -> None:
        env = os.environ | {"PICTURES_HOST": name}
        with (self.folder / f"{name}.log").open("w") as log:
            command = [sys.executable, *arguments]
            self.processes.append(
                spawn(command, death_signal=signal.SIGKILL, cwd=ROOT, env=env, stdout=log, stderr=subprocess.STDOUT)
            )

    def _said(self, name: str, pattern: str) -> str:
        found = re.search(pattern, (self.folder / f"{name}.log").read_text())
        return found[1] if found else ""


@contextmanager
def fresh_stack() -> Iterator[Stack]:
    """Its databases and the stock system are there; beats, workers and the web process are not started yet."""
    with TemporaryDirectory(prefix="punctual-pictures-") as folder, Receiver() as receiver:
        stack = Stack(Path(folder), receiver)
        try:
            env = {"MAIL_DOWN": str(stack.mail_down), "STOCK_URL": stack.start_stock_system()}
            with temporary_stack("pictures", "pictures.settings", **env):
                try:
                    yield stack
                finally:
                    stack.stop()
        finally:
            stack.stop()
