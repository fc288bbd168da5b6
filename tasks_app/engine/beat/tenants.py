"""The chore `tenants`: ends suspensions whose time has come, puts back what they held, counts what has a quota, and
brings stored data under the newest keys."""

import logging
import threading
import time
from collections.abc import Mapping
from typing import NamedTuple

from django.db.models import Q

from tasks_app.core.tenants import NEAR
from tasks_app.database import atomic
from tasks_app.engine.wakeup import SENDER
from tasks_app.lifecycle.audit import Operator
from tasks_app.lifecycle.held import held_tenants, put_back_held, room_of
from tasks_app.lifecycle.key_walk import step_walk
from tasks_app.lifecycle.quotas import COUNT_SECONDS, FORGET_SECONDS, RATE_SECONDS, count_jobs, tell_near
from tasks_app.lifecycle.tenants import resume_ended
from tasks_app.models import Tenant
from tasks_app.sql import execute, run

log = logging.getLogger(__name__)

STEP = 1_000  # tasks in one transaction
SECONDS = 20.0  # that one run may take; the next goes on where it ended
COUNTED_ROWS = 200_000  # of the table of tasks; of a larger one some pages are counted, and the rest reckoned

ROWS_A_PAGE = 30
JOBS_SECONDS = 60.0  # between two counts of jobs, which people make

_stopped = threading.Event()
_counted_at = {"tasks": -JOBS_SECONDS, "jobs": -JOBS_SECONDS}  # by the monotonic clock


def tend_tenants(seconds: float = SECONDS) -> str:
    """Returns what it did, for the log."""
    _stopped.clear()
    resumed = resume_ended(Operator("beat", "the suspension has ended"))
    tasks = put_back(seconds)
    counted = count_used() + count_scheduled() + count_running()
    steps = walk_keys(seconds)
    return f"{resumed} resumed, {tasks} tasks put back, {counted} counted, {steps} steps under newest keys"


def stop_tending_tenants() -> None:
    """Between two steps."""
    _stopped.set()


def walk_keys(seconds: float = SECONDS) -> int:
    """What is stored is brought under the newest keys, if somebody has ordered that. Returns how many steps."""
    deadline, steps = time.monotonic() + seconds, 0
    while not _stopped.is_set() and time.monotonic() < deadline and step_walk():
        steps += 1
    return steps


def put_back(seconds: float = SECONDS) -> int:
    """What lies aside for tenants that go on is due as before, as far as they may have it. Returns how many tasks."""
    deadline, tasks = time.monotonic() + seconds, 0
    tenants = held_tenants()
    room = room_of(tenants)
    for tenant in tenants:
        if tenant in room:  # the rest waits for the next time, when some of these are over
            tasks += put_back_held(tenant, min(STEP, room[tenant])).tasks if room[tenant] > 0 else 0
            continue
        while not _stopped.is_set() and time.monotonic() < deadline:
            step = put_back_held(tenant, STEP)
            tasks += step.tasks
            if not step.done:
                break  # done, or somebody has locked what is left
    if tasks:
        SENDER.wake_all()
        log.info("tenant.put_back tasks=%d", tasks)
    return tasks


def count_used() -> int:
    """Count what tenants with such a quota have, unless this beat did a moment ago; tell of those that come near it."""
    now = time.monotonic()
    if now - _counted_at["tasks"] < COUNT_SECONDS:
        return 0
    _counted_at["tasks"] = now
    rows = list(Tenant.objects.filter(Q(max_tasks__isnull=False) | Q(max_jobs__isnull=False)).order_by("name"))
    tasks = _live_tasks([row.name for row in rows if row.max_tasks is not None])
    if with_jobs := now - _counted_at["jobs"] >= JOBS_SECONDS:
        _counted_at["jobs"] = now
    used: dict[str, dict[str, int]] = {row.name: {} for row in rows}
    for row in rows:
        if row.max_tasks is not None:
            used[row.name]["max_tasks"] = tasks.get(row.name, NONE).tasks
        if row.max_jobs is not None and with_jobs:
            used[row.name]["max_jobs"] = count_jobs(row.name, row.max_jobs)
    for row in rows:
        _note(row, used[row.name], tasks.get(row.name, NONE).surely)
    return len(rows)


