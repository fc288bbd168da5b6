"""The scheduler's own handler: the canary, a task that goes the whole way and does nothing."""

from .conf import conf
from .core.errors import Skip
from .core.handlers import handler
from .core.task import Task
from .engine.canary import CANARY


@handler(CANARY, timeout=10)
def canary(task: Task) -> None:
    if not conf().CANARY_SECONDS:
        raise Skip("canaries are turned off")
