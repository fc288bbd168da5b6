"""The event loop of a worker process, on which async handlers run: one thread, kept between batches.

A client that is bound to its loop (httpx.AsyncClient, an asyncio.Semaphore) can be kept by the handler's module.
The main thread keeps the times, as it does for threads, and settles.
"""

import asyncio
import logging
import sys
import threading
import time
import traceback
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor
from typing import Any, TypeVar

from asgiref.sync import ThreadSensitiveContext

from tasks_app.conf import conf
from tasks_app.core.task import Returned, Task
from tasks_app.database import is_in_transaction

from .batch_run import BatchRun
from .interruption import TIMEOUT, Interrupted, over_shutdown, over_time
from .modes import POLL_SECONDS, Keep, note_ended
from .outcomes import TRACE_LENGTH, Fault, outcome_of, refuse_unrun
from .shift import Ended, Shift
from .sync_threads import CallingThread, FreshThreads, SyncThread
from .watchdog import end_process

log = logging.getLogger(__name__)
Result = TypeVar("Result")
_Ended = tuple[object, BaseException | None]  # what a call answered, or what it raised


def run_on_loop(run: BatchRun, keep: Keep | None = None) -> None:
    """The tasks of a batch on the event loop, `concurrency` at once. `keep(task, answer)` as in `run_each`."""
    shift: Shift[_Place] = Shift(run)
    loop, here = event_loop(), _here()
    watch = _Watch(run, loop, shift, here)
    loop.begin(shift, here)
    while not shift.over:
        if run.halted:
            shift.stop()
        if run.ending:
            watch.stop_soon()
        if here is not None:
            here.serve(POLL_SECONDS)
        note_ended(run, shift.ended(POLL_SECONDS if here is None else 0), keep)
        watch.end_overdue()
        run.flush_if_old()


def awaited(call: Callable[..., Any]) -> Callable[..., Any]:
    """The async call as a plain one for the main thread: an interruption of that thread cancels it on the loop."""

    def call_and_wait(argument: object) -> object:
        one = _OneCall(event_loop(), call, argument)
        try:
            one.begin()
            one.wait()
        except Interrupted as reason:
            one.cancel()
            one.wait()  # if it ignores that, the watchdog ends the process
            if isinstance(one.error, asyncio.CancelledError):
                raise reason from None
        if one.error is not None:
            raise one.error
        return one.answer

    return call_and_wait


class EventLoop:
    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._loop.set_default_executor(FreshThreads(thread_name_prefix="punctual-pool"))
        self._threads: list[SyncThread] = []  # that no task uses now; touched on the loop only
        self._kept: set[asyncio.Task[Any]] = set()
        self._heard_at = 0.0
        self._thread = threading.Thread(target=self._serve, name="punctual-loop", daemon=True)
        self._thread.start()

    # From other threads.

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    def begin(self, shift: "Shift[_Place]", here: CallingThread | None, places: int | None = None) -> None:
        """Let the shift's tasks run in so many places, or in as many as there can be."""
        places = places or min(shift.run.handler.concurrency, len(shift.run.batch.tasks))
        self.soon(lambda: [self.keep(_Place(shift).work(self, here)) for _ in range(places)])

    def soon(self, callback: Callable[..., Any], *args: object) -> None:
        self._loop.call_soon_threadsafe(callback, *args)

    def ask(self) -> None:
        """The answer shows in `heard_at`, unless the loop is blocked."""
        self.soon(self._answer)

    @property
    def heard_at(self) -> float:
        return self._heard_at

    def stack(self) -> str:
        """What its thread is doing now."""
        frame = sys._current_frames().get(self._thread.ident or 0)
        return "".join(traceback.format_stack(frame))[-TRACE_LENGTH:] if frame else ""

    def close_connections(self) -> None:
        """Of the threads that no task uses now: at the end of a test nobody may be connected to its database."""

        async def close() -> None:
            for thread in self._threads:
                await thread.close_connections()

        asyncio.run_coroutine_threadsafe(close(), self._loop).result()

    # On the loop.

    def take_thread(self) -> SyncThread:
        return self._threads.pop() if self._threads else SyncThread()

    def give_thread(self, thread: SyncThread) -> None:
        if thread.busy:
            thread.retire()
        else:
            self._threads.append(thread)

    def keep(self, coroutine: Coroutine[Any, Any, Result]) -> asyncio.Task[Result]:
        """Run it; the loop itself knows its tasks only weakly."""
        task = self._loop.create_task(coroutine)
        self._kept.add(task)
        task.add_done_callback(self._kept.discard)
        return task

    def _answer(self) -> None:
        self._heard_at = time.monotonic()

    def _serve(self) -> None:
        while not self._loop.is_closed():
            try:
                self._loop.run_forever()
            except BaseException as error:
                # A SystemExit out of a task that a handler started beside itself. The others go on.
                log.error("event_loop.escaped error=%r", error)