def count_scheduled() -> int:
    """Tell of tenants that schedule nearly as fast as they may, and forget what was counted for it before."""
    run("forget_scheduled", {"keep": FORGET_SECONDS})
    found = run("scheduled_lately", {"window": RATE_SECONDS})
    for name, rate, tasks in found:
        _note_near(name, "schedules_per_second", rate, round(tasks / RATE_SECONDS), tasks >= NEAR * rate * RATE_SECONDS)
    return len(found)


def count_running() -> int:
    """Tell of tenants that run nearly as many tasks at the same time as they may."""
    bounded = dict(Tenant.objects.filter(max_running__isnull=False).values_list("name", "max_running"))
    for name, room in room_of(list(bounded)).items():
        used = bounded[name] - room
        _note_near(name, "max_running", bounded[name], used, used >= NEAR * bounded[name])
    return len(bounded)


def _note_near(name: str, quota: str, limit: int, used: int, is_near: bool) -> None:
    """Written, and told, only if it is other than it was."""
    there = Tenant.objects.filter(name=name, **{quota: limit})
    row = there.exclude(near__contains=[quota]) if is_near else there.filter(near__contains=[quota])
    if not row.exists():
        return
    with atomic():
        locked = row.select_for_update().first()
        if locked is None:
            return
        locked.near = [*locked.near, quota] if is_near else [one for one in locked.near if one != quota]
        locked.save(update_fields=["near"])
        if is_near:
            tell_near(name, quota, limit, used)


def count_again() -> None:
    """The next look counts, whenever the last one was."""
    _counted_at.update(tasks=-JOBS_SECONDS, jobs=-JOBS_SECONDS)


def _live_tasks(tenants: list[str]) -> "dict[str, _Counted]":
    if not tenants:
        return {}
    ((rows,),) = execute("SELECT greatest(reltuples, 0)::float8 FROM pg_class WHERE oid = 'punctual_task'::regclass")
    percent = min(100.0, 100.0 * COUNTED_ROWS / max(rows, 1))
    found = run("count_live", {"percent": percent, "tenants": tenants})
    return {tenant: _Counted(round(count * 100 / percent), _surely(count, percent)) for tenant, count in found}


class _Counted(NamedTuple):
    tasks: int  # as far as can be told
    surely: int  # there are no fewer


NONE = _Counted(0, 0)


def _surely(count: int, percent: float) -> int:
    """Pages are drawn, not rows, and those of one tenant lie together: so few pages say little."""
    if percent >= 100.0 or not count:
        return count
    return max(0, round(count * 100 / percent * (1 - 3 * (ROWS_A_PAGE / count) ** 0.5)))


def _note(row: Tenant, used: Mapping[str, int], surely: int) -> None:
    """Written, and told, only if something is other than it was."""
    near = [quota for quota in row.near if quota not in used and getattr(row, quota) is not None]
    near += [quota for quota, count in used.items() if count >= NEAR * getattr(row, quota)]
    tasks = used.get("max_tasks")
    jobs = used.get("max_jobs", row.jobs)
    at_limit = tasks is not None and surely >= row.max_tasks
    if (row.tasks, row.jobs, row.at_limit, sorted(row.near)) == (tasks, jobs, at_limit, sorted(near)):
        return
    with atomic():
        # Somebody may change its quotas right now: then the next count is the one that counts.
        same = Tenant.objects.filter(name=row.name, max_tasks=row.max_tasks, max_jobs=row.max_jobs)
        if not same.update(tasks=tasks, jobs=jobs, at_limit=at_limit, near=near):
            return
        for quota in set(near) - set(row.near):
            tell_near(row.name, quota, getattr(row, quota), used[quota])
