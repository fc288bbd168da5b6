"""How a handler's options make a batch run: one by one, in threads, in one call."""

import time
from collections.abc import Callable, Iterable
from typing import Any

from tasks_app.conf import conf
from tasks_app.core.clock import lease_clock
from tasks_app.core.result import Result
from tasks_app.core.task import SUCCEEDED, Failure, Outcome, Returned, Task

from . import shutdown
from .batch_run import BatchRun
from .interruption import (
    Interrupted,
    MainThreadInterrupter,
    OverShutdown,
    OverTime,
    interrupt_thread,
    over_time,
)
from .moments import begins
from .outcomes import as_fault, is_declared, outcome_of, refuse_unrun
from .results import returned
from .shift import Ended, Shift
from .surroundings import leave
from .threads import Crew, crew_of

POLL_SECONDS = 0.05
Keep = Callable[[Task, object], object]


def run_each(run: BatchRun, interrupter: MainThreadInterrupter, keep: Keep | None = None) -> None:
    """One call a task, one after the other. `keep(task, answer)` takes the answers of two-phase handlers."""
    tasks = iter(run.batch.tasks)
    while True:
        try:
            _call_in_turn(run, tasks, interrupter, keep)
            return
        except Interrupted as reason:
            # The signal may land just outside the call's own try; the task it was meant for is the last begun.
            interrupter.leave()
            leave(run)
            last = next(reversed(run.begun))
            run.end(next(t for t in run.batch.tasks if t.id == last), outcome_of(reason))


def _call_in_turn(run: BatchRun, tasks: Iterable[Task], interrupter: MainThreadInterrupter, keep: Keep | None) -> None:
    # The loop every task goes through: what it needs is at hand, since a look-up costs as much as a small handler.
    call, begun, gone, now, contact = run.handler.call, run.begun, run.gone, time.monotonic, run.contact
    early, end, stopping = run.batch.early, run.end, shutdown.requested
    numbers, lease_time = interrupter.numbers, lease_clock
    for task in tasks:
        if contact.lost or stopping():
            return
        id_ = task.id
        if early and id_ in early and not begins(run, task):
            continue
        if id_ in gone:
            continue
        if task.deadline is not None and run.expired(task):
            run.expire(task)
            continue
        if lease_time() > contact.lease_until and run.lapsed:
            return
        begun[id_] = now()
        run.calling = task
        interrupter.call = next(numbers)  # as enter() does, and leave() below
        try:
            answer = call(task)
            if answer is not None:
                refuse_unrun(answer)
        except Interrupted:
            raise
        except BaseException as error:
            interrupter.call = None
            ended = now()
            end(task, outcome_of(as_fault(error)), ended)
        else:
            interrupter.call = None
            ended = now()
            if keep is not None:
                keep(task, answer)
            else:
                end(task, SUCCEEDED if answer is None else returned(task, answer), ended)
        if ended > run.flush_at:
            run.flush_if_old()


def run_in_threads(run: BatchRun, keep: Keep | None = None, shift: Shift[int] | None = None) -> None:
    """The tasks of a batch side by side in `concurrency` threads; the main thread keeps the times."""
    crew, shift = crew_of(run.handler.concurrency), shift or Shift(run)
    crew.begin(shift)
    stop_by = None
    while not shift.over:
        if run.halted:
            shift.stop()
        if run.ending:
            stop_by = stop_by or time.monotonic() + conf().SHUTDOWN_SECONDS
        note_ended(run, shift.ended(POLL_SECONDS), keep)
        _give_up_overdue(run, crew, shift, stop_by)
        run.flush_if_old()


def note_ended(run: BatchRun, ended: list[Ended], keep: Keep | None) -> None:
    """The outcomes of tasks that ran side by side; `keep` as in `run_each`."""
    for one in ended:
        if one.expired:
            run.expire(one.task)
        elif one.error is not None:
            run.end(one.task, outcome_of(one.error), at=one.at)
        elif keep is None:
            run.end(one.task, returned(one.task, one.answer), at=one.at)
        else:
            keep(one.task, one.answer)


def _give_up_overdue(run: BatchRun, crew: Crew, shift: Shift[int], stop_by: float | None) -> None:
    now = time.monotonic()
    for task, thread in shift.working:
        timeout = run.timeout_of(task)
        overdue = now - run.begun[task.id] > timeout
        if not overdue and (stop_by is None or now < stop_by):
            continue
        if not shift.give_up(task):
            continue  # it has just ended after all
        if overdue:
            run.end(task, outcome_of(over_time(timeout)))
        # Else it can't be stopped for certain, so it has no outcome: its lease decides.
        crew.replace(shift)
        interrupt_thread(thread, OverTime if overdue else OverShutdown)


def run_in_one_call(run: BatchRun, interrupter: MainThreadInterrupter, call: Callable[[list[Task]], Any]) -> None:
    """One call for the whole batch; it may answer {task id: exception or Result}, for some or all."""
    if run.halted:
        return
    tasks = []
    for task in run.unanswered():
        if run.expired(task):
            run.expire(task)
        else:
            run.begin(task)
            tasks.append(task)
    if not tasks:
        return
    try:
        interrupter.enter()
        answer = call(tasks)
        interrupter.leave()
        refuse_unrun(answer)
        said = answers_in(answer, tasks)
    except BaseException as error:
        interrupter.leave()
        error = as_fault(error)
        for task in tasks:
            run.end(task, blame(error, alone=len(tasks) == 1))
        return
    for task in tasks:
        run.end(task, outcome_in(said, task))


def blame(error: BaseException, *, alone: bool) -> Outcome:
    """One call failed for many: what the handler declared holds for all; otherwise each is tried alone."""
    outcome = outcome_of(error)
    if alone or is_declared(error) or not isinstance(outcome, Failure):
        return outcome
    return Returned(outcome.code, outcome.message, solo=True)


def answers_in(answer: object, tasks: list[Task]) -> dict[int, BaseException | Result]:
    """Check what a batch handler returned. A bare value is refused: it could be meant as an error just as well."""
    if answer is None:
        return {}
    known = {task.id for task in tasks}
    if not isinstance(answer, dict) or not all(
        task_id in known and isinstance(said, BaseException | Result) for task_id, said in answer.items()
    ):
        raise TypeError(
            "a batch handler returns None, or a dict from task id to the exception it failed with, or to the Result of "
            f"one that succeeded; got {answer!r:.300}"
        )
    return answer


def outcome_in(answers: dict[int, BaseException | Result], task: Task) -> Outcome:
    """What became of one task of a batch, by what its handler returned."""
    said = answers.get(task.id)
    if said is None:
        return SUCCEEDED
    return returned(task, said.value) if isinstance(said, Result) else outcome_of(said)