class _Place:
    """Where one task after the other runs on the loop, with a thread for their synchronous calls."""

    def __init__(self, shift: "Shift[_Place]") -> None:
        self._shift = shift
        self._task: Task | None = None
        self._call: asyncio.Task[Any] | None = None
        self._reason: Interrupted | None = None
        self._given_up = False

    async def work(self, loop: EventLoop, here: CallingThread | None) -> None:
        thread = here or loop.take_thread()
        while not self._given_up and (task := self._shift.take(self)) is not None:
            self._task, self._reason = task, None
            # A task of its own each: what it sets in its context is not seen by the next.
            self._call = asyncio.create_task(self._perform(task, thread))
            left = await self._call
            if thread.busy and isinstance(thread, SyncThread):
                thread.retire()
                thread = SyncThread()
            elif left is not None:
                answer, error = left
                self._give(task, answer, await thread.leave(error))
        if here is not None:
            here.wake()
        elif isinstance(thread, SyncThread):
            loop.give_thread(thread)

    def cancel(self, task: Task, reason: Interrupted) -> None:
        """On the loop: unless this place has gone on to another task meanwhile."""
        if self._task is task and self._call is not None:
            self._reason = reason
            self._call.cancel()

    async def _perform(self, task: Task, thread: SyncThread | CallingThread) -> tuple[Any, ...] | None:
        """Returns what is to be given when the thread has been left; None if it was given already."""
        run = self._shift.run
        if run.lapsed:  # while others had the loop
            self._give(task, None, Fault(Returned()))
            return None
        answer, error = await _outcome(run.handler.call, task, thread)
        if isinstance(error, asyncio.CancelledError) and self._reason is not None:
            error = self._reason
        if thread.used and not thread.busy:
            return answer, error
        # In the same step of the loop as the handler's end: another task may block the loop in the next one.
        self._give(task, answer, error)
        return None

    def _give(self, task: Task, answer: object, error: BaseException | None) -> None:
        self._given_up = not self._shift.give(Ended(task, answer, error, False, time.monotonic()))


class _OneCall:
    """One call on the loop that the main thread waits for."""

    def __init__(self, loop: EventLoop, call: Callable[..., Any], argument: object) -> None:
        self._loop = loop
        self._call = call
        self._argument = argument
        self._here = _here()
        self._task: asyncio.Task[Any] | None = None
        self._done = threading.Event()
        self.answer: object = None
        self.error: BaseException | None = None

    def begin(self) -> None:
        self._loop.soon(self._begin)

    def cancel(self) -> None:
        self._loop.soon(self._cancel)

    def wait(self) -> None:
        if self._here is None:
            self._done.wait()
            return
        while not self._done.is_set():
            self._here.serve(POLL_SECONDS)

    def _begin(self) -> None:
        thread = self._here or self._loop.take_thread()
        self._task = self._loop.keep(_outcome(self._call, self._argument, thread))
        self._loop.keep(self._finish(self._task, thread))

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()
        else:  # the interruption came before it was begun
            self.error = asyncio.CancelledError()
            self._done.set()

    async def _finish(self, task: asyncio.Task[_Ended], thread: SyncThread | CallingThread) -> None:
        self.answer, error = await task
        self.error = error if thread.busy or not thread.used else await thread.leave(error)
        if isinstance(thread, SyncThread):
            self._loop.give_thread(thread)
        self._done.set()
        if self._here is not None:
            self._here.wake()


