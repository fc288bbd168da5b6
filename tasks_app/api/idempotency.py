"""Mutations: each is one transaction, and with an Idempotency-Key it happens once, however often it is sent."""

import hashlib
import json
from collections.abc import Callable
from functools import wraps

from django.db import transaction
from django.http import HttpRequest
from ninja import Status

from tasks_app.models import IdempotencyRecord
from tasks_app.sql import execute

from .auth import caller as caller_of
from .problems import Problem, problem_of, respond

HEADER = "Idempotency-Key"
_PASSING = ("SCH_409_CONFLICT", "SCH_429_RETRY_LIMITED")  # the next try may well succeed
_TRY_HOLD = "SELECT pg_try_advisory_xact_lock(hashtextextended(%(key)s::text, 7))"


def mutation(view: Callable) -> Callable:
    """Wraps a view that returns (status, schema): the answer is stored in the transaction of what it did.

    An answer below 500 is given again to the same key and request. A server error is not kept, nor is what passes by
    itself: it may be tried again.
    """

    @wraps(view)
    def keyed(request: HttpRequest, **given):
        caller, key = caller_of(request), given.get("idempotency_key")
        if key is None:
            with transaction.atomic():
                return Status(*_plain(*view(request, **given)))
        fingerprint = _fingerprint(request)
        with transaction.atomic():
            if not execute(_TRY_HOLD, {"key": f"{caller.tenant}\n{key}"})[0][0]:
                raise Problem("SCH_409_IN_PROGRESS", f"The first request with {HEADER} {key!r} has not ended yet.")
            stored = IdempotencyRecord.objects.filter(tenant=caller.tenant, key=key).first()
            if stored is None:
                status, answer = _answer(view, request, given)
                IdempotencyRecord.objects.create(
                    tenant=caller.tenant, key=key, fingerprint=fingerprint, status=status, answer=answer
                )
            elif stored.fingerprint != fingerprint:
                raise Problem(
                    "SCH_422_KEY_REUSED", f"{HEADER} {key!r} was used for another request. Make up a new one."
                )
            else:
                status, answer = stored.status, stored.answer
        if status >= 400:
            return respond(Problem(answer["code"], answer["detail"]))
        return Status(status, answer)

    return keyed


def _answer(view: Callable, request: HttpRequest, given: dict) -> tuple[int, object]:
    """What the view says; what it did before it raised is undone, and only a caller's mistake is an answer to keep."""
    try:
        with transaction.atomic():
            return _plain(*view(request, **given))
    except Exception as error:
        problem = problem_of(error)
        if problem.status >= 500 or problem.code in _PASSING:
            raise problem from error
        return problem.status, problem.as_dict()


def _plain(status: int, answer) -> tuple[int, object]:
    return status, None if answer is None else answer.model_dump(mode="json")


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
