"""Hands the log to a server that recovers: a little ahead of what it asks for, and no more than it needs.

PostgreSQL asks by a shell script, which waits for a segment that is on its way and says at once that there is no other.
"""

from __future__ import annotations

import logging
import os
import shlex
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .sources import Sources

logger = logging.getLogger(__name__)

AHEAD = 32  # segments
THREADS = 4
PAUSE_SECONDS = 0.05

# $1: the name, $2: where to put it, $3: what PostgreSQL may still have to go back to.
SCRIPT = """#!/bin/sh
cd "$(dirname "$0")" || exit 2
printf '%s %s' "$1" "$3" > asked.new && mv asked.new asked
while [ -e "coming/$1" ] && [ ! -e "ready/$1" ]; do sleep 0.02; done
[ -e "ready/$1" ] || exit 1
case "$2" in /*) exec cp "ready/$1" "$2" ;; *) exec cp "ready/$1" "$4/$2" ;; esac
"""


class Feeder:
    """Files come to `ready`; what will come is marked in `coming`."""

    def __init__(self, sources: Sources, folder: Path, names: list[str]) -> None:
        self.lost: dict[str, str] = {}  # segments that nobody could give, and why
        self._sources, self._folder, self._names = sources, folder, names
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._given = 0
        self._kept_from = ""
        for name in ("coming", "ready"):
            (folder / name).mkdir()
            (folder / name).chmod(0o755)
        for name in names:
            (folder / "coming" / name).touch()
        script = folder / "fetch.sh"
        script.write_text(SCRIPT)
        script.chmod(0o755)

    @property
    def total(self) -> int:
        return len(self._names)

    def command(self, data: Path) -> str:
        """For restore_command."""
        script, target = (shlex.quote(str(path)).replace("%", "%%") for path in (self._folder / "fetch.sh", data))
        return f'{script} "%f" "%p" "%r" {target}'

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join(60.0)

    def asked(self) -> int:
        """The number of the segment that the server last asked for."""
        try:
            name, _, kept = (self._folder / "asked").read_text().partition(" ")
        except FileNotFoundError:
            return 0
        self._kept_from = kept
        return self._names.index(name) if name in self._names else 0

    def _run(self) -> None:
        with ThreadPoolExecutor(THREADS) as pool:
            while self._given < len(self._names) and not self._stopped.is_set():
                until = min(self.asked() + AHEAD, len(self._names))
                if until > self._given:
                    list(pool.map(self._give, self._names[self._given : until]))
                    self._given = until
                self._forget()
                self._stopped.wait(PAUSE_SECONDS)

    def _give(self, name: str) -> None:
        coming, ready = self._folder / "coming" / name, self._folder / "ready" / name
        try:
            data = self._sources.read(name)
            fresh = self._folder / f".{name}"
            fresh.write_bytes(data)
            fresh.chmod(0o644)
            os.replace(fresh, ready)
        except Exception as error:
            self.lost[name] = str(error)
            logger.error("restore.lost segment=%s error=%s", name, error)
        finally:
            coming.unlink(missing_ok=True)

    def _forget(self) -> None:
        """What PostgreSQL will not go back to is not needed any more."""
        if len(self._kept_from) == 24:
            for path in (self._folder / "ready").iterdir():
                if path.name[8:] < self._kept_from[8:] and "." not in path.name:
                    path.unlink(missing_ok=True)
