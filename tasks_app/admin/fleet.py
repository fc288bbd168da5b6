"""The page of the fleet: who is alive, who dispatches which shard, which lanes are paused, which limits are in force.

Made of parts as the overview is. From here a lane is paused and resumed.
"""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.translation import gettext, gettext_lazy, ngettext
from unfold.admin import ModelAdmin

from tasks_app.console.looks import shared
from tasks_app.console.site import console
from tasks_app.core.errors import InvalidTask
from tasks_app.core.lanes import LANES
from tasks_app.engine.operations import lanes
from tasks_app.engine.watch.fleet_status import ShardView, Takeover
from tasks_app.engine.watch.status import LaneStatus, SchedulerStatus, read_status
from tasks_app.models import Node
from tasks_app.pages.links import api_url, console_url
from tasks_app.pages.lists import refuse_unknown

from . import overview, workers
from .forms import reason_field
from .rights import LookOnly, may_operate_platform, may_read_api, may_view_platform, requires

PARTS = ("problems", "nodes", "lanes", "shards", "limits", "chores")
PAUSE, RESUME = "pause", "resume"
TAKEN = {
    "FREE": gettext_lazy("shards that nobody held"),
    "EXPIRED": gettext_lazy("over from {}, whose lease had run out"),
    "SHARED": gettext_lazy("its share from {}"),
}


class LaneForm(forms.Form):
    # What the person saw: a lane that somebody else has paused meanwhile is not resumed by a press on "Pause".
    verb = forms.ChoiceField(choices=[(PAUSE, PAUSE), (RESUME, RESUME)], widget=forms.HiddenInput)
    reason = reason_field()


@admin.register(Node, site=console())
class FleetAdmin(LookOnly, ModelAdmin):
    def get_urls(self) -> list[URLPattern]:
        pages = [
            ("health/", self.health_view, "health"),
            ("lane/<str:lane>/", self.lane_view, "lane"),
            ("worker/<str:name>/", self.worker_view, "worker"),
            ("worker/<str:name>/<str:verb>/", self.worker_order_view, "worker_order"),
            ("", self.changelist_view, "node_changelist"),
        ]
        return [path(where, self.admin_site.admin_view(view), name=f"punctual_{name}") for where, view, name in pages]

    @requires(may_view_platform)
    @shared
    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        refuse_unknown(request)
        found = _read(request)
        context = self.page(request) | found | {"may_read_api": may_read_api(request)}
        return TemplateResponse(request, "tasks_app/fleet.html", context)

    @requires(may_read_api, methods=("GET", "HEAD"))
    def health_view(self, request: HttpRequest) -> HttpResponse:
        """The panel that other pages can have too, and that reads the API."""
        refuse_unknown(request)
        context = self.page(request) | {"title": gettext_lazy("Health"), "api_url": api_url()}
        return TemplateResponse(request, "tasks_app/health.html", context)

    @requires(may_operate_platform)
    def lane_view(self, request: HttpRequest, lane: str) -> HttpResponse:
        """GET says what pausing or resuming would do; POST does it."""
        if lane not in LANES:
            raise Http404(
                gettext("There is no lane {lane!r}; there are {lanes}.").format(lane=lane[:40], lanes=", ".join(LANES))
            )
        form = LaneForm(request.POST or None)
        if form.is_valid():
            answer = _carry_out(request, lane, form)
            if answer is not None:
                return answer
        view = next(one for one in read_status().lanes if one.lane == lane)
        offered = RESUME if _by_somebody(view) else PAUSE
        verb = form["verb"].value() if form.is_bound and "verb" not in form.errors else offered
        context = self.page(request) | {
            "title": (gettext("Resume lane {lane}") if verb == RESUME else gettext("Pause lane {lane}")).format(
                lane=lane
            ),
            "form": form if form.is_bound else LaneForm(initial={"verb": verb}),
            "pause": view.paused if _by_somebody(view) else None,
            "due": _due_words(view),
        }
        return TemplateResponse(request, "tasks_app/lane.html", context, status=400 if form.is_bound else 200)

    @requires(may_view_platform, methods=("GET", "HEAD"))
    def worker_view(self, request: HttpRequest, name: str) -> HttpResponse:
        return workers.page(self, request, name.replace("\0", ""))

    @requires(may_operate_platform)
    def worker_order_view(self, request: HttpRequest, name: str, verb: str) -> HttpResponse:
        return workers.order(self, request, name.replace("\0", ""), verb)

    def page(self, request: HttpRequest) -> dict[str, Any]:
        return {**self.admin_site.each_context(request), "opts": self.opts, "title": gettext("Fleet")}


def _by_somebody(view: LaneStatus) -> bool:
    """What a safeguard holds back is no pause that could be resumed: it ends with the safeguard."""
    return view.paused is not None and not view.paused.safeguard


def _carry_out(request: HttpRequest, lane: str, form: LaneForm) -> HttpResponse | None:
    """None: it was refused, and the form says why."""
    verb, note = form.cleaned_data["verb"], {"reason": form.cleaned_data["reason"], "by": request.user.get_username()}
    try:
        done = lanes.pause(lane, **note) if verb == PAUSE else lanes.resume(lane, **note)
    except InvalidTask as error:
        form.add_error("reason", str(error))
        return None
    if done:
        said = gettext("Lane {lane} is paused.") if verb == PAUSE else gettext("Lane {lane} is open again.")
        messages.success(request, said.format(lane=lane))
    else:
        said = (
            gettext("Lane {lane} was paused by somebody else in the meantime; nothing was changed.")
            if verb == PAUSE
            else gettext("Lane {lane} was resumed by somebody else in the meantime; nothing was changed.")
        )
        messages.warning(request, said.format(lane=lane))
    return HttpResponseRedirect(console_url("punctual_node_changelist"))


def _read(request: HttpRequest) -> dict[str, Any]:
    found = overview.look_at(request)
    status = found.answer.status
    return overview.told(request, found) | {
        "parts": overview.parts(PARTS),
        "holders": _holders(status),
        "takeovers": [_told(one) for one in status.takeovers],
    }


def _holders(status: SchedulerStatus) -> list[tuple[str | None, list[ShardView]]]:
    """Shards by holder; those of nobody first."""
    held: dict[str | None, list[ShardView]] = {}
    for view in status.shards:
        held.setdefault(view.holder, []).append(view)
    return sorted(held.items(), key=lambda one: one[0] or "")


def _told(one: Takeover) -> dict[str, Any]:
    words = TAKEN[one.how].format(one.from_whom or gettext("somebody"))
    return {"seconds_ago": one.seconds_ago, "holder": one.holder, "words": words, "shards": sorted(one.shards)}


def _due_words(view: LaneStatus) -> str:
    words = (
        ngettext("{count:,} task is due", "{count:,} tasks are due", view.due)
        if view.due_exact
        else ngettext("about {count:,} task is due", "about {count:,} tasks are due", view.due)
    )
    return words.format(count=view.due)
