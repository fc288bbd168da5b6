"""Owns the worker processes of a peer: start them, see whether they live, end them."""

import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent


class Workers:
    def __init__(self) -> None:
        self.processes: list[subprocess.Popen] = []
        self.log = tempfile.TemporaryFile()  # noqa: SIM115

    def start(self, command: list[str], env: dict[str, str]) -> None:
        self.processes.append(
            subprocess.Popen(
                command,
                cwd=HERE,
                env=os.environ | env,
                stdout=self.log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        )

    def refuse_dead(self) -> None:
        dead = [process.args for process in self.processes if process.poll() is not None]
        if dead:
            self.log.seek(0)
            raise SystemExit(f"a worker died: {dead}\n{self.log.read().decode(errors='replace')[-4000:]}")

    def stop(self) -> None:
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        self.log.close()


@contextmanager
def running(commands: list[list[str]], env: dict[str, str]) -> Iterator[Workers]:
    workers = Workers()
    try:
        for command in commands:
            workers.start(command, env)
        yield workers
    finally:
        workers.stop()
