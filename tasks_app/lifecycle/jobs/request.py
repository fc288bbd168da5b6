"""What a caller asks a job to be: checked in full before anything is written."""

import json
import re
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from math import ceil
from typing import Annotated, Any

from tasks_app.core.calendars import Days, OnDayOff
from tasks_app.core.celery_call import CELERY_TASK, celery_call
from tasks_app.core.confidential import Encrypted
from tasks_app.core.errors import InvalidTask, NameTaken, PunctualError, nearest, refuse_absurd_instant, shown
from tasks_app.core.firings import INSTANT
from tasks_app.core.graphs import IfParentFails, When
from tasks_app.core.handlers import REGISTRY, Handler, refuse_bad_lane, refuse_bad_max_retry
from tasks_app.core.jobs import CatchUp, Overlap
from tasks_app.core.lanes import DEFAULT_LANE
from tasks_app.core.phrases import figure
from tasks_app.core.schedule import Gap, Repeat, Schedule
from tasks_app.core.tenants import DEFAULT_TENANT
from tasks_app.lifecycle.confidential import open_job_payload
from tasks_app.lifecycle.request import checked_instant, checked_json, checked_name, fitting_payload
from tasks_app.lifecycle.tenant_defaults import lane_of
from tasks_app.models import Calendar, JobDefinition
from tasks_app.models.calendar import days_of
from tasks_app.models.job_definition import NAME_LENGTH
from tasks_app.sql import run

from .parents import parent_names

DAY = 86_400
LONGEST_WINDOW = 366 * DAY
LONGEST_TIMEOUT = 7 * DAY
MOST_CAUGHT_UP = 1_000
MOST_DELAYS = 100
MOST_PARENTS = 1_000
WHEN = ("cron", "every", "at")
OF_A_CHILD = ("parents", "when", "if_parent_fails")
# What only a job with a schedule can have, and what it is without.
OF_A_SCHEDULE: dict[str, Any] = {"cron": "", "every": 0, "at": None, "start_at": None, "end_at": None}
OF_A_SCHEDULE |= {"max_runs": None, "jitter": 0}
OF_A_SCHEDULE |= {"calendar": "", "on_day_off": OnDayOff.SKIP, "overlap": Overlap.ALLOW}
SECONDS = "seconds"  # marks the fields that hold a length of time: files may write those as 5m
Seconds = Annotated[float, SECONDS]
WholeSeconds = Annotated[int, SECONDS]


@dataclass(frozen=True)
class JobRequest:
    """Every field a caller may set; exactly one of cron, every and at, or parents."""

    name: str
    task_type: str
    payload: object = None
    cron: str = ""
    every: WholeSeconds = 0
    at: datetime | None = None
    timezone: str = "UTC"
    dst_gap: str = Gap.SHIFT
    dst_repeat: str = Repeat.ONCE
    calendar: str = ""  # the name of one of the tenant's calendars; empty: none
    on_day_off: str = OnDayOff.SKIP
    lane: str = ""  # empty: the handler's, or that of its tenant
    max_retry: int | None = None  # None: the handler's, or the number of delays in backoff
    backoff: Sequence[Seconds] | None = None  # before each retry, the last repeats; None: the handler's
    timeout: Seconds | None = None  # None: the handler's
    expires_after: Seconds | None = None
    start_at: datetime | None = None
    end_at: datetime | None = None
    max_runs: int | None = None
    jitter: WholeSeconds = 0
    catch_up: str = CatchUp.LATEST
    catch_up_window: WholeSeconds = 365 * DAY
    catch_up_most: int = 100
    parents: Sequence[str] = ()  # names of the jobs that it waits for; such a job has no schedule
    when: str = When.ALL_SUCCESS
    if_parent_fails: str = IfParentFails.WAIT
    overlap: str = Overlap.ALLOW  # what a firing does while an older instance is under way


FIELDS = tuple(field.name for field in fields(JobRequest))


