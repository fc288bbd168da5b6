"""The stack of a drill: servers and data of its own, gone at the end; and the beats and workers that run on it.

It is made from nothing: no address and no variable of the installation gets here. There is one in a process,
whose Django it sets up.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from tasks_app import embedded
from tasks_app.embedded import EmbeddedError, places
from tasks_app.embedded.account import server_account
from tasks_app.embedded.postgres import NAME, PORT, Postgres
from tasks_app.embedded.processes import last_words, spawn, wait_until
from tasks_app.embedded.standby import Standby
from tasks_app.embedded.valkey import Valkey

VARIABLE, SETTINGS = "PUNCTUAL_DRILL", "tasks_app.drills.settings"
READY_SECONDS = 120.0
STOP_SECONDS = 15.0
LOOK_SECONDS = 0.1
QUIET = ("--without-gossip", "--without-mingle", "--without-heartbeat")
# All that a process of a stack gets of our environment; above all, no address of a database or of Redis.
KEPT = ("PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "VIRTUAL_ENV", "TZ")


def bare_environment(given: Mapping[str, str]) -> dict[str, str]:
    """What a process needs to find its programs and our code, and nothing else of the environment."""
    ours = str(Path(__file__).resolve().parents[2])
    path = dict.fromkeys([ours, *(one for one in given.get("PYTHONPATH", "").split(os.pathsep) if one)])
    return {name: given[name] for name in KEPT if name in given} | {"PYTHONPATH": os.pathsep.join(path)}


class Process(Protocol):
    """What a drill asks of a process: a subprocess.Popen has it."""

    @property
    def pid(self) -> int: ...
    @property
    def returncode(self) -> int | None: ...
    def poll(self) -> int | None: ...
    def wait(self) -> int: ...
    def terminate(self) -> None: ...


class Launch(Protocol):
    """Starts `python ARGUMENTS`, in a session of its own, with this environment; what it prints is added to the log."""

    def __call__(self, arguments: Sequence[str], *, env: Mapping[str, str], folder: Path, log: Path) -> Process: ...


def launch(arguments: Sequence[str], *, env: Mapping[str, str], folder: Path, log: Path) -> Process:
    with log.open("a") as file:
        return spawn(
            [sys.executable, *arguments],
            death_signal=signal.SIGTERM,
            cwd=folder,
            env=env,
            stdout=file,
            stderr=subprocess.STDOUT,
        )


@dataclass(frozen=True)
class Recipe:
    """How a stack is made. `manage.py drill` makes all of them alike; a test makes smaller ones, of what it has."""

    beats: int = 2
    workers: int = 2
    slots: int = 2  # of each worker
    data: Path | None = None  # of a stopped server with all tables, to copy; None: a new server, which is migrated
    database: str = NAME
    launch: Launch = launch


USUAL = Recipe()


@dataclass
class Member:
    """A process of ours, with all that it starts."""

    name: str
    process: Process

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def signal(self, number: int) -> None:
        """To it and to its children."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, number)

    def kill(self) -> None:
        """As if its machine had lost power."""
        self.signal(signal.SIGKILL)
        self.process.wait()

    def has(self, pid: int) -> bool:
        with suppress(OSError):
            return os.getpgid(pid) == self.process.pid
        return False


