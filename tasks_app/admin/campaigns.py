"""The campaigns: a list, a page of each with its progress, and orders: pause, resume, cancel, another pace."""

import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.translation import gettext, gettext_lazy, ngettext
from unfold.admin import ModelAdmin

from tasks_app.console.scope import member, seen
from tasks_app.console.site import console
from tasks_app.core.campaigns import CampaignState
from tasks_app.core.errors import InvalidTask
from tasks_app.core.moves import Move
from tasks_app.core.rules import Reason
from tasks_app.engine.watch.campaign_browse import CampaignFilter, campaign_by_id, is_full, page_of_campaigns
from tasks_app.engine.watch.why import why_lane
from tasks_app.lifecycle.audit import Operator
from tasks_app.lifecycle.campaigns import verbs
from tasks_app.lifecycle.campaigns.begin import RELEASES
from tasks_app.lifecycle.campaigns.steps import GONE
from tasks_app.lifecycle.operate import Verb
from tasks_app.models import AuditEntry, Campaign
from tasks_app.pages.links import console_url
from tasks_app.pages.lists import refuse_unknown
from tasks_app.pages.said import in_language

from . import overview
from .forms import TenantField, most_running_field, rate_field, reason_field
from .orders import undo_words
from .rights import LookOnly, may_operate, may_view, requires
from .words import DONE, FOUND, KINDS, LEFT, MADE, move_words, split

PAGE = 50
ENTRIES = 50
ORDERS: dict[str, tuple[Callable[..., tuple[Campaign, bool]], str, str]] = {
    "pause": (
        verbs.pause,
        gettext_lazy("Pause"),
        gettext_lazy("It takes no further step until somebody resumes it. What it has released runs on."),
    ),
    "resume": (verbs.resume, gettext_lazy("Resume"), gettext_lazy("It goes on where it was paused, at its rate.")),
    "cancel": (
        verbs.cancel,
        gettext_lazy("Cancel"),
        gettext_lazy(
            "The tasks that it has not come to stay as they are. What it has done stays done. It can't be resumed."
        ),
    ),
    "pace": (
        verbs.change_pace,
        gettext_lazy("Change the pace"),
        gettext_lazy("It goes on at the new pace from its next step on."),
    ),
}
PACE = "pace"
OFFERED = {CampaignState.RUNNING: ("pause", PACE, "cancel"), CampaignState.PAUSED: ("resume", PACE, "cancel")}
BECAME = {
    "succeeded": gettext_lazy("succeeded"),
    "died": gettext_lazy("died again"),
    "otherwise": gettext_lazy("were cancelled or replaced meanwhile"),
    "waiting": gettext_lazy("wait, run, or are to be tried again"),
}


class FilterForm(forms.Form):
    state = forms.ChoiceField(
        label=gettext_lazy("State"),
        required=False,
        choices=[("", gettext_lazy("Any")), *((one.value, one.value.title()) for one in CampaignState)],
    )
    kind = forms.ChoiceField(
        label=gettext_lazy("Action"), required=False, choices=[("", gettext_lazy("Any")), *KINDS.items()]
    )
    tenant = TenantField(required=False)


class ReasonForm(forms.Form):
    reason = reason_field()


class PaceForm(forms.Form):
    rate = rate_field()
    most_running = most_running_field()
    reason = reason_field()

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, initial={"rate": campaign.rate, "most_running": campaign.most_running}, **kwargs)
        if campaign.kind not in RELEASES:
            del self.fields["most_running"]


@admin.register(Campaign, site=console())
class CampaignAdmin(LookOnly, ModelAdmin):
    def get_urls(self) -> list[URLPattern]:
        pages = [
            ("<int:campaign>/<str:verb>/order/", self.order_view, "campaign_order"),
        ]
        own = [path(where, self.admin_site.admin_view(view), name=f"punctual_{name}") for where, view, name in pages]
        return [*own, *super().get_urls()]

    @requires(may_view)
    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        refuse_unknown(request, (*FilterForm.base_fields, "after"))
        return TemplateResponse(request, "tasks_app/campaigns.html", self._page(request) | _listed(request))

    @requires(may_view)
    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        campaign = _campaign(object_id)
        entries = AuditEntry.objects.filter(subject=f"campaign {campaign.id}").order_by("-created_at", "-id")[:ENTRIES]
        context = self._page(request) | _told(request, campaign)
        context |= {"title": gettext("Campaign {id}").format(id=campaign.id), "original": campaign, "entries": entries}
        return TemplateResponse(request, "tasks_app/campaign.html", context)

    @requires(may_operate)
    def order_view(self, request: HttpRequest, campaign: int, verb: str) -> HttpResponse:
        """GET says what it would do; POST does it."""
        if verb not in ORDERS:
            raise Http404(
                gettext("{verb!r} is nothing that can be done to a campaign; there are {verbs}.").format(
                    verb=verb[:20], verbs=", ".join(ORDERS)
                )
            )
        row = _campaign(str(campaign))
        form = PaceForm(row, request.POST or None) if verb == PACE else ReasonForm(request.POST or None)
        act, words, effect = ORDERS[verb]
        if form.is_valid():
            given = dict(form.cleaned_data)
            operator = Operator(request.user.get_username(), given.pop("reason"))
            try:
                row, changed = act(row.id, given, operator) if verb == PACE else act(row.id, operator)
            except InvalidTask as error:
                form.add_error("reason", str(error))
            else:
                now = _pace(row) if verb == PACE and row.state in OFFERED else gettext(row.state.lower())
                if changed:
                    messages.success(request, gettext("Campaign {id} is {now}.").format(id=row.id, now=now))
                else:
                    messages.warning(
                        request,
                        gettext("Campaign {id} was {now} already; nothing was changed.").format(id=row.id, now=now),
                    )
                return HttpResponseRedirect(console_url("punctual_campaign_change", row.id))
        context = self._page(request) | {
            "title": gettext("{words} campaign {id}").format(words=words, id=row.id),
            "campaign": row,
            "kind": KINDS.get(row.kind, row.kind),
            "verb": verb,
            "effect": effect,
            "form": form,
        }
        return TemplateResponse(request, "tasks_app/campaign_order.html", context, status=400 if form.is_bound else 200)

    def _page(self, request: HttpRequest) -> dict[str, Any]:
        return {**self.admin_site.each_context(request), "opts": self.opts, "title": gettext("Campaigns")}


