"""The overview's charts of what ran: an hour by the minute, or days and weeks by the hour."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.core.exceptions import BadRequest
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy

from tasks_app.conf import conf
from tasks_app.engine.watch.figures import Figures, Hour, last_hours
from tasks_app.pages.charts import Chart, Series, bars, lines
from tasks_app.pages.links import console_url
from tasks_app.pages.lists import SHOWN
from tasks_app.pages.spans import milliseconds

SHARES = (0.50, 0.95, 0.99)
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Range:
    name: str  # in the address
    words: str
    length: int  # of hours
    step: timedelta  # of one point
    head: str  # of the table's first column
    tasks: str  # the titles of the two charts
    lateness: str
    ran: str
    nothing: str
    label: str = "%m-%d %H:%M"


RANGES = {
    one.name: one
    for one in (
        Range(
            "1h",
            gettext_lazy("1 hour"),
            1,
            MINUTE,
            gettext_lazy("Minute"),
            gettext_lazy("Tasks a minute"),
            gettext_lazy("Lateness at the start, by minute"),
            gettext_lazy("{ok:,} succeeded and {failed:,} failed in the last hour; at most {most:,} in a minute."),
            gettext_lazy("Nothing ran in the last hour."),
            "%H:%M",
        ),
        Range(
            "24h",
            gettext_lazy("24 hours"),
            24,
            HOUR,
            gettext_lazy("Hour, UTC"),
            gettext_lazy("Tasks an hour"),
            gettext_lazy("Lateness at the start, by hour"),
            gettext_lazy("{ok:,} succeeded and {failed:,} failed in the last 24 hours; at most {most:,} in an hour."),
            gettext_lazy("Nothing ran in the last 24 hours."),
        ),
        Range(
            "7d",
            gettext_lazy("7 days"),
            7 * 24,
            HOUR,
            gettext_lazy("Hour, UTC"),
            gettext_lazy("Tasks an hour"),
            gettext_lazy("Lateness at the start, by hour"),
            gettext_lazy("{ok:,} succeeded and {failed:,} failed in the last 7 days; at most {most:,} in an hour."),
            gettext_lazy("Nothing ran in the last 7 days."),
        ),
        Range(
            "30d",
            gettext_lazy("30 days"),
            30 * 24,
            6 * HOUR,
            gettext_lazy("Six hours from, UTC"),
            gettext_lazy("Tasks in six hours"),
            gettext_lazy("Lateness at the start, by six hours"),
            gettext_lazy("{ok:,} succeeded and {failed:,} failed in the last 30 days; at most {most:,} in six hours."),
            gettext_lazy("Nothing ran in the last 30 days."),
        ),
    )
}


def chosen_range(request: HttpRequest) -> Range:
    """What stands in the address; an hour if nothing does."""
    name = request.GET.get("range", "1h")
    if name not in RANGES:
        raise BadRequest(
            gettext("range={name!r} is not a time that the charts can show; take one of {known}.").format(
                name=name[:SHOWN], known=", ".join(RANGES)
            )
        )
    return RANGES[name]


def drawn(chosen: Range, hour: Hour) -> list[Chart]:
    """What ran, and how late it started."""
    if chosen.step == MINUTE:
        return _charts(chosen, hour.minutes, hour.last(len(hour.minutes)), "")
    found = last_hours(chosen.length, chosen.step // HOUR, hour)
    return _charts(chosen, found.steps, found.total(), _since(found.since, min(found.steps)))


def _since(known: datetime | None, begin: datetime) -> str:
    if known is None or known <= begin:
        return ""
    return " " + gettext("Nothing is known of the time before {since} UTC.").format(since=f"{known:%Y-%m-%d %H:%M}")


def _charts(chosen: Range, points: Mapping[datetime, Figures], total: Figures, note: str) -> list[Chart]:
    where = console_url("punctual_scheduletask_changelist")
    kept = timezone.now() - max(one.hot for one in conf().retention_classes.values())
    labels = [f"{at:{chosen.label}}" for at in points]
    urls = [_ran_in(where, at, chosen.step) if at >= kept else "" for at in points]
    ran, late = _ran(chosen, points, total) + note, _late(chosen, total) + note
    return [
        bars("throughput", chosen.tasks, ran, labels, _outcomes(points), "task", step=chosen.head, urls=urls),
        lines("lateness", chosen.lateness, late, labels, _percentiles(points), step=chosen.head, urls=urls),
    ]


def _ran(chosen: Range, points: Mapping[datetime, Figures], total: Figures) -> str:
    most = max(one.ok + one.failed for one in points.values())
    return str(chosen.ran).format(ok=total.ok, failed=total.failed, most=most) if most else str(chosen.nothing)


def _outcomes(points: Mapping[datetime, Figures]) -> list[Series]:
    return [
        Series(gettext("Succeeded"), "pu-good", [one.ok for one in points.values()]),
        Series(gettext("Failed"), "pu-bad", [one.failed for one in points.values()]),
    ]


def _late(chosen: Range, total: Figures) -> str:
    middle, slowest = total.percentile_ms(SHARES[0]), total.percentile_ms(SHARES[-1])
    if middle is None or slowest is None:
        return str(chosen.nothing)
    return gettext("Half of the tasks started within {usual} of their time, 99% within {worst}.").format(
        usual=milliseconds(middle), worst=milliseconds(slowest)
    )


def _percentiles(points: Mapping[datetime, Figures]) -> list[Series]:
    return [
        Series(f"p{share * 100:.0f}", f"pu-p{share * 100:.0f}", [one.percentile_ms(share) for one in points.values()])
        for share in SHARES
    ]


def _ran_in(where: str, begin: datetime, step: timedelta) -> str:
    """The tasks whose last run was in this time; `where` is their list."""
    since, until = (f"{at:%Y-%m-%dT%H%%3A%M}" for at in (begin, begin + step))
    return f"{where}?when=ran&since={since}&until={until}"
