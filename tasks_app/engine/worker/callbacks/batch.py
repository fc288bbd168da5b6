"""A batch of callbacks: what they need is read once for all, the calls go out beside those of other batches, and what
was seen of the hosts is written down about once a second."""

import logging
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db import DatabaseError, InterfaceError

from tasks_app import outgoing
from tasks_app.conf import conf
from tasks_app.core.callbacks import Callback
from tasks_app.core.errors import InvalidTask, UnrecoverableError
from tasks_app.core.hosts import HOST_UNWELL, host_of, until_tried
from tasks_app.core.parameters import BAD_PAYLOAD
from tasks_app.core.receivers import receiver_of
from tasks_app.core.safeguards import HOST
from tasks_app.core.task import Returned, Task
from tasks_app.engine import tracing
from tasks_app.engine.wakeup import SENDER
from tasks_app.engine.worker.batch_run import BatchRun, again_on_infrastructure_fault
from tasks_app.engine.worker.interruption import OverShutdown, OverTime, interrupt_thread, over_time
from tasks_app.engine.worker.modes import note_ended
from tasks_app.engine.worker.outcomes import Fault, outcome_of
from tasks_app.engine.worker.shift import Ended
from tasks_app.engine.worker.surroundings import surrounded
from tasks_app.lifecycle import hosts, scopes
from tasks_app.lifecycle.hosts import NOTHING_KNOWN, Called, Leave, unwell_words
from tasks_app.lifecycle.named_secrets import opened
from tasks_app.lifecycle.settle import Settled
from tasks_app.sql import array
from tasks_app.sql import run as run_sql

from . import lines
from .answers import NO_ANSWER, REFUSED, HostFailed, result_of
from .endpoints import endpoint_of
from .lines import Line
from .requests import Prepared, Secrets, request_of
from .switchboard import POLL_SECONDS, Call, switchboard

log = logging.getLogger(__name__)

OWN_SHARE = 0.95  # of a job's own time-out that the call may take: it ends before it would be interrupted


def run_callbacks(run: BatchRun) -> None:
    """Make the calls of the batch, and return when they have ended."""
    batch = OpenBatch(run, threading.Event())
    batch.open()
    while not batch.tick():
        batch.wake.wait(POLL_SECONDS)
        batch.wake.clear()
    batch.close()


