"""What applying a file would do: it is compared with the jobs that are there, and with what was applied before.

Three things are compared, field by field: what was applied, what the job is, and what the file says. What was changed
by hand, and the file would change again, is drift, and is refused unless somebody asks for it by name. Reads only.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from typing import NamedTuple

from django.db.models import Q

from tasks_app.core.differences import ABSENT, Difference, differences, shown_value
from tasks_app.core.errors import PunctualError
from tasks_app.core.handlers import REGISTRY, refuse_other_tenant
from tasks_app.core.phrases import counted
from tasks_app.lifecycle.jobs.declared import document, drift, is_same_payload, records_of, resolved
from tasks_app.lifecycle.jobs.lock import database_now
from tasks_app.lifecycle.jobs.parents import load_parents
from tasks_app.lifecycle.jobs.request import FIELDS
from tasks_app.models import DeclaredJob, JobDefinition

from .document import BadFile, JobFile, Placed
from .parents import Changes, Unit, problems_of_parents

ALL = "all"


class Action(StrEnum):
    CREATE = "create"
    CHANGE = "change"
    PRUNE = "prune"
    ADOPT = "adopt"  # the job is as the file says, and is the file's from now on
    FORGET = "forget"  # neither the file has it any more nor anybody else
    LEFT = "left"  # the file has it no more, and nobody asked for pruning
    KEEP = "keep"  # it stays as it was made by hand
    SAME = "same"


CHANGES = (Action.CREATE, Action.CHANGE, Action.PRUNE)


class Drift(NamedTuple):
    """A field that was changed by hand and that the file would change again."""

    field: str
    applied: object  # ABSENT: it was never applied
    now: object
    file: object  # ABSENT: the file has no such job any more, or no such part of the field

    def __str__(self) -> str:
        was = "" if self.applied is ABSENT else f"was applied as {shown_value(self.applied)}, "
        says = "" if self.file is ABSENT else f", and the file says {shown_value(self.file)}"
        return f"{self.field} {was}is {shown_value(self.now)}{says}"

    @property
    def plain(self) -> dict[str, object]:
        return {name: value for name, value in self._asdict().items() if value is not ABSENT}


@dataclass(frozen=True)
class Step:
    """What becomes of one job."""

    action: Action
    tenant: str
    name: str  # in the file
    job: JobDefinition | None = None
    record: DeclaredJob | None = None
    placed: Placed | None = None
    changes: Sequence[Difference] = ()
    by_hand: str = ""  # what was done by hand that this would undo, in words
    drift: Sequence[Drift] = ()
    refused: bool = False


@dataclass(frozen=True)
class Plan:
    file: JobFile
    steps: Sequence[Step] = field(default_factory=list)

    @property
    def refused(self) -> list[Step]:
        return [step for step in self.steps if step.refused]

    @property
    def changes(self) -> int:
        return sum(step.action in CHANGES for step in self.steps)

    @property
    def writes(self) -> bool:
        """Whether there is anything to write down at all, if only which file declares a job."""
        return any(step.action not in (Action.LEFT, Action.KEEP, Action.SAME) for step in self.steps)


class Wanted(NamedTuple):
    """What somebody asks for beside the file."""

    prune: bool = False
    overwrite: Collection[str] = ()  # names of jobs, or ALL: what was done to them by hand is undone
    keep: Collection[str] = ()  # or it stays


def plan(file: JobFile, wanted: Wanted) -> Plan:
    """What applying it would do; BadFile if it can't be applied."""
    return _Comparison(file, wanted).plan()


