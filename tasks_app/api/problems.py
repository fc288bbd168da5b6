"""Errors of the REST API: problem+json (RFC 9457) with a code for programs and a sentence for people."""

import logging
from collections.abc import Iterable
from math import ceil
from typing import Annotated, Any

from django.db import DatabaseError, InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from ninja import Field, NinjaAPI, Schema
from ninja.errors import AuthenticationError, HttpError, Throttled, ValidationError
from pydantic.json_schema import SkipJsonSchema

from tasks_app.core.errors import (
    Degraded,
    FiringClaimed,
    HasChildren,
    InvalidTask,
    LaneClosed,
    NameTaken,
    NotAllowed,
    NotAway,
    NotForTenants,
    NotThere,
    QuotaExceeded,
    RetryLimited,
    ScheduleConflict,
    StaleRevision,
    TypeClosed,
    UnknownJob,
)
from tasks_app.core.jobs import JobStatus
from tasks_app.models import JobDefinition, ScheduleTask

from .enums import TaskStatus, listed
from .headers import CHALLENGE, RETRY_AFTER

log = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"

# Every code there is, with its title; docs/api.md lists the same, and a test compares them.
CODES = {
    "SCH_400_MALFORMED": "The request can't be read",
    "SCH_400_IDEMPOTENCY_KEY_MISSING": "Idempotency-Key is missing",
    "SCH_401_UNAUTHENTICATED": "A valid token is missing",
    "SCH_403_FORBIDDEN": "The caller may not do this",
    "SCH_403_TYPE_CLOSED": "The task type is not open to this token",
    "SCH_403_LANE_CLOSED": "The lane is not open to this token",
    "SCH_403_TENANT_SUSPENDED": "The tenant is suspended",
    "SCH_404_NOT_FOUND": "It does not exist",
    "SCH_405_METHOD_NOT_ALLOWED": "The method is not allowed at this address",
    "SCH_409_DUPLICATE": "The name or the unit is taken",
    "SCH_409_CLAIMED": "It was claimed already",
    "SCH_409_IN_PROGRESS": "The first request with this Idempotency-Key is still running",
    "SCH_409_CONFLICT": "Others keep changing it",
    "SCH_409_HAS_CHILDREN": "Other jobs wait for it",
    "SCH_409_NOT_AWAY": "The run that it is about is over",
    "SCH_412_STALE": "It was changed since it was read",
    "SCH_413_TOO_LARGE": "The request is too large",
    "SCH_422_INVALID": "The request makes no sense",
    "SCH_422_KEY_REUSED": "The Idempotency-Key was used for another request",
    "SCH_428_IF_MATCH_MISSING": "If-Match is missing",
    "SCH_429_RETRY_LIMITED": "Retried too often",
    "SCH_429_TOO_MANY": "Too many calls",
    "SCH_429_QUOTA": "The tenant has used up a quota",
    "SCH_500_INTERNAL": "Something is broken here",
    "SCH_503_DEGRADED": "Only critical work fires at the moment",
    "SCH_503_OVERLOADED": "The database has too much to do",
    "SCH_503_DISPATCHER_DOWN": "No dispatcher is alive",
    "SCH_503_DATABASE_DOWN": "The database does not answer",
    "SCH_503_ARCHIVE_DOWN": "The archive does not answer",
}


ProblemCode = Annotated[
    str,
    listed(
        "ProblemCode",
        {code: code for code in CODES},
        "What went wrong, for programs; the number in it is the status of the answer.",
    ),
]

# What a token that may not use the type or the lane of something hears.
SCOPE = ("SCH_403_TYPE_CLOSED", "SCH_403_LANE_CLOSED")

# Seconds after which the same request may well succeed.
_PASSES_AFTER = {
    "SCH_409_IN_PROGRESS": 1,
    "SCH_409_CONFLICT": 1,
    "SCH_503_DEGRADED": 60,
    "SCH_503_OVERLOADED": 5,
    "SCH_503_DISPATCHER_DOWN": 5,
    "SCH_503_DATABASE_DOWN": 5,
    "SCH_503_ARCHIVE_DOWN": 30,
}


class TaskRef(Schema):
    """A task that stands in the way, as it is now."""

    id: int
    status: TaskStatus
    live: bool = Field(description="It still has something to do.")


