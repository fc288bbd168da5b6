"""Everything is lost but one place with backups: a new server is made of it, and taken into service.

Killed at once are PostgreSQL, every beat and worker, and the stream of the backup, whose spool is not used. What was
committed and is not in what was restored is found by the journals, before anything runs there: tasks that are gone, and
tasks that ran and will run again.

With a synchronous stream the machine of the backup is left, with its spool: no commit had returned before that had it,
so nothing may be missing.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING

from tasks_app.drills.drill import Drill
from tasks_app.drills.judging import Limits
from tasks_app.embedded import EmbeddedError
from tasks_app.embedded.standby import SYNCHRONOUS

if TYPE_CHECKING:
    from tasks_app.drills.scene import Scene
    from tasks_app.drills.stack import Member

BASE_SECONDS = 1_800.0  # a base of ten million tasks takes minutes
PROGRESS_SECONDS = 5.0


def prepare(scene: Scene, *options: str) -> Member:
    """Bases and the log in both places, as `backup stream`, which is returned, keeps them."""
    from tasks_app.engine.watch.backup_status import read_backups

    if find_spec("pyarrow") is None:
        raise EmbeddedError("pyarrow is missing: pip install 'django-punctual[archive]'.")
    backup = scene.stack.run("backup", "-m", "django", "backup", "stream", *options)
    scene.say("manage.py backup stream makes the first base")
    scene.wait(
        lambda: all(one.base and not one.late and not one.error for one in read_backups()),
        "a base, and the log, in both places",
        BASE_SECONDS,
        needs=[backup],
    )
    return backup


def prepare_synchronous(scene: Scene) -> None:
    """And from then on every commit waits until the stream has it on its disk."""
    from tasks_app.backup.programs import APPLICATION

    backup = prepare(scene, "--synchronous")
    server = scene.stack.postgres
    server.execute(f"ALTER SYSTEM SET synchronous_standby_names = '{APPLICATION}'")
    server.execute("SELECT pg_reload_conf()")
    scene.wait(lambda: server.execute(SYNCHRONOUS), "a stream that commits wait for", needs=[backup])


def strike(scene: Scene) -> float:
    place, _ = scene.backup_places
    return _strike(scene, [place])


def strike_synchronous(scene: Scene) -> float:
    return _strike(scene, None)  # from all places, and the spool


def _strike(scene: Scene, urls: list[str] | None) -> float:
    from django.core.management import call_command

    from tasks_app.backup.restore import restore, served

    stack = scene.stack
    scene.say("kill -9 of PostgreSQL, the broker, all beats and workers, and the stream of the backup")
    lost = time.time()
    scene.kill_server(stack.postgres)
    stack.members["backup"].kill()
    stack.kill_fleet()
    scene.kill_server(stack.valkey)
    scene.load.stop_client()

    done = restore(stack.folder / "restored", urls=urls, by="drill", say=scene.say, progress=_progress(scene))
    server = scene.ending.enter_context(served(done))
    scene.ending.callback(stack.stop)  # before the server that they use
    stack.valkey.start()
    stack.lead_to(server.sockets)
    scene.note_what_is_missing(lost)
    scene.say("manage.py quarantine resume; new beats and workers")
    call_command("quarantine", "resume", "--reason", "a drill: the original is lost", stdout=sys.stderr)
    stack.start_fleet()
    scene.load.start_client()
    return lost


def _progress(scene: Scene) -> Callable[[int, int], None]:
    told = time.monotonic()

    def progress(done: int, total: int) -> None:
        nonlocal told
        if time.monotonic() > told + PROGRESS_SECONDS:
            told = time.monotonic()
            scene.say(f"{min(1.0, done / max(total, 1)):.0%}")

    return progress


RESTORE = Drill(
    "restore",
    "all is lost but one place with backups; a server is restored from it, and beats and workers are started anew",
    Limits(rto=300, rpo=1.0),
    since="the loss",
    strike=strike,
    prepare=prepare,
    backup=True,
)
RESTORE_SYNC = replace(
    RESTORE,
    name="restore-sync",
    story="all is lost but the machine of a synchronous `backup stream`; a server is restored there, with all commits",
    limits=Limits(rto=300),
    strike=strike_synchronous,
    prepare=prepare_synchronous,
)
