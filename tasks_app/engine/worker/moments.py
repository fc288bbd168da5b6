"""Tasks that were claimed before they are due: they begin when they are due by the database's clock, if they are still
ours then and may begin."""

import logging
import time

from tasks_app.core.task import Returned, Task
from tasks_app.lifecycle.start import ready

from .batch_run import BatchRun, again_on_infrastructure_fault

log = logging.getLogger(__name__)

# Nothing is claimed so far ahead: the database's clock was set back, or stands still in the transaction of a test.
LONGEST_SECONDS = 1.0
# A task that is due so soon after a check was sent is due when the database reads it.
ON_THE_WAY_SECONDS = 0.0002
# A check costs as much as ten small handlers. After each there is a pause as long as it took, up to this: one check
# covers several due times that are close to each other.
REST_SECONDS = 0.002


def wait_until_due(run: BatchRun) -> None:
    """Wait until all tasks of the batch are due, or the run was halted."""
    for task in reversed(run.batch.tasks):  # when the last of them is due, so are the others
        if task.id in run.early:
            _await(run, task)


def begins(run: BatchRun, task: Task) -> bool:
    """Wait until this task is due. False: it was taken by others or returned, or the run was halted."""
    _await(run, task)
    return not (task.id in run.early or task.id in run.gone or run.is_answered(task.id))


def _await(run: BatchRun, task: Task) -> None:
    first, give_up = time.monotonic(), time.monotonic() + LONGEST_SECONDS
    while task.id in run.early and not run.halted:
        pause = task.due - run.batch.clock.now()
        if time.monotonic() + pause > give_up or time.monotonic() > give_up:
            log.warning("task.too_early batch=%s type=%s seconds=%.3f", run.batch.batch_no, run.batch.task_type, pause)
            _return(run, run.early)
            break
        pause = max(pause, run.ask_at - time.monotonic())
        if pause > 0:
            time.sleep(pause)
        check_again(run, _due(run) | {task.id})
    if run.begun:
        run.held += time.monotonic() - first


def _due(run: BatchRun) -> set[int]:
    """The early tasks that are due now, by the estimated clock of the database."""
    soon = run.batch.clock.now() + ON_THE_WAY_SECONDS
    return {task.id for task in run.batch.tasks if task.due <= soon} & run.early


def check_again(run: BatchRun, ids: set[int]) -> None:
    """Check whether these early tasks are due, still ours, and may begin."""
    asked = time.monotonic()
    found = again_on_infrastructure_fault(lambda: ready(run.batch.batch_no, sorted(ids)))
    answered = time.monotonic()
    if found:
        run.batch.clock.learn(found[0].clock, asked, answered)
    run.ask_at = answered + min(answered - asked, REST_SECONDS)
    gone = ids - {one.id for one in found}
    run.gone.update(gone)
    run.early -= gone
    _return(run, {one.id for one in found if not one.may})
    run.early -= {one.id for one in found if one.due}


def _return(run: BatchRun, ids: set[int]) -> None:
    """Make them due again, untouched."""
    for task in [task for task in run.batch.tasks if task.id in ids]:
        run.end(task, Returned())
        run.early.discard(task.id)