class JobRef(Schema):
    """A job that stands in the way, as it is now."""

    id: int
    status: JobStatus
    revision: int


class FieldErrorOut(Schema):
    """What is wrong with one field of the body."""

    field: str | None = Field(description="Its name; null: it is about several, or none")
    detail: str


class QuotaRef(Schema):
    """A quota that is used up."""

    name: str
    limit: int
    used: int


class ProblemOut(Schema):
    """An error, as in RFC 9457. Nothing was changed."""

    type: str
    title: str
    status: int
    code: ProblemCode
    detail: str = Field(description="What is wrong and what to do about it, for people")
    task: TaskRef | SkipJsonSchema[None] = Field(
        None, description="The task that is already there, if the problem is about one"
    )
    job: JobRef | SkipJsonSchema[None] = Field(
        None, description="The job that is already there, if the problem is about one"
    )
    quota: QuotaRef | SkipJsonSchema[None] = Field(
        None, description="The quota of the tenant, and how much of it is used, if the problem is about one"
    )
    errors: list[FieldErrorOut] | SkipJsonSchema[None] = Field(
        None, description="What is wrong with which fields of the body, where that is known"
    )


class Problem(Exception):
    """Raised by a view: the answer is this problem. `there` is what stands in the way: `task`, `job` or `errors`."""

    def __init__(
        self, code: str, detail: str, *, retry_after: int | None = None, there: dict[str, Any] | None = None
    ) -> None:
        super().__init__(detail)
        self.code, self.detail, self.there = code, detail, there or {}
        self.retry_after = _PASSES_AFTER.get(code) if retry_after is None else retry_after
        self.status = int(code.split("_")[1])

    def as_dict(self) -> dict[str, Any]:
        return {
            "type": "about:blank",
            "title": CODES[self.code],
            "status": self.status,
            "code": self.code,
            "detail": self.detail,
        } | self.there

    @classmethod
    def again(cls, stored: dict[str, Any]) -> "Problem":
        """The one that as_dict() gave."""
        there: dict[str, Any] = {name: stored[name] for name in ("task", "job", "quota", "errors") if name in stored}
        return cls(stored["code"], stored["detail"], there=there)


