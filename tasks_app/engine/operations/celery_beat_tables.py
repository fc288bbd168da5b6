"""django-celery-beat's tables: what each periodic task becomes here, what can't be carried over, and its switch."""

import json
import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any, NamedTuple

from django.apps import apps
from django.db import DEFAULT_DB_ALIAS, connections, router, transaction
from django.utils import timezone

from tasks_app.core.celery_call import CELERY_TASK, celery_call
from tasks_app.core.errors import InvalidTask
from tasks_app.core.lanes import LANES
from tasks_app.documentation import page
from tasks_app.lifecycle.jobs.request import JobRequest, columns
from tasks_app.sql import Row, execute

TABLE = "django_celery_beat_periodictask"
_CHANGES = "django_celery_beat_periodictasks"
_PERIODS = {"days": 86_400, "hours": 3_600, "minutes": 60, "seconds": 1, "microseconds": Fraction(1, 1_000_000)}
# Written by every run and every switch, so it says nothing about what a person changed.
_OF_RUNS = "{enabled,last_run_at,total_run_count,date_changed}"
_ROWS = f"""
SELECT to_jsonb(p), to_jsonb(c), to_jsonb(i), to_jsonb(k), k.clocked_time, p.start_time, p.expires, p.last_run_at,
       md5((to_jsonb(p) - %(of_runs)s::text[])::text)
FROM {TABLE} p
LEFT JOIN django_celery_beat_crontabschedule c ON c.id = p.crontab_id
LEFT JOIN django_celery_beat_intervalschedule i ON i.id = p.interval_id
LEFT JOIN django_celery_beat_clockedschedule k ON k.id = p.clocked_id
ORDER BY p.id
"""


class _Periodic(NamedTuple):
    """A periodic task as its tables have it. It has one schedule; the others are None."""

    task: dict[str, Any]
    crontab: dict[str, Any] | None
    interval: dict[str, Any] | None
    clocked: dict[str, Any] | None
    clocked_time: datetime | None
    start_time: datetime | None
    expires: datetime | None
    last_run_at: datetime | None
    fingerprint: str


@dataclass
class Carried:
    """One periodic task: the job it becomes, and what is lost on the way."""

    id: int
    name: str
    task: str  # of Celery
    enabled: bool
    once: bool
    last_run_at: datetime | None
    fingerprint: str
    request: JobRequest | None = None
    lost: list[str] = field(default_factory=list)
    refused: str = ""  # why there is no job
    over: bool = False  # and none is wanted


def why_unreadable() -> str:
    """What keeps us from reading the tables, in words; or nothing."""
    theirs = connections[_database()]
    if theirs.vendor != "postgresql":
        return (
            f"django-celery-beat's tables are in the database {theirs.alias!r}, which is {theirs.display_name}; only "
            f"those in PostgreSQL can be read. Create the jobs by hand, as {page('jobs')} shows."
        )
    if TABLE not in theirs.introspection.table_names():
        return f"the database {theirs.alias!r} has no table {TABLE}; there is nothing to import or to take back."
    return ""


def in_their_database() -> AbstractContextManager[None]:
    """A transaction where the tables are, which may be another database than ours."""
    theirs: AbstractContextManager[None] = transaction.atomic(_database())
    return theirs


def _database() -> str:
    alias: str = DEFAULT_DB_ALIAS
    if apps.is_installed("django_celery_beat"):
        alias = router.db_for_write(apps.get_model("django_celery_beat", "PeriodicTask"))
    return alias


def read() -> list[Carried]:
    return [_carried(_Periodic(*row)) for row in _execute(_ROWS, {"of_runs": _OF_RUNS})]


def lock_tables() -> None:
    """Nobody else imports, takes back or switches until the end of the transaction."""
    _execute(f"SELECT id FROM {TABLE} ORDER BY id FOR UPDATE", {})


def switch_off(ids: Sequence[int]) -> None:
    """As django-celery-beat does it: whoever switches one on again begins anew, and does not make up for the time."""
    _execute(
        f"UPDATE {TABLE} SET enabled = FALSE, last_run_at = NULL, date_changed = clock_timestamp() "
        "WHERE id = ANY (%(ids)s) RETURNING id",
        {"ids": list(ids)},
    )
    _tell_beats()


