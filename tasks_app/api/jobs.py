"""/jobs: create, list, read, change, delete, pause, resume, trigger, history, preview; and single firings."""

import logging
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import MISSING, fields
from datetime import datetime, timedelta
from typing import Annotated, Any, TypeVar

from django.db import DatabaseError
from django.http import HttpRequest
from ninja import Path, Query, Router

from tasks_app.client.endpoints import PAGE, Cursor, Limit, Text
from tasks_app.core.errors import Conflicting, InvalidTask, NameTaken, shown
from tasks_app.core.jobs import JobStatus
from tasks_app.core.routers import may_answer
from tasks_app.database import atomic
from tasks_app.engine.operations import jobs
from tasks_app.engine.operations.owners import refuse_not_own
from tasks_app.engine.watch.browse import Bookmark, Filter
from tasks_app.engine.watch.firing_load import advice_as_told, advice_for, load_forecast
from tasks_app.engine.watch.job_browse import JobFilter, page_of_instances, page_of_jobs
from tasks_app.engine.watch.status import somebody_dispatches
from tasks_app.engine.watch.why import why_job
from tasks_app.lifecycle.anywhere import task_by_id
from tasks_app.lifecycle.audit import Operator
from tasks_app.lifecycle.jobs.overrides import Overridden
from tasks_app.lifecycle.jobs.parents import load_parents
from tasks_app.lifecycle.jobs.request import FIELDS, JobRequest, field_of
from tasks_app.lifecycle.jobs.view import firing_in_words, previewed, schedule_in_words, state_of
from tasks_app.lifecycle.tenants import timezone_of
from tasks_app.models import JobDefinition
from tasks_app.models.schedule_task import TaskFields
from tasks_app.sql import run

from .auth import caller
from .door import refuse_what_can_wait
from .enums import FiringOutcome, TaskStatus
from .headers import tell_revision
from .idempotency import mutation
from .problems import SCOPE, Problem, as_there, errors_of, problem_of
from .schemas import (
    AdviceOut,
    FallsOut,
    Firing,
    FiringChangedOut,
    Id,
    Instant,
    JobIn,
    JobOut,
    JobPage,
    JobPatch,
    JobSavedOut,
    Key,
    MoveFiringIn,
    NeededKey,
    NeededRevision,
    PauseIn,
    PreviewOut,
    ReasonIn,
    ResumeIn,
    Revision,
    TaskOut,
    TaskPage,
    TriggerIn,
    TriggerOut,
    WhyOut,
)

log = logging.getLogger(__name__)
router = Router(tags=["jobs"])
Row = TypeVar("Row", bound=JobDefinition | TaskFields)
NEXT = "next"
FireTime = Annotated[
    str, Path(max_length=40, description="`fire_time` of the preview, such as 2027-03-01T08:00:00Z; or `next`")
]
_DEFAULTS = {field.name: field.default for field in fields(JobRequest) if field.default is not MISSING}


@router.post("", response={201: JobSavedOut}, summary="Create a job")
@may_answer(*SCOPE, "SCH_409_DUPLICATE", "SCH_409_CONFLICT")
@mutation
def create_job(request: HttpRequest, body: JobIn, idempotency_key: Key = None) -> tuple[int, JobSavedOut]:
    """If it makes a peak of the load worse, `advice` says so, and which jitter would help."""
    caller(request).refuse_closed_type(body.task_type)
    given = given_fields(body)
    if given.pop("delay", None) is not None:
        given["at"] = instant_of(body.at, body.delay)
    if given.get("cron"):
        given.setdefault("timezone", timezone_of(caller(request).tenant))
    _refuse_hidden_parents(request, body)
    with telling(request), naming_fields():
        made = jobs.create_job(JobRequest(**given), operator(request, body.reason), tenant=caller(request).tenant)
    return 201, _saved(usable(request, made))


@router.get("", response=JobPage, summary="List jobs, by name")
def list_jobs(
    request: HttpRequest,
    status: Annotated[JobStatus | None, Query()] = None,
    task_type: Annotated[Text | None, Query()] = None,
    name: Annotated[Text | None, Query()] = None,
    after: Cursor = None,
    limit: Limit = PAGE,
) -> dict[str, object]:
    asked = caller(request)
    wanted = JobFilter(asked.tenant, status, task_type, name, types=asked.types)
    found, more = page_of_jobs(wanted, after, limit)
    load_parents(found)
    return {"items": JobOut.several(found), "next": more}


