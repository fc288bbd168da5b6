"""What runs in a drill: leaves a row in the transaction that settles it, and a line outside when that is committed."""

import os
import time

from django.conf import settings

from tasks_app.client.declared import handler
from tasks_app.core.task import Task
from tasks_app.database import on_commit
from tasks_app.sql import execute

from .journal import append
from .words import EFFECTS, REST, SLOW, TICK

WORK_SECONDS = 0.002


@handler(TICK, transactional=True, timeout=20)
def tick(task: Task) -> None:
    _take_effect(task, WORK_SECONDS)


@handler(SLOW, transactional=True, timeout=20)
def slow(task: Task) -> None:
    """Long enough to be killed in the middle."""
    _take_effect(task, task.payload["seconds"])


@handler(REST)
def rest(task: Task) -> None:
    """Lies in the database, and is not due before the drill is over."""


def _take_effect(task: Task, seconds: float) -> None:
    began, folder = time.time(), settings.DRILL_FOLDER
    append(folder, "calls", f"{task.key} {os.getpid()}")
    time.sleep(seconds)
    execute(f"INSERT INTO {EFFECTS} (key) VALUES (%s)", [task.key])
    key = task.key
    on_commit(lambda: append(folder, "done", f"{key} {began:.6f} {time.time():.6f}", durable=True))