def changed(job: JobDefinition, changes: Mapping[str, Any]) -> JobRequest:
    """The job as a request, with these fields changed; a new way of saying when replaces the old one."""
    for name in changes:
        if name not in FIELDS:
            raise InvalidTask(f"a job has no field {name!r}.{nearest(name, FIELDS)}")
    request = as_request(job)
    given = {name: value for name, value in changes.items() if name in WHEN and value}
    if given:
        request = replace(request, cron="", every=0, at=None)
    if changes.get("parents") and not job.has_parents:
        # It leaves its schedule, and all that belongs to it; what is given beside the parents is looked at below.
        request = replace(request, **OF_A_SCHEDULE)
    if isinstance(job.payload, Encrypted) and changes.get("payload") == job.payload:
        changes = {name: value for name, value in changes.items() if name != "payload"}  # as it was shown, untouched
    if "calendar" in changes and not changes["calendar"]:
        request = replace(request, on_day_off=OnDayOff.SKIP)  # it goes with the calendar
    if "backoff" in changes and job.max_retry == _usual_max_retry(job):
        request = replace(request, max_retry=None)  # nobody chose it, so it goes with the delays
    return replace(request, **changes)


def _usual_max_retry(job: JobDefinition) -> int:
    return len(job.backoff) if job.backoff else REGISTRY.require(job.task_type).max_retry


def as_request(job: JobDefinition) -> JobRequest:
    return JobRequest(
        at=job.run_at,
        expires_after=None if job.expires_after is None else job.expires_after.total_seconds(),
        parents=parent_names(job),
        calendar=calendar_name(job),
        **{name: getattr(job, name) for name in FIELDS if name not in ("at", "expires_after", "calendar", "parents")},
    )


def calendar_name(job: JobDefinition) -> str:
    """The name of its calendar; empty if it has none."""
    if job.calendar is None:
        return ""
    return Calendar.objects.filter(id=job.calendar).values_list("name", flat=True).first() or ""


def columns(
    request: JobRequest, now: datetime, was: JobDefinition | None = None, tenant: str = DEFAULT_TENANT
) -> dict[str, Any]:
    """The values of the row, or an InvalidTask that says what is wrong. `tenant` is whose it is to be, if it is new."""
    handler = REGISTRY.require(request.task_type)
    name = checked_name("name", request.name, NAME_LENGTH)
    lane = request.lane or lane_of(handler, tenant)
    refuse_bad_lane(lane, InvalidTask)
    backoff = _backoff(request)
    usual = handler.max_retry if backoff is None else len(backoff)
    max_retry = usual if request.max_retry is None else request.max_retry
    refuse_bad_max_retry(max_retry, InvalidTask)
    _refuse_bad_timeout(request, handler)
    payload = _payload(request, handler, was)
    _refuse_bad_place(request)
    when = timing(request, now, was, tenant)
    return {
        "name": name,
        "task_type": request.task_type,
        "payload": payload,
        "lane": lane,
        "max_retry": max_retry,
        "backoff": backoff,
        "timeout": request.timeout,
        "expires_after": None if request.expires_after is None else timedelta(seconds=request.expires_after),
        **when,
        "when": str(request.when),
        "if_parent_fails": str(request.if_parent_fails),
    }


def refused(
    request: JobRequest, now: datetime, was: JobDefinition | None = None, tenant: str = DEFAULT_TENANT
) -> list[PunctualError]:
    """All that `columns` refuses, each field's first error; it raises the first of them."""
    handler = REGISTRY.get(request.task_type)
    checks: list[Callable[[], object]] = [
        partial(REGISTRY.require, request.task_type),
        partial(checked_name, "name", request.name, NAME_LENGTH),
        partial(refuse_bad_lane, request.lane or DEFAULT_LANE, InvalidTask),
        partial(_backoff, request),
        partial(refuse_bad_max_retry, request.max_retry or 0, InvalidTask),
        partial(_refuse_bad_timeout, request, handler),
        *([partial(_payload, request, handler, was)] if handler else []),
        partial(_refuse_bad_place, request),
        *_limits(request),
    ]
    found = [error for check in checks if (error := _error_of(check))]
    if not request.parents:
        found += _refused_times(request, now, was, was.tenant if was else tenant)
    return list({field_of(error) or str(error): error for error in reversed(found)}.values())[::-1]


def _refused_times(
    request: JobRequest, now: datetime, was: JobDefinition | None, tenant: str
) -> Iterator[PunctualError]:
    """What is wrong with when it fires. A refused field gets a sound value, and the others are checked again."""
    left = dict(_SOUND)
    while error := _error_of(partial(_times, request, now, was, tenant)):
        yield error
        sound = left.pop(field_of(error) or "", None)
        if sound is None:
            return
        request = replace(request, **sound)


