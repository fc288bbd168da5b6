"""What a call is to the door: a read, a write that can wait, or one that can't."""

import json
from collections.abc import Callable
from functools import wraps

from django.http import HttpRequest, HttpResponse

from tasks_app.core.handlers import REGISTRY
from tasks_app.core.lanes import URGENT_LANE
from tasks_app.core.shedding import Kind
from tasks_app.engine.web.door import DOOR
from tasks_app.engine.web.standby import REFUSED, STANDBY

from .edges import BULK_CANCEL, BULK_CREATE, largest_body
from .problems import Problem, respond

_READING = ("GET", "HEAD", "OPTIONS")
# By the names of their views. Nobody may miss these for long: what watches, what a run's end hangs on, and the levers
# that take load away.
WATCHING = {"read_liveness", "read_health", "read_service_levels"}
LEVER_VIEWS = {
    "complete_task",
    "fail_task",
    "progress_task",
    "pause_lane",
    "resume_lane",
    "cancel_task",
    "cancel_tasks",
    "suspend_tenant",
}
LEVERS = LEVER_VIEWS | {BULK_CANCEL}  # as their addresses are called


def admitted(view: Callable) -> Callable:
    """The view behind the door."""

    @wraps(view)
    def answered(request: HttpRequest, *args, **kwargs) -> HttpResponse:
        answer = _refused(request)
        if answer is not None:
            return answer
        with DOOR.inside():
            return view(request, *args, **kwargs)

    return answered


def _refused(request: HttpRequest) -> HttpResponse | None:
    """The answer to a call that can't come in now; None: it can."""
    if _name(request) == "read_liveness":  # which asks about this process alone
        return None
    if DOOR.measured and _name(request) == "read_health" and not STANDBY.reading and not DOOR.answers():
        STANDBY.connect_aside()
        return respond(Problem("SCH_503_DATABASE_DOWN", "The database does not answer, or takes too long. Try again."))
    STANDBY.connect()
    if STANDBY.reading:
        return None if request.method in _READING else respond(Problem("SCH_503_DATABASE_DOWN", REFUSED))
    found = DOOR.refusal(kind_of(request))
    if found is not None and not _is_urgent(request):
        return respond(Problem("SCH_503_OVERLOADED", found.words, retry_after=found.retry_after))
    return None


def kind_of(request: HttpRequest) -> Kind:
    if _name(request) in WATCHING | LEVERS:
        return Kind.NEVER
    return Kind.READ if request.method in _READING else Kind.WRITE


def _is_urgent(request: HttpRequest) -> bool:
    """Whether it schedules tasks in the urgent lane, and no others. Only asked when it would be refused."""
    told = request.META.get("CONTENT_LENGTH") or ""
    if request.method != "POST" or _name(request) not in ("create_task", BULK_CREATE):
        return False
    if not told.isdigit() or int(told) > largest_body(bulk=True):
        return False
    try:
        body = json.loads(request.body)
        tasks = body["tasks"] if _name(request) == BULK_CREATE else [body]
        return bool(tasks) and all(_lane_of(task) == URGENT_LANE for task in tasks)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return False  # what is wrong with it is told when it comes in


def _lane_of(task: dict) -> str | None:
    if task.get("lane"):
        return task["lane"]
    handler = REGISTRY.get(task.get("task_type"))
    return handler and handler.lane


def _name(request: HttpRequest) -> str:
    return request.resolver_match.url_name or ""
