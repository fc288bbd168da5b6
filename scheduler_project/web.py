"""What a web process has and no other: a limit for each of its statements, and answers to what it refuses."""

import logging

from django.conf import settings
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from django.template.response import SimpleTemplateResponse

from tasks_app.libraries.django import connection_settings

log = logging.getLogger(__name__)

QUERY_CANCELED = "57014"


def limit_statements() -> None:
    """Called by wsgi.py, which beats, workers and commands never load: those may take their time."""
    seconds = settings.WEB_STATEMENT_SECONDS
    options = connection_settings()["default"]["OPTIONS"]
    if seconds and "statement_timeout" not in options.get("options", ""):
        options["options"] = f"{options.get('options', '')} -c statement_timeout={round(seconds * 1000)}".strip()


class SlowStatements:
    """Middleware: a statement that was ended tells the reader so. The API has words of its own."""

    def __init__(self, get_response) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not (isinstance(error, OperationalError) and getattr(error.__cause__, "sqlstate", "") == QUERY_CANCELED):
            return None
        log.warning("request.too_slow path=%r", request.path[:200])
        seconds = settings.WEB_STATEMENT_SECONDS
        words = f"The database took longer than {seconds:g} s over one statement, which was stopped."
        return _plain(503, "That took too long", f"{words} Narrow your search, or try again later.")


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """handler400, for what comes to no page: the console has words of its own."""
    return _plain(400, "Bad request", "The server can't make sense of this request.")


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """handler404, the same."""
    return _plain(404, "There is nothing here", f"No page has the address {request.path[:200]}.")


def _plain(status: int, title: str, words: str) -> HttpResponse:
    """A page that needs no user, session or database."""
    return SimpleTemplateResponse("tasks_app/plain.html", {"title": title, "words": words}, status=status).render()
