"""OPTIONS of the backend, checked, and where they send a task: to a lane and a tenant."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from tasks_app.core.errors import nearest, shown
from tasks_app.core.lanes import LANES
from tasks_app.core.tenants import TENANT_LENGTH

from .interface import InvalidTaskBackend

# What a task may say of how it is run. What concerns one task, its queue or priority says.
LIMITS = ("rate", "burst", "max_running")
USUAL = (
    *("timeout", "max_retry", "backoff", "concurrency", "transactional", "batch_max"),
    *("retention", "logs", "encrypted"),
)
TASK_OPTIONS = (*USUAL, *LIMITS)
_OPTIONS = ("LANES", "TENANTS", "TASK")
CRITICAL_FROM = 50


@dataclass(frozen=True, slots=True)
class Options:
    lanes: Mapping[str, str] = field(default_factory=dict)  # by queue
    tenants: Mapping[str, str] = field(default_factory=dict)  # by queue
    task: Mapping[str, Any] = field(default_factory=dict)  # for tasks that don't say otherwise

    def lane(self, queue: str, priority: int) -> str | None:
        """A priority of its own comes before the queue's lane; None: the usual lane of its type and tenant."""
        return lane_of_priority(priority) if priority else self.lanes.get(queue)


def lane_of_priority(priority: int) -> str:
    if priority > 0:
        return "critical" if priority >= CRITICAL_FROM else "high"
    return "low" if priority else "default"


def options_from(alias: str, given: object, queues: Collection[str]) -> Options:
    """OPTIONS as they are written in the settings; InvalidTaskBackend if something in them is wrong."""
    where = f"TASKS[{alias!r}]['OPTIONS']"
    options = _mapping(where, given)
    for name in options:
        if name not in _OPTIONS:
            raise InvalidTaskBackend(
                f"{where} has no option {name!r}.{nearest(str(name), _OPTIONS)} It takes {', '.join(_OPTIONS)}."
            )
    lanes = _by_queue(f"{where}['LANES']", options.get("LANES", {}), queues)
    for queue, lane in lanes.items():
        if lane not in LANES:
            raise InvalidTaskBackend(
                f"{where}['LANES'][{queue!r}] is {shown(lane)}, which is no lane.{nearest(str(lane), LANES)} "
                f"Use one of {', '.join(LANES)}."
            )
    tenants = _by_queue(f"{where}['TENANTS']", options.get("TENANTS", {}), queues)
    for queue, tenant in tenants.items():
        if not isinstance(tenant, str) or not 0 < len(tenant) <= TENANT_LENGTH:
            raise InvalidTaskBackend(
                f"{where}['TENANTS'][{queue!r}] is {shown(tenant)}; it must be the name of a tenant, of 1 to "
                f"{TENANT_LENGTH} characters."
            )
    task = _mapping(f"{where}['TASK']", options.get("TASK", {}))
    for name in task:
        if name not in USUAL:
            raise InvalidTaskBackend(
                f"{where}['TASK'] has no option {name!r}.{nearest(str(name), USUAL)} It takes {', '.join(USUAL)}."
            )
    return Options(lanes, tenants, task)


def _by_queue(where: str, given: object, queues: Collection[str]) -> Mapping[str, Any]:
    found = _mapping(where, given)
    for queue in found:
        if queues and queue not in queues:
            raise InvalidTaskBackend(
                f"{where} names the queue {queue!r}, which is not in QUEUES.{nearest(str(queue), queues)} "
                "Add it there, or remove it here."
            )
    return found


def _mapping(where: str, given: object) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise InvalidTaskBackend(f"{where} is {shown(given)}; it must be a dict.")
    return given
