"""What is no endpoint: other addresses and methods answer with a problem too; and how a body is read."""

import json
from collections.abc import Callable
from functools import wraps

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from ninja.parser import Parser

from .problems import Problem, respond


class StrictParser(Parser):
    """JSON as its specification has it: Python would take NaN, and the last of two equal names."""

    def parse_body(self, request: HttpRequest) -> object:
        return json.loads(request.body, object_pairs_hook=_named_once, parse_constant=_refuse_constant)


def spoken(view: Callable) -> Callable:
    """HEAD is GET without its body, which the server leaves out; a method that is not there is told as a problem."""

    @wraps(view)
    def answered(request: HttpRequest, *args, **kwargs) -> HttpResponse:
        asked = request.method
        if asked == "HEAD":
            request.method = "GET"
        answer = view(request, *args, **kwargs)
        request.method = asked
        if answer.status_code != 405:
            return answer
        allowed = sorted({*answer["Allow"].split(", "), *(["HEAD"] if "GET" in answer["Allow"] else [])})
        words = f"{asked[:20]} does nothing here; there is {', '.join(allowed)}."
        told = respond(Problem("SCH_405_METHOD_NOT_ALLOWED", words))
        told["Allow"] = ", ".join(allowed)
        return told

    return answered


@csrf_exempt
def nothing_here(request: HttpRequest) -> HttpResponse:
    slash = " An address has no slash at its end." if request.path.endswith("/") else ""
    return respond(Problem("SCH_404_NOT_FOUND", f"There is nothing at this address.{slash}"))


def _named_once(pairs: list[tuple[str, object]]) -> dict:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{twice[:100]!r} is in one object twice")
    return found


def _refuse_constant(word: str) -> None:
    raise ValueError(f"{word} is no number of JSON")
