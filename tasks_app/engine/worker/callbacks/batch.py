"""A batch of callbacks: what they need is read once for all, the calls are made side by side, and what was seen of the
hosts is written down once."""

import logging
from collections.abc import Iterator, Set
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

from django.db import DatabaseError, InterfaceError

from tasks_app import outgoing
from tasks_app.conf import conf
from tasks_app.core.callbacks import Callback
from tasks_app.core.errors import InvalidTask, UnrecoverableError
from tasks_app.core.hosts import host_of
from tasks_app.core.parameters import BAD_PAYLOAD
from tasks_app.core.receivers import receiver_of
from tasks_app.core.task import Task
from tasks_app.engine import tracing
from tasks_app.engine.worker.batch_run import BatchRun, again_on_infrastructure_fault
from tasks_app.engine.worker.modes import run_in_threads
from tasks_app.engine.worker.outcomes import outcome_of
from tasks_app.engine.worker.surroundings import surrounded
from tasks_app.lifecycle import hosts
from tasks_app.lifecycle.hosts import NOTHING_KNOWN, Called
from tasks_app.lifecycle.named_secrets import opened
from tasks_app.sql import array
from tasks_app.sql import run as run_sql

from .answers import NO_ANSWER, REFUSED, HostFailed, result_of
from .lines import HostShift, Line
from .requests import Prepared, Secrets, request_of

log = logging.getLogger(__name__)

OWN_SHARE = 0.95  # of a job's own time-out that the call may take: it ends before it would be interrupted


def run_callbacks(run: BatchRun) -> None:
    """Make the calls of the batch, as many at once as CALLBACK_CONNECTIONS says."""
    prepared = _prepared(run)
    if not prepared:
        return
    batch_no, most = run.batch.batch_no, conf().CALLBACK_CONNECTIONS
    wanted: dict[Called, list[Task]] = {}
    for task, one in prepared.values():
        wanted.setdefault(Called(task.tenant, one.host), []).append(task)
    numbers = {called: len(tasks) for called, tasks in wanted.items()}
    leaves = again_on_infrastructure_fault(lambda: hosts.ask(batch_no, numbers, most))
    secrets = again_on_infrastructure_fault(lambda: opened(_secrets_of(prepared)))
    calls = _Calls({task_id: one for task_id, (_, one) in prepared.items()}, secrets)
    lines = [Line(called, leaves.get(called, NOTHING_KNOWN), tasks) for called, tasks in wanted.items()]
    # This run's own: the calls of another batch need other things.
    run.handler = replace(run.handler, call=surrounded(run, calls.perform, each=True), concurrency=most)

    def release(of: Set[str]) -> None:
        with _outcomes_matter_more(batch_no):
            hosts.release(batch_no, {called: leave for called, leave in leaves.items() if called.host in of})

    run_in_threads(run, shift=HostShift(run, lines, release))
    with _outcomes_matter_more(batch_no):
        again_on_infrastructure_fault(lambda: hosts.release(batch_no, leaves))
        again_on_infrastructure_fault(lambda: hosts.note(batch_no, {line.called: line.seen for line in lines}, leaves))


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


def _callback(run: BatchRun, task: Task) -> Callback:
    [callback], _ = run.handler.parameters.load(task.payload)
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