def errors_of(found: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """What a problem tells of single fields of the body."""
    return {"errors": [{"field": field, "detail": detail} for field, detail in found]}


def as_there(row: JobDefinition | ScheduleTask) -> dict[str, Any]:
    """What a problem tells of a job or a task that is in the way."""
    name, kind = ("job", JobRef) if isinstance(row, JobDefinition) else ("task", TaskRef)
    return {name: kind.model_validate(row, from_attributes=True).model_dump(mode="json")}


def respond(problem: Problem) -> HttpResponse:
    response = JsonResponse(problem.as_dict(), status=problem.status, content_type=MEDIA_TYPE)
    if problem.status == 401:
        response[CHALLENGE] = 'Bearer realm="punctual"'
    if problem.retry_after is not None:
        response[RETRY_AFTER] = str(problem.retry_after)
    return response


_OURS = {
    TypeClosed: "SCH_403_TYPE_CLOSED",
    LaneClosed: "SCH_403_LANE_CLOSED",
    NotForTenants: "SCH_403_FORBIDDEN",
    NotAllowed: "SCH_403_FORBIDDEN",
    NotThere: "SCH_404_NOT_FOUND",
    UnknownJob: "SCH_404_NOT_FOUND",
    NameTaken: "SCH_409_DUPLICATE",
    FiringClaimed: "SCH_409_CLAIMED",
    ScheduleConflict: "SCH_409_CONFLICT",
    HasChildren: "SCH_409_HAS_CHILDREN",
    StaleRevision: "SCH_412_STALE",
    InvalidTask: "SCH_422_INVALID",
    RetryLimited: "SCH_429_RETRY_LIMITED",
    Degraded: "SCH_503_DEGRADED",
}
_BY_STATUS = {
    400: "SCH_400_MALFORMED",
    401: "SCH_401_UNAUTHENTICATED",
    403: "SCH_403_FORBIDDEN",
    404: "SCH_404_NOT_FOUND",
}


def problem_of(error: Exception) -> Problem:
    """What to answer to whatever was raised."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, NotAway):
        return Problem("SCH_409_NOT_AWAY", str(error), there=as_there(error.row) if error.row else None)
    if isinstance(error, QuotaExceeded):
        spent = {"quota": {"name": error.quota, "limit": error.limit, "used": error.used}}
        return Problem("SCH_429_QUOTA", str(error), retry_after=error.retry_after, there=spent)
    for kind, code in _OURS.items():
        if isinstance(error, kind):
            return Problem(code, str(error), retry_after=getattr(error, "retry_after", None))
    if isinstance(error, ValidationError):
        return _invalid(error)
    if isinstance(error, AuthenticationError):
        return Problem("SCH_401_UNAUTHENTICATED", "Send a valid token: Authorization: Bearer pnc_…")
    if isinstance(error, Http404):
        return Problem("SCH_404_NOT_FOUND", "There is nothing at this address.")
    if isinstance(error, Throttled):
        words = "Too many calls by you, or from your address, in this minute. Wait for Retry-After seconds."
        return Problem("SCH_429_TOO_MANY", words, retry_after=error.wait and ceil(error.wait))
    if isinstance(error, HttpError):
        if isinstance(error.__cause__, Problem):  # about the body: ninja takes all that its parser raises for the same
            return error.__cause__
        return Problem(_BY_STATUS.get(error.status_code, "SCH_400_MALFORMED"), _told(error))
    if isinstance(error, OperationalError | InterfaceError):
        log.error("api.no_database error=%r", str(error).strip())
        return Problem("SCH_503_DATABASE_DOWN", "The database does not answer, or takes too long. Try again.")
    log.error("api.failed error=%r", str(error), exc_info=error)
    return Problem("SCH_500_INTERNAL", "The server's log says what happened.")


def _told(error: HttpError) -> str:
    """A body that can't be read is told with the reason, which is in what it was raised from."""
    return error.message if error.__cause__ is None else f"The body is not JSON: {str(error.__cause__)[:300]}."


_MISSING = {
    "Idempotency-Key": (
        "SCH_400_IDEMPOTENCY_KEY_MISSING",
        "Send a header Idempotency-Key; a repeat then does nothing.",
    ),
    "If-Match": ("SCH_428_IF_MATCH_MISSING", "Send a header If-Match with the revision that you have read."),
}

_RULES = {
    "Idempotency-Key": "it has 1 to 150 printable ASCII characters, with no space at either end",
    "If-Match": 'give one revision, the one that you have read, as in If-Match: "3"',
}


def _invalid(error: ValidationError, types: str | None = None) -> Problem:
    """`types` is what to say to a caller that has named no task type."""
    for one in error.errors:
        if one.get("type") == "missing" and one["loc"][0] == "header" and one["loc"][-1] in _MISSING:
            return Problem(*_MISSING[one["loc"][-1]])
    rules = dict(_RULES)
    if types and _lacks_type(error):
        rules["task_type"] = types
    told = [(one["loc"], rules.get(one["loc"][-1]) or one["msg"]) for one in error.errors[:5]]
    words = "; ".join(f"{'.'.join(map(str, where[1:]))}: {rule}" for where, rule in told)
    fields = [(".".join(map(str, where[2:])), rule) for where, rule in told if where[0] == "body" and where[2:]]
    return Problem("SCH_422_INVALID", words[:1000], there=errors_of(fields) if fields else None)


def _lacks_type(error: ValidationError) -> bool:
    return any(one.get("type") == "missing" and one["loc"][-1] == "task_type" for one in error.errors)


def handle_all(api: NinjaAPI) -> None:
    def handler(request: HttpRequest, error: Any) -> HttpResponse:  # ninja's type for it allows the class, too
        if isinstance(error, ValidationError):
            return respond(_invalid(error, getattr(getattr(request, "auth", None), "types_to_choose", None)))
        return respond(problem_of(error))

    kinds = (Problem, ValidationError, AuthenticationError, HttpError, Http404, NotAway, QuotaExceeded, *_OURS)
    for kind in (*kinds, DatabaseError, InterfaceError, Exception):
        api.add_exception_handler(kind, handler)
