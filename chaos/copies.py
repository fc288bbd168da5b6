"""A copy of the database's files, started beside the original with the original's settings, as somebody may by mistake.

It has a beat and a worker of its own, the original's broker and the original's receivers; and is to do nothing at all.
"""

import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import psycopg

from tasks_app.embedded.postgres import Postgres
from tasks_app.embedded.standby import Standby, copy_files

from .fleet import Fleet

UP_SECONDS = 60.0  # within which its processes have looked at their database
# What anybody would do there, each as a figure that must stay as it was when the copy was taken.
FIGURES = {
    "batches claimed": "SELECT count(*) FROM punctual_batch",
    "batches started": "SELECT count(*) FROM punctual_batch WHERE started_at IS NOT NULL",
    "batches ended": "SELECT count(*) FROM punctual_batch WHERE finished_at IS NOT NULL",
    "tasks that run": "SELECT count(*) FROM punctual_task WHERE status = 'RUNNING'",
    "effects": "SELECT count(*) FROM chaos_effect",
    "deliveries": "SELECT coalesce(sum(delivered), 0) FROM punctual_subscription",
    "rows in the past": "SELECT count(*) FROM punctual_past",
}
STATE = "SELECT state FROM punctual_installation"


class Copy:
    def __init__(self, original: Postgres, folder: Path, env: Mapping[str, str]) -> None:
        self._server = Standby(original, folder / "copy")
        self._original = original
        self._folder = folder
        self._env = env
        self._fleet: Fleet | None = None
        self._before: dict[str, object] = {}

    def begin(self) -> None:
        copy_files(self._original, self._server.data)
        self._server.start()
        self._before = self._figures()
        folder = self._folder / "copy-logs"
        folder.mkdir()
        self._fleet = Fleet(folder, {**self._env, "DATABASE_URL": self._server.url})
        self._fleet.start(beats=["copy-beat"], workers=["copy-worker"])

    def end(self) -> list[str]:
        """What is wrong with it, a sentence each."""
        self._wait_until_seen()
        found = list(wrong_copy(self._before, self._figures(), str(self._ask(STATE)), self._unseen()))
        self.discard()
        return found

    def discard(self) -> None:
        if self._fleet is not None:
            self._fleet.stop()
            self._fleet = None
        self._server.discard()

    def _figures(self) -> dict[str, object]:
        return {name: self._ask(statement) for name, statement in FIGURES.items()}

    def _ask(self, statement: str) -> object:
        with psycopg.connect(self._server.url, autocommit=True) as connection:
            return connection.execute(statement).fetchone()[0]

    def _wait_until_seen(self) -> None:
        deadline = time.monotonic() + UP_SECONDS
        while self._unseen() and time.monotonic() < deadline:
            time.sleep(0.2)

    def _unseen(self) -> list[str]:
        """Processes that have not noticed, or were not up in time: then nothing is proved."""
        logs = {path.stem: path.read_text(errors="replace") for path in (self._folder / "copy-logs").glob("*.log")}
        return sorted(name for name, text in logs.items() if "installation.closed" not in text)


def wrong_copy(
    before: Mapping[str, object], after: Mapping[str, object], state: str, unseen: list[str]
) -> Iterator[str]:
    """Plain Python, so that a test can hand it a copy that woke up."""
    if state != "QUARANTINED":
        yield f"the copy is {state}, and not in quarantine"
    yield from (f"{name} of the copy has not noticed what it is on" for name in unseen)
    for name, figure in before.items():
        if after[name] != figure:
            yield f"{name} in the copy: {figure} when it was taken, and {after[name]} at its end"
