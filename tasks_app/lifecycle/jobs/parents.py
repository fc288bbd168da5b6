"""The names of the jobs around a job: those that it waits for, and those that wait for it."""

from collections.abc import Iterable

from tasks_app.models import JobDefinition, JobParent

_LOADED = "_names_of_parents"


def names_of(job_ids: Iterable[int]) -> dict[int, str]:
    return dict(JobDefinition.objects.filter(id__in=list(job_ids)).values_list("id", "name"))


def parent_names(job: JobDefinition) -> list[str]:
    if not job.has_parents or job.id is None:
        return []
    loaded: list[str] | None = getattr(job, _LOADED, None)
    if loaded is not None:
        return loaded
    ids = JobParent.objects.filter(job=job.id).values_list("parent", flat=True)
    return sorted(names_of(ids).values())


def load_parents(jobs: Iterable[JobDefinition]) -> None:
    """Ask for the parents of all of these at once: a page shows many jobs, as they were when it was read."""
    waiting = {job.id: job for job in jobs if job.has_parents}
    if not waiting:
        return
    pairs = list(JobParent.objects.filter(job__in=list(waiting)).values_list("job", "parent"))
    names = names_of({parent for _, parent in pairs})
    for job_id, job in waiting.items():
        setattr(job, _LOADED, sorted(names[parent] for one, parent in pairs if one == job_id and parent in names))


def child_names(job: JobDefinition) -> list[str]:
    if not job.has_children:
        return []
    ids = JobParent.objects.filter(parent=job.id).values_list("job", flat=True)
    return sorted(names_of(ids).values())