@dataclass
class Stack:
    folder: Path
    postgres: Postgres
    valkey: Valkey
    standby: Standby | None
    given: dict[str, Any]  # what settings.py reads
    recipe: Recipe = USUAL
    members: dict[str, Member] = field(default_factory=dict)

    @property
    def beats(self) -> list[Member]:
        return [one for name, one in self.members.items() if name.startswith("beat")]

    @property
    def workers(self) -> list[Member]:
        return [one for name, one in self.members.items() if name.startswith("worker")]

    def start_fleet(self, site: str = "", *, stands_by: bool = False) -> None:
        """Beats and workers, of this site if it has a name, and return when all of them have reported themselves."""
        punctual = {"SITE": site, "STANDBY": int(stands_by)} if site else {}
        for number in range(1, self.recipe.beats + 1):
            self.run(f"beat-{site}{number}", "-m", "celery", "--quiet", "-A", "django_punctual", "beat", **punctual)
        for number in range(1, self.recipe.workers + 1):
            options = (f"--concurrency={self.recipe.slots}", "-n", f"worker-{site}{number}@drill", *QUIET)
            celery = ("-m", "celery", "--quiet", "-A", "django_punctual", "worker", *options)
            self.run(f"worker-{site}{number}", *celery, **punctual)
        fleet = (*self.beats, *self.workers)
        pids = {str(one.process.pid) for one in fleet}
        self.wait(lambda: pids <= self._reported(), "beats and workers that report themselves", needs=fleet)

    def run(self, name: str, *arguments: str, **punctual: object) -> Member:
        """A Python process of this stack, of this name, with settings of its own; an earlier one is forgotten."""
        process = self.recipe.launch(arguments, env=self.env(**punctual), folder=self.folder, log=self._log_of(name))
        self.members[name] = Member(name, process)
        return self.members[name]

    def env(self, **punctual: object) -> dict[str, str]:
        given = self.given | {"punctual": {**self.given["punctual"], **punctual}}
        return bare_environment(os.environ) | {"DJANGO_SETTINGS_MODULE": SETTINGS, VARIABLE: json.dumps(given)}

    def lead_to(self, sockets: Path) -> None:
        """The database is another one from now on, here and for the processes that are started."""
        from tasks_app.database import close_connections, our_connection, our_settings

        self.given["hosts"] = str(sockets)
        our_settings()["HOST"] = str(sockets)
        close_connections()
        our_connection().settings_dict["HOST"] = str(sockets)

    def wait(
        self,
        condition: Callable[[], object],
        what: str,
        seconds: float = READY_SECONDS,
        *,
        needs: Iterable[Member] = (),
    ) -> None:
        """Until the condition holds; in vain if the time is over, or if one that it needs has ended."""
        deadline = time.monotonic() + seconds
        while not condition():
            self.refuse_ended(needs)
            if time.monotonic() > deadline:
                raise EmbeddedError(f"Waited {seconds:g} s in vain for {what}.\n{self.logs()}")
            time.sleep(LOOK_SECONDS)

    def refuse_ended(self, members: Iterable[Member]) -> None:
        """Nobody has killed them: one that has ended would do so at every start."""
        for one in members:
            if (code := one.process.poll()) is not None:
                raise EmbeddedError(last_words(one.name, code, self._log_of(one.name)))

    def kill_fleet(self, site: str = "") -> None:
        """All of them, or those of a site, at once."""
        for one in (*self.beats, *self.workers):
            if one.name.partition("-")[2].startswith(site):
                one.kill()

    def stop(self) -> None:
        for one in self.members.values():
            one.signal(signal.SIGCONT)
            with suppress(ProcessLookupError):
                one.process.terminate()
        wait_until(lambda: not any(one.alive for one in self.members.values()), STOP_SECONDS)
        for one in self.members.values():
            one.kill()
        self.members.clear()

    def logs(self) -> str:
        files = sorted(self.folder.glob("*.log"))
        return "\n".join(f"--- {path.name}\n{path.read_text(errors='replace')[-1500:]}" for path in files)

    def _log_of(self, name: str) -> Path:
        return self.folder / f"{name}.log"

    def _reported(self) -> set[str]:
        from tasks_app.models import Node

        return {name.rpartition(":")[2] for name in Node.objects.values_list("name", flat=True)}


@contextmanager
def drill_stack(
    punctual: Mapping[str, object], *, standby: bool = False, backup: bool = False, recipe: Recipe = USUAL
) -> Iterator[Stack]:
    """Servers that answer, Django set up, the tables made; all of it is gone at the end."""
    with tempfile.TemporaryDirectory(prefix="punctual-drill-") as name:
        folder = Path(name)
        folder.chmod(0o711)  # the account of a restored server has to pass through
        if recipe.data is not None:
            _copy(recipe.data, folder / "home")
        services = embedded.start(folder / "home")
        postgres, valkey = services.postgres, services.valkey
        assert postgres is not None and valkey is not None  # without being asked otherwise, both are started
        second = Standby(postgres, folder / "standby") if standby else None
        stack = None
        try:
            if second is not None:
                second.follow()
                second.be_synchronous()
            servers = [postgres, *([second] if second else [])]
            given = _given(folder, servers, valkey, punctual, backup, recipe.database)
            stack = Stack(folder, postgres, valkey, second, given, recipe)
            _set_up(stack)
            yield stack
        finally:
            if stack is not None:
                stack.stop()
                _close_connections()
            if second is not None:
                second.discard()
            services.discard()


def _copy(data: Path, home: Path) -> None:
    home = places.open_home(home)
    servers = places.open_servers(home, server_account(home))
    subprocess.run(["cp", "-a", str(data), str(servers / "postgres")], check=True)


def _given(
    folder: Path,
    servers: Iterable[Postgres],
    valkey: Valkey,
    punctual: Mapping[str, object],
    backup: bool,
    database: str,
) -> dict[str, Any]:
    places = [folder / "place-a", folder / "place-b"] if backup else []
    for place in places:
        place.mkdir()
    return {
        "folder": str(folder),
        "name": database,
        "user": NAME,
        "hosts": ",".join(str(one.sockets) for one in servers),
        "port": PORT,
        "redis_url": valkey.url,
        "secret_key": secrets.token_urlsafe(32),
        "punctual": dict(punctual),
        "backup_urls": [str(place) for place in places],
        "backup_spool": str(folder / "spool"),
    }


def _set_up(stack: Stack) -> None:
    for name in set(os.environ) - set(stack.env()):
        del os.environ[name]
    os.environ.update(stack.env())
    import django
    from django.core.management import call_command

    django.setup()
    from tasks_app.conf import conf
    from tasks_app.sql import execute

    from .words import EFFECTS

    conf()  # refuses settings before their processes do
    if stack.recipe.data is None:
        call_command("migrate", verbosity=0)
    execute(f"CREATE TABLE {EFFECTS} (key text NOT NULL)")


def _close_connections() -> None:
    from tasks_app.database import close_connections

    close_connections()
