"""Headers of answers: which there are, how the schema describes them, and how they are sent."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_cache_control

ETAG = "ETag"
REPLAYED = "Idempotency-Replayed"
RETRY_AFTER = "Retry-After"
CHALLENGE = "WWW-Authenticate"
LIMIT, REMAINING, RESET = "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"
RATE = (LIMIT, REMAINING, RESET)


def _header(says: str, kind: str, *, always: bool = False, **rules: object) -> dict[str, Any]:
    return {"description": says, "required": always, "schema": {"type": kind} | rules}


# By their names in the schema. Those that are not always sent say when they are.
HEADERS = {
    ETAG: _header(
        "The revision, in quotes; send it as `If-Match` to change this revision and no other.",
        "string",
        always=True,
        pattern='^"[0-9]+"$',
    ),
    REPLAYED: _header(
        "`true` if this is the stored answer to an earlier request with the same Idempotency-Key; otherwise left out.",
        "string",
        enum=["true"],
    ),
    RETRY_AFTER: _header("Seconds to wait before sending it again; left out if that would not help.", "integer"),
    CHALLENGE: _header("How to authenticate.", "string", always=True),
    LIMIT: _header("Calls that you may make in a minute.", "integer"),
    REMAINING: _header("How many of them are left.", "integer"),
    RESET: _header("Seconds until the next minute begins and you have all of them again.", "integer"),
}


def tell(request: HttpRequest, name: str, value: object) -> None:
    """The answer to this request will have this header, whoever makes it."""
    request.__dict__.setdefault("answer_headers", {})[name] = str(value)


def tell_revision(request: HttpRequest, revision: int) -> None:
    tell(request, ETAG, f'"{revision}"')


def send(request: HttpRequest, answer: HttpResponse) -> HttpResponse:
    """The answer with what has been told of it, for this caller alone: a project may have a cache for all its pages."""
    patch_cache_control(answer, private=True, no_store=True)
    for name, value in request.__dict__.get("answer_headers", {}).items():
        answer[name] = value
    return answer
