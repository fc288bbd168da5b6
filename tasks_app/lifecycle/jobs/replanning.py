"""Planning again what a changed calendar says otherwise: step by step, for however many jobs keep it.

From the moment at which a calendar is changed, planners plan by its new days. What they had planned before, a minute
ahead, is taken back here where the new days leave it out, and planned where they add to it. A planner that is killed
meanwhile leaves the calendar marked, and another one begins again: doing it twice does no more than doing it once.
"""

import logging
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import cache, lru_cache
from typing import NamedTuple
from uuid import UUID

from tasks_app.conf import conf
from tasks_app.core.at_work import MARKS, Kind
from tasks_app.core.calendars import Days, OnDayOff
from tasks_app.core.errors import InvalidTask, UnknownJob
from tasks_app.core.firings import Firing
from tasks_app.core.jobs import JobStatus, firing_key
from tasks_app.core.schedule import Gap, Repeat, Schedule
from tasks_app.database import atomic
from tasks_app.lifecycle.stalls import SKIPPED
from tasks_app.models import Calendar
from tasks_app.models.calendar import days_of_all
from tasks_app.sql import array, run, text_array

from .lock import database_now, join, leave, lock_job
from .planning import PLANNER, DueCursor, next_look

CURSORS = 500  # schedules in one step
PAGE = 2_000  # jobs in one step
CALENDARS = 20  # in one look
BY = "planner"

log = logging.getLogger(__name__)


class _Planned(NamedTuple):
    """A row of planned_by_calendar."""

    job: int
    tenant: str
    cron: str
    every: int
    phase: int
    timezone: str
    dst_gap: str
    dst_repeat: str
    on_day_off: str
    times: list[datetime] | None
    alone: bool
    left_early: bool


def replan_changed() -> int:
    """Plan again by the calendars that were changed; how many of them are done."""
    done = 0
    skipped = [int(one) for one in SKIPPED.of(Kind.CALENDAR)]
    changed = Calendar.objects.filter(changed=True).exclude(id__in=skipped).order_by("id")
    for calendar in changed.values_list("id", flat=True)[:CALENDARS]:
        try:
            done += _replan(calendar)
        except InvalidTask as error:
            # A zone that this machine does not know any more, say: the others must not wait for it.
            log.error("calendar.not_replanned calendar=%d error=%r", calendar, str(error))
    return done


def _replan(calendar: int) -> bool:
    days = days_of_all([calendar]).get(calendar)
    if days is None:
        return False  # deleted meanwhile
    version = days.key.version
    while _renew_cursors(calendar, version, days):
        pass
    after: int | None = 0
    while after is not None:
        after = _take_back_page(calendar, after, days)
    return bool(run("calendar_is_planned", {"calendar": calendar, "version": version}))


def _renew_cursors(calendar: int, version: UUID, days: Days) -> int:
    """From now on, these schedules are planned by the new days: how many. A new firing may come before the next one."""
    with atomic():
        cursors = [
            DueCursor(*row)
            for row in run("outdated_cursors", {"calendar": calendar, "version": version, "most": CURSORS})
        ]
        if not cursors:
            return 0
        now = cursors[0].now
        following = cache(lambda schedule: next_look(schedule, now, now + timedelta(seconds=conf().PLAN_AHEAD_SECONDS)))
        with MARKS.on(Kind.CALENDAR, calendar, PLANNER):
            nexts = [min(cursor.next_fire, following(cursor.schedule({calendar: days}))) for cursor in cursors]
        run("renew_cursors", {"version": version, "cursors": array(cursor.id for cursor in cursors), "nexts": nexts})
    return len(cursors)


def _take_back_page(calendar: int, after: int, days: Days) -> int | None:
    """Of the next jobs, take back what the new days leave out. The last of those jobs; None: there are no more."""
    with atomic():
        page = [
            _Planned(*row) for row in run("planned_by_calendar", {"calendar": calendar, "after": after, "page": PAGE})
        ]
        with MARKS.on(Kind.CALENDAR, calendar, PLANNER):
            wrong = [(one.job, at) for one in page if not one.alone for at in _left_out(one, days)]
        if wrong:
            run(
                "take_back_days_off",
                {
                    "jobs": array(job for job, _ in wrong),
                    "fires": [at for _, at in wrong],
                    "keys": text_array(firing_key(job, Firing(at).label) for job, at in wrong),
                    "kept": conf().kept_kinds,
                },
            )
    # Those that count their runs get some back, those that wait for their turn leave it, those that others wait for
    # take them along, and one that had left its schedule comes back to it: one by one.
    for one in page:
        if one.left_early or (one.alone and any(_left_out(one, days))):
            _replan_job(one.tenant, one.job)
    return page[-1].job if len(page) == PAGE else None


def _left_out(one: _Planned, days: Days) -> Iterator[datetime]:
    if not one.times:
        return
    schedule = _schedule(one, days)
    for at in one.times:
        if not _fires(schedule, at):
            yield at


def _schedule(one: _Planned, days: Days) -> Schedule:
    return Schedule(
        cron=one.cron,
        zone=one.timezone,
        gap=Gap(one.dst_gap),
        repeat=Repeat(one.dst_repeat),
        every=one.every,
        phase=one.phase,
        days=days,
        on_day_off=OnDayOff(one.on_day_off),
    )


@lru_cache(maxsize=10_000)
def _fires(schedule: Schedule, at: datetime) -> bool:
    return schedule.fires_at(at)


def _replan_job(tenant: str, job_id: int) -> None:
    """As an edit of the job would."""
    try:
        with atomic():
            job, cursor = lock_job(tenant, job_id)
            if job.status != JobStatus.ACTIVE:
                return
            now = database_now()
            left, schedule = leave(job, cursor, now, BY), job.schedule
            join(job, now, [at for at in left.taken if schedule.fires_at(at)], left.decided)
    except UnknownJob:
        pass  # deleted meanwhile