def switch_on(last_runs: dict[int, datetime | None]) -> None:
    """Each goes on from when it has run last, whoever ran it."""
    _execute(
        f"UPDATE {TABLE} p SET enabled = TRUE, last_run_at = u.last_run_at, date_changed = clock_timestamp() "
        "FROM unnest(%(ids)s::bigint[], %(last_runs)s::timestamptz[]) AS u(id, last_run_at) WHERE p.id = u.id "
        "RETURNING p.id",
        {"ids": list(last_runs), "last_runs": list(last_runs.values())},
    )
    _tell_beats()


def _tell_beats() -> None:
    """A running beat reads its table again when this time is later than before, by whatever clock that was written."""
    _execute(
        f"INSERT INTO {_CHANGES} AS c (ident, last_update) VALUES (1, clock_timestamp()) ON CONFLICT (ident) DO UPDATE "
        "SET last_update = greatest(clock_timestamp(), c.last_update + interval '1 microsecond') RETURNING ident",
        {},
    )


def _execute(statement: str, params: dict[str, object]) -> list[Row]:
    return execute(statement, params, using=_database())


def _carried(row: _Periodic) -> Carried:
    task = row.task
    once = bool(task["one_off"] or row.clocked)
    found = Carried(task["id"], task["name"], task["task"], task["enabled"], once, row.last_run_at, row.fingerprint)
    if task["task"].startswith("celery."):
        # Every beat of Celery makes such a one for itself.
        found.over, found.refused = True, "one of Celery's own tasks, which stays with Celery"
        return found
    try:
        payload = {"task": task["task"], "args": json.loads(task["args"] or "[]")}
        payload["kwargs"] = json.loads(task["kwargs"] or "{}")
        celery_call(payload)
        when = _when(row)
        if row.clocked_time is not None and not found.enabled and row.clocked_time <= timezone.now():
            found.over = True
            raise InvalidTask("its one time has passed, and it is disabled; left alone")
    except (InvalidTask, ValueError) as error:
        found.refused = str(error).removesuffix(".")
        return found
    lane = task["queue"] if task["queue"] in LANES else ""
    if task["queue"] and not lane:
        found.lost.append(f"queue {task['queue']!r} is not a lane; the default lane is used")
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
        start_at=_next_run(row.last_run_at, when) or row.start_time,
        end_at=row.expires,
        expires_after=task.get("expire_seconds"),
        max_runs=1 if task["one_off"] and not row.clocked else None,
        **when,
    )
    try:
        columns(found.request, timezone.now())  # so that a dry run tells what a real one would
    except InvalidTask as error:
        found.refused, found.request = str(error).removesuffix("."), None
    return found


def _next_run(last_run_at: datetime | None, when: dict[str, Any]) -> datetime | None:
    """An interval goes on from its last run, as it does in Celery: one of a week does not begin anew."""
    if "every" not in when or last_run_at is None:
        return None
    return last_run_at + timedelta(seconds=when["every"])


def _when(row: _Periodic) -> dict[str, Any]:
    if row.clocked_time is not None:
        return {"at": row.clocked_time}
    if row.interval is not None:
        every, period = row.interval["every"], row.interval["period"]
        seconds = every * _PERIODS[period]
        if seconds.denominator != 1:
            raise InvalidTask(f"an interval of {every} {period} is not a whole number of seconds")
        return {"every": int(seconds)}
    if row.crontab is None:
        raise InvalidTask("a solar schedule has no counterpart here")
    names = ("minute", "hour", "day_of_month", "month_of_year", "day_of_week")
    # Celery wants both days to match, as our six fields do; and it reads only the first three letters of a name.
    fields = [re.sub(r"([a-zA-Z]{3})[a-zA-Z]*", r"\1", str(row.crontab[name]).replace(" ", "")) for name in names]
    return {"cron": " ".join(["0", *fields]), "timezone": row.crontab["timezone"]}
