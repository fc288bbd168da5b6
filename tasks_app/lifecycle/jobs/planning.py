"""Planning: the instances of many jobs at once, a schedule at a time, in steps of a bounded size."""

import logging
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from typing import NamedTuple

from tasks_app.conf import conf
from tasks_app.core.at_work import MARKS, Kind
from tasks_app.core.calendars import Days, OnDayOff
from tasks_app.core.errors import InvalidTask
from tasks_app.core.firings import INSTANT, MISSED_SECONDS, Firing, firings, newest
from tasks_app.core.schedule import Gap, Repeat, Schedule
from tasks_app.database import atomic
from tasks_app.lifecycle.stalls import SKIPPED, schedule_item
from tasks_app.models.calendar import days_of_all
from tasks_app.sql import array, run

from .instances import INSTANCES, OF_CURSOR, Dues, Fired, dues_of, insert
from .request import MOST_CAUGHT_UP

CURSORS = 500  # schedules in one step
CURSORS_COUNTED = 32  # of which the jobs are counted at a time: what is over a step's size is not counted in vain
PAGE = 5_000  # jobs of one schedule in one step
MISSED = "job.missed"
PLANNER = "planner"
MISSED_TOLD = 1_000  # firings of a schedule that are counted; what is more is told as so many
MISSED_IN_ROW = 1_000  # events in one row of the outbox

LOOK_AGAIN = timedelta(days=1)  # no cursor waits longer for a firing by the clocks of a zone
UNREADABLE_SECONDS = 600  # a schedule that this process can't read is looked at again after this
unreadable: dict[int, float] = {}  # the cursors of such schedules, and when by the monotonic clock
skipped: dict[int, "DueCursor"] = {}  # cursors that were found due, and that beats skip since they hung on them

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Planning:
    """What one step of the planner did."""

    cursors: int = 0
    instances: int = 0
    dues: Dues = field(default_factory=dict)
    slack: float = 0.0  # seconds until the first of these firings


class _Times:
    """One computation for each distinct schedule of a step, though it has a cursor in every shard."""

    def __init__(self, now: datetime, horizon: datetime, days: Mapping[int, Days]) -> None:
        self.days = days
        self.now = now
        self.missed_before = now - timedelta(seconds=MISSED_SECONDS)
        self.firings = cache(
            lambda schedule, after, down_until, most_missed, most, late=True: firings(
                schedule, after, horizon, down_until=down_until, most_missed=most_missed, most=most, late=late
            )
        )
        self.following = cache(lambda schedule, after: next_look(schedule, after, horizon))

    def down_until(self, cursor: "DueCursor") -> datetime | None:
        """When the downtime ended in which its next firing passed; None: it did not. The same for all pages of a
        firing, and for the firings after it, so that `latest` runs one of them in however many steps."""
        known = cursor.down_until is not None and cursor.next_fire <= cursor.down_until
        if cursor.next_fire < self.missed_before and not (known and cursor.after_job):
            return self.now
        return cursor.down_until if known else None


class DueCursor(NamedTuple):
    """A row of due_cursors, or of outdated_cursors."""

    id: int
    cron: str
    timezone: str
    dst_gap: str
    dst_repeat: str
    every: int
    phase: int
    calendar: int  # 0: none
    on_day_off: str
    next_fire: datetime
    after_job: int  # 0: this firing has not been begun; else it is planned for the jobs up to this one
    down_until: datetime | None
    now: datetime

    @property
    def item(self) -> str:
        """By which beats know that they hung on it."""
        return schedule_item(
            *(self.cron, self.every, self.phase, self.timezone, self.dst_gap, self.dst_repeat),
            *(self.calendar, self.on_day_off),
        )

    def schedule(self, days: Mapping[int, Days]) -> Schedule:
        """By the days of its calendar as they are now."""
        if self.calendar and self.calendar not in days:
            raise InvalidTask(f"calendar {self.calendar} is gone.")
        return Schedule(
            cron=self.cron,
            zone=self.timezone,
            gap=Gap(self.dst_gap),
            repeat=Repeat(self.dst_repeat),
            every=self.every,
            phase=self.phase,
            days=days[self.calendar] if self.calendar else None,
            on_day_off=OnDayOff(self.on_day_off),
        )


