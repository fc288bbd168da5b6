"""What goes in and out of the REST API."""

import re
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

from ninja import Field, Header, Path, Query, Schema
from pydantic import AwareDatetime, BeforeValidator, StringConstraints, ValidationInfo, field_validator

from tasks_app.core.errors import shown
from tasks_app.core.lanes import LANES
from tasks_app.core.phrases import for_outsiders
from tasks_app.core.rules import Reason, Rule
from tasks_app.core.states import Status
from tasks_app.engine.operations.api_tokens import Caller
from tasks_app.lifecycle.jobs.view import schedule_in_words
from tasks_app.lifecycle.tries import error_of, last_error, late_by, try_of, waited
from tasks_app.models import JobDefinition, ScheduleTask

LARGEST_ID = 2**63 - 1
PAGE, LARGEST_PAGE = 50, 200

# PostgreSQL can't store a NUL. What else may not be in a name or a reason is told by lifecycle, as everywhere.
Text = Annotated[str, StringConstraints(pattern=r"^[^\x00]*$", max_length=1000)]


def _refuse_number(value: object) -> object:
    """Pydantic takes a number, even in a text, for seconds since 1970: 20270301 would be a day of that year."""
    if not (isinstance(value, str) and re.match(r"\d{4}-\d\d-\d\d", value)):
        raise ValueError(f"{shown(value)} is no instant; write it like 2027-03-01T09:00:00Z")
    return value


Instant = Annotated[AwareDatetime, BeforeValidator(_refuse_number)]
Id = Annotated[int, Path(ge=1, le=LARGEST_ID)]
Key = Annotated[
    Annotated[str, StringConstraints(pattern=r"^[\x21-\x7e]{1,150}$")] | None, Header(alias="Idempotency-Key")
]
NeededKey = Annotated[
    Annotated[str, StringConstraints(pattern=r"^[\x21-\x7e]{1,150}$")], Header(alias="Idempotency-Key")
]
# W/ is what a proxy that compresses makes of an ETag.
_ETAG = Annotated[str, StringConstraints(pattern=r'^(W/)?("[0-9]{1,9}"|[0-9]{1,9})$')]
Revision = Annotated[_ETAG | None, Header(alias="If-Match")]
NeededRevision = Annotated[_ETAG, Header(alias="If-Match")]
Limit = Annotated[int, Query(ge=1, le=LARGEST_PAGE)]
StatusName = Literal[tuple(str(status) for status in Status)]
LaneName = Literal[LANES]


class Model(Schema):
    model_config = {"extra": "forbid"}

    @field_validator("*", mode="before")
    @classmethod
    def refuse_bool(cls, value: object, info: ValidationInfo) -> object:
        """No field is yes or no, and Python would take true for 1: every second, say."""
        if isinstance(value, bool) and info.field_name != "payload":
            raise ValueError(f"{str(value).lower()} is no value for it")
        return value


class JobPatch(Model):
    """The fields to change. A new `cron`, `every` or `at` replaces the old one."""

    name: Text | None = None
    task_type: Text | None = None
    payload: Any = None
    cron: Text | None = Field(None, description="5 fields as in cron, or 6 with seconds first; see docs/cron.md")
    every: int | None = Field(None, ge=1, description="Seconds between two firings")
    at: Instant | None = Field(None, description="One time")
    timezone: Text | None = Field(None, description="IANA name")
    dst_gap: Literal["skip", "shift"] | None = None
    dst_repeat: Literal["once", "twice"] | None = None
    lane: LaneName | None = None
    max_retry: int | None = None
    backoff: list[float] | None = Field(None, description="Seconds before each retry, the last repeats")
    timeout: float | None = Field(None, description="Seconds")
    expires_after: float | None = Field(None, description="Seconds; an instance later than this is not run")
    start_at: Instant | None = None
    end_at: Instant | None = None
    max_runs: int | None = None
    jitter: int | None = Field(None, description="Seconds")
    catch_up: Literal["none", "latest", "all"] | None = None
    catch_up_window: int | None = Field(None, description="Seconds")
    catch_up_most: int | None = None
    reason: Text | None = Field(None, description="Why; kept in the audit")


class JobIn(JobPatch):
    """A new job: exactly one of `cron`, `every`, `at` and `delay`."""

    name: Text
    task_type: Text
    delay: float | None = Field(None, ge=0, le=3_155_760_000, description="Seconds from now, instead of `at`")