class OpenBatch:
    """A batch whose calls are being made. The switchboard takes calls from its lines, under its own lock; all else is
    done by one thread, its driver: it keeps the times and writes the outcomes."""

    def __init__(self, run: BatchRun, wake: threading.Event) -> None:
        self.run = run
        self.wake = wake  # set when its calls have ended, or have news of a host
        self.ended: list[Ended] = []
        self.working: dict[int, Call] = {}  # by task id
        self.returned: Counter[Called] = Counter()  # tasks in `ended` that were sent back since their host is unwell
        self.unused: Counter[str] = Counter()  # by host, permits of calls that were not made
        self.hold_until = time.monotonic() + lines.HOLD_SECONDS
        self.lines: list[Line] = []
        self._leaves: dict[Called, Leave] = {}
        self._held: set[str] = set()  # hosts of which it has places
        self._returned: Counter[Called] = Counter()  # those that are collected, and counted once they are written
        self._stop_by: float | None = None
        self._stopped = False

    def open(self) -> None:
        """Read what the calls need, and let them begin."""
        run, batch_no = self.run, self.run.batch.batch_no
        run.busy = 0.0
        prepared = _prepared(run)
        for task, outcome in _held_back(batch_no, prepared):
            run.end(task, outcome)
            del prepared[task.id]
        wanted: dict[Called, list[Task]] = {}
        for task, one in prepared.values():
            wanted.setdefault(Called(task.tenant, one.host), []).append(task)
        if wanted:
            numbers = {called: len(tasks) for called, tasks in wanted.items()}
            most = conf().CALLBACK_CONNECTIONS
            self._leaves = again_on_infrastructure_fault(lambda: hosts.ask(batch_no, numbers, most))
            secrets = again_on_infrastructure_fault(lambda: opened(_secrets_of(prepared)))
            calls = _Calls({task_id: one for task_id, (_, one) in prepared.items()}, secrets)
            self.call = surrounded(run, calls.perform, each=True)
            self._held = {called.host for called, leave in self._leaves.items() if leave.places}
        self.lines = [
            Line(self, endpoint_of(called), self._leaves.get(called, NOTHING_KNOWN), tasks)
            for called, tasks in wanted.items()
        ]
        switchboard().open(self)

    # Under the lock of the switchboard.

    @property
    def begun(self) -> bool:
        """Whether all of its calls have begun, or were sent back."""
        return not any(line.waiting for line in self.lines)

    def note_if_over(self) -> None:
        if not self.working and self.begun:
            self.wake.set()

    def send_back(self, returned: Sequence[tuple[Task, Returned]]) -> None:
        now = time.monotonic()
        self.ended += [Ended(task, None, Fault(outcome), False, now) for task, outcome in returned]

    @property
    def over(self) -> bool:
        return self.begun and not self.working and not self.ended

    # The driver's.

    def tick(self) -> bool:
        """Note what has ended. Returns whether all of it has."""
        run = self.run
        if run.halted and not self._stopped:
            self._stopped = True
            switchboard().stop(self)
        if run.ending:
            self._stop_by = self._stop_by or time.monotonic() + conf().SHUTDOWN_SECONDS
        ended, returned = switchboard().collect(self)
        self._returned.update(returned)
        called = sum(one.at - run.begun.get(one.task.id, one.at) for one in ended)
        run.busy = (run.busy or 0.0) + called / conf().CALLBACK_CONNECTIONS
        note_ended(run, ended, None)
        self._give_up_overdue()
        if self._held:
            self._let_others_call()
        over = switchboard().is_over(self)
        if not over:
            old = bool(run.done) and run.is_old()
            if old or any(line.has_news for line in self.lines):
                self._note_hosts()
                self._give_back_permits()
            if old:
                self._write(finish=False)
        return over

    def close(self) -> None:
        """All of its calls have ended: write the remaining outcomes. Tasks that never started become due again."""
        batch_no = self.run.batch.batch_no
        with _outcomes_matter_more(batch_no):
            again_on_infrastructure_fault(lambda: hosts.release(batch_no, self._leaves))
        self._note_hosts()
        self._give_back_permits()
        self.run.return_rest()
        self._write(finish=True)
        switchboard().close(self)

    def _note_hosts(self) -> None:
        batch_no = self.run.batch.batch_no
        with _outcomes_matter_more(batch_no):
            if self.lines and (tried := switchboard().take_tried(self)):
                scopes.note_calls(tried, self.run.batch.tasks[0].lane)
        seen, known = switchboard().take_seen(self)
        if not seen:
            return
        with _outcomes_matter_more(batch_no):
            noted = again_on_infrastructure_fault(lambda: hosts.note(batch_no, seen, known))
            for row in noted.failing.values():
                if row.unwell:
                    switchboard().shut(Called(row.tenant, row.host), max(0.0, row.try_in or 0.0))
            for called in noted.well_again:
                SENDER.wake(hosts.release_waiting(called))

    def _give_back_permits(self) -> None:
        if unused := switchboard().take_unused(self):
            with _outcomes_matter_more(self.run.batch.batch_no):
                hosts.give_back(unused)

    def _write(self, *, finish: bool) -> None:
        """Write the outcomes. A host may recover before they are written, and its release misses what is not written
        yet: tasks whose host is well before become due within seconds, those whose host is well after are released."""
        batch_no, returned = self.run.batch.batch_no, self._returned
        self._returned = Counter()
        waiting: list[Called] = []
        if returned:
            with _outcomes_matter_more(batch_no):
                waiting = hosts.count_returned(returned)
                for called in returned.keys() - waiting:
                    self.run.done = [_hurried(one) if _waits_for(one, called) else one for one in self.run.done]
        self.run.flush(finish=finish)
        if waiting:
            with _outcomes_matter_more(batch_no):
                for called in hosts.recovered(waiting):
                    SENDER.wake(hosts.release_waiting(called))

    def _give_up_overdue(self) -> None:
        now = time.monotonic()
        for call in list(self.working.values()):
            task = call.task
            timeout = self.run.timeout_of(task)
            overdue = now - self.run.begun[task.id] > timeout
            if not overdue and (self._stop_by is None or now < self._stop_by):
                continue
            if not switchboard().give_up(self, call):
                continue  # it has just ended after all
            if overdue:
                self.run.end(task, outcome_of(over_time(timeout)))
            # Else it can't be stopped for certain, so it has no outcome: its lease decides.
            interrupt_thread(call.thread, OverTime if overdue else OverShutdown)

    def _let_others_call(self) -> None:
        """Release the slots of hosts this batch has finished with; its calls to other hosts may take long."""
        done = self._held - switchboard().left_hosts(self)
        if done:
            self._held -= done
            leaves = {called: leave for called, leave in self._leaves.items() if called.host in done}
            with _outcomes_matter_more(self.run.batch.batch_no):
                hosts.release(self.run.batch.batch_no, leaves)


