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
    "tasks_app_node_changelist": (CLOCK,),
    "tasks_app_worker": (CLOCK,),
    "tasks_app_scheduletask_changelist": ("tasks", "letters", "orders"),
    "tasks_app_scheduletask_change": (CLOCK,),
    "tasks_app_jobdefinition_changelist": ("tasks", "orders"),
    "tasks_app_jobdefinition_change": ("tasks", "orders"),
    "tasks_app_graphrun_changelist": ("tasks", "orders"),
    "tasks_app_graphrun_change": ("tasks", "orders"),
    "tasks_app_taskbatch_changelist": ("tasks",),
    "tasks_app_taskbatch_change": ("tasks",),
    "tasks_app_campaign_changelist": ("campaigns", "orders"),
    "tasks_app_campaign_change": ("campaigns", "orders"),
    "tasks_app_dlqentry_changelist": ("letters", "orders"),
    "tasks_app_dlqentry_change": ("letters", "orders"),
    "tasks_app_auditentry_changelist": ("orders",),
    "tasks_app_alarmincident_changelist": (CLOCK,),
    "tasks_app_safeguard_changelist": (CLOCK,),
    "tasks_app_site_changelist": (CLOCK,),
    "tasks_app_recovery_changelist": (CLOCK,),
    "tasks_app_recovery_change": (CLOCK,),
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