# Without a schedule nothing can be said about jitter and shifting, which depend on how often it fires.
_EVERY_MINUTE: dict[str, Any] = {"cron": "", "every": 60, "at": None, "jitter": 0, "on_day_off": OnDayOff.SKIP}
_SOUND: dict[str, dict[str, Any]] = dict.fromkeys(WHEN, _EVERY_MINUTE) | {
    "timezone": {"timezone": "UTC"},
    "dst_gap": {"dst_gap": Gap.SHIFT},
    "dst_repeat": {"dst_repeat": Repeat.ONCE},
    "calendar": {"calendar": "", "on_day_off": OnDayOff.SKIP},
    "on_day_off": {"on_day_off": OnDayOff.SKIP},
    "start_at": {"start_at": None},
    "end_at": {"end_at": None},
    "jitter": {"jitter": 0},
}


def _error_of(check: Callable[[], object]) -> PunctualError | None:
    try:
        check()
    except PunctualError as error:
        return error
    return None


def _payload(request: JobRequest, handler: Handler, was: JobDefinition | None) -> object:
    """As its row has it, but not encrypted yet. What is encrypted stays so, unless another type is to have it."""
    given = request.payload
    if isinstance(given, Encrypted):
        if was is None or was.task_type == request.task_type:
            return given
        given = open_job_payload(was)
    if request.task_type == CELERY_TASK:
        celery_call(given)
    payload = fitting_payload(handler, given)
    return {} if payload is None else json.loads(checked_json("payload", payload))


def timing(
    request: JobRequest, now: datetime, was: JobDefinition | None = None, tenant: str = DEFAULT_TENANT
) -> dict[str, Any]:
    """The values that say when it fires; an InvalidTask if they make no sense, whatever the others are."""
    for check in _limits(request):
        check()
    return {
        **(_NO_TIMES if request.parents else _times(request, now, was, was.tenant if was else tenant)),
        "has_parents": bool(request.parents),
        "jitter_offset": jitter_offset(request.name or "", request.jitter),
        **{name: getattr(request, name) for name in ("start_at", "end_at", "max_runs", "jitter")},
        **{name: getattr(request, name) for name in ("catch_up", "catch_up_window", "catch_up_most", "overlap")},
    }


_NO_TIMES = {"cron": "", "every": 0, "phase": 0, "run_at": None}
_NO_TIMES |= {"timezone": "UTC", "dst_gap": str(Gap.SHIFT), "dst_repeat": str(Repeat.ONCE)}
_NO_TIMES |= {"calendar": None, "on_day_off": str(OnDayOff.SKIP)}


def _times(request: JobRequest, now: datetime, was: JobDefinition | None, tenant: str) -> dict[str, Any]:
    schedule = _schedule(request, now, was, _days(request, tenant))
    _refuse_what_never_fires(request, schedule, now, was)
    return {
        "cron": schedule.cron,
        "every": schedule.every,
        "phase": schedule.phase,
        "run_at": schedule.at,
        "timezone": schedule.zone,
        "dst_gap": str(schedule.gap),
        "dst_repeat": str(schedule.repeat),
        "calendar": schedule.days and schedule.days.key.calendar,
        "on_day_off": str(schedule.on_day_off),
    }


def checked_overlap(value: object) -> Overlap:
    if value not in list(Overlap):
        raise InvalidTask(f"overlap={shown(value)} is unknown; use {', '.join(Overlap)}.")
    return Overlap(str(value))


def jitter_offset(name: str, jitter: int) -> int:
    """A job's own delay within its jitter: the same for every firing, so that the time between two stays the same."""
    return zlib.crc32(name.encode()) % (jitter + 1)


def name_taken(tenant: str, name: str) -> NameTaken:
    words = f"tenant {tenant!r} already has a job named {name!r}. Choose another name, or edit that one."
    return NameTaken(words, JobDefinition.objects.filter(tenant=tenant, name=name).first())


