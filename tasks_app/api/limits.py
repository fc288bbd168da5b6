"""Too many calls: of somebody whom we know, and of somebody whom we don't."""

from math import ceil
from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja.throttling import BaseThrottle

from tasks_app.core.errors import QuotaExceeded
from tasks_app.engine.operations.callers import Caller
from tasks_app.engine.web import people, throttle
from tasks_app.scope import all_tenants

from .headers import RATE, tell
from .problems import Problem, problem_of, respond


class Calls(BaseThrottle):
    """Asked for every call that has a caller; the answer to too many is a `Throttled` with what `wait` says."""

    def allow_request(self, request: HttpRequest) -> bool:
        caller = getattr(request, "auth", None)
        if caller is None:
            return True
        found = throttle.count_call(f"{caller.tenant}\n{caller.name}", people.address_of(request))
        if found is None:
            return True
        for name, value in zip(RATE, (found.limit, max(found.limit - found.used, 0), self.wait()), strict=True):
            tell(request, name, value)
        return found.used <= found.limit

    def wait(self) -> float:
        return throttle.seconds_to_next_window()


def refuse_too_many_calls(caller: Caller, most: int) -> None:
    """Of a tenant with a quota for them: all its tokens together, in each minute."""
    used = throttle.count_tenant_call(caller.tenant)
    if used > most:
        raise QuotaExceeded(
            f"tenant {caller.tenant!r} has made {used:,} calls in this minute, and may make {most:,}. "
            "Wait for the next minute, or have the quota calls_per_minute raised.",
            tenant=caller.tenant,
            quota="calls_per_minute",
            limit=most,
            used=used,
            retry_after=throttle.seconds_to_next_window(),
        )


def unauthenticated(request: HttpRequest, error: Any) -> HttpResponse:
    """A wrong token costs a wait after a while; a right one from the same address never does. `error` is an
    AuthenticationError; ninja's type for it allows the class, too."""
    wait = ceil(throttle.failed_call(people.address_of(request)))
    if wait:
        people.login_refused()
        words = "Too many calls without a valid token came from your address. Send a valid token."
        return respond(Problem("SCH_429_TOO_MANY", words, retry_after=wait))
    with all_tenants():  # nobody's, so the operators'
        people.call_refused(people.address_of(request))
    return respond(problem_of(error))
