"""The spans of a batch's traced tasks: how long each waited, its runs, and the settle. Needs OpenTelemetry.

Most tasks are not traced, and pay for a look into a set. A task is traced if whoever scheduled it was, or if it is in
the TRACE_SHARE of those that no traced call has scheduled, which is drawn once for a batch.
"""

import math
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from opentelemetry import trace
from opentelemetry.context import Context, attach, detach, get_current
from opentelemetry.trace import Link, NonRecordingSpan, Span, SpanKind, Status, StatusCode, TraceFlags
from opentelemetry.trace.span import SpanContext, TraceState

from tasks_app.conf import conf
from tasks_app.core.away import Away
from tasks_app.core.errors import Skip, Snooze, TaskCancelled
from tasks_app.core.task import SUCCEEDED, Failure, NotYet, Returned, Skipped, Succeeded, Task
from tasks_app.core.tenants import INTERNAL_TENANT
from tasks_app.engine.tracing import carried
from tasks_app.lifecycle.settle import Settled
from tasks_app.lifecycle.start import StartedBatch
from tasks_app.lifecycle.traces import Trace, Traced, forget_traces, hand_on_traces, keep_traces, trace_children

from .interruption import Interrupted

_NO_FAILURE = (Away, Snooze, Skip, TaskCancelled)  # what a handler may raise without having failed
MOST_LINKS = 100  # of the span of a settle


class BatchSpans:
    """Of one batch, if any of its tasks is traced."""

    def __init__(self, tracer: Any, batch: StartedBatch, traced: Traced, drawn: Sequence[Task]) -> None:
        self._tracer = tracer
        self._batch = batch
        self._claimed = traced.claimed
        self._kept = traced.traces
        self._traced = {*traced.traces, *(task.id for task in drawn)}
        self._ahead = batch.clock.now() - time.time()  # of the database's clock before this machine's
        self._waits: dict[int, Span] = {}
        self._runs: dict[int, Span] = {}  # the last of each task
        self._begun: tuple[Sequence[Settled], list[Settled]] = ((), [])  # what was last asked about, and those of it
        self._outside = get_current()

    # Around handlers.

    def around(self, call: Callable[..., Any], *, awaited: bool, each: bool, name: str) -> Callable[..., Any]:
        """The call with a span if it is for a traced task. It takes a task, if it is made for `each`; else the task or
        those of the whole batch first, and perhaps more."""
        traced = self._traced

        def run_one(task: Task) -> Any:
            if task.id not in traced:  # most, and they should hardly notice
                return call(task)
            with self._span(task, name):
                return call(task)

        async def run_one_async(task: Task) -> Any:
            if task.id not in traced:
                return await call(task)
            with self._span(task, name):
                return await call(task)

        def run(about: Task | Sequence[Task], *rest: Any) -> Any:
            if isinstance(about, Task) and about.id not in traced:
                return call(about, *rest)
            with self._span(about, name):
                return call(about, *rest)

        async def run_async(tasks: Sequence[Task]) -> Any:
            with self._span(tasks, name):
                return await call(tasks)

        if awaited:
            return run_one_async if each else run_async
        return run_one if each else run

    def leave(self) -> None:
        """In the thread in which this was made: nothing is in a span any more."""
        if get_current() is not self._outside:
            attach(self._outside)

    @contextmanager
    def _span(self, about: Task | Sequence[Task], name: str) -> Iterator[None]:
        """Inside, the span of the first traced task is the current one."""
        tasks = [task for task in ([about] if isinstance(about, Task) else about) if task.id in self._traced]
        if not tasks:
            yield
            return
        spans = self._begin(tasks, name)
        before = attach(trace.set_span_in_context(spans[0]))
        try:
            yield
        except BaseException as error:
            self._end(spans, error, told=not any(task.id in self._batch.ciphers for task in tasks))
            raise
        else:
            self._end(spans)
        finally:
            detach(before)

    def _begin(self, tasks: Sequence[Task], name: str) -> list[Span]:
        """A span for each: one call for many is in all of their traces, and the others are linked with the first."""
        spans: list[Span] = []
        for task in tasks:
            links = [Link(one.get_span_context()) for one in spans[:1]]
            if (kept := self._kept.get(task.id)) is not None and kept.last_run and task.id not in self._runs:
                links.append(Link(_context_of(kept.last_run).get_span_context()))
            attributes = {"punctual.type": task.type, "punctual.task": task.id, "punctual.tenant": task.tenant}
            attributes["punctual.attempt"] = task.attempt
            if task.job is not None:
                attributes["punctual.job"] = task.job
            span = self._tracer.start_span(
                f"{name} {task.type}",
                trace.set_span_in_context(self._waited(task), Context()),
                SpanKind.CONSUMER,
                attributes,
                links,
            )
            self._runs[task.id] = span
            spans.append(span)
        return spans

    def _waited(self, task: Task) -> Span:
        """From when it could start until now, when it does; in the trace of whoever scheduled it, or a new one."""
        if task.id not in self._waits:
            kept, now = self._kept.get(task.id), time.time()
            parent = Context()
            if kept is not None:
                parent = trace.set_span_in_context(_context_of(kept.traceparent, kept.tracestate), parent)
            span = self._tracer.start_span(
                f"wait {task.type}",
                parent,
                start_time=_nanoseconds(min(task.due - self._ahead, now)),
            )
            if span.is_recording():
                span.add_event("claimed", timestamp=_nanoseconds(self._claimed - self._ahead))
            span.end(_nanoseconds(now))
            self._waits[task.id] = span
        return self._waits[task.id]

    def _end(self, spans: list[Span], error: BaseException | None = None, *, told: bool = True) -> None:
        """`told`: what the error says may leave; that of an encrypted task may not."""
        for span in spans:
            if not span.is_recording():
                continue  # it was given up on, and ended already
            if isinstance(error, _NO_FAILURE):
                span.set_attribute("punctual.outcome", type(error).__name__)
            elif error is not None:
                with suppress(Exception):  # its message may be one that can't be read
                    if told:
                        span.record_exception(error)
                reason = error.code if isinstance(error, Interrupted) else type(error).__name__
                span.set_status(Status(StatusCode.ERROR, reason))
            span.end()

    # Around the settle.

    def concerns(self, settled: Sequence[Settled]) -> bool:
        """Whether there is something to write about these in the transaction that settles them."""
        return any(self._must_note(one) for one in self._begun_of(settled))

    def note(self, settled: Sequence[Settled]) -> None:
        """In that transaction: who is tried again stays in its trace, and what it deferred or waits for it joins."""
        over, goes_on, deferring, waited_for = [], [], [], []
        for one in self._begun_of(settled):
            task, run = one.task, self._run_of(one.task.id)
            if run is None or not self._must_note(one):
                continue
            (parent, state), (last, _) = self._parent_of(task.id), carried(run.get_span_context())
            if not _is_over(one):
                goes_on.append(Trace(task.id, parent, state, last))
            elif task.id in self._kept:
                over.append(self._kept[task.id])
            if _is_over(one) and task.deferred:
                deferring.append(Trace(task.id, last, state))
            if task.id in self._batch.waited_for and not isinstance(one.outcome, NotYet | Returned):
                waited_for.append(Trace(task.id, last, state))
        hand_on_traces(deferring)
        trace_children(waited_for)
        keep_traces(goes_on)
        forget_traces(over)

    def settled(self, settled: Sequence[Settled], began: float) -> None:
        """They are written: the span of that, from `began` until now; and what nobody has ended is over."""
        runs = []
        for one in self._begun_of(settled):
            run = self._run_of(one.task.id)
            if run is None:
                continue
            runs.append(run.get_span_context())
            if run.is_recording():  # its thread was given up on, and may never come back
                if isinstance(one.outcome, Failure):
                    run.set_status(Status(StatusCode.ERROR, one.outcome.code))
                run.end()
        if not runs:
            return
        span = self._tracer.start_span(
            f"settle {self._batch.task_type}",
            trace.set_span_in_context(NonRecordingSpan(runs[0]), Context()),
            attributes={"punctual.batch": str(self._batch.batch_no), "punctual.tasks": len(settled)},
            links=[Link(one) for one in runs[1 : MOST_LINKS + 1]],
            start_time=_nanoseconds(began),
        )
        span.end()

    def _begun_of(self, settled: Sequence[Settled]) -> list[Settled]:
        """The few that have a run: looked for once, since a settle asks three times."""
        if self._begun[0] is not settled:
            runs = self._runs
            self._begun = settled, [one for one in settled if one.task.id in runs]
        return self._begun[1]

    def _must_note(self, one: Settled) -> bool:
        task = one.task
        return not _is_over(one) or task.id in self._kept or bool(task.deferred) or task.id in self._batch.waited_for

    def _parent_of(self, task_id: int) -> tuple[str, str | None]:
        kept = self._kept.get(task_id)
        if kept is not None:
            return kept.traceparent, kept.tracestate
        return carried(self._waits[task_id].get_span_context())

    def _run_of(self, task_id: int) -> Span | None:
        """None: it was never begun, or the sampler has left it out."""
        run = self._runs.get(task_id)
        return run if run is not None and run.get_span_context().trace_flags.sampled else None


