"""Runs an existing Celery task as the body of a handler."""

from celery import current_app
from celery.exceptions import Ignore, Reject, Retry

from tasks_app.core.celery_call import UNKNOWN_CELERY_TASK, celery_call
from tasks_app.core.errors import InvalidTask, RetryableError, Skip, UnrecoverableError
from tasks_app.core.task import Task


def run(task: Task) -> object:
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
