"""The chore `quotas`: counts what tenants with a quota use; tasks and jobs in one statement for all of them."""

import time
from collections.abc import Sequence
from math import ceil
from typing import Any

from tasks_app.core.tenants import COUNTED, NEAR, RATE_SECONDS
from tasks_app.database import atomic
from tasks_app.engine.calls import of_last_minute
from tasks_app.lifecycle.held import room_of
from tasks_app.lifecycle.quotas import FORGET_SECONDS, tell_near
from tasks_app.models import Tenant
from tasks_app.sql import array, run

COUNTED_ROWS = 200_000  # of the table of tasks; of a larger one some pages are counted, and the rest reckoned
LOOKED_AT_ROWS = 40_000  # the same, to see whether anybody can be near a quota at all
ROWS_A_PAGE = 30
JOBS_SECONDS = 60.0  # between two counts of jobs, which people make
NOTE_SECONDS = 60.0  # between two notes of what is used, in a row for each hour
CALLS = "calls_per_minute"

_noted_at = float("-inf")  # when this beat did so last, by the monotonic clock
_jobs_at = float("-inf")  # when this beat counted them last, by the monotonic clock


def count_quotas() -> str:
    """Tells of those that come near a quota. Returns what it did, for the log."""
    near = count_used()
    looked = count_scheduled() + count_running() + note_use()
    return f"{near} came near a quota of tasks or jobs, {looked} others looked at"


def count_used() -> int:
    """How many came near a quota of tasks or jobs that were not. Unless somebody may be near one, it is counted with
    the jobs, once a minute: to count all that is live takes a tenth of a second."""
    global _jobs_at
    now = time.monotonic()
    with_jobs = now - _jobs_at >= JOBS_SECONDS
    asked = {"rows_a_page": ROWS_A_PAGE, "near": NEAR}
    if not with_jobs:
        ((may_be,),) = run("may_be_near", asked | {"rows": LOOKED_AT_ROWS})
        if not may_be:
            return 0
    with atomic():
        near = run("count_used", asked | {"rows": COUNTED_ROWS, "with_jobs": with_jobs})
        for tenant, quota, limit, used in near:
            tell_near(tenant, quota, limit, used)
    if with_jobs:
        _jobs_at = now
    return len(near)


def count_scheduled() -> int:
    """Tell of tenants that schedule nearly as fast as they may, and forget what was counted for it before."""
    run("forget_scheduled", {"keep": FORGET_SECONDS})
    found = run("scheduled_lately", {"window": RATE_SECONDS})
    _note_changes("schedules_per_second", [(name, rate, tasks / RATE_SECONDS) for name, rate, tasks in found])
    return len(found)


def count_running() -> int:
    """Tell of tenants that run nearly as many tasks at the same time as they may."""
    bounded = dict(Tenant.objects.filter(max_running__isnull=False).values_list("name", "max_running"))
    room = room_of(list(bounded))
    _note_changes("max_running", [(name, most, most - room[name]) for name, most in bounded.items() if name in room])
    return len(bounded)


def note_use() -> int:
    """Once a minute: how much of their quotas tenants use, for the history of it; and tell of those that call the REST
    API nearly as often as they may."""
    global _noted_at
    now = time.monotonic()
    if now - _noted_at < NOTE_SECONDS:
        return 0
    _noted_at = now
    counted = list(Tenant.objects.exclude(**dict.fromkeys(COUNTED)).values("name", "tasks", "jobs", *COUNTED))
    used = _used(counted)
    found = [(row["name"], quota, used[quota].get(row["name"], 0), row[quota]) for row in counted for quota in COUNTED]
    rows = [row for row in found if row[2] and row[3] is not None]
    names, quotas, uses, limits = zip(*rows, strict=True) if rows else ((), (), (), ())
    run("note_used", {"tenants": list(names), "quotas": list(quotas), "used": array(uses), "most": array(limits)})
    _note_changes(
        CALLS, [(name, most, used) for name, quota, used, most in found if quota == CALLS and most is not None]
    )
    return len(counted)


def _used(counted: list[dict[str, Any]]) -> dict[str, dict[str, int]]:
    """By quota and tenant."""
    rates = run("scheduled_lately", {"window": RATE_SECONDS})
    bounded = {row["name"]: row["max_running"] for row in counted if row["max_running"] is not None}
    return {
        "max_jobs": {row["name"]: row["jobs"] or 0 for row in counted},
        "max_tasks": {row["name"]: row["tasks"] or 0 for row in counted},
        "schedules_per_second": {name: ceil(tasks / RATE_SECONDS) for name, _, tasks in rates},
        "max_running": {name: bounded[name] - room for name, room in room_of(list(bounded)).items()},
        CALLS: of_last_minute([row["name"] for row in counted if row[CALLS] is not None]),
    }


def _note_changes(quota: str, found: Sequence[tuple[str, int, float]]) -> None:
    """Of tenants, what they may have and what they use. Asked once who was near it, since most stay as they were."""
    if not found:
        return
    near = set(Tenant.objects.filter(near__contains=[quota]).values_list("name", flat=True))
    for name, limit, used in found:
        if (name in near) != (is_near := used >= NEAR * limit):
            _note_near(name, quota, limit, round(used), is_near)


def _note_near(name: str, quota: str, limit: int, used: int, is_near: bool) -> None:
    """Written, and told, only if it is other than it was."""
    there = Tenant.objects.filter(name=name, **{quota: limit})
    row = there.exclude(near__contains=[quota]) if is_near else there.filter(near__contains=[quota])
    with atomic():
        locked = row.select_for_update().first()
        if locked is None:
            return
        locked.near = [*locked.near, quota] if is_near else [one for one in locked.near if one != quota]
        locked.save(update_fields=["near"])
        if is_near:
            tell_near(name, quota, limit, used)


def count_again() -> None:
    """The next look counts jobs and notes what is used, too, whenever the last one did."""
    global _jobs_at, _noted_at
    _jobs_at = _noted_at = float("-inf")