class _Comparison:
    def __init__(self, file: JobFile, wanted: Wanted) -> None:
        self.file, self.wanted = file, wanted
        self.problems: list[str] = []
        names = [one.name for one in file.jobs] + [one.declaration.renamed_from for one in file.jobs]
        known = DeclaredJob.objects.filter(Q(source=file.source) | Q(name__in=names))
        self.records: dict[Unit, DeclaredJob] = {(one.tenant, one.name): one for one in known}
        tenants = {one.tenant for one in file.jobs}
        ids = [one.job for one in self.records.values()]
        jobs = JobDefinition.objects.filter(Q(id__in=ids) | Q(name__in=names, tenant__in=tenants))
        self.jobs = {job.id: job for job in jobs}
        load_parents(self.jobs.values())
        # One that is declared under another name was renamed by hand: this is not its own name.
        declared = set(records_of(self.jobs.values()))
        self.named: dict[Unit, JobDefinition] = {
            (job.tenant, job.name): job for job in self.jobs.values() if job.id not in declared
        }
        self.now = database_now()

    def plan(self) -> Plan:
        steps = [step for one in self.file.jobs if (step := self._declared(one)) is not None]
        done = {step.record.id for step in steps if step.record is not None}
        own = [one for one in self.records.values() if one.source == self.file.source and one.id not in done]
        gone = [self._gone(one) for one in sorted(own, key=lambda one: (one.tenant, one.name))]
        if self.wanted.prune and not done and not self.file.named:
            self._refuse_another_file([step for step in gone if step.action is Action.PRUNE])
        self._refuse_unknown_names([*steps, *gone])
        if not self.problems:
            self.problems += problems_of_parents(self.file, _changes([*steps, *gone]))
        if self.problems:
            raise BadFile(self.problems)
        return Plan(self.file, [*steps, *gone])

    def _declared(self, one: Placed) -> Step | None:
        try:
            record, job = self._found(one)
            refuse_other_tenant(REGISTRY.require(one.declaration.request.task_type), one.tenant)
            fields = resolved(one.declaration.request, self.now, job, one.tenant)
        except PunctualError as error:
            self.problems.append(one.problem(str(error), _field_in(str(error))))
            return None
        step = partial(Step, tenant=one.tenant, name=one.name, job=job, record=record, placed=one)
        if job is None:
            lost = "deleted by hand since it was applied" if record else ""
            return self._guarded(step(Action.CREATE, by_hand=lost))
        if is_same_payload(job, fields["payload"]):
            fields["payload"] = job.payload
        changes = list(differences(document(job), fields))
        if not changes:
            if record is not None and (record.name, record.job) == (one.name, job.id) and not drift(record, job):
                return step(Action.SAME)
            return step(Action.ADOPT)
        if record is None:
            found = [Drift(one.field, ABSENT, one.old, one.new) for one in changes]
            words = f"there already, made by {job.created_by or 'somebody'}, and no file declares it"
        else:
            found = list(_overwritten(drift(record, job), changes))
            words = "changed by hand since it was applied" if found else ""
        return self._guarded(step(Action.CHANGE, changes=changes, by_hand=words, drift=found))

    def _found(self, one: Placed) -> tuple[DeclaredJob | None, JobDefinition | None]:
        """What was applied of it, if anything, and the job, if there is one."""
        unit, old = (one.tenant, one.name), (one.tenant, one.declaration.renamed_from)
        record, before = self.records.get(unit), self.records.get(old) if old[1] else None
        for other in (record, before):
            if other is not None and other.source != self.file.source:
                way = f"Remove it from one of the two, or let it go: `jobs release {other.source!r} {other.name!r}`"
                raise PunctualError(f"it is declared in {other.source!r} as well. {way}.")
        there = self.named.get(unit) if record is None else self.jobs.get(record.job) or self.named.get(unit)
        earlier = self.named.get(old) if before is None else self.jobs.get(before.job)
        renamed_before = record is not None and before is None
        if not old[1] or renamed_before or (before is None and earlier is None):
            return record, there
        if there is not None and earlier is not None:
            words = f"renamed_from is {old[1]!r}, but there is a job of either name ({earlier.id} and {there.id}). "
            raise PunctualError(f"{words}Delete one of them, or take renamed_from out.")
        return (record, there) if there is not None else (before, earlier)

    def _gone(self, record: DeclaredJob) -> Step:
        """The file has had it, and has it no more."""
        job = self.jobs.get(record.job)
        step = partial(Step, tenant=record.tenant, name=record.name, job=job, record=record)
        if job is None:
            return step(Action.FORGET)
        if not self.wanted.prune:
            return step(Action.LEFT)
        found = [Drift(one.field, one.old, one.new, ABSENT) for one in drift(record, job)]
        words = "changed by hand since it was applied" if found else ""
        return self._guarded(step(Action.PRUNE, by_hand=words, drift=found))

    def _guarded(self, step: Step) -> Step:
        if not step.by_hand or _names(self.wanted.overwrite, step.name):
            return step
        kept = _names(self.wanted.keep, step.name)
        return replace(step, action=Action.KEEP) if kept else replace(step, refused=True)

    def _refuse_another_file(self, pruned: Sequence[Step]) -> None:
        """Two files with the same name, in two repositories: neither should take the other's for its own old jobs."""
        if pruned:
            words = f"{counted(len(pruned), 'job')} declared in {self.file.source!r}, and none of them is in this file"
            way = "Is it another file of the same name? Then give it a name of its own with `source:`"
            repeat = f"if it is the same, say so with `source: {self.file.source}` or --source"
            self.problems.append(f"{self.file.name}: --prune would delete {words}. {way}; {repeat}.")

    def _refuse_unknown_names(self, steps: Sequence[Step]) -> None:
        known = {step.name for step in steps} | {one.name for one in self.file.jobs} | {ALL}
        for option, names in (("--overwrite", self.wanted.overwrite), ("--keep", self.wanted.keep)):
            for name in names:
                if name not in known:
                    self.problems.append(f"{option}: there is no job {name!r} in {self.file.name}.")
        for name in {*self.wanted.overwrite} & {*self.wanted.keep}:
            self.problems.append(f"--overwrite and --keep both name {name!r}; give the one you mean.")


def _changes(steps: Sequence[Step]) -> Changes:
    """As far as parents are concerned; what stays as it was made by hand is there all the same."""
    declared = [(step.placed, step.job) for step in steps if step.placed is not None and step.action is not Action.KEEP]
    return Changes(declared, [step.job for step in steps if step.action is Action.PRUNE and step.job is not None])


def _overwritten(drifted: Sequence[Difference], changes: Sequence[Difference]) -> Iterator[Drift]:
    """What was changed by hand, as far as the file would change it again."""
    for hand in drifted:
        file = next((one for one in changes if _one_within_other(hand.field, one.field)), None)
        if file is not None:
            yield Drift(hand.field, hand.old, hand.new, file.new if file.field == hand.field else ABSENT)


def _one_within_other(one: str, other: str) -> bool:
    return one == other or one.startswith(f"{other}.") or other.startswith(f"{one}.")


def _names(given: Collection[str], name: str) -> bool:
    return name in given or ALL in given


def _field_in(error: str) -> str | None:
    """The field that an error is about, if it says so at its beginning."""
    return next((word for word in re.findall(r"\w+", error[:40]) if word in FIELDS), None)
