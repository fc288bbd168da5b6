"""The graph that a job is part of: checked and written under one lock for each tenant, so that no two changes that are
each right make a circle together.

Locks: first the graph's, then the cursors and jobs as ever (lock.py). A planner reads the graph under the cursor of its
root, and a trigger while it keeps the graphs as they are, so each of them sees a graph before a change or after it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime

from tasks_app.core.errors import InvalidTask, nearest, shown
from tasks_app.core.graphs import MOST_JOBS, descendants_of, find_cycle, roots_of, two_roots_of_each
from tasks_app.core.jobs import JobStatus
from tasks_app.models import JobDefinition, JobParent
from tasks_app.sql import run

from .instances import Dues
from .lock import join, leave, lock_job
from .parents import names_of

Parents = Mapping[int, Sequence[int]]  # job -> those that it waits for

_LOCK = "graphs of {tenant}"
_later: ContextVar[set[int] | None] = ContextVar("jobs whose roots are counted later", default=None)


def lock_graphs(tenant: str) -> None:
    """Nobody else changes a graph of this tenant until the end of the transaction."""
    run("lock_operation", {"operation": _LOCK.format(tenant=tenant)})


def keep_graphs(tenant: str) -> None:
    """The graphs of this tenant stay as they are until the end of the transaction; others may keep them too."""
    run("keep_graphs", {"operation": _LOCK.format(tenant=tenant)})


def graph_of(job_ids: Iterable[int]) -> dict[int, list[int]]:
    """The whole graph that these jobs are part of, as far as it is below their roots: each job with its parents."""
    return dict(run("links", {"jobs": list(job_ids)}))


def root_of(job: JobDefinition) -> JobDefinition:
    """The job whose schedule it has: the first of its graph, or itself."""
    if not job.has_parents:
        return job
    [root] = roots_of([job.id], graph_of([job.id]))
    first: JobDefinition = JobDefinition.objects.get(id=root)
    return first


@contextmanager
def roots_counted_at_the_end() -> Iterator[None]:
    """Several changes that are one: in between, a job may come after two that each have a schedule. The caller has
    locked the graphs, and undoes all of it on an InvalidTask."""
    changed: set[int] = set()
    token = _later.set(changed)
    try:
        yield
    finally:
        _later.reset(token)
    if changed:
        _refuse_two_roots(changed, graph_of(changed))


def resolved(tenant: str, names: Sequence[str]) -> list[int]:
    """The jobs of these names, or an InvalidTask that says which is not there."""
    found = dict(JobDefinition.objects.filter(tenant=tenant, name__in=list(names)).values_list("name", "id"))
    for name in names:
        if name not in found:
            known = JobDefinition.objects.filter(tenant=tenant).order_by("name").values_list("name", flat=True)[:1000]
            raise InvalidTask(f"parents has {shown(name)}, but there is no job of that name.{nearest(name, known)}")
    return sorted(found.values())


def link(job: JobDefinition, parents: Sequence[int], now: datetime, by: str) -> Dues:
    """Let the job wait for these, and for nobody else; returns when something is due because of it.

    What was planned of the graphs that this changes and that nobody has claimed is taken back, and planned again by the
    new graph. The caller has locked the graphs, then the job, has taken back what was planned of it, and has written
    its other columns.
    """
    before = graph_of([job.id, *parents])
    after = {**before, job.id: list(parents)}
    _refuse_circle(after)
    if (later := _later.get()) is None:
        _refuse_two_roots([job.id], after)
    else:
        later.add(job.id)
    changed = (roots_of([job.id], before) | roots_of([job.id], after)) - {job.id}
    _refuse_crowd(after, changed | {job.id})
    held = [_held(job.tenant, root, now, by) for root in sorted(changed)]
    _write(job, before.get(job.id, ()), parents, now)
    dues: dict[int, float] = {}
    for root, again, decided in held:
        if root.status == JobStatus.ACTIVE:
            root.has_children = bool(JobParent.objects.filter(parent=root.id).exists())
            for shard, due in join(root, now, again, decided).items():
                dues[shard] = min(due, dues.get(shard, due))
    return dues


def _held(tenant: str, root_id: int, now: datetime, by: str) -> tuple[JobDefinition, list[datetime], datetime]:
    """A root, with what was planned of it taken back: as an edit does that changes nothing of its schedule."""
    root, cursor = lock_job(tenant, root_id)
    left = leave(root, cursor, now, by)
    return root, left.taken, left.decided


def _write(job: JobDefinition, before: Sequence[int], parents: Sequence[int], now: datetime) -> None:
    gone, new = set(before) - set(parents), set(parents) - set(before)
    if gone or new:
        job.linked_at = now
        JobDefinition.objects.filter(id=job.id).update(linked_at=now)
    JobParent.objects.filter(job=job.id, parent__in=gone).delete()
    JobParent.objects.bulk_create(JobParent(job=job.id, parent=parent) for parent in sorted(new))
    JobDefinition.objects.filter(id__in=new).update(has_children=True)
    for parent in sorted(gone):
        if not JobParent.objects.filter(parent=parent).exists():
            JobDefinition.objects.filter(id=parent).update(has_children=False)


def _refuse_circle(after: Parents) -> None:
    circle = find_cycle(after)
    if circle:
        names = names_of(circle)
        way = " → ".join(repr(names[one]) for one in reversed(circle))
        raise InvalidTask(f"these jobs would wait for each other: {way}. Leave one of these parents out.")


def _refuse_two_roots(jobs: Iterable[int], after: Parents) -> None:
    """One schedule makes the instances of a whole graph; with two there would be no fire time that all have."""
    roots_of_each = two_roots_of_each(after)
    for node in sorted({*jobs, *descendants_of(jobs, after)}):
        roots = roots_of_each.get(node, [node])
        if len(roots) > 1:
            names = names_of([node, *roots])
            both = " and ".join(repr(names[one]) for one in roots)
            raise InvalidTask(
                f"job {names[node]!r} would come after {both}, each with a schedule of its own; a graph has one. Make "
                "one of them wait for the other, or give both the same parent, and that one the schedule."
            )


def _refuse_crowd(after: Parents, roots: Iterable[int]) -> None:
    for root in roots:
        size = 1 + len(descendants_of([root], after))
        if size > MOST_JOBS:
            name = names_of([root])[root]
            raise InvalidTask(
                f"the graph below {name!r} would have {size:,} jobs; {MOST_JOBS:,} is the most. Split it into several."
            )