@router.get("/{job_id}", response=JobOut, summary="Read a job")
def read_job(request: HttpRequest, job_id: Id) -> JobOut:
    job = _job(request, job_id)
    tell_revision(request, job.revision)
    return JobOut.of(job)


@router.patch("/{job_id}", response=JobSavedOut, summary="Change a job")
@may_answer(*SCOPE, "SCH_409_DUPLICATE", "SCH_409_CONFLICT")
@mutation
def edit_job(
    request: HttpRequest, job_id: Id, body: JobPatch, if_match: NeededRevision, idempotency_key: Key = None
) -> tuple[int, JobSavedOut]:
    """A field that is left out stays as it is; null sets it to its default. If it makes a peak of the load worse,
    `advice` says so."""
    was = own_job(request, job_id)
    if body.task_type is not None:
        caller(request).refuse_closed_type(body.task_type)
    _refuse_hidden_parents(request, body)
    with telling(request), naming_fields():
        job = jobs.edit_job(
            job_id,
            given_fields(body),
            operator(request, body.reason),
            tenant=caller(request).tenant,
            revision=_revision(if_match),
        )
    return 200, _saved(usable(request, job), was)


@router.delete("/{job_id}", response={204: None}, summary="Delete a job")
@may_answer(*SCOPE, "SCH_409_CONFLICT", "SCH_409_HAS_CHILDREN")
@mutation
def delete_job(
    request: HttpRequest, job_id: Id, if_match: Revision = None, idempotency_key: Key = None
) -> tuple[int, None]:
    """It no longer fires. What it has fired stays, as tasks. A job that others wait for can't be deleted."""
    own_job(request, job_id)
    with telling(request):
        jobs.delete_job(job_id, operator(request), tenant=caller(request).tenant, revision=_revision(if_match))
    return 204, None


@router.post("/{job_id}/pause", response=JobOut, summary="Pause a job")
@may_answer(*SCOPE, "SCH_409_CONFLICT")
@mutation
def pause_job(request: HttpRequest, job_id: Id, body: PauseIn, idempotency_key: Key = None) -> tuple[int, JobOut]:
    """Nothing fires until it is resumed, or until `until`; what runs or waits for a retry goes on."""
    own_job(request, job_id)
    with telling(request):
        job = jobs.pause_job(
            job_id,
            operator(request, body.reason),
            tenant=caller(request).tenant,
            until=body.until,
            on_resume=body.on_resume,
        )
    return 200, JobOut.of(job)


@router.post("/{job_id}/resume", response=JobOut, summary="Resume a job")
@may_answer(*SCOPE, "SCH_409_CONFLICT")
@mutation
def resume_job(
    request: HttpRequest, job_id: Id, body: ResumeIn | None = None, idempotency_key: Key = None
) -> tuple[int, JobOut]:
    """A job that is not paused stays as it is."""
    own_job(request, job_id)
    body = body or ResumeIn()
    by = operator(request, body.reason)
    with telling(request):
        job = jobs.resume_job(job_id, by, tenant=caller(request).tenant, on_resume=body.on_resume)
    return 200, JobOut.of(job)


@router.post("/{job_id}/trigger", response={201: TriggerOut}, summary="Run a job now")
@may_answer(*SCOPE, "SCH_503_DEGRADED", "SCH_503_DISPATCHER_DOWN")
@mutation
def trigger_job(
    request: HttpRequest, job_id: Id, idempotency_key: NeededKey, body: TriggerIn | None = None
) -> tuple[int, TriggerOut]:
    """Once, in addition to its schedule, even if it is paused. The same key always gives the same instance."""
    refuse_what_can_wait(own_job(request, job_id).lane)
    body = body or TriggerIn()
    if not somebody_dispatches():
        raise Problem(
            "SCH_503_DISPATCHER_DOWN", "No beat is dispatching, so nothing would run now. Try again in a moment."
        )
    done = jobs.trigger_job(
        job_id,
        idempotency_key,
        operator(request, body.reason),
        tenant=caller(request).tenant,
        payload=body.payload,
        overlap=body.overlap,
    )
    # Somebody may have edited the job since we looked: what counts is what was made of it.
    task = usable(request, still_there(done.task_id))
    return 201, TriggerOut(task_id=done.task_id, new=done.new, status=task.status)


