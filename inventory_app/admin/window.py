"""Another window: the form, a preview of what it does to the load, and then exactly that."""

from datetime import datetime, timedelta
from itertools import accumulate, pairwise
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.admin import ModelAdmin
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext, gettext_lazy, ngettext

from django_punctual.rolling import Timer
from inventory_app.conf import LONGEST_WINDOW
from inventory_app.coverage import Coverage, horizon, interval_for, read_coverage, step_for
from inventory_app.lifecycle import apply_window, change_window, current_window

from .coverage import load_chart
from .words import pace, share, span

PATIENCE_SECONDS = 5.0  # the request applies it for so long; the compensation scan ends what is left
UNITS = {"days": 86_400, "hours": 3_600, "minutes": 60}


class WindowForm(forms.Form):
    days = forms.IntegerField(label=gettext_lazy("Days"), min_value=0, max_value=3_650, required=False)
    hours = forms.IntegerField(label=gettext_lazy("Hours"), min_value=0, max_value=1_000, required=False)
    minutes = forms.IntegerField(label=gettext_lazy("Minutes"), min_value=0, max_value=10_000, required=False)

    def clean(self) -> dict[str, Any]:
        seconds = self.length.total_seconds()
        if not self.errors and not 0 < seconds <= LONGEST_WINDOW:
            self.add_error("days", gettext("Enter how long: days, hours or minutes, up to ten years."))
        cleaned: dict[str, Any] = self.cleaned_data
        return cleaned

    @property
    def length(self) -> timedelta:
        return timedelta(seconds=sum((self.cleaned_data.get(name) or 0) * size for name, size in UNITS.items()))


def window_page(request: HttpRequest, admin: ModelAdmin) -> HttpResponse:
    window = current_window().length
    form = WindowForm(request.POST if request.method == "POST" else None, initial=_typed(window))
    context = admin.admin_site.each_context(request) | {
        "opts": admin.opts,
        "title": gettext("Change the window"),
        "form": form,
        "window": span(window),
    }
    if form.is_bound and form.is_valid():
        # What is carried out is what was shown: the length of the preview, typed anew or not.
        shown = request.POST.get("shown")
        if request.POST.get("step") == "change" and shown == str(form.length.total_seconds()):
            return _change(request, form.length)
        context["preview"] = _preview(read_coverage(), form.length)
        context["changed_since"] = request.POST.get("step") == "change"
    return TemplateResponse(request, "inventory_app/window.html", context)


def _typed(window: timedelta) -> dict[str, int]:
    seconds = int(window.total_seconds())
    return {"days": seconds // 86_400, "hours": seconds % 86_400 // 3_600, "minutes": seconds % 3_600 // 60}


def _change(request: HttpRequest, length: timedelta) -> HttpResponse:
    change_window(length, actor=request.user.get_username())
    moved = apply_window(PATIENCE_SECONDS)
    words = ngettext(
        "The window is now {window}. {count:,} scheduled sync was moved to match.",
        "The window is now {window}. {count:,} scheduled syncs were moved to match.",
        moved,
    )
    messages.success(request, words.format(window=span(length), count=moved))
    return HttpResponseRedirect(reverse("admin:inventory_app_coverage"))


def _preview(coverage: Coverage, length: timedelta) -> dict[str, object]:
    ahead = horizon(length, coverage.timer, coverage.read_at)
    step, interval = step_for(ahead), interval_for(length, coverage.timer, coverage.read_at)
    scheduled, ratio = coverage.products / interval.total_seconds(), length / coverage.window
    steps = stretched(coverage.outlook.steps, coverage.step * ratio / step, max(1, -(-ahead // step)))
    if coverage.timer and length != coverage.window:
        steps = waiting_for(coverage.timer, steps, step, coverage.read_at)
    return {
        "length": span(length),
        "seconds": str(length.total_seconds()),
        "same": length == coverage.window,
        "timer": coverage.timer.words if coverage.timer else "",
        "interval": span(interval),
        "before": pace(coverage.scheduled_rate),
        "after": pace(scheduled),
        "allowed": coverage.rate_words,
        "share": share(scheduled / coverage.rate),
        "too_much": scheduled > coverage.rate,
        "before_chart": load_chart(
            "now", gettext("As it is"), coverage.outlook.due, coverage.outlook.steps, coverage.step
        ),
        "after_chart": load_chart("then", gettext("After the change"), coverage.outlook.due, steps, step),
    }


def waiting_for(timer: Timer, steps: list[int], step: timedelta, now: datetime) -> list[int]:
    """The same counts, each in the step in which the timer says so next."""
    found = [0] * len(steps)
    moments = timer.at_or_after([now + (place + 0.5) * step for place in range(len(steps))])
    for count, moment in zip(steps, moments, strict=True):
        found[min(int((moment - now) / step), len(steps) - 1)] += count
    return found


def stretched(steps: list[int], ratio: float, wanted: int) -> list[int]:
    """Counts by steps, each now `ratio` times as long, counted again by `wanted` steps of the old length."""
    found = [0.0] * wanted
    for place, count in enumerate(steps):
        begin, end = place * ratio, (place + 1) * ratio
        at = begin
        while count and at < end:
            upper = min(end, int(at) + 1.0)
            found[min(int(at), wanted - 1)] += count * (upper - at) / ratio
            at = upper
    ends = [round(sum_) for sum_ in accumulate(found, initial=0.0)]
    return [after - before for before, after in pairwise(ends)]  # whole products, and none lost by rounding