async def _outcome(call: Callable[..., Any], argument: object, thread: Executor) -> _Ended:
    """What the call answered or raised. Nothing is raised here: a SystemExit would end the loop."""
    try:
        async with ThreadSensitiveContext(executor=thread):
            answer = await call(argument)
        if answer is not None:
            refuse_unrun(answer)
        return answer, None
    except BaseException as error:
        return None, error


class _Watch:
    """The times of a shift, kept by the main thread: it cancels what is overdue, and gives up what ignores that."""

    def __init__(self, run: BatchRun, loop: EventLoop, shift: Shift[_Place], here: CallingThread | None) -> None:
        self._run = run
        self._loop = loop
        self._shift = shift
        self._here = here
        self._stop_by: float | None = None
        self._cancelled: dict[int, tuple[float, Interrupted]] = {}  # task id -> when, why
        self._asked_since = 0.0

    def stop_soon(self) -> None:
        self._stop_by = self._stop_by or time.monotonic() + conf().SHUTDOWN_SECONDS

    def end_overdue(self) -> None:
        now, grace = time.monotonic(), conf().TIMEOUT_GRACE_SECONDS
        waiting: list[Interrupted] = []
        for task, place in self._shift.working:
            since, reason = self._cancelled.get(task.id, (now, None))
            if reason is None:
                reason = self._reason_to_end(task, now)
                if reason is None:
                    continue
                self._cancelled[task.id] = now, reason
                self._loop.soon(place.cancel, task, reason)
            if now - since > grace and self._loop.heard_at > since + grace / 2:
                self._give_up(task, reason)
            else:
                waiting.append(reason)
        if waiting:
            self._look_for_block(now, grace, waiting[0])
        else:
            self._asked_since = 0.0

    def _reason_to_end(self, task: Task, now: float) -> Interrupted | None:
        timeout = self._run.timeout_of(task)
        if now - self._run.begun[task.id] > timeout:
            return over_time(timeout)
        if self._stop_by is not None and now > self._stop_by:
            return over_shutdown(conf().SHUTDOWN_SECONDS)
        return None

    def _give_up(self, task: Task, reason: Interrupted) -> None:
        """It swallows its cancellation, while the loop runs the others."""
        if not self._shift.give_up(task):
            return  # it has just ended after all
        if reason.code == TIMEOUT:
            self._run.end(task, outcome_of(reason))
        # Else it can't be stopped for certain, so it has no outcome: its lease decides.
        batch = self._run.batch
        log.error(
            "task.stuck batch=%s type=%s id=%s reason=%r", batch.batch_no, batch.task_type, task.id, reason.message
        )
        self._loop.begin(self._shift, self._here, places=1)

    def _look_for_block(self, now: float, grace: float, reason: Interrupted) -> None:
        """A loop that answers nobody is blocked by one of its tasks, and no other can be stopped either."""
        self._asked_since = self._asked_since or now
        if now - max(self._asked_since, self._loop.heard_at) <= grace or not self._run.guarded:
            self._loop.ask()
            return
        self._run.backend_pid = None  # of the last apply: it has ended, and was in this very thread
        words = f"{reason.message}; the event loop was blocked here:\n\n{self._loop.stack()}"
        end_process(self._run, Interrupted(reason.code, words))


def _here() -> CallingThread | None:
    """In a transaction, which is a test's: its rows are seen in this thread only."""
    return CallingThread() if is_in_transaction() else None


_the_loop: EventLoop | None = None


def event_loop() -> EventLoop:
    """The process's loop; a forked child makes its own."""
    global _the_loop
    if _the_loop is None or not _the_loop.alive:
        _the_loop = EventLoop()
    return _the_loop
