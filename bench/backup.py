"""backup: `punctual` at 1,000/s alone, and while the log is streamed and a base backup is made, in turns."""

import json
import os
import signal
import statistics
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path

from . import punctual
from .stack import ROOT, Stack, execute, percentile

GOALS = {"p99_ratio": {"at_most": 1.5}, "behind_seconds": {"at_most": 1.0}}
ROUNDS = 3
RATE = 1000
NICE = ("nice", "-n", "5")  # as docs/backup.md says: whoever runs tasks goes first
FILLER_ROWS = 3_000_000  # so that a base takes a good part of the time: some 400 MB that hardly shrink


def run(stack: Stack) -> dict:
    execute(
        "CREATE TABLE bench_filler AS SELECT md5(n::text) || md5((n + 1)::text) || md5((n + 2)::text) AS text"
        f" FROM generate_series(1, {FILLER_ROWS}) AS n"
    )
    execute("CHECKPOINT")
    plain, backed, behind, bases = [], [], [], []
    with _Backup(stack.folder) as backup:
        for _ in range(ROUNDS):
            backup.pause()
            plain.append(_p99(punctual.measure(stack, RATE)))
            backup.go_on()
            backed.append(_p99(punctual.measure(stack, RATE, around=backup.around)))
            behind.append(backup.behind())
            bases.append(backup.base_seconds())
    return {
        "p99_ratio": round(statistics.median(one / other for one, other in zip(backed, plain, strict=True)), 2),
        "behind_seconds": round(max(behind), 2),
        "plain_p99_ms": [round(one, 2) for one in plain],
        "backed_p99_ms": [round(one, 2) for one in backed],
        "base_seconds": [round(one, 1) for one in bases],
    }


def _p99(late: punctual.Late) -> float:
    return percentile(late.warm, 0.99)


class _Backup:
    """`manage.py backup stream`, as it is run beside an installation; and a base when the tasks begin."""

    def __init__(self, folder: Path) -> None:
        places = [folder / "place-a", folder / "place-b"]
        for place in places:
            place.mkdir()
        self._env = os.environ | {"BACKUP_URLS": ",".join(map(str, places)), "BACKUP_SPOOL": str(folder / "spool")}
        self._log = (folder / "backup.log").open("w")
        self._stream: subprocess.Popen | None = None
        self._base: subprocess.Popen | None = None

    def __enter__(self) -> "_Backup":
        return self

    def __exit__(self, *_: object) -> None:
        self.pause()

    def go_on(self) -> None:
        """Until both places are up to date: the first base is made meanwhile."""
        self._stream = self._manage("stream")
        deadline = time.monotonic() + 400
        while time.monotonic() < deadline:
            views = self._status()
            if len(views) == 2 and all(one["behind_seconds"] is not None and one["base"] for one in views):
                return
            time.sleep(1)
        raise SystemExit(f"the backup did not begin: {Path(self._log.name).read_text()[-2000:]}")

    def pause(self) -> None:
        if self._stream is not None:
            self._stream.send_signal(signal.SIGTERM)
            self._stream.wait(30)
            self._stream = None

    def around(self) -> None:
        """When the first task is due, and when the last was."""
        if self._base is None:
            self._base = self._manage("run", "--fast", "--json", stdout=subprocess.PIPE)
        else:
            self._behind = max(one["behind_seconds"] for one in self._status())

    def behind(self) -> float:
        return self._behind

    def base_seconds(self) -> float:
        assert self._base is not None
        told = json.loads(self._base.communicate(timeout=300)[0])
        self._base = None
        took = datetime.fromisoformat(told["ended"]) - datetime.fromisoformat(told["began"])
        return took.total_seconds()

    def _status(self) -> list[dict]:
        done = subprocess.run(
            [*NICE, sys.executable, "manage.py", "backup", "status", "--json"],
            cwd=ROOT,
            env=self._env,
            stdout=subprocess.PIPE,
            stderr=self._log,
        )
        return json.loads(done.stdout or b"[]")

    def _manage(self, *words: str, stdout: object = None) -> subprocess.Popen:
        command = [*NICE, sys.executable, "manage.py", "backup", *words]
        return subprocess.Popen(command, cwd=ROOT, env=self._env, stdout=stdout or self._log, stderr=self._log)
