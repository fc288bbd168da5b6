"""What is archived: the families of partitions, each with its folder, and how their rows are told apart and sorted."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from tasks_app.conf import conf
from tasks_app.core.retention import DEFAULT_CLASS
from tasks_app.storage.partitions import known_classes


@dataclass(frozen=True, slots=True)
class Kind:
    name: str
    retention: str  # the class
    family: str  # the table whose partitions they are
    key: str  # the column whose values the tally is of: a number, or an instant
    moment: str  # the column by which they are cut
    order: tuple[str, ...]  # by which they are sorted: what is often asked for is then in one place
    hot: timedelta
    cold: timedelta

    @property
    def folder(self) -> str:
        return f"{self.name}/{self.retention}"


TASKS = "tasks"


def kinds() -> Iterator[Kind]:
    """Of all classes that have a table: one that was taken out of the settings goes by the times of the default."""
    classes = conf().retention_classes
    default = classes[DEFAULT_CLASS]
    for name, family in sorted(known_classes().items()):
        one = classes.get(name, default)
        yield Kind(TASKS, name, family, "id", "updated_at", ("biz_key", "task_type", "tenant", "id"), one.hot, one.cold)
    for name, family, key, moment, order in (
        ("batches", "punctual_past_batch", "finished_at", "finished_at", ("task_type", "finished_at")),
        ("attempts", "punctual_attempt", "id", "finished_at", ("task_id", "id")),
        ("logs", "punctual_log", "id", "started_at", ("task_id", "id")),
    ):
        yield Kind(name, DEFAULT_CLASS, family, key, moment, order, default.hot, default.cold)
