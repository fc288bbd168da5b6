"""What a call is to the door: a read, a write that can wait, or one that can't."""

import json
from collections.abc import Mapping
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse

from tasks_app import scope
from tasks_app.core.handlers import REGISTRY
from tasks_app.core.json_parts import too_many_parts
from tasks_app.core.lanes import URGENT_LANE
from tasks_app.core.shedding import Kind
from tasks_app.engine.web.door import DOOR
from tasks_app.engine.web.people import address_of
from tasks_app.engine.web.standby import REFUSED, STANDBY
from tasks_app.lifecycle.audit import acting_from

from .edges import VIEW, View, largest_body, view_of
from .problems import Problem, respond

_READING = ("GET", "HEAD", "OPTIONS")
# By the names of their views. Nobody may miss these for long: what watches, what a run's end hangs on, and the levers
# that take load away. What a lever has stopped can be started again, too, if no other lever would.
WATCHING = {"read_liveness", "read_health", "read_service_levels"}
REPORTS = {"complete_task", "fail_task", "progress_task"}
LEVERS = {
    "pause_lane",
    "resume_lane",
    "drain_worker",
    "resume_worker",
    "cancel_task",
    "cancel_tasks",
    "pause_job",
    "pause_campaign",
    "cancel_campaign",
    "change_campaign",  # how fast it goes
    "pause_subscription",
    "limit_host",
    "force_safeguard",
    "forbid_safeguard",
    "end_safeguard",
    "quarantine_installation",
    "rehearse_installation",
    "resume_installation",
    "activate_site",
    "stand_by_sites",
    "suspend_tenant",
}
NEVER_SHED = WATCHING | REPORTS | LEVERS
BY_LANE = "trigger_job"  # comes in: only what it finds there says whether it can wait


def admitted(view: View, names: Mapping[str, str]) -> View:
    """The view behind the door; `names` are those of its endpoints, by method."""

    @wraps(view)
    def answered(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        setattr(request, VIEW, names.get(request.method, ""))
        answer = _refused(request)
        if answer is not None:
            return answer
        with DOOR.inside(), acting_from(address_of(request)), scope.request():
            return scope.carried(view(request, *args, **kwargs))

    return answered


def refuse_what_can_wait(lane: str) -> None:
    """For a call that only now knows its lane: raises what it would have been told at the door."""
    found = DOOR.refusal(Kind.WRITE)
    if found is not None and lane != URGENT_LANE:
        raise Problem("SCH_503_OVERLOADED", found.words, retry_after=found.retry_after)


def _refused(request: HttpRequest) -> HttpResponse | None:
    """The answer to a call that can't come in now; None: it can."""
    if view_of(request) == "read_liveness":  # which asks about this process alone
        return None
    if DOOR.measured and view_of(request) == "read_health" and not STANDBY.reading and not DOOR.answers():
        STANDBY.connect_aside()
        return respond(Problem("SCH_503_DATABASE_DOWN", "The database does not answer, or takes too long. Try again."))
    found = None if STANDBY.reading else DOOR.refusal(kind_of(view_of(request), request.method))
    if found is not None and not _is_urgent(request):  # without a new connection to a server that has too many
        return respond(Problem("SCH_503_OVERLOADED", found.words, retry_after=found.retry_after))
    STANDBY.connect()
    if STANDBY.reading and request.method not in _READING:
        return respond(Problem("SCH_503_DATABASE_DOWN", REFUSED))
    return None


def kind_of(name: str, method: str) -> Kind:
    """Of an endpoint, by the name of its view; an app's own are reads and writes."""
    if name in NEVER_SHED or name == BY_LANE:
        return Kind.NEVER
    return Kind.READ if method in _READING else Kind.WRITE


def _is_urgent(request: HttpRequest) -> bool:
    """Whether it schedules tasks in the urgent lane, and no others. Only asked when it would be refused."""
    told = request.META.get("CONTENT_LENGTH") or ""
    if view_of(request) not in ("create_task", "create_tasks"):
        return False
    if not told.isdigit() or int(told) > largest_body(bulk=True):
        return False
    try:
        if too_many_parts(request.body):
            return False
        body = json.loads(request.body)
        tasks = body["tasks"] if view_of(request) == "create_tasks" else [body]
        return bool(tasks) and all(_lane_of(task) == URGENT_LANE for task in tasks)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return False  # what is wrong with it is told when it comes in


def _lane_of(task: dict[str, Any]) -> str | None:
    if given := task.get("lane"):
        return str(given)
    handler = REGISTRY.get(task["task_type"])
    return None if handler is None else handler.lane