class PauseIn(Model):
    reason: Text = Field(min_length=1)
    until: Instant | None = Field(None, description="Resumes by itself then")
    on_resume: Literal["skip", "latest", "all"] = "skip"


class ResumeIn(Model):
    on_resume: Literal["skip", "latest", "all"] | None = Field(None, description="Instead of what the pause said")
    reason: Text | None = None


class TriggerIn(Model):
    payload: Any = Field(None, description="Instead of the job's own")
    reason: Text | None = None


class TaskIn(Model):
    task_type: Text
    key: Text = Field(min_length=1, max_length=200)
    at: Instant | None = None
    delay: float | None = Field(None, description="Seconds")
    payload: Any = None
    lane: LaneName | None = None
    max_retry: int | None = None
    expires_after: float | None = None


class ReasonIn(Model):
    reason: Text | None = None


class RescheduleIn(Model):
    at: Instant
    revision: int | None = Field(
        None, ge=0, le=LARGEST_ID, description="The sender's own count: an older change is SUPERSEDED"
    )
    reason: Text | None = None


class UnitRescheduleIn(RescheduleIn):
    task_type: Text
    key: Text = Field(min_length=1, max_length=200)


class JobOut(Schema):
    id: int
    name: str
    revision: int
    task_type: str
    payload: Any
    cron: str | None
    every: int | None
    at: datetime | None
    words: str
    timezone: str
    dst_gap: str
    dst_repeat: str
    lane: str
    max_retry: int
    backoff: list[float] | None
    timeout: float | None
    expires_after: float | None
    start_at: datetime | None
    end_at: datetime | None
    max_runs: int | None
    jitter: int
    catch_up: str
    catch_up_window: int
    catch_up_most: int
    status: str
    pause_reason: str
    paused_by: str
    paused_until: datetime | None
    on_resume: str
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, job: JobDefinition) -> "JobOut":
        plain = {name: getattr(job, name) for name in cls.model_fields if hasattr(job, name)}
        seconds = None if job.expires_after is None else job.expires_after.total_seconds()
        return cls(
            **plain
            | {"cron": job.cron or None, "every": job.every or None, "at": job.run_at}
            | {"expires_after": seconds, "words": schedule_in_words(job)}
        )


class ErrorOut(Schema):
    code: str
    message: str


class TaskOut(Schema):
    id: int
    task_type: str
    key: str
    job: int | None
    fire_time: datetime | None
    manual: bool
    status: StatusName
    live: bool
    execute_time: datetime
    due_at: datetime | None
    start_time: datetime | None
    finish_time: datetime | None
    late_seconds: float | None
    waited_seconds: float | None
    lane: str
    attempt: int
    retry_count: int
    max_retry: int
    error_code: str
    error_msg: str
    last_error: ErrorOut | None
    payload: Any

    @classmethod
    def of(cls, task: ScheduleTask) -> "TaskOut":
        plain = {name: getattr(task, name) for name in cls.model_fields if hasattr(task, name)}
        run, error, last = try_of(task), error_of(task), last_error(task)
        told = {"key": task.biz_key, "start_time": run.started_at, "finish_time": run.finished_at}
        told |= {"late_seconds": _seconds(late_by(task)), "waited_seconds": _seconds(waited(task))}
        told |= {"error_code": error.code, "error_msg": for_outsiders(error.message)}
        told["last_error"] = last and {"code": last.code, "message": for_outsiders(last.message)}
        return cls(**plain | told)


def _seconds(length: timedelta | None) -> float | None:
    return None if length is None else length.total_seconds()


class JobPage(Schema):
    items: list[JobOut]
    next: str | None


class TaskPage(Schema):
    items: list[TaskOut]
    next: str | None


class Firing(Schema):
    at: datetime
    words: str


class PreviewOut(Schema):
    words: str
    state: str
    times: list[Firing]


class TriggerOut(Schema):
    task_id: int
    new: bool


class PlannedOut(Schema):
    outcome: Literal["CREATED", "UPDATED", "REPLACED", "IGNORED", "SUPERSEDED"]
    task_id: int | None


class OperatedOut(Schema):
    answer: str
    acted: bool


class WhyOut(Schema):
    rule: Rule
    words: str

    @classmethod
    def of(cls, reason: Reason, asked: Caller) -> "WhyOut":
        words = reason.words if asked.is_person else reason.outside or reason.words
        return cls(rule=reason.rule, words=for_outsiders(words))