def spans_of(tracer: Any, batch: StartedBatch, traced: Traced | None) -> BatchSpans | None:
    """None: nothing of this batch is traced."""
    if traced is None:
        return None
    ours = batch.tasks[0].tenant == INTERNAL_TENANT  # a canary's way is nobody's request
    share = 0.0 if ours else conf().TRACE_SHARE
    drawn = [task for task in _drawn(batch.tasks, share) if task.id not in traced.traces]
    return BatchSpans(tracer, batch, traced, drawn) if traced.traces or drawn else None


def _drawn(tasks: Sequence[Task], share: float) -> list[Task]:
    """Each with this chance. What is drawn is how many are left out before the next: most batches cost one number."""
    if share >= 1:
        return list(tasks)
    if share <= 0:
        return []
    found: list[Task] = []
    place, log_of_rest = -1, math.log1p(-share)
    while True:
        place += 1 + int(math.log(1.0 - random.random()) / log_of_rest)
        if place >= len(tasks):
            return found
        found.append(tasks[place])


def _context_of(traceparent: str, tracestate: str | None = None) -> Span:
    """The span that this names, which is another process's."""
    _, trace_id, span_id, flags = traceparent.split("-")
    state = TraceState.from_header([tracestate]) if tracestate else None
    own = TraceFlags(int(flags, 16))
    return NonRecordingSpan(SpanContext(int(trace_id, 16), int(span_id, 16), True, own, state))


def _is_over(one: Settled) -> bool:
    return one.outcome is SUCCEEDED or isinstance(one.outcome, Succeeded | Skipped)


def _nanoseconds(moment: float) -> int:
    return int(moment * 1_000_000_000)