def field_of(error: PunctualError, among: Collection[str] = FIELDS) -> str | None:
    """The field that an error is about, which its sentence begins with; None: it is about none of these."""
    if isinstance(error, NameTaken):
        return "name"
    beginning = str(error)[:40].replace("time zone", "timezone").replace("task type", "task_type")
    return next((word for word in re.findall(r"\w+", beginning) if word in among), None)


def shown_fields(job: JobDefinition) -> dict[str, Any]:
    """What an audit entry keeps of a job, before and after."""
    values = asdict(as_request(job)) | {"status": job.status, "revision": job.revision}
    found: dict[str, Any] = json.loads(json.dumps(values, default=str))
    return found


def _days(request: JobRequest, tenant: str) -> Days | None:
    """The days of its calendar, which stays as it is until the end of the transaction."""
    if not request.calendar:
        return None
    if not isinstance(request.calendar, str) or "\0" in request.calendar:
        raise InvalidTask(f"calendar={shown(request.calendar)} must be the name of a calendar.")
    known = Calendar.objects.filter(tenant=tenant)
    found = known.filter(name=request.calendar).first()
    if found is None:
        names = list(known.order_by("name").values_list("name", flat=True)[:100])
        hint = nearest(request.calendar, names) or " Create it first."
        raise InvalidTask(
            f"calendar={shown(request.calendar)} is unknown; tenant {tenant!r} has no such calendar.{hint}"
        )
    run("keep_calendar", {"calendar": found.id})
    return days_of(found.id)


def _schedule(request: JobRequest, now: datetime, was: JobDefinition | None, days: Days | None) -> Schedule:
    if request.on_day_off not in list(OnDayOff):
        raise InvalidTask(f"on_day_off={shown(request.on_day_off)} is unknown; use {' or '.join(OnDayOff)}.")
    if days is None and request.on_day_off != OnDayOff.SKIP:
        raise InvalidTask(f"on_day_off={str(request.on_day_off)!r} says nothing without a calendar; name one, too.")
    at = None if request.at is None else checked_instant("at", request.at)
    for name in ("start_at", "end_at"):
        if getattr(request, name) is not None:
            checked_instant(name, getattr(request, name))
    phase = 0
    if isinstance(request.every, int) and request.every > 0:
        # Counted from its start, which is a firing, or from its creation, which is none; other edits leave it alone.
        if was is not None and was.every == request.every and was.start_at == request.start_at:
            phase = was.phase
        else:
            phase = _first_second(request, now) % request.every
    return Schedule(
        cron=request.cron,
        zone=request.timezone,
        gap=request.dst_gap,
        repeat=request.dst_repeat,
        every=request.every,
        phase=phase,
        at=at and at.astimezone(UTC),
        days=days,
        on_day_off=OnDayOff(request.on_day_off),
    )


def _first_second(request: JobRequest, now: datetime) -> int:
    return int(now.timestamp()) if request.start_at is None else ceil(request.start_at.timestamp())


def _limits(request: JobRequest) -> list[Callable[[], object]]:
    """A check for each of these fields, whatever the others are."""
    return [
        partial(_whole, "jitter", request.jitter, 0, DAY),
        partial(_whole, "catch_up_window", request.catch_up_window, 60, LONGEST_WINDOW),
        partial(_whole, "catch_up_most", request.catch_up_most, 1, MOST_CAUGHT_UP),
        partial(_whole, "max_runs", 1 if request.max_runs is None else request.max_runs, 1, 1_000_000_000),
        partial(_refuse_bad_catch_up, request.catch_up),
        partial(checked_overlap, request.overlap),
        partial(_refuse_bad_expiry, request.expires_after),
    ]


def _refuse_bad_catch_up(value: object) -> None:
    if value not in list(CatchUp):
        raise InvalidTask(f"catch_up={shown(value)} is unknown; use {', '.join(CatchUp)}.")


def _refuse_bad_expiry(seconds: float | None) -> None:
    if seconds is not None and not (_is_number(seconds) and 0 < seconds <= LONGEST_WINDOW):
        raise InvalidTask(f"expires_after={shown(seconds)} must be more than 0 seconds and at most a year.")