@router.get("/{job_id}/instances", response=TaskPage, summary="List what a job has fired, newest first")
def list_instances(
    request: HttpRequest,
    job_id: Id,
    status: Annotated[TaskStatus | None, Query()] = None,
    since: Annotated[Instant | None, Query(description="Fired for this instant or later")] = None,
    until: Annotated[Instant | None, Query(description="Fired for an instant before this")] = None,
    after: Cursor = None,
    limit: Limit = PAGE,
) -> dict[str, object]:
    """One call looks at a bounded number of them: a page may be short, even empty, and still have a next one. Go on
    until `next` is null."""
    job = _job(request, job_id)
    wanted = Filter(job=job.id, state=status, types=caller(request).types, since=since, until=until)
    found, more = page_of_instances(wanted, None if after is None else Bookmark.read(after), limit)
    return {"items": [TaskOut.of(task) for task in found], "next": None if more is None else str(more)}


@router.get("/{job_id}/preview", response=PreviewOut, summary="When a job fires next")
def preview_job(request: HttpRequest, job_id: Id, count: Annotated[int, Query(ge=1, le=100)] = 10) -> PreviewOut:
    job = _job(request, job_id)
    found = previewed(job, count)
    return PreviewOut(
        words=schedule_in_words(job),
        state=state_of(job).words,
        times=[Firing(at=one.at, fire_time=one.fire_time, words=firing_in_words(job, one)) for one in found.times],
        falls_out=[FallsOut(fire_time=one.fire_time, skipped=one.override, words=one.words) for one in found.out],
    )


@router.post("/{job_id}/firings/{fire_time}/skip", response=FiringChangedOut, summary="Skip one firing of a job")
@may_answer(*SCOPE, "SCH_409_CLAIMED", "SCH_409_CONFLICT")
@mutation
def skip_firing(
    request: HttpRequest, job_id: Id, fire_time: FireTime, body: ReasonIn | None = None, idempotency_key: Key = None
) -> tuple[int, FiringChangedOut]:
    """This one does not run; the schedule stays as it is."""
    by = _for_firing(request, job_id, body.reason if body else None)
    with telling(request):
        done = jobs.skip_firing(job_id, by, fire_time=_firing(fire_time), tenant=caller(request).tenant)
    return 200, _decided(done, FiringOutcome.SKIPPED)


@router.post("/{job_id}/firings/{fire_time}/move", response=FiringChangedOut, summary="Move one firing of a job")
@may_answer(*SCOPE, "SCH_409_CLAIMED", "SCH_409_CONFLICT")
@mutation
def move_firing(
    request: HttpRequest, job_id: Id, fire_time: FireTime, body: MoveFiringIn, idempotency_key: Key = None
) -> tuple[int, FiringChangedOut]:
    """This one runs at another time, once; the schedule stays as it is."""
    by, at = _for_firing(request, job_id, body.reason), _firing(fire_time)
    with telling(request):
        done = jobs.move_firing(job_id, body.to, by, fire_time=at, tenant=caller(request).tenant)
    return 200, _decided(done, FiringOutcome.MOVED)


@router.post("/{job_id}/firings/{fire_time}/restore", response=FiringChangedOut, summary="Restore one firing of a job")
@may_answer(*SCOPE, "SCH_409_CLAIMED", "SCH_409_CONFLICT")
@mutation
def restore_firing(
    request: HttpRequest, job_id: Id, fire_time: FireTime, body: ReasonIn | None = None, idempotency_key: Key = None
) -> tuple[int, FiringChangedOut]:
    """What was skipped or moved comes by the schedule again."""
    by, at = _for_firing(request, job_id, body.reason if body else None), _firing(fire_time)
    if at is None:
        raise Problem(
            "SCH_422_INVALID", "fire_time: name the firing that was skipped or moved; `next` is none of them."
        )
    with telling(request):
        done = jobs.restore_firing(job_id, at, by, tenant=caller(request).tenant)
    return 200, _decided(done, FiringOutcome.RESTORED)


@router.get("/{job_id}/why", response=WhyOut, summary="Why is this not running?")
def explain_job(request: HttpRequest, job_id: Id) -> WhyOut:
    """The one rule that holds it back: by name for programs, and in a sentence."""
    return WhyOut.of(why_job(_job(request, job_id)), caller(request))


@contextmanager
def telling(request: HttpRequest) -> Iterator[None]:
    """What is in the way is told with its id and its state, if the caller may see it."""
    try:
        yield
    except Conflicting as error:
        problem = problem_of(error)
        if error.row is not None and caller(request).may_see(error.row.task_type):
            problem.there = as_there(error.row)
        if isinstance(error, NameTaken):
            problem.there |= errors_of([("name", str(error))])
        raise problem from error


