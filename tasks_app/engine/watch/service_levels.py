"""How well the installation has done, against what is promised of it. Reads a few rows, however long the window is."""

from datetime import datetime, timedelta

from django.db.models.functions import Now

from tasks_app.conf import conf
from tasks_app.core.service_levels import MINUTE, Goals, Outage, ServiceLevels, State, Totals, outages_of
from tasks_app.models import LanePause, ServiceMinute

DAYS = 30  # that people usually ask about
MOST_DAYS = 365
PATIENCE = timedelta(minutes=5)  # the beats judge a minute soon after it is over; later than this, nobody does
MOST_MINUTES_DOWN = 5_000  # that are read to tell when it was


def read_levels(days: int = DAYS) -> ServiceLevels:
    """The last `days` days, or as many of them as there were."""
    goals = Goals(conf().AVAILABILITY_GOAL, conf().DELAY_GOAL_MS, conf().SUCCESS_GOAL)
    newest = ServiceMinute.objects.annotate(now=Now()).order_by("-minute").first()
    if newest is None:
        return ServiceLevels(days, goals, None, None)
    rows = ServiceMinute.objects.filter(minute__lte=newest.minute - timedelta(days=days))
    base = rows.order_by("-minute").first()
    # What was measured first is the beginning of it all: its sums are its own.
    before, since = (_totals(base), base.minute) if base else (Totals(), _first() - MINUTE)
    unwatched = _unwatched(newest)
    return ServiceLevels(
        days,
        goals,
        since + MINUTE,
        newest.minute + (1 + unwatched) * MINUTE,
        _totals(newest).since(before),
        unwatched,
        tuple(_outages(newest, since, unwatched)),
    )


def _first() -> datetime:
    first: datetime = ServiceMinute.objects.order_by("minute").values_list("minute", flat=True)[0]
    return first


def _unwatched(newest: ServiceMinute) -> int:
    """Minutes that are over and that no beat has judged: none was there, so no canary came back. Unless everything that
    was served is paused: then whoever stopped the beats meant to."""
    behind: timedelta = newest.now - (newest.minute + MINUTE)
    if behind < PATIENCE or not set(newest.served) - set(LanePause.objects.values_list("lane", flat=True)):
        return 0
    return behind // MINUTE


def _outages(newest: ServiceMinute, since: datetime, unwatched: int) -> list[Outage]:
    down = ServiceMinute.objects.filter(state=State.DOWN.value, minute__gt=since).order_by("-minute")
    found = outages_of(down.values_list("minute", "down")[:MOST_MINUTES_DOWN])
    if not unwatched:
        return found
    now = Outage(newest.minute + MINUTE, unwatched, tuple(newest.served))
    if found and found[0].until == now.since:
        last = found.pop(0)
        now = Outage(last.since, last.minutes + unwatched, tuple(sorted({*last.lanes, *now.lanes})))
    return [now, *found]


def _totals(row: ServiceMinute) -> Totals:
    return Totals(row.up_minutes, row.down_minutes, row.ok, row.failed, tuple(row.lateness))
