"""The coverage page: how fresh the catalogue is, what is scheduled against what is allowed, and why syncs fail."""

from datetime import timedelta

from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.translation import gettext, ngettext

from inventory_app.coverage import Coverage, read_coverage
from tasks_app.pages.charts import Chart, Series, bars

from .words import age, cause, span


def coverage_page(request: HttpRequest, admin) -> HttpResponse:
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
        "failing": [(cause(code), code, count) for code, count in coverage.outlook.failing.items()],
        "may_change": admin.has_change_permission(request),
        "may_see_tasks": request.user.has_perm("tasks_app.view_scheduletask"),
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
            gettext("scheduled a second, of {rate:g} allowed").format(rate=coverage.rate),
            f"{coverage.scheduled_rate:.3g}",
            "?",
        ),
    ]


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
