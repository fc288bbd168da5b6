"""What goes in and out of the REST API."""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Annotated, Any, ClassVar
from uuid import UUID

from ninja import Field, Header, Path, Schema
from pydantic import AwareDatetime, BeforeValidator, StringConstraints, ValidationInfo, field_validator

from tasks_app.client.endpoints import Next, Text
from tasks_app.core.errors import LONGEST_SECONDS, InvalidTask, shown
from tasks_app.core.graphs import IfParentFails, When
from tasks_app.core.jobs import CatchUp, JobStatus, OnResume, Overlap
from tasks_app.core.phrases import for_outsiders
from tasks_app.core.rules import Reason, Rule
from tasks_app.engine.operations.callers import Caller
from tasks_app.lifecycle.jobs.declared import drift, records_of
from tasks_app.lifecycle.jobs.parents import parent_names
from tasks_app.lifecycle.jobs.request import calendar_name
from tasks_app.lifecycle.jobs.view import schedule_in_words
from tasks_app.lifecycle.operate import Answer
from tasks_app.lifecycle.tries import error_of, last_error, late_by, tries_of, try_of, waited
from tasks_app.models import DeclaredJob, JobDefinition, ScheduleTask
from tasks_app.models.schedule_task import KEY_LENGTH

from .enums import DstGap, DstRepeat, FiringOutcome, Lane, OnDayOff, PlanOutcome, TaskStatus

LARGEST_ID = 2**63 - 1


def _refuse_number(value: object) -> object:
    """Pydantic takes a number, even in a text, for seconds since 1970: 20270301 would be a day of that year."""
    if not (isinstance(value, str) and re.match(r"\d{4}-\d\d-\d\d", value)):
        raise ValueError(f"{shown(value)} is not a time; write it like 2027-03-01T09:00:00Z")
    return value


Instant = Annotated[AwareDatetime, BeforeValidator(_refuse_number)]
Id = Annotated[int, Path(ge=1, le=LARGEST_ID)]
# A server takes spaces away from both ends of a header, so they can't be part of a key there.
_KEY = Annotated[str, StringConstraints(pattern=r"^[\x21-\x7e]([\x20-\x7e]{0,148}[\x21-\x7e])?$")]
_KEY_SAYS = "Makes it safe to send this again: the same request with the same key is carried out once."
Key = Annotated[_KEY | None, Header(alias="Idempotency-Key", description=_KEY_SAYS)]
NeededKey = Annotated[_KEY, Header(alias="Idempotency-Key", description=_KEY_SAYS)]
# W/ is what a proxy that compresses makes of an ETag.
_ETAG = Annotated[str, StringConstraints(pattern=r'^(W/)?("[0-9]{1,9}"|[0-9]{1,9})$')]
_ETAG_SAYS = (
    "The revision that you have read: its `ETag`, or the bare number. If there is a newer one, nothing is done."
)
Revision = Annotated[_ETAG | None, Header(alias="If-Match", description=_ETAG_SAYS)]
NeededRevision = Annotated[_ETAG, Header(alias="If-Match", description=_ETAG_SAYS)]


def id_of(cursor: str) -> int:
    """The id at which a list goes on."""
    if not re.fullmatch(r"[1-9][0-9]{0,18}", cursor) or int(cursor) > LARGEST_ID:
        raise InvalidTask("after: give `next` of the previous page, unchanged.")
    return int(cursor)


Seconds = Annotated[float, Field(gt=0, le=LONGEST_SECONDS)]
Delay = Annotated[float, Field(ge=0, le=LONGEST_SECONDS)]


