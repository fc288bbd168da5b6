"""How far tasks say they are. A hint: it is shown while they run, and losing it changes nothing."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from tasks_app.core.progress import in_words
from tasks_app.sql import array, run


class Told(NamedTuple):
    """What a task says of itself; `fraction` from 0 to 1, None if it doesn't know; checked as core.progress does."""

    task_id: int
    fraction: float | None
    note: str


class Progress(NamedTuple):
    """As people read it."""

    fraction: float | None
    note: str
    at: datetime

    def __str__(self) -> str:
        return in_words(self.fraction, self.note)


def tell_progress(batch_no: UUID, told: Sequence[Told]) -> set[int]:
    """Keep what tasks say that run under this batch; returns whose was kept: of the others, nothing is."""
    return {task for (task,) in run("tell_progress", as_params(told) | {"batch_no": batch_no})}


def as_params(told: Sequence[Told]) -> dict[str, object]:
    """For a statement that ends in `--include keep_progress`."""
    return {
        "ids": [one.task_id for one in told],
        "fractions": [one.fraction for one in told],
        "notes": [one.note for one in told],
    }


def progress_of(ids: Collection[int]) -> dict[int, Progress]:
    """What these tasks said last, of whichever run: compare `at` with when the run began."""
    if not ids:
        return {}
    return {task: Progress(*rest) for task, *rest in run("read_progress", {"ids": array(ids)})}


def forget_progress(ids: Collection[int]) -> None:
    """Their runs are over."""
    if ids:
        run("forget_progress", {"ids": array(ids)})
