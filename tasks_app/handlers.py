"""The task types that Punctual brings along."""

from .conf import conf
from .core.callbacks import HTTP_CALLBACK, Callback
from .core.callbacks import LONGEST_SECONDS as LONGEST_CALL
from .core.celery_call import CELERY_TASK
from .core.errors import Skip
from .core.handlers import handler
from .core.imports import when_called
from .core.task import Task
from .core.tenants import CANARY, INTERNAL_TENANT

_run_celery_task = when_called("tasks_app.engine.worker.celery_task:run")


@handler(CANARY, timeout=10, tenant=INTERNAL_TENANT)
def canary(task: Task) -> None:
    """Goes the whole way and does nothing."""
    if not conf().CANARY_SECONDS:
        raise Skip("canaries are turned off")


@handler(CELERY_TASK, timeout=3600)
def run_celery_task(task: Task) -> object:
    """An existing Celery task by its name, with our retries, history and limits instead of Celery's.

    It runs here, in this worker's process; `self.request` has its args, the token as id and the number of retries.
    """
    return _run_celery_task(task)


@handler(HTTP_CALLBACK, timeout=LONGEST_CALL + 10, concurrency=2, batch_max=500, api=True, named_only=True)
def call_back(callback: Callback) -> object:
    """Whatever answers HTTP. The worker makes the calls of a whole batch itself: see engine/worker/callbacks."""
    raise NotImplementedError("a callback is made by the worker, with the others of its batch")