@contextmanager
def _outcomes_matter_more(batch_no: UUID) -> Iterator[None]:
    """What is held is free when the batch ends, and the next batch sees the hosts itself."""
    try:
        yield
    except (DatabaseError, InterfaceError) as error:
        log.warning("hosts.not_noted batch=%s error=%r", batch_no, str(error).strip())


def _prepared(run: BatchRun) -> dict[int, tuple[Task, Prepared]]:
    """By task id; what has expired, or whose payload no longer fits, has its outcome already."""
    found, facts = {}, _facts(run)
    for task in run.unanswered():
        if run.expired(task):
            run.expire(task)
            continue
        try:
            callback = _callback(run, task)
            job, fire_time = facts.get(task.id, (None, task.execute_time))
            found[task.id] = task, Prepared(callback, host_of(receiver_of(callback.url)), job, fire_time)
        except InvalidTask as error:
            run.begin(task)
            run.end(task, outcome_of(UnrecoverableError(str(error), code=BAD_PAYLOAD)))
        except UnrecoverableError as error:
            run.begin(task)
            run.end(task, outcome_of(error))
    return found


def _waits_for(one: Settled, called: Called) -> bool:
    outcome = one.outcome
    if not isinstance(outcome, Returned) or outcome.code != HOST_UNWELL or one.task.tenant != called.tenant:
        return False
    return outcome.reason.startswith(unwell_words(called.host))


def _hurried(one: Settled) -> Settled:
    assert isinstance(one.outcome, Returned)
    return one._replace(outcome=replace(one.outcome, delay=until_tried(0.0, 0, 0)))


def _held_back(batch_no: UUID, prepared: dict[int, tuple[Task, Prepared]]) -> list[tuple[Task, Returned]]:
    """Retries that wait since a safeguard slows those of their endpoint."""
    retries: dict[str, list[Task]] = {}
    for task, one in prepared.values():
        if task.attempt > 1:
            retries.setdefault(HOST + one.host, []).append(task)
    return again_on_infrastructure_fault(lambda: scopes.held_back(batch_no, retries)) if retries else []


def _callback(run: BatchRun, task: Task) -> Callback:
    parameters: Any = run.handler.parameters  # of ours, which has some
    callback: Callback
    [callback], _ = parameters.load(task.payload)
    if task.own is not None and task.own.timeout is not None:
        return replace(callback, timeout=min(callback.timeout, OWN_SHARE * task.own.timeout))
    return callback


def _facts(run: BatchRun) -> dict[int, tuple[str | None, datetime]]:
    """The names of the jobs, and the times that their instances stand for."""
    instances = [task.id for task in run.batch.tasks if task.job is not None]
    if not instances:
        return {}
    rows = again_on_infrastructure_fault(lambda: run_sql("callback_facts", {"ids": array(instances)}))
    return {task_id: (name, fire_time.astimezone(UTC)) for task_id, name, fire_time in rows if fire_time is not None}


def _secrets_of(prepared: dict[int, tuple[Task, Prepared]]) -> set[tuple[str, str]]:
    wanted = set()
    for task, one in prepared.values():
        wanted |= {(task.tenant, value["secret"]) for value in one.callback.secrets.values()}
        if one.callback.sign:
            wanted.add((task.tenant, one.callback.sign))
    return wanted


class _Calls:
    """The calls of one batch, each made in a thread of its crew. They never touch the database."""

    def __init__(self, prepared: dict[int, Prepared], secrets: Secrets) -> None:
        self._prepared = prepared
        self._secrets = secrets

    def perform(self, task: Task) -> object:
        one = self._prepared[task.id]
        callback, receiver = one.callback, receiver_of(one.callback.url)
        request = request_of(task, one, self._secrets)
        headers = tracing.headers() | request.headers
        try:
            answer = outgoing.call(callback.method, callback.url, request.body, headers, timeout=callback.timeout)
        except outgoing.Refused as error:
            raise UnrecoverableError(str(error), code=REFUSED) from None
        except outgoing.Unreachable as error:
            raise HostFailed(f"{callback.method}: {error}", code=NO_ANSWER) from None
        return result_of(callback, receiver, answer, request.hidden)