@contextmanager
def naming_fields(among: Collection[str] = FIELDS) -> Iterator[None]:
    """What makes no sense is told with the field that it is about, so that a form can show it there."""
    try:
        yield
    except InvalidTask as error:
        problem, field = problem_of(error), field_of(error, among)
        if field is not None:
            problem.there = errors_of([(field, str(error))])
        raise problem from error


def instant_of(at: datetime | None, delay: float | None) -> datetime | None:
    """The time that is meant by `at`, or from now on by `delay`."""
    if delay is None:
        return at
    if at is not None:
        raise Problem("SCH_422_INVALID", "at and delay were both given; give the one you mean.")
    now: datetime = run("clock", {})[0][0]
    return now + timedelta(seconds=delay)


def operator(request: HttpRequest, reason: str | None = None) -> Operator:
    asked = caller(request)
    tenant = None if asked.is_person else asked.tenant
    return Operator(asked.name, (reason or "").strip() or "through the API", tenant=tenant)


def _saved(job: JobDefinition, was: JobDefinition | None = None) -> JobSavedOut:
    """With advice, if there is some; `was`: the same one before the change."""
    try:
        with atomic():  # what only advises must not undo what was saved
            advice = advice_for(job, was)
            told = AdviceOut(**advice_as_told(advice, load_forecast().capacity)) if advice else None
    except DatabaseError as error:
        log.warning("forecast.failed job=%d error=%r", job.id, str(error).strip())
        told = None
    return JobSavedOut(**JobOut.of(job).model_dump(), advice=told)


def _job(request: HttpRequest, job_id: int) -> JobDefinition:
    job: JobDefinition | None = JobDefinition.objects.filter(tenant=caller(request).tenant, id=job_id).first()
    if job is None or not caller(request).may_see(job.task_type):
        raise Problem("SCH_404_NOT_FOUND", f"There is no job {job_id}.")
    return job


def _refuse_hidden_parents(request: HttpRequest, body: JobPatch) -> None:
    """A job that the caller may not see can't be waited for, and is as good as none."""
    asked = caller(request)
    if not body.parents or asked.types is None:
        return
    rows = JobDefinition.objects.filter(tenant=asked.tenant, name__in=body.parents).values_list("name", "task_type")
    seen = {name for name, task_type in rows if asked.may_see(task_type)}
    for name in body.parents:
        if name not in seen:
            raise InvalidTask(f"parents has {shown(name)}, but there is no job of that name.")


def own_job(request: HttpRequest, job_id: int) -> JobDefinition:
    """A job that the caller may change."""
    return usable(request, _job(request, job_id))


def usable(request: HttpRequest, row: Row) -> Row:
    """The job or task, if the caller may change it, and have its type run in its lane; else what was done is undone."""
    caller(request).refuse_closed_type(row.task_type)
    caller(request).refuse_closed_lane(row.lane)
    refuse_not_own(caller(request), row)
    return row


def still_there(task_id: int) -> TaskFields:
    """A task that has just been written to, or found."""
    found = task_by_id(task_id)
    if found is None:
        raise Problem("SCH_404_NOT_FOUND", f"There is no task {task_id} any more.")
    return found


def _for_firing(request: HttpRequest, job_id: int, reason: str | None) -> Operator:
    own_job(request, job_id)
    return operator(request, reason)


def _firing(given: str) -> datetime | None:
    """The firing that an address names; None is the next one."""
    if given == NEXT:
        return None
    try:
        at = datetime.fromisoformat(given)
    except ValueError:
        at = None
    if at is None or at.utcoffset() is None:
        raise Problem(
            "SCH_422_INVALID",
            f"fire_time: {shown(given)} is not a time; give `fire_time` of the preview, such as 2027-03-01T08:00:00Z, "
            f"or `{NEXT}`.",
        )
    return at


def _decided(done: Overridden, outcome: FiringOutcome) -> FiringChangedOut:
    return FiringChangedOut(job=done.job.id, fire_time=done.fire_time, outcome=outcome, moved_to=done.moved_to)


def _revision(etag: str | None) -> int | None:
    return None if etag is None else int(etag.removeprefix("W/").strip('"'))


def given_fields(body: JobPatch) -> dict[str, Any]:
    """The fields that were sent; null means the default."""
    sent = body.model_dump(exclude_unset=True, exclude={"reason"})
    return {name: _DEFAULTS.get(name) if value is None else value for name, value in sent.items()}