class _Page(NamedTuple):
    """A row of cursor_pages: the next jobs of one schedule."""

    jobs: int
    last: int | None  # None: there are no more
    counted: bool  # one of them counts its runs
    turns: bool  # one of them cares about overlap
    most_missed: int | None  # of missed firings, the most that one of them wants; None: not asked for
    rooted: bool  # one of the schedule's jobs has children
    late: bool | None  # one of them catches up nothing, and so wants all that is less than a minute late
    cut: bool = False  # not all of the jobs that it could have: those that are left out come next


class _Step(NamedTuple):
    """What is planned of one schedule: firings for jobs from `low` (not included) to `high`, and where it goes on."""

    cursor: int
    firings: list[Firing]
    low: int
    high: int
    next_fire: datetime
    after_job: int
    counted: bool  # one of the jobs counts its runs
    rooted: bool  # one of the jobs has children
    turns: bool  # one of the jobs cares about overlap
    down_until: datetime | None
    missed: Sequence[datetime] = ()  # firings that passed before anybody planned them


def next_look(schedule: Schedule, after: datetime, horizon: datetime) -> datetime:
    """The next firing, or a moment before it: a zone may get other rules by then, and the firing come earlier.

    A calendar may leave out all of them, and its zone counts for an interval, too.
    """
    following = next(schedule.after(after), None)
    if following is not None and (schedule.zone == "UTC" or (schedule.every and schedule.days is None)):
        return following
    return min(following or horizon + LOOK_AGAIN, horizon + LOOK_AGAIN)


def days_of_cursors(cursors: Iterable[DueCursor]) -> dict[int, Days]:
    """The days of their calendars; nothing is asked for those that have none."""
    calendars = {cursor.calendar for cursor in cursors if cursor.calendar}
    return days_of_all(calendars) if calendars else {}


def plan_due(shards: Iterable[int], ahead: float) -> Planning:
    """Plan what fires within `ahead` seconds, one step of a bounded size, in one transaction."""
    with atomic(savepoint=False):
        passed_by = [cursor for cursor, until in unreadable.items() if time.monotonic() < until]
        asked = {"shards": array(shards), "ahead": ahead, "most": CURSORS, "but": array([*passed_by, *_skipped()])}
        cursors = _without_skipped([DueCursor(*row) for row in run("due_cursors", asked)])
        if not cursors:
            return Planning()
        now = cursors[0].now
        steps, empty = _steps(cursors, _Times(now, now + timedelta(seconds=ahead), days_of_cursors(cursors)))
        planned = insert(
            [Fired(firing, step.high, step.low, step.cursor) for step in steps for firing in step.firings],
            OF_CURSOR,
            counted=any(step.counted for step in steps),
            page=PAGE,
            rooted=any(step.rooted for step in steps),
            turns=any(step.turns for step in steps),
            new=True,
        )
        _tell_missed(steps)
        run(
            "advance_cursors",
            {
                "cursors": array(step.cursor for step in steps),
                "nexts": [step.next_fire for step in steps],
                "afters": array(step.after_job for step in steps),
                "downs": [step.down_until for step in steps],
                "empty": array(empty),
            },
        )
    slack = (min(cursor.next_fire for cursor in cursors) - now).total_seconds()
    return Planning(len(cursors), sum(part.instances for part in planned), dues_of(planned), slack)


def _without_skipped(cursors: Sequence[DueCursor]) -> list[DueCursor]:
    if SKIPPED:
        skipped.update({cursor.id: cursor for cursor in cursors if _is_skipped(cursor)})
    return [cursor for cursor in cursors if cursor.id not in skipped]


def _skipped() -> list[int]:
    """Those that still are; what was released is due as before."""
    for released in [one for one, cursor in skipped.items() if not _is_skipped(cursor)]:
        del skipped[released]
    return list(skipped)


def _is_skipped(cursor: DueCursor) -> bool:
    return cursor.item in SKIPPED.of(Kind.JOB) or str(cursor.calendar) in SKIPPED.of(Kind.CALENDAR)


def _steps(cursors: Sequence[DueCursor], times: _Times) -> tuple[list[_Step], list[int]]:
    """What to plan of these schedules, up to about INSTANCES; and those that no active job has."""
    steps, empty, size = [], [], 0
    for cursor, page in _paged(cursors, times):
        if size >= INSTANCES:
            break
        if not page.jobs and not cursor.after_job:
            empty.append(cursor.id)
            continue
        along = 0
        if page.rooted:
            page, along = _cut(cursor, page)
        try:
            with MARKS.on(Kind.JOB, cursor.item, PLANNER):
                step = _step(cursor, page, times)
        except Exception as error:
            # A zone that this machine does not know any more, say: the others must not wait for it. It stays where
            # it is: another planner may know the zone, or this one after an update, and then nothing is lost.
            known = isinstance(error, InvalidTask)
            log.error("cursor.unreadable cursor=%d error=%r", cursor.id, str(error), exc_info=not known)
            unreadable[cursor.id] = time.monotonic() + UNREADABLE_SECONDS
            continue
        steps.append(step)
        size += (page.jobs + along) * (len(step.firings) + bool(step.missed))
    return steps, empty


