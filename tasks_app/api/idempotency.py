"""Mutations: each is one transaction, and with an Idempotency-Key it happens once, however often it is sent."""

import hashlib
import json
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Schema, Status
from ninja.responses import NinjaJSONEncoder

from tasks_app.database import atomic
from tasks_app.models import IdempotencyRecord
from tasks_app.sql import execute

from .auth import caller as caller_of
from .auth import permissions_asked, refuse_without
from .headers import REPLAYED, tell, tell_revision
from .problems import Problem, problem_of, respond

HEADER = "Idempotency-Key"
JSON = "application/json; charset=utf-8"  # as ninja says it of an answer without a key
# The next try may well succeed; so may that of a caller with another token, whose key it is as well.
_PASSING = (
    "SCH_403_FORBIDDEN",
    "SCH_403_TYPE_CLOSED",
    "SCH_403_LANE_CLOSED",
    "SCH_409_CONFLICT",
    "SCH_429_RETRY_LIMITED",
    "SCH_429_QUOTA",
)
View = Callable[..., tuple[int, Schema | None]]  # the status, and what is answered
_TRY_LOCK = "SELECT pg_try_advisory_xact_lock(hashtextextended(%(key)s::text, 7))"


def mutation(view: View) -> Callable[..., HttpResponse | Status[object]]:
    """Wraps a view that returns (status, schema): the answer is stored in the transaction of what it did.

    An answer below 500 is given again to the same key and request, byte for byte. A server error is not kept, nor is
    what passes by itself: it may be tried again. A request that doesn't fit the schema never comes here.
    """

    @wraps(view)
    def keyed(request: HttpRequest, **given: Any) -> HttpResponse | Status[object]:
        caller, key = caller_of(request), given.get("idempotency_key")
        if key is None:
            with atomic():
                status, answer = _plain(*view(request, **given))
            return _told(request, status, answer)
        fingerprint = _fingerprint(request)
        with atomic():
            if not execute(_TRY_LOCK, {"key": f"{caller.tenant}\n{key}"})[0][0]:
                raise Problem("SCH_409_IN_PROGRESS", f"The first request with {HEADER} {key!r} is still running.")
            stored = IdempotencyRecord.objects.filter(tenant=caller.tenant, key=key).first()
            if stored is None:
                status, answer = _answer(view, request, given)
                stored = IdempotencyRecord.objects.create(
                    tenant=caller.tenant,
                    key=key,
                    fingerprint=fingerprint,
                    status=status,
                    body=None if answer is None else json.dumps(answer),
                    reach=caller.reach | {"permissions": permissions_asked(request)},
                )
            elif stored.fingerprint != fingerprint:
                raise Problem(
                    "SCH_422_KEY_REUSED", f"{HEADER} {key!r} was used for another request. Make up a new one."
                )
            else:
                _refuse_less(request, stored.reach, key)
                tell(request, REPLAYED, "true")
        return _as_stored(request, stored)

    return keyed


def _refuse_less(request: HttpRequest, reach: dict[str, Any] | None, key: str) -> None:
    """Refuse a caller with fewer rights than the first: rights change, and all tokens of a tenant share its keys."""
    if reach is None:
        return
    for permission in reach["permissions"]:
        refuse_without(request, caller_of(request), permission)
    if not caller_of(request).covers(reach):
        raise Problem(
            "SCH_403_FORBIDDEN",
            f"{HEADER} {key!r} was used by a caller with more rights, types or lanes than you have, so its answer is "
            "not for you. Use a token that has them all, or another key.",
        )


def _as_stored(request: HttpRequest, stored: IdempotencyRecord) -> HttpResponse:
    """The first time and every other: the same bytes, even if such answers have had more fields since."""
    body = stored.body if stored.answer is None else json.dumps(stored.answer)  # of the version before
    answer: Any = None if body is None else json.loads(body)
    if stored.status < 400:
        _tell_revision(request, answer)
        return HttpResponse(body or "", status=stored.status, content_type=JSON)
    response = respond(Problem.again(answer))
    response.content = body
    return response


def _told(request: HttpRequest, status: int, answer: object) -> Status[object]:
    _tell_revision(request, answer)
    return Status(status, answer)


def _tell_revision(request: HttpRequest, answer: object) -> None:
    """The ETag of what has a revision: what the next change has to name."""
    if isinstance(answer, dict) and "revision" in answer:
        tell_revision(request, answer["revision"])


def _answer(view: View, request: HttpRequest, given: dict[str, Any]) -> tuple[int, object]:
    """What the view says; what it did before it raised is undone, and only a caller's mistake is an answer to keep."""
    try:
        with atomic():
            return _plain(*view(request, **given))
    except Exception as error:
        problem = problem_of(error)
        if problem.status >= 500 or problem.code in _PASSING:
            raise problem from error
        return problem.status, problem.as_dict()


def _plain(status: int, answer: Schema | None) -> tuple[int, object]:
    """The answer as it is sent, so that it is the same to the letter when it is sent again."""
    return status, None if answer is None else json.loads(json.dumps(answer.model_dump(), cls=NinjaJSONEncoder))


def _fingerprint(request: HttpRequest) -> str:
    seen = hashlib.sha256(f"{request.method} {request.get_full_path()} {request.headers.get('If-Match')}\n".encode())
    seen.update(_meant(request.body))
    return seen.hexdigest()


def _meant(body: bytes) -> bytes:
    """The body without what means nothing in JSON: spaces, and the order of names, which a client may not keep."""
    try:
        return json.dumps(json.loads(body), sort_keys=True).encode()
    except (ValueError, RecursionError):
        return body
