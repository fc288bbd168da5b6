"""The address /metrics: checks who asks, reads, writes. It answers within two seconds, whatever the database does."""

import gzip
import time
from contextlib import suppress

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache

from tasks_app.engine.web import people, throttle

from . import reading
from .access import Access, Guard
from .background import Background, NoAnswer
from .exposition import written
from .reading import Snapshot

DEADLINE_SECONDS = 1.5  # for all that is asked of the database
FRESH_SECONDS = 1.0  # several scrapers at once are answered by one read
PLAIN = "text/plain; charset=utf-8"


class Reader:
    """The last snapshot that this process has read, and a newer one if it can be had in time."""

    def __init__(self, background: Background) -> None:
        self._background = background
        self._last: Snapshot | None = None

    def read(self, until: float) -> tuple[Snapshot, bool]:
        """What can be shown, and whether the database answered."""
        last = self._last
        if last is not None and time.monotonic() - last.read_at < FRESH_SECONDS:
            return last, True
        try:
            self._last = self._background.ask(reading.read, until)
            return self._last, True
        except NoAnswer:
            return self._last or Snapshot(), False


BACKGROUND = Background()
GUARD, READER = Guard(BACKGROUND), Reader(BACKGROUND)


@never_cache
@login_not_required
def metrics(request: HttpRequest) -> HttpResponse:
    if request.method not in ("GET", "HEAD"):
        return HttpResponse("Ask with GET.\n", status=405, content_type=PLAIN, headers={"Allow": "GET, HEAD"})
    until = time.monotonic() + DEADLINE_SECONDS
    access = GUARD.decide(people.address_of(request), request.headers.get("Authorization", ""), until)
    if access is Access.UNKNOWN:
        words = "The database does not answer, so nobody can say whether this token is good. Try again.\n"
        return HttpResponse(words, status=503, content_type=PLAIN, headers={"Retry-After": "5"})
    if access is Access.REFUSED:
        return _refused(request, until)
    snapshot, up = READER.read(until)
    body, content_type = written(snapshot, up=up, accept=request.headers.get("Accept", ""))
    answer = HttpResponse(body, content_type=content_type)
    answer.headers["Vary"] = "Accept, Accept-Encoding"
    if "gzip" in request.headers.get("Accept-Encoding", "").lower():
        answer.content = gzip.compress(body, compresslevel=1)
        answer.headers["Content-Encoding"] = "gzip"
    return answer


def _refused(request: HttpRequest, until: float) -> HttpResponse:
    """Told as the API tells it, and counted with its failures: a wrong token costs a wait after a while."""
    address = people.address_of(request)
    wait = throttle.failed_call(address)
    if wait:
        people.login_refused()
        words = "Too many calls without a valid token came from your address. Send a valid token.\n"
        return HttpResponse(words, status=429, content_type=PLAIN, headers={"Retry-After": str(int(wait) + 1)})
    with suppress(NoAnswer):
        BACKGROUND.ask(lambda: people.call_refused(address), until)
    words = (
        "This needs a token of its own, as `Authorization: Bearer pnc_…`: make one with "
        '`manage.py api_token issue NAME --metrics`. Or list your address in PUNCTUAL["METRICS_ALLOW"].\n'
    )
    return HttpResponse(words, status=401, content_type=PLAIN, headers={"WWW-Authenticate": "Bearer"})
