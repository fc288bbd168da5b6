"""The page of the load forecast: what fires in each minute of the next day, by lane and by hour; and a word after a job
was saved that makes a peak worse."""

from datetime import datetime
from typing import Any, NamedTuple

from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy

from tasks_app.core.firing_load import FiringLoad
from tasks_app.engine.watch.firing_load import LoadForecast, advice_for, advice_in_words, load_forecast
from tasks_app.models import JobDefinition
from tasks_app.pages.charts import Chart, Series, bars
from tasks_app.pages.language import speaking
from tasks_app.pages.links import console_url

STEP = 10  # minutes that are one bar of the chart: the busiest of them
HEAT = 5  # shades
FAR = 3  # a capacity so many times above the highest bar is told, not drawn


class Cell(NamedTuple):
    firings: int
    heat: int  # 0: none; 1 to HEAT


class HourRow(NamedTuple):
    label: str
    lanes: list[Cell]
    total: Cell
    busiest: int  # firings in its busiest minute
    at: str


def read(request: HttpRequest) -> dict[str, Any]:
    found = load_forecast()
    lanes = [lane for lane, minutes in found.load.lanes.items() if any(minutes)]
    with speaking(request):
        chart = _chart(found, lanes)
    return {
        "title": gettext_lazy("Load forecast"),
        "forecast": found,
        "age": round(found.age_seconds),
        "chart": chart,
        "peaks": [(f"{one.at:%d %b %H:%M}", one) for one in found.peaks],
        "lanes": lanes,
        "hours": _hours(found.load, lanes),
        "firings": sum(found.load.total),
    }


def advice_after(job: JobDefinition, was: JobDefinition | None) -> str | SafeString | None:
    """What to tell whoever has saved it, with the way to a form that has the jitter filled in."""
    advice = advice_for(job, was)
    if advice is None:
        return None
    words = advice_in_words(advice, load_forecast().capacity)
    if advice.jitter is None:
        return words
    where = f"{console_url('punctual_job_edit', job.id)}?jitter={advice.jitter}"
    return format_html('{} <a href="{}">Spread it over {} seconds</a>', words, where, advice.jitter)


def _chart(found: LoadForecast, lanes: list[str]) -> Chart:
    load, total, most = found.load, found.load.total, found.capacity.per_minute
    steps = range(0, len(total), STEP)
    busiest = [max(range(low, low + STEP), key=lambda minute: total[minute]) for low in steps]
    series = [Series(lane, f"pu-lane-{lane}", [load.lanes[lane][minute] for minute in busiest]) for lane in lanes]
    highest = max(total)
    drawn = most is not None and 0 < most <= FAR * max(highest, 1)
    level = Series(gettext("Capacity"), "pu-level", [most] * len(busiest)) if drawn else None
    labels = [f"{load.at(low):%H:%M}" for low in steps]
    summary = gettext("Nothing fires within the next 24 hours.")
    if highest:
        at = load.at(total.index(highest))
        summary = gettext("%(all)s firings within 24 hours; at most %(most)s in a minute, at %(at)s UTC.") % {
            "all": f"{sum(total):,}",
            "most": f"{highest:,}",
            "at": f"{at:%H:%M}",
        }
    title = gettext("Firings in the busiest minute of every ten")
    return bars(
        "forecast",
        title,
        summary,
        labels,
        series or [Series("–", "pu-next", [0] * len(busiest))],
        "firing",
        level=level,
    )


def _hours(load: FiringLoad, lanes: list[str]) -> list[HourRow]:
    """By the hours of the clock, the first and the last of which may be parts of one."""
    total = load.total
    hours: dict[datetime, list[int]] = {}
    for minute in range(len(total)):
        hours.setdefault(load.at(minute).replace(minute=0), []).append(minute)
    sums = {hour: [sum(load.lanes[lane][m] for m in minutes) for lane in lanes] for hour, minutes in hours.items()}
    highest = max((sum(row) for row in sums.values()), default=0)
    rows = []
    for hour, minutes in hours.items():
        busiest = max(minutes, key=lambda minute: total[minute])
        cells = [Cell(firings, _heat(firings, highest)) for firings in sums[hour]]
        whole = Cell(sum(sums[hour]), _heat(sum(sums[hour]), highest))
        rows.append(HourRow(f"{hour:%d %b %H}:00", cells, whole, total[busiest], f"{load.at(busiest):%H:%M}"))
    return rows


def _heat(firings: int, highest: int) -> int:
    return 0 if not firings else max(1, round(HEAT * firings / highest))
