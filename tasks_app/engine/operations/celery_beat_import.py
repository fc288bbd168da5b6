"""Moving from django-celery-beat, and back: jobs are made and their old schedules switched off in one transaction.

What was switched off is remembered (punctual_imported_schedule) with the job and both their states, so that taking it
back can tell what people have changed meanwhile.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from tasks_app.core.celery_call import CELERY_TASK
from tasks_app.core.errors import NameTaken, StaleRevision, UnknownJob
from tasks_app.core.jobs import JobStatus
from tasks_app.database import atomic
from tasks_app.lifecycle.audit import Entry, Operator, audit
from tasks_app.lifecycle.jobs import verbs
from tasks_app.lifecycle.jobs.instances import last_claimed
from tasks_app.lifecycle.jobs.lock import database_now
from tasks_app.lifecycle.jobs.request import JobRequest
from tasks_app.models import AnyTask, ImportedSchedule, JobDefinition

from .celery_beat_tables import Carried, in_their_database, lock_tables, read, switch_off, switch_on
from .jobs import create_job

NAME = "import_celery_beat"
DONE, LEFT, REFUSED = "done", "left alone", "refused"


@dataclass(frozen=True, slots=True)
class Told:
    """What became of one schedule and its job."""

    name: str
    result: str  # DONE, LEFT or REFUSED
    text: str
    schedule: str = ""  # "switched off", "switched on", "stays on", "stays off" or "gone"
    job: int | None = None
    not_carried_over: list[str] = field(default_factory=list)


def carry_over(tenant: str, *, dry_run: bool) -> list[Told]:
    """A job for each periodic task, and its schedule switched off: all of them, or on an error none."""
    # In two databases, ours is the first to commit: at worst both fire, until this is run again.
    with in_their_database(), atomic():
        if not dry_run:
            lock_tables()
        return _Import(tenant, read(), dry_run).run()


def take_back(tenant: str, *, dry_run: bool) -> list[Told]:
    """The way back, of everything that was carried over to this tenant: all of it, or on an error nothing."""
    with atomic(), in_their_database():
        if not dry_run:
            lock_tables()
        return _Undo(tenant, {one.id: one for one in read()}, dry_run).run()


class _Import:
    def __init__(self, tenant: str, found: list[Carried], dry_run: bool) -> None:
        self.tenant, self.found, self.dry_run = tenant, found, dry_run
        self.records = {one.periodic_task: one for one in ImportedSchedule.objects.filter(undone_at=None)}
        ids = [one.job for one in self.records.values()]
        self.imported = {job.id: job for job in JobDefinition.objects.filter(id__in=ids)}
        names = [one.name for one in found]
        self.there = {job.name: job for job in JobDefinition.objects.filter(tenant=tenant, name__in=names)}
        self.off: list[Carried] = []
        self._will = "would be" if dry_run else "is"

    def run(self) -> list[Told]:
        told = [self._one(one) for one in self.found]
        if self.off and not self.dry_run:
            switch_off([one.id for one in self.off])
            _audit_switch("switch_off", "off", self.off)
        return told

    def _one(self, one: Carried) -> Told:
        if one.id in self.records:
            return self._known(one, self.records[one.id])
        if one.request is None:
            return self._untouched(one, LEFT if one.over else REFUSED, one.refused)
        if one.name in self.there:
            return self._taken(one, self.there[one.name])
        try:
            job = None if self.dry_run else self._create(one, one.request)
        except NameTaken:
            return self._untouched(one, REFUSED, "a job with this name was created just now. Run this again")
        if one.enabled:
            self.off.append(one)
        says, schedule = (f"{self._will} switched off", "switched off") if one.enabled else ("was off", "stays off")
        return Told(
            one.name, DONE, f"{_in_words(one, one.request)}; its schedule {says}", schedule, job and job.id, one.lost
        )

    def _known(self, one: Carried, record: ImportedSchedule) -> Told:
        job = self.imported.get(record.job)
        if job is None:
            back = "; --undo switches its schedule on again" if record.switched_off and not one.enabled else ""
            return self._untouched(one, LEFT, f"its job has been deleted since, and is left alone{back}")
        if one.enabled and job.status == JobStatus.ACTIVE:
            if not self.dry_run:
                record.switched_off, record.last_run_at = True, one.last_run_at
                record.save()
            words = f"job {job.id} is there already, and its schedule was on again; it {self._will} switched off"
            self.off.append(one)
            return Told(one.name, LEFT, words, "switched off", job.id)
        state = "is paused" if job.status == JobStatus.PAUSED else "is there"
        return self._untouched(one, LEFT, f"job {job.id} {state} already; left alone", job)

    def _taken(self, one: Carried, job: JobDefinition) -> Told:
        """A job has this name: of an import that switched nothing off yet, of one that was undone, or not ours."""
        if job.created_by != NAME or job.task_type != CELERY_TASK:
            words = f"job {job.id} has this name but was not created by this command. Rename one of the two"
            return self._untouched(one, REFUSED, words, job)
        if job.status == JobStatus.PAUSED and job.paused_by == NAME and one.enabled:
            words = f"job {job.id} has this name, and was paused by --undo. Delete it, and run this again"
            return self._untouched(one, REFUSED, words, job)
        if job.status == JobStatus.PAUSED or not one.enabled:
            return self._untouched(one, LEFT, f"job {job.id} is there already; left alone", job)
        if not self.dry_run:
            self._remember(one, job, revision=1)
        self.off.append(one)
        words = f"job {job.id} is there already, and its schedule was still on; it {self._will} switched off"
        return Told(one.name, LEFT, words, "switched off", job.id)

    def _create(self, one: Carried, request: JobRequest) -> JobDefinition:
        """One that is disabled is paused in the same transaction, so that nothing of it can run."""
        with atomic():
            job = create_job(request, _by("carried over from django-celery-beat"), tenant=self.tenant)
            if not one.enabled:
                job = verbs.pause(job.id, _by("disabled in django-celery-beat"), tenant=self.tenant).job
        self._remember(one, job, job.revision)
        return job

    def _remember(self, one: Carried, job: JobDefinition, revision: int) -> None:
        ImportedSchedule.objects.create(
            periodic_task=one.id,
            name=one.name,
            tenant=self.tenant,
            job=job.id,
            revision=revision,
            switched_off=one.enabled,
            last_run_at=one.last_run_at,
            fingerprint=one.fingerprint,
        )

    def _untouched(self, one: Carried, result: str, words: str, job: JobDefinition | None = None) -> Told:
        schedule = "stays on" if one.enabled else "stays off"
        return Told(one.name, result, f"{words}; its schedule {schedule}", schedule, job and job.id)


class _Undo:
    def __init__(self, tenant: str, schedules: dict[int, Carried], dry_run: bool) -> None:
        self.tenant, self.schedules, self.dry_run = tenant, schedules, dry_run
        open_ = ImportedSchedule.objects.filter(tenant=tenant, undone_at=None).order_by("periodic_task")
        self.records = list(open_ if dry_run else open_.select_for_update())
        self.on: dict[int, datetime | None] = {}
        self._will = "would be" if dry_run else "is"

    def run(self) -> list[Told]:
        told = [self._one(record) for record in self.records]
        if self.on and not self.dry_run:
            switch_on(self.on)
            _audit_switch("switch_on", "on", [self.schedules[id_] for id_ in self.on])
        return told

    def _one(self, record: ImportedSchedule) -> Told:
        schedule = self.schedules.get(record.periodic_task)
        job = JobDefinition.objects.filter(tenant=self.tenant, id=record.job).first()
        if schedule is None and job is not None:
            words = f"its schedule is gone, so job {job.id} stays. Delete it if nobody needs it"
            return Told(record.name, REFUSED, words, "gone", job.id)
        ran = _has_run(record.job)
        of_job = f"its job {record.job} is gone already" if job is None else self._without(job, record, ran)
        if not self.dry_run:
            record.undone_at = database_now()
            record.save()
        if schedule is None:
            return Told(record.name, DONE, f"{of_job}, and its schedule too", "gone", record.job)
        says, state = self._schedule(record, schedule, ran)
        return Told(record.name, DONE, f"{of_job}; its schedule {says}", state, record.job)

    def _without(self, job: JobDefinition, record: ImportedSchedule, ran: bool) -> str:
        """Delete the job, or pause it where something would be lost with it: what became of it, in words."""
        changed = job.revision != record.revision
        if not ran and not changed:
            try:
                if not self.dry_run:
                    with atomic():
                        verbs.delete(job.id, _by("taken back"), tenant=self.tenant, revision=record.revision)
                return f"job {job.id} {self._will} deleted"
            except StaleRevision:
                changed = True
            except UnknownJob:
                return f"its job {job.id} is gone already"
        if not self.dry_run:
            verbs.pause(job.id, _by("taken back by --undo"), tenant=self.tenant)
        why = "has run" if ran else "was changed"
        return f"job {job.id} {why} since, and {self._will} paused: delete it when you like"

    def _schedule(self, record: ImportedSchedule, schedule: Carried, ran: bool) -> tuple[str, str]:
        if schedule.enabled:
            return "is on already", "stays on"
        if not record.switched_off:
            return "was off before, and stays off", "stays off"
        if schedule.once and ran:
            return "stays off: it has had its one run", "stays off"
        runs = [at for at in (record.last_run_at, last_claimed(record.job)) if at is not None]
        self.on[schedule.id] = max(runs, default=None)
        since = " (it has been changed since)" if schedule.fingerprint != record.fingerprint else ""
        return f"{self._will} switched on again{since}", "switched on"


def _has_run(job_id: int) -> bool:
    has_run: bool = AnyTask.objects.filter(job=job_id, claimed_due__isnull=False).exists()
    return has_run


def _in_words(one: Carried, request: JobRequest) -> str:
    when = request.cron or (f"every {request.every} s" if request.every else f"once at {request.at}")
    paused = "" if one.enabled else ", paused"
    lost = f" (not carried over: {'; '.join(one.lost)})" if one.lost else ""
    return f"{one.task}, {when} {request.timezone}{paused}{lost}"


def _audit_switch(verb: str, outcome: str, schedules: Iterable[Carried]) -> None:
    entries = [Entry(f"celery schedule {one.id}", outcome, None, {"name": one.name}) for one in schedules]
    audit(_by("the jobs fire instead" if outcome == "off" else "taken back"), verb, entries)


def _by(reason: str) -> Operator:
    return Operator(NAME, reason)
