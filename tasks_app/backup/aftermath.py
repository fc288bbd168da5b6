"""What the original did after the moment to which a copy was restored, if the original still answers."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from django.db.utils import Error as DatabaseError

from tasks_app.database import close_connections
from tasks_app.sql import run

MOST = 10_000  # batches, and tasks, that are listed


@dataclass(frozen=True, slots=True)
class Run:
    batch: str
    task_type: str
    lane: str
    worker: str
    started: datetime
    finished: datetime | None  # None: it was running
    tasks: list[int]


@dataclass(frozen=True, slots=True)
class Added:
    id: int
    tenant: str
    task_type: str
    key: str
    status: str


@dataclass(frozen=True, slots=True)
class Aftermath:
    known: bool  # whether the original could be asked
    why_not: str = ""
    runs: list[Run] = field(default_factory=list)
    added: list[Added] = field(default_factory=list)
    complete: bool = True  # else there are more than MOST

    @property
    def tasks_run(self) -> int:
        return sum(len(run.tasks) for run in self.runs)

    def write(self, file: Path) -> None:
        """For its owner alone, as the database is: it has tenants and keys."""
        file.unlink(missing_ok=True)  # an earlier one may be open to others
        with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as target:
            json.dump(asdict(self), target, default=_plain, indent=1)


def aftermath(since: datetime, after: int, ask_copy: Callable[[Callable[[], Any]], Any], copy_system: str) -> Aftermath:
    """What ran, and what was scheduled, in the original and not in the copy.

    `since` is the last moment of the copy and `after` a number of a task from just before it.
    """
    try:
        [(system, *_)] = run("backup_facts", {})
        if str(system) != copy_system:
            return Aftermath(False, "the database of the settings is another server than the one that was backed up")
        batches = run("ran_since", {"since": since, "most": MOST})
        tasks = run("added_since", {"after": after, "most": MOST})
    except DatabaseError as error:
        close_connections()
        return Aftermath(False, f"the original doesn't answer: {str(error).strip().splitlines()[0]}")
    numbers = [row[0] for row in batches]
    ended = {number for (number,) in ask_copy(lambda: run("ended_batches", {"numbers": numbers}))}
    ids = [row[0] for row in tasks]
    there = {number for (number,) in ask_copy(lambda: run("known_tasks", {"ids": ids}))}
    return Aftermath(
        True,
        "",
        [Run(str(number), *rest) for number, *rest in batches if number not in ended],
        [Added(number, *rest) for number, *rest in tasks if number not in there],
        max(len(batches), len(tasks)) < MOST,
    )


def _plain(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(value)
