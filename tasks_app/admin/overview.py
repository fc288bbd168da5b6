"""The admin's first page: is anything wrong, what is due, how late are we, what comes next, who is alive.

It is made of PARTS, each a template in templates/tasks_app/parts/ that gets all of `read()`; so is the fleet's page. To
add one, add its name, its template and what it needs.
"""

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, NamedTuple

from django.http import HttpRequest
from django.utils.translation import gettext, ngettext

from tasks_app.console.live import seen_until
from tasks_app.console.shared import Made, Shared
from tasks_app.core.service_levels import ServiceLevels
from tasks_app.database import atomic
from tasks_app.engine.watch.alarm_browse import told_to_nobody
from tasks_app.engine.watch.figures import Figures, Hour, Load, last_hour, next_hour, places, take_sample
from tasks_app.engine.watch.service_levels import read_levels
from tasks_app.engine.watch.status import NodeView, SchedulerStatus, read_status
from tasks_app.models import Node
from tasks_app.pages.charts import Chart, Series, bars
from tasks_app.pages.spans import span

from .installation import KNOWN
from .list_rows import node_rows
from .ranges import RANGES, chosen_range, drawn
from .rights import may_operate_platform, may_view_platform

PARTS = ("problems", "tiles", "campaigns", "charts", "lanes", "types", "subscriptions", "levels", "nodes")
SAYS_SECONDS = 60  # a process that has said no version by then is too old to say one
SHOWN = 20  # processes on the first page; that of the fleet has all


def first_page(request: HttpRequest) -> dict[str, Any]:
    """Those who may not look at tasks get the list of what they may look at."""
    if not may_view_platform(request):
        return {}
    return read(request) | {"title": gettext("Overview")}


def read(request: HttpRequest) -> dict[str, Any]:
    chosen = chosen_range(request)
    found = look_at(request)
    hour, status, load, levels, untold = found.answer
    return {
        "parts": parts(PARTS),
        "oldest": _oldest(status),
        "last_hour": hour.last(len(hour.minutes)),
        "charts": [*drawn(chosen, hour), _load(load)],
        "range": chosen.name,
        "ranges": RANGES,
        "failing": _failing(hour),
        "levels": levels,
        "untold": untold,
        "types": sorted(hour.types.items(), key=lambda one: -(one[1].ok + one[1].failed))[:20],
    } | told(request, found, SHOWN)


class Reading(NamedTuple):
    """What is so in all tenants, whoever looks at it and in whatever language."""

    hour: Hour
    status: SchedulerStatus
    load: Load
    levels: ServiceLevels
    untold: str


def _read_all() -> Reading:
    sample = cache(take_sample)  # taken once, and only if something is too much to count
    hour, where = last_hour(), places()
    status, load = read_status(hour, sample, where), next_hour(sample, where)
    return Reading(hour, status, load, read_levels(), told_to_nobody())


READING: Shared[Reading] = Shared()


def look_at(request: HttpRequest) -> Made[Reading]:
    # One transaction: outside of one, each statement has its own, and says whose rows it is about.
    with atomic(savepoint=False):
        found = READING.ask(None, _read_all, after=seen_until(request))
    setattr(request, KNOWN, found.answer.status.installation)
    return found


def told(request: HttpRequest, found: Made[Reading], most: int | None = None) -> dict[str, Any]:
    """What the parts need that both pages have; of the processes so many at most."""
    status = found.answer.status
    return {
        "may_operate": may_operate_platform(request),
        "status": status,
        "processes": list(node_rows(_processes(status.nodes, most))),
        "more_processes": max(0, len(status.nodes) - most) if most else 0,
        "versions": _versions(status),
        "read_at": datetime.fromtimestamp(found.begun / 1e6, UTC),
    }


def _processes(nodes: list[NodeView], most: int | None) -> list[NodeView]:
    """The live ones first. If there are too many, all others go before workers that just do their work."""
    chosen = sorted(nodes, key=lambda one: one.live and not one.drained and one.kind == Node.WORKER)[:most]
    return sorted(chosen, key=lambda one: (not one.live, one.kind, one.name))


def _versions(status: SchedulerStatus) -> list[tuple[str, int]]:
    """How many of the live processes have which; empty: all have the same. A beat says it after some moments."""
    told = [node for node in status.nodes if node.live and (node.version or node.up_seconds > SAYS_SECONDS)]
    found = Counter(node.version for node in told)
    return [(name or gettext("unknown"), count) for name, count in found.most_common()] if len(found) > 1 else []


def parts(names: Iterable[str]) -> list[tuple[str, str]]:
    return [(name, f"tasks_app/parts/{name}.html") for name in names]


def _oldest(status: SchedulerStatus) -> str:
    oldest = status.oldest_overdue_seconds
    return "–" if oldest is None else span(timedelta(seconds=oldest))


def _failing(hour: Hour) -> list[tuple[str, Figures, float]]:
    """Types with failed tries, the most first, with the share of their tries that failed."""
    failing = [(name, one, one.failed / (one.ok + one.failed)) for name, one in hour.types.items() if one.failed]
    return sorted(failing, key=lambda row: -row[1].failed)[:10]


def _load(load: Load) -> Chart:
    total = sum(load.minutes)
    summary = gettext("Nothing comes due in the next hour.")
    if total:
        words = (
            ngettext(
                "{count:,} task comes due in the next hour; at most {most:,} in a minute.",
                "{count:,} tasks come due in the next hour; at most {most:,} in a minute.",
                total,
            )
            if load.exact
            else ngettext(
                "About {count:,} task comes due in the next hour; at most about {most:,} in a minute.",
                "About {count:,} tasks come due in the next hour; at most about {most:,} in a minute.",
                total,
            )
        )
        summary = words.format(count=total, most=max(load.minutes))
    labels = [gettext("in {minute} min").format(minute=minute) for minute in range(len(load.minutes))]
    series = [Series(gettext("Due"), "pu-next", load.minutes)]
    return bars("load", gettext("Coming due, by minute"), summary, labels, series, "task")
