"""The coverage page: how fresh the catalogue is, what is scheduled against what is allowed, and why syncs fail."""

from datetime import timedelta

from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone

from inventory_app.coverage import Coverage, read_coverage
from tasks_app.pages.charts import Chart, Series, bars

from .words import age, cause, span


def coverage_page(request: HttpRequest, admin) -> HttpResponse:
    coverage = read_coverage()
    context = admin.admin_site.each_context(request) | {
        "opts": admin.opts,
        "title": "Coverage",
        "coverage": coverage,
        "problems": coverage.problems(),
        "tiles": _tiles(coverage),
        "chart": load_chart(
            "scheduled", "Scheduled syncs", coverage.outlook.due, coverage.outlook.steps, coverage.step
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
        (f"synced within {span(coverage.window)}", coverage.share_words, "?show=late"),
        ("never synced", f"{coverage.never:,}", "?show=never"),
        ("the oldest", age(coverage.oldest, timezone.now()) if coverage.oldest else "–", "?show=oldest"),
        ("due and waiting", f"{coverage.outlook.due:,}", "?"),
        ("failed at their last sync", f"{failing:,}", "?show=failing"),
        (f"scheduled a second, of {coverage.rate:g} allowed", f"{coverage.scheduled_rate:.3g}", "?"),
    ]


def load_chart(name: str, title: str, due: int, steps: list[int], step: timedelta) -> Chart:
    """Bars of what comes due in each step; what is due already is told, since it comes at the allowed rate."""
    now, each = timezone.now(), "hour" if step == timedelta(hours=1) else span(step)
    total = sum(steps)
    summary = (
        f"{total:,} in all, at most {max(steps):,} in any {each}, {total / len(steps):,.0f} on average."
        if total
        else "Nothing is scheduled."
    )
    if due:
        summary += f" Another {due:,} {'is' if due == 1 else 'are'} already due and will run at the allowed rate."
    labels = [f"{now + place * step:%d %b %H:%M}" for place in range(len(steps))]
    return bars(name, f"{title} by {each}", summary, labels, [Series("Due", "pu-next", steps)], "product", each)
