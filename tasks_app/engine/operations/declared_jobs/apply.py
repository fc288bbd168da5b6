"""Applying a file, in one transaction: all of it, or on an error nothing. Two at once take turns."""

from collections.abc import Collection, Sequence
from itertools import chain

from tasks_app.core.errors import NameTaken, NotThere, PunctualError, ScheduleConflict, StaleRevision, UnknownJob
from tasks_app.core.graphs import layers
from tasks_app.database import atomic
from tasks_app.engine.operations.jobs import create_job, delete_job, edit_job
from tasks_app.lifecycle.audit import Entry, Operator, audit
from tasks_app.lifecycle.jobs.declared import forget, remember
from tasks_app.lifecycle.jobs.family import lock_graphs, roots_counted_at_the_end
from tasks_app.lifecycle.jobs.request import FIELDS
from tasks_app.models import DeclaredJob, JobDefinition, JobParent
from tasks_app.sql import run

from .document import BadFile, JobFile
from .plan import Action, Plan, Step, Wanted, plan

ROUNDS = 3
TURN = "punctual declared jobs"  # what two of them take turns by


def apply(file: JobFile, wanted: Wanted, operator: Operator) -> Plan:
    """Carry out what `plan` says, and say it; nothing of it if something is refused."""
    seen: PunctualError | None = None
    for _ in range(ROUNDS):
        try:
            with atomic():
                run("lock_operation", {"operation": TURN})
                _lock_graphs(file)
                decided = plan(file, wanted)
                if not decided.refused:
                    with roots_counted_at_the_end():
                        _carry_out(decided, operator)
                return decided
        except (StaleRevision, UnknownJob, NameTaken) as error:
            seen = error  # somebody was faster: compare again, since that may be drift
    raise ScheduleConflict(f"others changed the jobs {ROUNDS} times in the meantime; nothing was applied. {seen}")


def release(source: str, names: Collection[str], operator: Operator) -> list[DeclaredJob]:
    """The file declares these jobs no more, all of its jobs if none is named; the jobs stay as they are."""
    with atomic():
        run("lock_operation", {"operation": TURN})
        found = DeclaredJob.objects.filter(source=source).order_by("tenant", "name")
        records = list(found.filter(name__in=names) if names else found)
        missing = set(names) - {one.name for one in records}
        if missing or not records:
            what = f"the job {sorted(missing)[0]!r}" if missing else "any job"
            raise NotThere(f"{source!r} doesn't declare {what}; `jobs list --source {source}` shows what it does.")
        forget(records)
        jobs = {job.id: job for job in JobDefinition.objects.filter(id__in=[one.job for one in records])}
        audit(operator, "release", [_entry(one, "released", jobs.get(one.job), source) for one in records])
    return records


def _carry_out(decided: Plan, operator: Operator) -> None:
    steps = decided.steps
    for action in (Action.FORGET, Action.ADOPT):
        _record([step for step in steps if step.action is action], action, decided.file.source, operator)
    left = _ordered(steps)
    while left:
        failed: list[tuple[Step, PunctualError]] = []
        for step in left:
            try:
                with atomic():
                    _change(step, decided.file.source, operator)
            except (StaleRevision, UnknownJob):
                raise
            except PunctualError as error:
                failed.append((step, error))  # it may need another of them first: a name that is free, say
        if len(failed) == len(left):
            _give_up(decided.file, failed)
        left = [step for step, _ in failed]


def _lock_graphs(file: JobFile) -> None:
    """Before any job is locked, as whoever changes a graph does."""
    records = DeclaredJob.objects.filter(source=file.source).values_list("tenant", flat=True)
    for tenant in sorted({*records, *(one.tenant for one in file.jobs)}):
        lock_graphs(tenant)


def _ordered(steps: Sequence[Step]) -> list[Step]:
    """As they can be carried out, nearly always: whoever waits for others is deleted before those, and created or
    changed after them. And names are freed before others take them."""
    pruned = {step.job.id: step for step in steps if step.action is Action.PRUNE and step.job is not None}
    parents: dict[int, list[int]] = {job: [] for job in pruned}
    for job, parent in JobParent.objects.filter(job__in=pruned, parent__in=pruned).values_list("job", "parent"):
        parents[job].append(parent)
    gone = [pruned[job] for layer in reversed(layers(parents)) for job in layer]
    named = {(step.tenant, step.name): step for step in steps if step.action in (Action.CHANGE, Action.CREATE)}
    above = {unit: step.placed.parents if step.placed is not None else [] for unit, step in named.items()}
    rest = [
        sorted((named[unit] for unit in layer), key=lambda step: step.action is Action.CREATE)
        for layer in layers(above)
    ]
    return [*gone, *chain.from_iterable(rest)]


def _change(step: Step, source: str, operator: Operator) -> None:
    there = step.job
    if step.placed is None:
        assert there is not None and step.record is not None  # or there would be nothing to prune
        delete_job(there.id, operator, tenant=step.tenant, revision=there.revision)
        forget([step.record])
        return
    request = step.placed.declaration.request
    if there is None:
        job = create_job(request, operator, tenant=step.tenant)
    else:
        # All fields, so that one which the file leaves out gets its default.
        fields = {name: getattr(request, name) for name in FIELDS}
        job = edit_job(there.id, fields, operator, tenant=step.tenant, revision=there.revision)
    remember(step.record, job, step.name, source, operator)


def _record(steps: Sequence[Step], action: Action, source: str, operator: Operator) -> None:
    """What changes no job: only which file declares it."""
    if action is Action.FORGET:
        forget([step.record for step in steps if step.record is not None])
        return
    for step in steps:
        assert step.job is not None  # or there would be nothing to adopt
        remember(step.record, step.job, step.name, source, operator)
    entries = [_entry(step, "declared", step.job, source) for step in steps]
    audit(operator, "declare", entries)


def _entry(one: Step | DeclaredJob, outcome: str, job: JobDefinition | None, source: str) -> Entry:
    number = job.id if job else one.job
    detail = {"source": source, "tenant": one.tenant, "name": one.name}
    return Entry(f"job {number}", outcome, None, detail, one.tenant, job and job.task_type)


def _give_up(file: JobFile, failed: Sequence[tuple[Step, PunctualError]]) -> None:
    for _, error in failed:
        if isinstance(error, NameTaken):
            raise error
    raise BadFile(
        step.placed.problem(str(error)) if step.placed else f"{file.name}: job {step.name!r}: {error}"
        for step, error in failed
    )
