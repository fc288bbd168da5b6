"""Where the pages of tasks and jobs lead: logs elsewhere, the moments of a life, the history of a job."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.utils.translation import gettext, gettext_lazy

from tasks_app.conf import conf
from tasks_app.console.scope import member
from tasks_app.core.log_url import filled, times
from tasks_app.core.states import UNDER_WAY, Status
from tasks_app.engine.nodes import worker_of
from tasks_app.engine.watch.job_history import History
from tasks_app.engine.watch.replays import Replay
from tasks_app.engine.watch.workers import slot_of
from tasks_app.lifecycle.operate import ORDER
from tasks_app.lifecycle.tries import Try
from tasks_app.models import AuditEntry, TaskAttempt
from tasks_app.models.schedule_task import TaskFields
from tasks_app.pages.charts import Chart, Series, lines
from tasks_app.pages.links import console_url
from tasks_app.pages.spans import span
from tasks_app.pages.timeline import Moment, Timeline, timeline

ENDED = {
    Status.SUCCESS: gettext_lazy("succeeded"),
    Status.DEAD: gettext_lazy("gave up"),
    Status.CANCELLED: gettext_lazy("cancelled"),
}
MOVES = ("move", "reschedule")


def logs_of(task: TaskFields, worker: str | None, batch: object, began: datetime | None, ended: datetime | None) -> str:
    """Where the project's log system has this try; empty: it names none, or whoever asks works in one tenant."""
    url = conf().LOG_URL
    if not url or not worker or member() is not None:
        return ""
    about = {"task": task.id, "type": task.task_type, "key": task.biz_key, "tenant": task.tenant, "job": task.job}
    about |= {"batch": batch, "worker": worker, "host": worker_of(worker).rpartition(":")[0], "pid": slot_of(worker)}
    return filled(url, about | times(began, ended))


def life(
    task: TaskFields,
    run: Try,
    attempts: Iterable[TaskAttempt],
    replays: Iterable[Replay],
    entries: Iterable[AuditEntry],
    claimed_at: datetime | None,
) -> Timeline:
    """Planned, moved, due, claimed, started, ended: as far as it is known."""
    attempts = list(attempts)
    moments = [Moment(task.created_at, gettext("created"))]
    moments += [
        Moment(
            one.created_at,
            gettext("moved to {time} by {who}").format(time=(one.detail or {}).get("at", "?"), who=one.actor),
            "primary",
            url=console_url("punctual_auditentry_change", one.id),
        )
        for one in entries
        if one.verb in MOVES
    ]
    moments.append(Moment(task.execute_time, gettext("scheduled for this time"), "primary"))
    for one in attempts:
        if one.started_at is not None:
            words = gettext("try {attempt} started").format(attempt=one.attempt)
            moments.append(Moment(one.started_at, words, "info", runs=True))
        words = gettext("try {attempt} failed: {code}").format(attempt=one.attempt, code=one.error_code)
        moments.append(Moment(one.finished_at, words, "warning"))
    moments += [
        Moment(one.at, gettext("replayed by {who}").format(who=one.by or gettext("the scheduler")), "primary")
        for one in replays
    ]
    told = {one.batch_no for one in attempts}
    if run.due_at is not None and run.due_at != task.execute_time:
        moments.append(Moment(run.due_at, gettext("due"), "primary"))
    if run.allowed_at is not None:
        moments.append(Moment(run.allowed_at, gettext("could start: its limit or its lane had kept it waiting")))
    if claimed_at is not None:
        moments.append(Moment(claimed_at, gettext("claimed"), "info"))
    if run.batch not in told:
        if run.started_at is not None:
            moments.append(Moment(run.started_at, gettext("started"), "info", runs=True))
        if run.finished_at is not None and task.status not in UNDER_WAY:
            moments.append(_end(task, run.finished_at))
    if task.due_at is not None and task.due_at != task.execute_time:
        moments.append(Moment(task.due_at, gettext("due again"), "primary"))
    return timeline(moments)


def _end(task: TaskFields, at: datetime) -> Moment:
    tone = {Status.SUCCESS: "success", Status.DEAD: "danger"}.get(task.status, "plain")
    return Moment(at, str(ENDED.get(task.status, gettext("ended"))), tone)


def durations_chart(history: History) -> Chart | None:
    """How long runs took, day by day, the earliest first; None: nothing has ended."""
    days = [
        (day.day, day.middle, day.slowest)
        for day in reversed(history.days)
        if day.middle is not None and day.slowest is not None
    ]
    if not days:
        return None
    _, middle, slowest = days[-1]
    summary = gettext("Half of the runs of the last day took at most {middle}, the longest {slowest}.").format(
        middle=span(middle), slowest=span(slowest)
    )
    if trend := history.trend:
        earlier, later = trend
        summary += " " + gettext("Half of them took at most {later} lately, and {earlier} before that.").format(
            later=span(later), earlier=span(earlier)
        )
    series = [
        Series(gettext("Middle"), "pu-p50", [_ms(middle) for _, middle, _ in days]),
        Series(gettext("Longest"), "pu-p99", [_ms(slowest) for _, _, slowest in days]),
    ]
    labels = [f"{day:%Y-%m-%d}" for day, _, _ in days]
    return lines("durations", gettext("How long it ran, by day"), summary, labels, series, step=gettext("Day"))


def _ms(value: timedelta) -> float:
    return value.total_seconds() * 1000


def link_of(entry: AuditEntry) -> str:
    """The page of what an entry is about; empty: it has none."""
    kind = next((one for one in _PAGES if entry.subject.startswith(f"{one} ")), entry.subject.partition(" ")[0])
    name = entry.subject.removeprefix(f"{kind} ")
    if kind in _PAGES and (name.isdecimal() or kind == "worker"):
        return console_url(_PAGES[kind], name)
    if entry.subject.startswith(ORDER):
        return console_url("punctual_operation", entry.operation)
    if kind == "lane":
        return console_url("punctual_node_changelist")
    return "" if entry.task_id is None else console_url("punctual_scheduletask_change", entry.task_id)


# By how a subject begins; what follows is its number, or a worker's name.
_PAGES = {
    "job": "punctual_jobdefinition_change",
    "calendar": "punctual_calendar_change",
    "campaign": "punctual_campaign_change",
    "run": "punctual_graphrun_change",
    "dead letter": "punctual_dlqentry_change",
    "worker": "punctual_worker",
}
