"""From django-celery-beat's tables to jobs: what each periodic task becomes, and what can't be carried over."""

import json
import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from fractions import Fraction

from django.db import connection, transaction
from django.utils import timezone

from tasks_app.core.celery_call import CELERY_TASK, celery_call
from tasks_app.core.errors import InvalidTask, NameTaken
from tasks_app.core.lanes import LANES
from tasks_app.lifecycle import jobs
from tasks_app.lifecycle.audit import Operator
from tasks_app.lifecycle.job_request import JobRequest, columns
from tasks_app.models import JobDefinition

TABLE = "django_celery_beat_periodictask"
LEFT_ALONE = "left alone"
_THERE = f"a job of this name is there already; {LEFT_ALONE}"
_PERIODS = {"days": 86_400, "hours": 3_600, "minutes": 60, "seconds": 1, "microseconds": Fraction(1, 1_000_000)}
_ROWS = f"""
SELECT to_jsonb(p), to_jsonb(c), to_jsonb(i), to_jsonb(k), k.clocked_time, p.start_time, p.expires
FROM {TABLE} p
LEFT JOIN django_celery_beat_crontabschedule c ON c.id = p.crontab_id
LEFT JOIN django_celery_beat_intervalschedule i ON i.id = p.interval_id
LEFT JOIN django_celery_beat_clockedschedule k ON k.id = p.clocked_id
ORDER BY p.id
"""


@dataclass
class Carried:
    """One periodic task: the job it becomes, and what is lost on the way."""

    name: str
    request: JobRequest | None = None
    enabled: bool = True
    lost: list[str] = field(default_factory=list)
    refused: str = ""  # why there is no job


def tables_exist() -> bool:
    return TABLE in connection.introspection.table_names()


def read() -> list[Carried]:
    with connection.cursor() as cursor:
        cursor.execute(_ROWS)
        rows = [[json.loads(one) if isinstance(one, str) else one for one in row] for row in cursor.fetchall()]
    return [_carried(*row) for row in rows]


def leave_what_is_there(found: list[Carried], tenant: str) -> None:
    """A job that is there already is left alone, so that the command can be run again."""
    names = [one.name for one in found]
    there = set(JobDefinition.objects.filter(tenant=tenant, name__in=names).values_list("name", flat=True))
    for one in found:
        if one.request is not None and one.name in there:
            one.refused, one.request = _THERE, None


def carry_over(found: Carried, tenant: str, operator: Operator) -> None:
    """Create the job. One that is disabled is paused in the same transaction, so that nothing of it can run."""
    if found.request is None:
        return
    try:
        with transaction.atomic():
            job = jobs.create(found.request, operator, tenant).job
            if not found.enabled:
                jobs.pause(job.id, Operator(operator.name, "disabled in django-celery-beat"), tenant=tenant)
    except NameTaken:
        found.refused, found.request = _THERE, None


def _carried(task, crontab, interval, clocked, clocked_time, start_time, expires) -> Carried:
    found = Carried(task["name"], enabled=task["enabled"])
    try:
        payload = {"task": task["task"], "args": json.loads(task["args"] or "[]")}
        payload["kwargs"] = json.loads(task["kwargs"] or "{}")
        celery_call(payload)
        when = _when(crontab, interval, clocked_time if clocked else None)
        if clocked and not found.enabled and clocked_time <= timezone.now():
            raise InvalidTask(f"its one time has passed, and it is disabled; {LEFT_ALONE}")
    except (InvalidTask, ValueError) as error:
        found.refused = str(error)
        return found
    lane = task["queue"] if task["queue"] in LANES else ""
    if task["queue"] and not lane:
        found.lost.append(f"queue {task['queue']!r} is no lane; the default lane is used")
    for name in ("exchange", "routing_key", "priority"):
        if task.get(name) not in (None, ""):
            found.lost.append(f"{name} {task[name]!r}")
    if task.get("headers") not in (None, "", "{}"):
        found.lost.append("headers")
    found.request = JobRequest(
        name=found.name,
        task_type=CELERY_TASK,
        payload=payload,
        lane=lane,
        start_at=_next_run(task, when) or start_time,
        end_at=expires,
        expires_after=task.get("expire_seconds"),
        max_runs=1 if task["one_off"] and not clocked else None,
        **when,
    )
    try:
        columns(found.request, timezone.now())  # so that a dry run tells what a real one would
    except InvalidTask as error:
        found.refused, found.request = str(error), None
    return found


def _next_run(task: dict, when: dict) -> datetime | None:
    """An interval goes on from its last run, as it does in Celery: one of a week does not begin anew."""
    if "every" not in when or not task.get("last_run_at"):
        return None
    return datetime.fromisoformat(task["last_run_at"]) + timedelta(seconds=when["every"])


def _when(crontab: dict | None, interval: dict | None, clocked_time) -> dict:
    if clocked_time is not None:
        return {"at": clocked_time}
    if interval is not None:
        seconds = interval["every"] * _PERIODS[interval["period"]]
        if seconds.denominator != 1:
            raise InvalidTask(f"an interval of {interval['every']} {interval['period']} is no whole number of seconds")
        return {"every": int(seconds)}
    if crontab is None:
        raise InvalidTask("a solar schedule has no counterpart here")
    names = ("minute", "hour", "day_of_month", "month_of_year", "day_of_week")
    # Celery wants both days to match, as our six fields do; and it reads only the first three letters of a name.
    fields = [re.sub(r"([a-zA-Z]{3})[a-zA-Z]*", r"\1", str(crontab[name]).replace(" ", "")) for name in names]
    return {"cron": " ".join(["0", *fields]), "timezone": crontab["timezone"]}
