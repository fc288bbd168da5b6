"""The coverage page: how fresh the catalogue is, what is scheduled against what is allowed, and why syncs fail."""

from datetime import timedelta

from django.contrib.admin import ModelAdmin
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy, ngettext

from django_punctual.pages import Chart, Series, bars
from inventory_app.coverage import Coverage, read_coverage
from inventory_app.coverage_history import coverage_of

from .words import age, cause, pace, span

# How far back the chart of coverage goes, by what stands in the address: hours, and those of one bar.
RANGES = {"24h": (24, 1), "7d": (168, 1), "30d": (720, 6)}
RANGE_WORDS = {"24h": gettext_lazy("24 hours"), "7d": gettext_lazy("7 days"), "30d": gettext_lazy("30 days")}
SHOWN = 40  # characters of what was sent


def coverage_page(request: HttpRequest, admin: ModelAdmin) -> HttpResponse:
    chosen = request.GET.get("range", "7d")
    if chosen not in RANGES:
        raise BadRequest(
            gettext("range={name!r} is not a time that the chart can show; take one of {known}.").format(
                name=chosen[:SHOWN], known=", ".join(RANGES)
            )
        )
    coverage = read_coverage()
    context = admin.admin_site.each_context(request) | {
        "opts": admin.opts,
        "title": gettext("Coverage"),
        "coverage": coverage,
        "problems": coverage.problems(),
        "tiles": _tiles(coverage),
        "chart": load_chart(
            "scheduled", gettext("Scheduled syncs"), coverage.outlook.due, coverage.outlook.steps, coverage.step
        ),
        "history": history_chart(*RANGES[chosen]),
        "range": chosen,
        "ranges": RANGE_WORDS,
        "failing": [(cause(code), code, count) for code, count in coverage.outlook.failing.items()],
        "may_change": admin.has_change_permission(request),
        "may_see_tasks": request.user.has_perm("punctual.view_scheduletask"),
        "window": span(coverage.window),
        "interval": span(coverage.interval),
    }
    return TemplateResponse(request, "inventory_app/coverage.html", context)


def _tiles(coverage: Coverage) -> list[tuple[str, str, str]]:
    """What each says, its figure, and which part of the list it leads to."""
    failing = sum(coverage.outlook.failing.values())
    return [
        (gettext("synced within {window}").format(window=span(coverage.window)), coverage.share_words, "?show=late"),
        (gettext("never synced"), f"{coverage.never:,}", "?show=never"),
        (gettext("the oldest"), age(coverage.oldest, timezone.now()) if coverage.oldest else "–", "?show=oldest"),
        (gettext("due and waiting"), f"{coverage.outlook.due:,}", "?"),
        (gettext("failed at their last sync"), f"{failing:,}", "?show=failing"),
        (
            gettext("scheduled, of {rate} a second allowed").format(rate=coverage.rate_words),
            pace(coverage.scheduled_rate),
            "?",
        ),
    ]


def history_chart(hours: int, step: int) -> Chart:
    """Bars of how many products were fresh, hour by hour; of several hours, the one with the smallest share."""
    found = coverage_of(hours, step)
    known = {at: one for at, one in found.items() if one is not None}
    summary = gettext("Nothing was noted in this time. It is noted once an hour, by the compensation scan.")
    if known:
        at, worst = min(known.items(), key=lambda one: one[1].share)
        summary = gettext("At least {share} were fresh whenever it was noted, the fewest around {at} UTC.").format(
            share=_percent(worst.share), at=f"{at:%Y-%m-%d %H:%M}"
        )
        if (first := min(known)) > min(found):
            summary += " " + gettext("Nothing was noted before {first} UTC.").format(first=f"{first:%Y-%m-%d %H:%M}")
    rows = [found[at] for at in found]
    series = [
        Series(gettext("Fresh"), "pu-good", [one and one.fresh for one in rows]),
        Series(gettext("Synced longer ago"), "pu-bad", [one and one.products - one.fresh - one.never for one in rows]),
        Series(gettext("Never synced"), "pu-next", [one and one.never for one in rows]),
    ]
    return bars(
        "coverage",
        gettext("Synced within the window, over time"),
        summary,
        [f"{at:%m-%d %H:%M}" for at in found],
        series,
        "product",
        gettext("Hour, UTC") if step == 1 else gettext("Six hours from, UTC"),
    )


def _percent(share: float) -> str:
    """Never rounded up: only all of them are 100 %."""
    return f"{int(share * 1000 + 1e-6) / 10:.1f}%"


def load_chart(name: str, title: str, due: int, steps: list[int], step: timedelta) -> Chart:
    """Bars of what comes due in each step; what is due already is told, since it comes at the allowed rate."""
    now, each = timezone.now(), gettext("hour") if step == timedelta(hours=1) else span(step)
    total = sum(steps)
    summary = (
        gettext("{total:,} in all, at most {most:,} in any {each}, {average:,.0f} on average.").format(
            total=total, most=max(steps), each=each, average=total / len(steps)
        )
        if total
        else gettext("Nothing is scheduled.")
    )
    if due:
        words = ngettext(
            "Another {due:,} is already due and will run at the allowed rate.",
            "Another {due:,} are already due and will run at the allowed rate.",
            due,
        )
        summary += " " + words.format(due=due)
    labels = [f"{now + place * step:%d %b %H:%M}" for place in range(len(steps))]
    return bars(
        name,
        gettext("{title} by {each}").format(title=title, each=each),
        summary,
        labels,
        [Series(gettext("Due"), "pu-next", steps)],
        "product",
        each,
    )