def _refuse_bad_place(request: JobRequest) -> None:
    """What can be seen of its parents without looking for them."""
    for name, known in (("when", When), ("if_parent_fails", IfParentFails)):
        if getattr(request, name) not in list(known):
            raise InvalidTask(f"{name}={shown(getattr(request, name))} is unknown; use {', '.join(known)}.")
    parents = request.parents
    if not isinstance(parents, list | tuple) or not all(isinstance(one, str) for one in parents):
        raise InvalidTask(f"parents={shown(parents)} must be a list of names of jobs, such as ['extract'].")
    if len(set(parents)) != len(parents) or len(parents) > MOST_PARENTS:
        raise InvalidTask(f"parents={shown(parents)} must name each job once, and at most {MOST_PARENTS:,} of them.")
    if not parents:
        return
    if request.name in parents:
        raise InvalidTask(f"parents has {request.name!r}, which is the job itself; a job can't wait for itself.")
    for name, without in OF_A_SCHEDULE.items():
        if getattr(request, name) != without:
            raise InvalidTask(
                f"{name}={shown(getattr(request, name))} belongs to a schedule, and a job with parents has none: it "
                f"runs after them. Leave {name} out, or the parents."
            )


def _backoff(request: JobRequest) -> list[float] | None:
    delays = request.backoff
    if delays is None:
        return None
    if not isinstance(delays, list | tuple) or not 0 < len(delays) <= MOST_DELAYS:
        raise InvalidTask(
            f"backoff={shown(delays)} must be a list of 1 to {MOST_DELAYS} delays in seconds, such as [1, 5, 30]."
        )
    for one in delays:
        if not (_is_number(one) and 0 <= one <= LONGEST_WINDOW):
            raise InvalidTask(f"backoff has {shown(one)}; each delay must be 0 seconds or more, and at most a year.")
    return [float(one) for one in delays]


def _refuse_bad_timeout(request: JobRequest, handler: Handler | None) -> None:
    if request.timeout is None:
        return
    if not (_is_number(request.timeout) and 0 < request.timeout <= LONGEST_TIMEOUT):
        raise InvalidTask(f"timeout={shown(request.timeout)} must be more than 0 seconds and at most a week.")
    if handler is not None and handler.batch:
        raise InvalidTask(
            f"timeout={request.timeout:g}: {handler.name} makes one call for many tasks, so a job can't have a "
            "time-out of its own. Leave it out; the handler's applies."
        )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _whole(name: str, value: object, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise InvalidTask(f"{name}={shown(value)} must be a whole number from {low:,} to {high:,}.")


def _refuse_what_never_fires(request: JobRequest, schedule: Schedule, now: datetime, was: JobDefinition | None) -> None:
    if request.end_at is not None and request.start_at is not None and request.end_at <= request.start_at:
        raise InvalidTask(
            f"end_at={request.end_at} is not after start_at={request.start_at}; the job would never fire."
        )
    if schedule.at is not None:
        _refuse_time_out_of_bounds(request, schedule.at)
        return
    # The start itself may be a firing.
    coming = next(schedule.after(now if request.start_at is None else max(now, request.start_at - INSTANT)), None)
    if coming is None:
        raise InvalidTask(
            f"calendar={shown(request.calendar)} leaves out every firing of this schedule for years, so the job would "
            "never fire. Change the schedule, the calendar, or on_day_off."
        )
    if request.end_at is not None and was is None and coming > request.end_at:
        raise InvalidTask(
            f"end_at={request.end_at.isoformat()} is before the next time, {coming.isoformat()}; the job would never "
            "fire. Leave end_at out, or move it."
        )
    if request.jitter and request.jitter >= schedule.closest.total_seconds():
        raise InvalidTask(
            f"jitter={request.jitter} is not shorter than the {figure(schedule.closest.total_seconds())} s that may "
            "lie between two firings; each would run into the next. Lower it."
        )
    refuse_absurd_instant("the next time", coming)


def _refuse_time_out_of_bounds(request: JobRequest, at: datetime) -> None:
    for name, word, out in (
        ("start_at", "before", request.start_at is not None and at < request.start_at),
        ("end_at", "after", request.end_at is not None and at > request.end_at),
    ):
        if out:
            raise InvalidTask(
                f"the job would never fire: at={at.isoformat()} is {word} {name}={getattr(request, name).isoformat()}. "
                f"Leave {name} out, or move one of them."
            )
