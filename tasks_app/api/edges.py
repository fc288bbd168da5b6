"""What is no endpoint: other addresses and methods answer with a problem too; and how a body is read."""

import json
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from ninja.operation import Operation
from ninja.parser import Parser

from tasks_app.conf import conf
from tasks_app.core.errors import nearest
from tasks_app.core.json_parts import MOST_PARTS, too_many_parts
from tasks_app.libraries.django import give_body
from tasks_app.libraries.ninja import check_before_reading, query_parameters
from tasks_app.lifecycle.request import DEEPEST, is_deeper

from .headers import send
from .problems import Problem, respond

_AROUND = 4  # levels around a payload, at most: a list of tasks is in a body
_OTHER_FIELDS = 16_384  # bytes, with their names
BULK_CREATE, BULK_CANCEL = "bulk-create", "bulk-cancel"  # the addresses, by name, that take many tasks
_BULK_BYTES = 2_621_440  # of their bodies; what Django itself takes unless it is told otherwise

VIEW = "punctual_view"  # where a request keeps the name of its view
View = Callable[..., HttpResponse]


def view_of(request: HttpRequest) -> str:
    """The name of its view; empty for what is no endpoint."""
    return getattr(request, VIEW, "")


class StrictParser(Parser):
    """JSON as its specification has it: Python would take NaN, and the last of two equal names."""

    def parse_body(self, request: HttpRequest) -> Any:
        if parts := too_many_parts(request.body):
            raise Problem(
                "SCH_413_TOO_LARGE",
                f"The body has {parts:,} parts (values, lists and objects); at most {MOST_PARTS:,} are allowed. Send "
                "fewer tasks in one request, or ids instead of data.",
            )
        found = json.loads(request.body, object_pairs_hook=named_once, parse_constant=_refuse_constant)
        if is_deeper(found, DEEPEST + _AROUND):
            raise ValueError(f"it has lists or objects more than {DEEPEST} levels deep")
        return found


def largest_body(*, bulk: bool = False) -> int:
    """In bytes: the largest payload with every letter escaped (six bytes instead of two), and the other fields."""
    most = 3 * conf().PAYLOAD_MAX_BYTES + _OTHER_FIELDS
    if bulk:
        most = max(most, _BULK_BYTES)
    return min(most, settings.DATA_UPLOAD_MAX_MEMORY_SIZE or most)


def bound_body(request: HttpRequest) -> None:
    """Refuse a body that is too large: before it is read if its length is told, else as soon as too much has come."""
    most = largest_body(bulk=request.resolver_match.url_name in (BULK_CREATE, BULK_CANCEL))
    told = request.META.get("CONTENT_LENGTH")
    if told:
        size = int(told) if told.isdigit() else 0
    elif request.META.get("wsgi.input_terminated"):
        # It comes in chunks, which Django would take for no body.
        body = request.META["wsgi.input"].read(most + 1)
        give_body(request, body)
        size = len(body)
    else:
        size = 0
    if size > most:
        raise Problem("SCH_413_TOO_LARGE", f"The body has more than {most:,} bytes. Send ids instead of data.")


def refuse_unknown_parameters(operation: Operation) -> None:
    """From now on this operation takes the query parameters it knows and no other: a misspelt filter is no filter."""
    known = query_parameters(operation)

    def check(request: HttpRequest) -> None:
        for name in request.GET:
            if name not in known:
                raise Problem("SCH_422_INVALID", f"There is no parameter {name[:100]!r} here.{_others(name, known)}")

    check_before_reading(operation, check)


def _others(name: str, known: list[str]) -> str:
    takes = f"takes {', '.join(known)}" if known else "takes no parameters"
    return nearest(name[:100], known) or f" The query {takes}."


def spoken(view: View) -> View:
    """HEAD is GET without its body, which the server leaves out; a method that is not there is told as a problem.

    Here each answer gets the headers that were told of it, a problem too.
    """

    @wraps(view)
    def answered(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        asked = request.method
        if asked == "HEAD":
            request.method = "GET"
        answer = send(request, view(request, *args, **kwargs))
        request.method = asked
        if answer.status_code != 405:
            return answer
        allowed = sorted({*answer["Allow"].split(", "), *(["HEAD"] if "GET" in answer["Allow"] else [])})
        words = f"{asked[:20]} is not allowed here; use {', '.join(allowed)}."
        told = respond(Problem("SCH_405_METHOD_NOT_ALLOWED", words))
        told["Allow"] = ", ".join(allowed)
        return told

    return answered


@csrf_exempt
def nothing_here(request: HttpRequest) -> HttpResponse:
    slash = " Addresses have no trailing slash." if request.path.endswith("/") else ""
    return respond(Problem("SCH_404_NOT_FOUND", f"There is nothing at this address.{slash}"))


def named_once(pairs: list[tuple[str, object]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise ValueError(f"{name[:100]!r} appears twice in one object")
            seen.add(name)
    return found


def _refuse_constant(word: str) -> None:
    raise ValueError(f"{word} is not a JSON number")