def _written_out(value: object) -> object:
    """A key that is a number means its digits, as in Python: 7 and "7" are the same."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


_BIZ_KEY = Annotated[str, StringConstraints(pattern=r"^[^\x00]*$", min_length=1, max_length=KEY_LENGTH)]
BizKey = Annotated[_BIZ_KEY, BeforeValidator(_written_out, json_schema_input_type=_BIZ_KEY | int)]


class Model(Schema):
    model_config = {"extra": "forbid", "use_enum_values": True}
    flags: ClassVar[tuple[str, ...]] = ("payload", "dry_run", "everything")

    @field_validator("*", mode="before")
    @classmethod
    def refuse_bool(cls, value: object, info: ValidationInfo) -> object:
        """Hardly a field is yes or no, and Python would take true for 1: every second, say."""
        if isinstance(value, bool) and info.field_name not in cls.flags:
            raise ValueError(f"{str(value).lower()} is not a valid value for it")
        return value


class JobPatch(Model):
    """The fields to change. A new `cron`, `every` or `at` replaces the old one."""

    name: Text | None = None
    task_type: Text | None = None
    payload: Any = None
    cron: Text | None = Field(
        default=None,
        description="5 fields as in cron, or 6 with seconds first; see the page cron.md",
    )
    every: int | None = Field(default=None, ge=1, description="Seconds between two firings")
    at: Instant | None = Field(default=None, description="One time")
    timezone: Text | None = Field(default=None, description="IANA name")
    dst_gap: DstGap | None = None
    dst_repeat: DstRepeat | None = None
    calendar: Text | None = Field(default=None, description="The name of a calendar whose days off the job keeps")
    on_day_off: OnDayOff | None = Field(default=None, description="What becomes of a firing on a day off")
    lane: Lane | None = Field(default=None, description="Left out: the handler's")
    max_retry: int | None = Field(default=None, description="Tries after the first; left out: the handler's")
    backoff: list[float] | None = Field(default=None, description="Seconds before each retry; the last repeats")
    timeout: float | None = Field(default=None, description="Seconds")
    expires_after: float | None = Field(default=None, description="Seconds; an instance later than this is not run")
    start_at: Instant | None = None
    end_at: Instant | None = None
    max_runs: int | None = None
    jitter: int | None = Field(default=None, description="Seconds")
    catch_up: CatchUp | None = None
    catch_up_window: int | None = Field(default=None, description="Seconds")
    catch_up_most: int | None = None
    parents: list[Text] | None = Field(
        default=None, description="Names of the jobs that it waits for; such a job has no schedule of its own"
    )
    when: When | None = Field(
        default=None, description="What it waits for: that all parents succeeded, are over, or one failed"
    )
    if_parent_fails: IfParentFails | None = None
    overlap: Overlap | None = Field(default=None, description="What a firing does while an older instance is under way")
    reason: Text | None = Field(default=None, description="Why; kept in the audit")


class JobIn(JobPatch):
    """A new job: exactly one of `cron`, `every`, `at`, `delay` and `parents`."""

    name: Text
    task_type: Text
    delay: Delay | None = Field(None, description="Seconds from now, instead of `at`")


class PauseIn(Model):
    """Why, and for how long."""

    reason: Text = Field(min_length=1, description="Why; shown to whoever asks why the job does not run")
    until: Instant | None = Field(None, description="Resumes by itself then; left out: only when told")
    on_resume: OnResume = Field(OnResume.SKIP, description="What becomes of the firings that fall within the pause")


class ResumeIn(Model):
    """What becomes of the firings that fell within the pause."""

    on_resume: OnResume | None = Field(default=None, description="Instead of what the pause said")
    reason: Text | None = Field(default=None, description="Why; kept in the audit")


class TriggerIn(Model):
    """What this one run is to be given."""

    payload: Any = Field(default=None, description="Instead of the job's own")
    overlap: Overlap | None = Field(
        default=None, description="What it does while another instance is under way; left out: what the job says"
    )
    reason: Text | None = Field(default=None, description="Why; kept in the audit")


class TaskIn(Model):
    """A new task: `at` a time, after a `delay`, or with neither, now."""

    task_type: Text
    key: BizKey = Field(description="What it is about, such as an order's number; one live task for each type and key")
    at: Instant | None = None
    delay: Delay | None = Field(None, description="Seconds from now, instead of `at`")
    payload: Any = Field(None, description="What the handler is given")
    lane: Lane | None = Field(None, description="Left out: the handler's")
    max_retry: int | None = Field(None, description="Tries after the first; left out: the handler's")
    repeat_after: Seconds | None = Field(None, description="Seconds; it runs again this long after each run finishes")
    expires_after: Seconds | None = Field(
        None, description="Seconds; later than this it is not run. Can't be combined with `repeat_after`"
    )


class ReasonIn(Model):
    """Why; the audit keeps it."""

    reason: Text | None = None


class RescheduleIn(Model):
    """The new time: exactly one of `at` and `delay`."""

    at: Instant | None = None
    delay: Delay | None = Field(None, description="Seconds from now, instead of `at`; 0 is at once")
    revision: int | None = Field(
        None, ge=0, le=LARGEST_ID, description="The sender's own count: an older change is SUPERSEDED"
    )
    reason: Text | None = Field(None, description="Why; kept in the audit")


class UnitRescheduleIn(RescheduleIn):
    """Which unit, and its new time: exactly one of `at` and `delay`."""

    task_type: Text
    key: BizKey


class DeclaredOut(Schema):
    """The file that declares a job."""

    source: str = Field(description="What the file is called")
    applied_at: datetime
    drift: list[str] = Field(description="The fields that were changed by hand since")


class JobOut(Schema):
    """A job as it stands. Times that are not set are null; durations are in seconds."""

    id: int
    name: str
    revision: int = Field(description="Grows with every change; also in `ETag`")
    task_type: str
    payload: Any
    cron: str | None
    every: int | None
    at: datetime | None
    words: str = Field(description="The schedule, for people")
    timezone: str
    dst_gap: DstGap
    dst_repeat: DstRepeat
    calendar: str | None = Field(description="The calendar whose days off it keeps")
    on_day_off: OnDayOff
    lane: Lane
    max_retry: int
    backoff: list[float] | None
    timeout: float | None
    expires_after: float | None
    start_at: datetime | None
    end_at: datetime | None
    max_runs: int | None
    jitter: int
    catch_up: CatchUp
    catch_up_window: int
    catch_up_most: int
    parents: list[str] = Field(description="Names of the jobs that it waits for")
    when: When
    if_parent_fails: IfParentFails
    overlap: Overlap
    status: JobStatus
    pause_reason: str
    paused_by: str
    paused_until: datetime | None
    on_resume: OnResume
    declared: DeclaredOut | None = Field(description="The file that declares it; null: none does")
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, job: JobDefinition) -> "JobOut":
        [told] = cls.several([job])
        return told

    @classmethod
    def several(cls, jobs: Sequence[JobDefinition]) -> "list[JobOut]":
        records = records_of(jobs)
        return [cls._of(job, records.get(job.id)) for job in jobs]

    @classmethod
    def _of(cls, job: JobDefinition, record: DeclaredJob | None) -> "JobOut":
        plain = {name: getattr(job, name) for name in cls.model_fields if hasattr(job, name)}
        seconds = None if job.expires_after is None else job.expires_after.total_seconds()
        return cls(
            **plain
            | {"cron": job.cron or None, "every": job.every or None, "at": job.run_at}
            | {"expires_after": seconds, "words": schedule_in_words(job), "declared": _declared(record, job)}
            | {"calendar": calendar_name(job) or None, "parents": parent_names(job)}
        )


class AdviceOut(Schema):
    """It makes a peak worse."""

    at: datetime = Field(description="The worst minute")
    firings: int = Field(description="In that minute, with its own")
    jitter: int | None = Field(description="Seconds that would help; null: none would")
    words: str


class JobSavedOut(JobOut):
    """A job as it was saved, and what whoever saved it should know."""

    advice: AdviceOut | None = Field(description="It makes a peak of the load worse; null: it makes none worse")


def _declared(record: DeclaredJob | None, job: JobDefinition) -> dict[str, Any] | None:
    if record is None:
        return None
    changed = [one.field for one in drift(record, job)]
    return {"source": record.source, "applied_at": record.applied_at, "drift": changed}


class ErrorOut(Schema):
    """What a try of a task said when it failed."""

    code: str = Field(description="Of the handler's choice, or of the scheduler: TIMEOUT, LOST …")
    message: str


class AwayOut(Schema):
    """A task that somebody else has, who reports its outcome."""

    since: datetime
    until: datetime = Field(description="Lost, if nothing is heard of it by then")


class ProgressOut(Schema):
    """How far the run under way says it is."""

    fraction: float | None = Field(description="From 0 to 1; null: it doesn't know")
    note: str
    at: datetime = Field(description="When it said so")


class TaskOut(Schema):
    """A task as it stood when it was read. Durations are in seconds."""

    id: int
    task_type: str
    key: str
    job: int | None = Field(description="The job that fired it")
    fire_time: datetime | None = Field(description="The firing of the job that it is for")
    manual: bool = Field(description="Somebody triggered it; the schedule of the job did not")
    status: TaskStatus
    live: bool = Field(description="It still has something to do")
    execute_time: datetime = Field(description="The time it was planned for")
    due_at: datetime | None = Field(description="When it runs next; null: it waits for nothing, or runs now")
    was_due_at: datetime | None = Field(description="When the run under way was due, else the last one")
    allowed_at: datetime | None = Field(
        description="When that run could start, if that was later: its limit, a paused lane, or planned after its time"
    )
    start_time: datetime | None = Field(description="Of the run under way, else of the last one")
    finish_time: datetime | None
    progress: ProgressOut | None = Field(description="Null: nothing runs, or its handler doesn't tell")
    late_seconds: float | None
    waited_seconds: float | None
    lane: Lane
    attempt: int = Field(description="Failed tries since it last succeeded, rolled or was replayed")
    retry_count: int = Field(description="Failed tries over its whole life")
    attempts: int = Field(description="Tries over its whole life: those that failed, and one that runs or succeeded")
    max_retry: int
    repeat_after: float | None = Field(description="It runs again this long after each run finishes")
    expires_after: float | None
    retry_for: float | None = Field(
        description="It is retried until this long after execute_time, however often; null: max_retry times"
    )
    away: AwayOut | None = Field(description="If somebody else has it: since when, and until when")
    deferred_from: int | None = Field(description="The task that handed this effect on")
    deferred: list[int] = Field(description="The tasks that its own effects were handed on to")
    worker: str | None = Field(description="Who runs it, or ran it last; null: nobody, or no longer known")
    batch: UUID | None = Field(description="The batch of that run")
    error_code: str
    error_msg: str
    last_error: ErrorOut | None
    payload: Any
    result: Any = Field(
        description="What the handler returned in its last run that succeeded; null: nothing, or nothing that is kept"
    )
    token: UUID = Field(description="Stays the same over retries and replacement: hand it to other systems")
    idem_key: str | None = Field(description="The idempotency key it was scheduled with, by Python code or by a job")
    asked_by: str | None = Field(
        description="The person or API token that scheduled it; null: code did, or the schedule of its job"
    )
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, task: ScheduleTask) -> "TaskOut":
        plain = {name: getattr(task, name) for name in cls.model_fields if hasattr(task, name)}
        run, error, last = try_of(task), error_of(task), last_error(task)
        told = {"key": task.biz_key, "start_time": run.started_at, "finish_time": run.finished_at}
        told |= {"late_seconds": _seconds(late_by(task)), "waited_seconds": _seconds(waited(task))}
        told |= {"error_code": error.code, "error_msg": for_outsiders(error.message)}
        told |= {"was_due_at": run.due_at, "allowed_at": run.allowed_at}
        told |= {"worker": run.worker or None, "batch": run.batch, "attempts": tries_of(task)}
        told |= {"repeat_after": _seconds(task.repeat_after), "expires_after": _seconds(task.expires_after)}
        told |= {"retry_for": _seconds(task.retry_for), "deferred": task.deferred or []}
        told["away"] = task.away and {"since": task.away.since, "until": task.away.until}
        told["progress"] = task.progress and task.progress._asdict()
        told["last_error"] = last and {"code": last.code, "message": for_outsiders(last.message)}
        return cls(**plain | told)


def _seconds(length: timedelta | None) -> float | None:
    return None if length is None else length.total_seconds()


class Page(Schema):
    """One page of a list. Go on until `next` is null, not until a page is empty."""

    next: Next


class JobPage(Page):
    items: list[JobOut]


class TaskPage(Page):
    items: list[TaskOut]


class Firing(Schema):
    """One firing of a job."""

    at: datetime = Field(description="When it runs")
    fire_time: datetime = Field(description="When it would by the schedule; it is known by this, also if it was moved")
    words: str = Field(description="In the zone of the job")


class FallsOut(Schema):
    """What the schedule has and does not come then, because of the calendar or because somebody skipped it."""

    fire_time: datetime = Field(description="Of a day off, the first firing of that day")
    skipped: bool = Field(description="Somebody skipped this firing, and it can be restored; else it is a day off")
    words: str = Field(description="When and why, in the zone of the job")


class PreviewOut(Schema):
    """When a job fires next."""

    words: str = Field(description="The schedule, for people")
    state: str = Field(description="Whether it fires, and if not, why not")
    times: list[Firing]
    falls_out: list[FallsOut] = Field(description="What falls out before the last of those times, or is shifted")


class MoveFiringIn(Model):
    """When the firing is to run."""

    to: Instant
    reason: Text | None = Field(None, description="Why; kept in the audit")


class FiringChangedOut(Schema):
    """What was decided for one firing of a job."""

    job: int
    fire_time: datetime = Field(description="When it would run by the schedule")
    outcome: FiringOutcome
    moved_to: datetime | None = Field(description="When it runs instead")


class TriggerOut(Schema):
    """The instance that was triggered."""

    task_id: int
    new: bool = Field(description="False: this key had already triggered it")
    status: TaskStatus


class PlannedOut(Schema):
    """What became of a reschedule."""

    outcome: PlanOutcome
    task_id: int | None = Field(description="The task that stands for the unit now; null if there is none any more")
    status: TaskStatus | None = Field(description="Of that task, now")


class OperatedOut(Schema):
    """What became of an order to a task."""

    answer: Answer
    acted: bool = Field(description="False: it was left alone, for the reason that `answer` gives")
    task_id: int
    status: TaskStatus = Field(description="Of the task, now")


class WhyOut(Schema):
    """The one rule that holds back a task or a job."""

    rule: Rule
    words: str = Field(description="A sentence about this particular case")

    @classmethod
    def of(cls, reason: Reason, asked: Caller) -> "WhyOut":
        words = reason.words if asked.everywhere else reason.outside or reason.words
        return cls(rule=reason.rule, words=for_outsiders(words))
