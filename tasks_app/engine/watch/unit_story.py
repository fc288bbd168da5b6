"""All that is known of one unit, in order of time: its tasks, their failed tries, what they logged, what was told, what
people did."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import chain, islice
from typing import NamedTuple

from tasks_app.core.events import OutboxRow
from tasks_app.lifecycle.logs import lines_of
from tasks_app.lifecycle.tries import error_of, try_of
from tasks_app.models import AnyTask, AuditEntry, TaskAttempt, TaskLog
from tasks_app.sql import array, run

CHUNK = 200  # tasks whose tries, events and entries are read at a time
EVENT_LAG = timedelta(minutes=1)  # what a statement tells has the moment at which it began, or was its turn


class Happening(NamedTuple):
    at: datetime
    task_id: int
    what: str  # task, attempt, log, event or audit
    words: str


def story(tasks: Iterable[AnyTask]) -> Iterator[Happening]:
    """Of tasks from the oldest to the newest, as it happened; CHUNK tasks are in memory at a time."""
    tasks = iter(tasks)
    waiting: list[Happening] = []
    while chunk := list(islice(tasks, CHUNK)):
        # What happened before the first of these was made can't be followed by anything earlier.
        waiting.sort()
        begin = min(task.created_at for task in chunk)
        ready = [one for one in waiting if one.at < begin]
        yield from ready
        found = (_of_tasks(chunk), _of_attempts(chunk), _of_logs(chunk), _of_events(chunk), _of_audit(chunk))
        waiting = [*waiting[len(ready) :], *chain.from_iterable(found)]
    yield from sorted(waiting)


def _of_tasks(tasks: Sequence[AnyTask]) -> Iterator[Happening]:
    for task in tasks:
        fired = f", fired by job {task.job}" if task.job else ""
        asked = f", asked for by {task.asked_by}" if task.asked_by else ""
        yield Happening(task.created_at, task.id, "task", f"created for {_moment(task.execute_time)}{fired}{asked}")
        run, error = try_of(task), error_of(task)
        if task.status == "SUCCESS":
            where = f" on {task.worker}" if task.worker else ""
            yield Happening(run.finished_at or task.updated_at, task.id, "task", f"SUCCESS{where}")
        elif not task.live:
            who = f" by {task.cancelled_by}" if task.cancelled_by else ""
            why = f": {error.code} {error.message}".rstrip() if error.code or error.message else ""
            yield Happening(run.finished_at or task.updated_at, task.id, "task", f"{task.status}{who}{why}")
        else:
            due = f", due {_moment(task.due_at)}" if task.due_at else ""
            yield Happening(task.updated_at, task.id, "task", f"now {'Queued' if task.queued else task.status}{due}")


def _of_attempts(tasks: Sequence[AnyTask]) -> Iterator[Happening]:
    for one in TaskAttempt.objects.filter(task_id__in=[task.id for task in tasks]).iterator():
        words = f"try {one.attempt} failed on {one.worker}: {one.error_code} {one.error_msg}".rstrip()
        yield Happening(one.finished_at, one.task_id, "attempt", words)


def _of_logs(tasks: Sequence[AnyTask]) -> Iterator[Happening]:
    for one in TaskLog.objects.filter(task_id__in=[task.id for task in tasks]).iterator():
        if one.dropped:
            words = f"try {one.attempt} logged {one.dropped:,} lines before these, which are not kept"
            yield Happening(one.started_at, one.task_id, "log", words)
        for line in lines_of(one):
            yield Happening(line.at, one.task_id, "log", f"{line.level} {line.text}".lstrip())


def _of_events(tasks: Sequence[AnyTask]) -> Iterator[Happening]:
    """Those that say more than the task and its tries do, as far as they are kept."""
    asked = {
        "since": min(task.created_at for task in tasks),
        "until": max(task.updated_at for task in tasks) + EVENT_LAG,
        "kinds": list(_TOLD),
        "tasks": array(task.id for task in tasks),
    }
    mine = {task.id for task in tasks}
    for row in run("events_of_tasks", asked):
        for event in OutboxRow(*row).events():
            if event.task is not None and event.task in mine:
                data = event.data if isinstance(event.data, dict) else {}
                yield Happening(event.time, event.task, "event", _TOLD[event.type].format_map(data))


_TOLD = {
    "task.updated": "moved from {old} to {new}",
    "task.replaced": "takes over from task {replaces}, which was running",
    "task.late": "began {late_seconds:.1f} s late",
    "task.snoozed": "snoozed until {until}",
    "task.replayed": "replayed by {by}",
}


def _of_audit(tasks: Sequence[AnyTask]) -> Iterator[Happening]:
    for one in AuditEntry.objects.filter(task_id__in=[task.id for task in tasks]).iterator():
        words = f"{one.actor}: {one.verb}, {one.outcome}. {one.reason}"
        yield Happening(one.created_at, one.task_id, "audit", words)


def _moment(at: datetime) -> str:
    return at.isoformat(timespec="seconds")
