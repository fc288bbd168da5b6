"""A RabbitMQ of Debian's package on temporary data: started, stopped and thrown away."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SERVER = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
START_SECONDS = 90


class RabbitMQ:
    """One node, which only this machine can reach."""

    def __init__(self, folder: Path) -> None:
        self.port = _free_port()
        self.url = f"amqp://guest:guest@127.0.0.1:{self.port}//"
        self._folder = folder
        self._process: subprocess.Popen | None = None
        self._env = os.environ | {
            "HOME": str(folder),
            "RABBITMQ_NODENAME": f"punctual-{self.port}@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODE_PORT": str(self.port),
            "RABBITMQ_DIST_PORT": str(_free_port()),
            "RABBITMQ_MNESIA_BASE": str(folder / "data"),
            "RABBITMQ_LOG_BASE": str(folder / "log"),
            "RABBITMQ_PID_FILE": str(folder / "pid"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "plugins"),
            "RABBITMQ_CONFIG_FILE": str(folder / "rabbitmq"),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
        }

    def start(self) -> None:
        from tests.support.wait import wait_until

        with (self._folder / "out").open("a") as log:
            options = {"env": self._env, "cwd": self._folder, "stdout": log, "stderr": subprocess.STDOUT}
            self._process = subprocess.Popen([str(SERVER)], **options, start_new_session=True)
        wait_until(self._answers, START_SECONDS, describe=lambda: (self._folder / "out").read_text()[-2000:])

    def kill(self) -> None:
        """As a crash: at once, and with all its processes."""
        os.killpg(self._process.pid, 9)
        self._process.wait()

    def _answers(self) -> bool:
        from kombu import Connection

        if self._process.poll() is not None:
            raise AssertionError((self._folder / "out").read_text()[-2000:])
        connection = Connection(self.url, connect_timeout=2)
        try:
            connection.connect()
        except OSError:
            return False
        finally:
            connection.release()
            connection.collect()
        return True


@contextmanager
def rabbitmq() -> Iterator[RabbitMQ]:
    folder = Path(tempfile.mkdtemp(prefix="punctual-rabbit-"))
    server = RabbitMQ(folder)
    try:
        server.start()
        yield server
    finally:
        if server._process is not None and server._process.poll() is None:
            server.kill()
        shutil.rmtree(folder, ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]
