"""Pictures of how much of its quotas a tenant has used."""

from datetime import datetime, timedelta

from django.utils import timezone
from django.utils.text import capfirst
from django.utils.translation import gettext, gettext_lazy

from tasks_app.core.tenants import COUNTED, QUOTAS
from tasks_app.engine.watch.tenants import HourOfUse, use_of
from tasks_app.pages.charts import Chart, Series, bars

FAR = 4  # times the most that was used: a quota above that is told in words, and not drawn
# How far back, by what stands in the address; and the hours that are one bar.
SPANS = {"day": (24, 1), "week": (168, 1), "month": (744, 6)}
SPAN_WORDS = {"day": gettext_lazy("24 hours"), "week": gettext_lazy("7 days"), "month": gettext_lazy("31 days")}
_UNITS = {"max_jobs": "job", "calls_per_minute": "call"}  # of the others it is tasks


def use_charts(tenant: str, span: str) -> list[Chart]:
    """One for each quota of which something was used in this time."""
    hours, step = SPANS[span]
    use = use_of(tenant, hours)
    return [_chart(quota, use[quota], hours, step) for quota in COUNTED if quota in use]


def _chart(quota: str, found: list[HourOfUse], hours: int, step: int) -> Chart:
    now = timezone.now().replace(minute=0, second=0, microsecond=0)
    begin = now - timedelta(hours=hours - 1)
    begin -= timedelta(hours=begin.hour % step)
    starts = [begin + timedelta(hours=n) for n in range(0, _hours(now - begin) + 1, step)]
    values = [0] * len(starts)
    for one in found:
        place = _hours(one.hour - begin) // step
        if 0 <= place < len(values):
            values[place] = max(values[place], one.used)
    highest, limit = max(found, key=lambda one: one.used), found[-1].limit
    summary = gettext("At most {used} of {limit}, on {at} UTC.").format(
        used=f"{highest.used:,}", limit=f"{highest.limit:,}", at=f"{highest.hour:%d %b %H:%M}"
    )
    level = Series(gettext("Quota"), "pu-level", [limit] * len(values)) if 0 < limit <= FAR * highest.used else None
    words, of = gettext(QUOTAS[quota].words), _UNITS.get(quota, "task")
    columns = [Series(gettext("Used"), "pu-next", values)]
    name = quota.replace("_", "-")
    return bars(name, capfirst(words), summary, _labels(starts), columns, of, step=gettext("Hour, UTC"), level=level)


def _hours(span: timedelta) -> int:
    return span // timedelta(hours=1)


def _labels(starts: list[datetime]) -> list[str]:
    return [f"{at:%d %b %H:%M}" for at in starts]
