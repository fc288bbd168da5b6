"""Which pages update by themselves, and when: the one table of them, by the names of their addresses.

Such a page asks for its own address again, with a header, and gets what it shows without what stands around it. So
nothing on it is made in two ways, and whoever may not see it any more gets the answer that anybody would.
"""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager

from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_vary_headers

from .streams import CLOCK, STREAMS

HEADER = "Punctual-Live"
WHOLE, BARE = "admin/base_site.html", "tasks_app/bare.html"
# What it goes by: the marks of engine/watch/changes.py, and the clock, for what is different each time one looks.
LIVE: dict[str, tuple[str, ...]] = {
    "index": (CLOCK,),
    "punctual_node_changelist": (CLOCK,),
    "punctual_worker": (CLOCK,),
    "punctual_scheduletask_changelist": ("tasks", "letters", "orders"),
    "punctual_scheduletask_change": (CLOCK,),
    "punctual_jobdefinition_changelist": ("tasks", "orders"),
    "punctual_jobdefinition_change": ("tasks", "orders"),
    "punctual_graphrun_changelist": ("tasks", "orders"),
    "punctual_graphrun_change": ("tasks", "orders"),
    "punctual_taskbatch_changelist": ("tasks",),
    "punctual_taskbatch_change": ("tasks",),
    "punctual_campaign_changelist": ("campaigns", "orders"),
    "punctual_campaign_change": ("campaigns", "orders"),
    "punctual_dlqentry_changelist": ("letters", "orders"),
    "punctual_dlqentry_change": ("letters", "orders"),
    "punctual_auditentry_changelist": ("orders",),
    "punctual_alarmincident_changelist": (CLOCK,),
    "punctual_safeguard_changelist": (CLOCK,),
    "punctual_site_changelist": (CLOCK,),
    "punctual_recovery_changelist": (CLOCK,),
    "punctual_recovery_change": (CLOCK,),
}


def topics_of(request: HttpRequest) -> tuple[str, ...]:
    """What the page goes by; none: it stays as it was when it was loaded."""
    return LIVE.get(request.resolver_match.url_name or "", ()) if request.method == "GET" else ()


def is_look(request: HttpRequest) -> bool:
    """A page that is open asks what it would show now."""
    return HEADER in request.headers and bool(topics_of(request))


def seen_until(request: HttpRequest) -> int | None:
    """When what the page shows had been read, or what it was told last, by the database's clock in microseconds; None:
    it does not say, as at its first look."""
    said = request.headers.get(HEADER, "")
    return int(said) if re.fullmatch("[0-9]{2,18}", said) else None


@contextmanager
def measured(request: HttpRequest) -> Iterator[None]:
    began = time.thread_time()
    yield
    if is_look(request):
        STREAMS.took(time.thread_time() - began)


def told_apart(request: HttpRequest, response: HttpResponse) -> None:
    """For what keeps answers in between: with the header, the same address has another answer."""
    if topics_of(request):
        patch_vary_headers(response, (HEADER,))
        if is_look(request):
            response["Cache-Control"] = "no-store"
