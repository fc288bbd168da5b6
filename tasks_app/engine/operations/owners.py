"""Whose a job or a task is, for those who may change only their own: a job is of who made it, a task of who scheduled
its unit, or of who made the job that fired it. Whoever may operate is never asked."""

from collections.abc import Collection, Iterable

from tasks_app.core.errors import NotAllowed
from tasks_app.models import JobDefinition, OwnedUnit
from tasks_app.models.schedule_task import TaskFields
from tasks_app.sql import run

from .callers import Caller


def keep_units(asked: Caller, units: Collection[tuple[str, str]]) -> None:
    """These units, by type and key, are the caller's, if that matters at all: call it where they were scheduled."""
    if asked.owns_only and units:
        keys, types = [key for _, key in units], [task_type for task_type, _ in units]
        run("own_units", {"tenant": asked.tenant, "owner": asked.name, "types": types, "keys": keys})


def refuse_not_own(asked: Caller, row: JobDefinition | TaskFields) -> None:
    """What may be seen and not changed."""
    if asked.owns_only and row.id not in own_of(asked.name, [row]):
        noun = "job" if isinstance(row, JobDefinition) else "task"
        raise NotAllowed(
            f"{noun} {row.id} belongs to somebody else, and you may change only your own. Operators can change it."
        )


def own_of(name: str, rows: Iterable[JobDefinition | TaskFields]) -> set[int]:
    """The ids of those of these jobs, or of these tasks, that are this person's or token's."""
    rows = list(rows)
    jobs = {row.id for row in rows if isinstance(row, JobDefinition) and row.created_by == name}
    tasks = [row for row in rows if not isinstance(row, JobDefinition)]
    fired = {row.job for row in tasks if row.job is not None}
    theirs = JobDefinition.objects.filter(id__in=fired, created_by=name)
    made = set(theirs.values_list("id", flat=True)) if fired else set()
    plain = [row for row in tasks if row.job is None]
    units = _units(name, plain) if plain else set()
    return (
        jobs
        | {row.id for row in tasks if row.job in made}
        | {row.id for row in plain if (row.tenant, row.task_type, row.biz_key) in units}
    )


def _units(name: str, tasks: list[TaskFields]) -> set[tuple[str, str, str]]:
    """Those of these tasks' units that are theirs."""
    keys, types = {row.biz_key for row in tasks}, {row.task_type for row in tasks}
    found = OwnedUnit.objects.filter(biz_key__in=keys, task_type__in=types, owner=name)
    return set(found.values_list("tenant", "task_type", "biz_key"))
