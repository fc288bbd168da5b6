"""What is around a handler while it is called: a span if its task is traced, and whose call it is, for logs."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from tasks_app.core import running
from tasks_app.core.running import RUNNING, leave_task
from tasks_app.core.task import Task
from tasks_app.engine import tracing
from tasks_app.lifecycle.traces import read_traces

from .batch_run import BatchRun, again_on_infrastructure_fault
from .sentry import sentry


def surround(run: BatchRun) -> None:
    """Before the first call of a batch. Nothing, where nobody traces, and logs as they have always been."""
    tracer = tracing.tracer()
    if tracer is not None:
        from .spans import spans_of

        traced = again_on_infrastructure_fault(lambda: read_traces(run.batch.batch_no))
        run.spans = spans_of(tracer, run.batch, traced)
    if sentry() is not None:
        running.want()
    if run.spans is None and not running.wanted():
        return
    handler = run.handler
    run.handler = replace(
        handler,
        call=surrounded(run, handler.call, awaited=handler.is_async, each=not handler.batch),
        apply=None if handler.apply is None else surrounded(run, handler.apply, name="apply"),
    )


def surrounded(
    run: BatchRun, call: Callable[..., Any], *, awaited: bool = False, each: bool = False, name: str = "run"
) -> Callable[..., Any]:
    """The call with what this batch has around its calls. It takes a task, if it is made for `each`; else the task or
    those of the whole batch first, and perhaps more."""
    if run.spans is not None:
        call = run.spans.around(call, awaited=awaited, each=each, name=name)
    return _about(call, awaited=awaited, each=each) if running.wanted() else call


def leave(run: BatchRun) -> None:
    """No call is under way in this thread: what is logged now is about none. An interruption may also have come just
    before a call could leave its span."""
    leave_task()
    if run.spans is not None:
        run.spans.leave()


def _about(call: Callable[..., Any], *, awaited: bool, each: bool) -> Callable[..., Any]:
    # Not taken back after each call, which would cost as much again: the next call, or leave(), does.
    note = RUNNING.set

    def run_one(task: Task) -> Any:
        note(task)
        return call(task)

    def run(about: Task | Sequence[Task], *rest: Any) -> Any:
        note(about)
        return call(about, *rest)

    async def run_async(about: Task | Sequence[Task]) -> Any:
        note(about)  # in the context of this one task of the loop
        return await call(about)

    return run_async if awaited else run_one if each else run