def _cut(cursor: DueCursor, page: _Page) -> tuple[_Page, int]:
    """The page up to the job whose graph makes it as large as a step may be; and how many jobs come along with it."""
    asked = {"cursor": cursor.id, "low": cursor.after_job, "high": page.last or 0, "most": PAGE}
    along = 0
    for job, family in run("rooted_jobs", asked):
        along += family - 1
        if along >= INSTANCES and job < (page.last or 0):
            return page._replace(last=job, cut=True), along
    return page, along


def _paged(cursors: Sequence[DueCursor], times: _Times) -> Iterator[tuple[DueCursor, _Page]]:
    """Each schedule with its next jobs, asked for a few schedules at a time."""
    for first in range(0, len(cursors), CURSORS_COUNTED):
        part = cursors[first : first + CURSORS_COUNTED]
        asked = {
            "cursors": array(cursor.id for cursor in part),
            "afters": array(cursor.after_job for cursor in part),
            "late": [times.down_until(cursor) is not None for cursor in part],
            "page": PAGE,
        }
        yield from zip(part, [_Page(*row) for row in run("cursor_pages", asked)], strict=True)


def _step(cursor: DueCursor, page: _Page, times: _Times) -> _Step:
    schedule = cursor.schedule(times.days)
    if cursor.after_job:
        found = _next_page(cursor, schedule, times)
        planned_until: datetime | None = cursor.next_fire
    else:
        found = _first_page(cursor, page, schedule, times)
        planned_until = found[-1].at if found else None
    low, high = cursor.after_job, page.last or 0
    # If nothing fires, missed firings are passed over: nobody wants them.
    after = planned_until or max(times.missed_before, cursor.next_fire - INSTANT)
    missed = newest(schedule, cursor.next_fire - INSTANT, min(after, times.missed_before), MISSED_TOLD)
    told = page.counted, page.rooted, page.turns, times.down_until(cursor), missed
    if planned_until and (page.jobs == PAGE or page.cut):
        # There may be more jobs: next comes the same firing, for those after the last one.
        return _Step(cursor.id, found, low, high, planned_until, high, *told)
    return _Step(cursor.id, found, low, high, times.following(schedule, after), 0, *told)


def _tell_missed(steps: Sequence[_Step]) -> None:
    """What passed unplanned is an event for each job that it was a firing of, whether it is made up for or not."""
    late = [step for step in steps if step.missed]
    if not late or MISSED not in conf().kept_events:
        return
    run(
        "tell_missed",
        {
            "places": array(range(len(late))),
            "cursors": array(step.cursor for step in late),
            "lows": array(step.low for step in late),
            "highs": array(step.high for step in late),
            "of": array(place for place, step in enumerate(late) for _ in step.missed),
            "times": [at for step in late for at in step.missed],
            "page": PAGE,
            "in_row": MISSED_IN_ROW,
        },
    )


def _first_page(cursor: DueCursor, page: _Page, schedule: Schedule, times: _Times) -> list[Firing]:
    # So many jobs, or some that count their runs or have children: one firing at a time, page by page.
    one_by_one = page.jobs == PAGE or page.counted or page.rooted
    most = 1 if one_by_one else INSTANCES
    found = times.firings(
        schedule, cursor.next_fire - INSTANT, times.down_until(cursor), page.most_missed or 0, most, bool(page.late)
    )
    return found[: 1 if one_by_one else max(1, INSTANCES // page.jobs)]


def _next_page(cursor: DueCursor, schedule: Schedule, times: _Times) -> list[Firing]:
    """The firing that the first page was about; none if it got so old meanwhile that nobody wants it any more."""
    # It is chosen, and only how many missed ones are newer is not known.
    found = times.firings(schedule, cursor.next_fire - INSTANT, times.down_until(cursor), MOST_CAUGHT_UP, 1)[:1]
    return [firing for firing in found if firing.at == cursor.next_fire]
