"""The task types that Punctual brings along."""

from celery import current_app
from celery.exceptions import Ignore, Reject, Retry

from .conf import conf
from .core.callbacks import HTTP_CALLBACK, Callback
from .core.callbacks import LONGEST_SECONDS as LONGEST_CALL
from .core.celery_call import CELERY_TASK, UNKNOWN_CELERY_TASK, celery_call
from .core.errors import InvalidTask, RetryableError, Skip, UnrecoverableError
from .core.handlers import handler
from .core.task import Task
from .core.tenants import CANARY, INTERNAL_TENANT


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
    try:
        call = celery_call(task.payload)
    except InvalidTask as error:
        raise UnrecoverableError(str(error), code="BAD_PAYLOAD") from None
    celery_task = current_app.tasks.get(call.task)
    if celery_task is None:
        # A worker of an older deploy, or a wrong name: tried again, and then dead and visible.
        raise RetryableError(f"this worker doesn't know the Celery task {call.task!r}", code=UNKNOWN_CELERY_TASK)
    celery_task.push_request(
        id=str(task.token), args=call.args, kwargs=call.kwargs, retries=task.attempt - 1, called_directly=True
    )
    try:
        return celery_task.run(*call.args, **call.kwargs)
    except Retry as error:
        raise RetryableError(str(error) or "the task asked for a retry", code="RETRY") from error
    except Ignore as error:
        raise Skip(str(error) or "the task asked to be ignored", code="IGNORED") from error
    except Reject as error:
        raise UnrecoverableError(str(error) or "the task rejected itself", code="REJECTED") from error
    finally:
        celery_task.pop_request()


@handler(HTTP_CALLBACK, timeout=LONGEST_CALL + 10, concurrency=2, batch_max=500, api=True, named_only=True)
def call_back(callback: Callback) -> object:
    """Whatever answers HTTP. The worker makes the calls of a whole batch itself: see engine/worker/callbacks."""
    raise NotImplementedError("a callback is made by the worker, with the others of its batch")
