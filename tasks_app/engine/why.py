"""Why is this not running? The one rule that holds a task or a job, in words a person can act on. Reads only."""

from datetime import datetime
from typing import NamedTuple

from tasks_app.conf import conf
from tasks_app.core.handlers import REGISTRY
from tasks_app.core.jobs import JobStatus
from tasks_app.core.schedule import in_zone
from tasks_app.core.states import Status
from tasks_app.lifecycle.claim import LaneView, peek
from tasks_app.lifecycle.job_look import state_in_words
from tasks_app.models import JobDefinition, ScheduleTask, TaskBatch
from tasks_app.sql import run

from .status import dispatcher_is_alive

COUNTED = 10_000  # tasks before this one, at most


class Reason(NamedTuple):
    rule: str  # for programs
    words: str  # for people


def why_task(task: ScheduleTask) -> Reason:
    if task.status == Status.RUNNING:
        return _running(task)
    if task.status == Status.BLOCKED:
        return Reason("blocked", "It waits for the tasks before it.")
    if task.due_at is None:
        return _finished(task)
    now = run("clock", {})[0][0]
    if task.due_at > now:
        return _not_due(task)
    return _due(task, now)


def why_job(job: JobDefinition) -> Reason:
    if job.status == JobStatus.PAUSED:
        return Reason("job_paused", f"{state_in_words(job)}.".replace("..", "."))
    if REGISTRY.get(job.task_type) is None:
        return Reason(
            "unknown_handler", f"This process knows no handler {job.task_type!r}. Deploy the code that has it."
        )
    waiting = ScheduleTask.objects.filter(job=job.id, due_at__isnull=False).order_by("fire_time").first()
    if waiting is not None:
        reason = why_task(waiting)
        return Reason(
            reason.rule, f"Its instance {waiting.id} for {in_zone(waiting.fire_time, job.timezone)}: {reason.words}"
        )
    running = ScheduleTask.objects.filter(job=job.id, status=Status.RUNNING).order_by("fire_time").first()
    if running is not None:
        return _running(running)
    words = state_in_words(job)
    return Reason("ended" if words.startswith("Fires no more") else "not_due", words)


def _finished(task: ScheduleTask) -> Reason:
    if task.status == Status.SUCCESS:
        return Reason("done", f"It has run: {_instant(task.start_time)}.")
    if task.status == Status.DEAD:
        return Reason(
            "dead", f"It gave up after {task.attempt} failures: {task.error_code}: {_first_line(task)}. Retry it."
        )
    by = f" by {task.cancelled_by}" if task.cancelled_by else ""
    return Reason("cancelled", f"It was cancelled{by}: {_first_line(task) or task.error_code}.")


def _running(task: ScheduleTask) -> Reason:
    batch = TaskBatch.objects.filter(batch_no=task.batch_no).first()
    if batch is None or batch.finished_at is not None:
        return Reason(
            "lost", "Its batch is gone; it is due again within ten minutes, when the beats look for such tasks."
        )
    if batch.started_at is None:
        if not _lane(task.lane).slots:
            return Reason("no_worker", f"It is claimed, but no worker consumes lane {task.lane!r}.")
        return Reason("waits_for_slot", f"It is claimed since {_instant(batch.claimed_at)} and waits for a worker.")
    return Reason("running", f"It runs since {_instant(batch.started_at)} on {batch.worker}.")


def _not_due(task: ScheduleTask) -> Reason:
    until = _instant(task.due_at)
    if task.error_code == "UNKNOWN_HANDLER":
        return _unknown_handler(task)
    if task.status == Status.FAIL:
        return Reason("waits_for_retry", f"It failed ({task.error_code}) and is tried again at {until}.")
    if task.status == Status.SUCCESS:
        return Reason("not_due", f"It has run, and is due again at {until}.")
    return Reason("not_due", f"It is not due until {until}.")


def _due(task: ScheduleTask, now: datetime) -> Reason:
    if not dispatcher_is_alive():
        return Reason("no_dispatcher", "Nobody dispatches: no beat is alive. Start `celery -A scheduler_project beat`.")
    if task.error_code == "UNKNOWN_HANDLER":
        return _unknown_handler(task)
    lane = _lane(task.lane)
    if not lane.slots:
        return Reason(
            "no_worker", f"It is due since {_instant(task.due_at)}, but no worker consumes lane {task.lane!r}."
        )
    ahead = ScheduleTask.objects.filter(shard=task.shard, lane=task.lane, due_at__lt=task.due_at)[:COUNTED].count()
    if lane.waiting >= lane.slots * conf().BATCHES_AHEAD:
        before = f"{ahead:,}{' or more' if ahead == COUNTED else ''} tasks of its shard are due before it"
        return Reason("waits_for_slot", f"Every worker of lane {task.lane!r} is busy, and {before}.")
    late = (now - task.due_at).total_seconds()
    return Reason("about_to_run", f"It is due since {late:.1f} s, and nothing holds it: the next look claims it.")


def _unknown_handler(task: ScheduleTask) -> Reason:
    return Reason(
        "unknown_handler", f"No worker that took it has a handler {task.task_type!r}. Deploy the code that has it."
    )


def _lane(name: str) -> LaneView:
    lanes, _ = peek([])
    return next(lane for lane in lanes if lane.lane == name)


def _instant(at: datetime | None) -> str:
    return "-" if at is None else in_zone(at, "UTC")


def _first_line(task: ScheduleTask) -> str:
    return task.error_msg.splitlines()[0].rstrip(".") if task.error_msg else ""