def _listed(request: HttpRequest) -> dict[str, Any]:
    form, after = FilterForm(request.GET), request.GET.get("after", "")
    if after and not re.fullmatch("[1-9][0-9]{0,17}", after):
        raise BadRequest(gettext("{after!r} is no place in this list; begin at its start.").format(after=after[:40]))
    if not form.is_valid():
        return {"form": form, "found": None}
    given = {name: value for name, value in form.cleaned_data.items() if value}
    found, more = page_of_campaigns(CampaignFilter(**given), int(after) if after else None, PAGE)
    return {
        "form": form,
        "found": [(one, KINDS.get(one.kind, one.kind)) for one in found],
        "next": urlencode(given | {"after": more}) if more else "",
    }


def _told(request: HttpRequest, campaign: Campaign) -> dict[str, Any]:
    acted, left = split(campaign.counts)
    gone = campaign.counts.get(GONE, 0)
    return {
        "parts": overview.parts(["campaign"]),
        "may_operate": may_operate(request),
        "campaign": campaign,
        "kind": KINDS.get(campaign.kind, campaign.kind),
        "new_time": move_words(Move.stored(campaign.options)) if campaign.kind == Verb.MOVE else "",
        "sentence": _sentence(campaign),
        "released_wait": _lane_of_released(campaign),
        "acted": [(count, DONE[answer]) for answer, count in acted.items()] + _counted(campaign, MADE),
        "left": [(count, LEFT[answer]) for answer, count in left.items()]
        + _counted(campaign, FOUND)
        + ([(gone, gettext("no longer there, or dealt with before"))] if gone else []),
        "result": [(getattr(campaign, name), words) for name, words in BECAME.items() if getattr(campaign, name)]
        if campaign.kind in RELEASES
        else [],
        "verbs": [(verb, ORDERS[verb][1]) for verb in OFFERED.get(CampaignState(campaign.state), ())],
    } | (undo_words(campaign.operation, campaign.counts) if may_operate(request) else {})


def _counted(campaign: Campaign, words: Mapping[str, str]) -> list[tuple[int, str]]:
    return [(campaign.counts[answer], said) for answer, said in words.items() if campaign.counts.get(answer)]


def _pace(campaign: Campaign) -> str:
    rate = (
        gettext("at {rate:g} a second").format(rate=campaign.rate) if campaign.rate else gettext("as fast as it goes")
    )
    if not campaign.most_running:
        return rate
    return gettext("{rate}, with at most {count:,} under way").format(rate=rate, count=campaign.most_running)


def _sentence(campaign: Campaign) -> str:
    match campaign.state:
        case CampaignState.PAUSED:
            return gettext("It is paused: nothing more is done until somebody resumes it.")
        case CampaignState.CANCELLED:
            return gettext("It was cancelled; {count:,} tasks were left as they are.").format(
                count=campaign.total - campaign.done
            )
        case CampaignState.DONE:
            return gettext("It is done.")
    if campaign.hold:
        return in_language(campaign.hold.words if member() is None else campaign.hold.outside)
    if is_full(campaign):
        return ngettext(
            "It waits until the task that it released is finished: at most {most:,} may be under way.",
            "It waits until some of the {count:,} tasks that it released are finished: at most {most:,} may be under "
            "way.",
            campaign.waiting,
        ).format(count=campaign.waiting, most=campaign.most_running)
    if campaign.done or campaign.failures:
        return gettext("It is running. You can close this page: the beats carry it out.")
    return gettext("It waits for a beat, which takes it up within seconds. You can close this page.")


def _lane_of_released(campaign: Campaign) -> Reason | None:
    """Why the tasks that it released wait in its lane; None: nothing holds that, or none of them waits."""
    lane = campaign.options.get("lane")
    return why_lane(lane) if lane and campaign.waiting else None


def _campaign(object_id: str) -> Campaign:
    found = seen(campaign_by_id(int(object_id))) if re.fullmatch("[0-9]{1,18}", object_id) else None
    if found is None:
        raise Http404(
            gettext("There is no campaign {object_id!r}; those that are over are kept for some weeks.").format(
                object_id=object_id[:40]
            )
        )
    return found
