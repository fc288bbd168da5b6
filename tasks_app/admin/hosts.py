"""The page of the hosts that callbacks go to: which are unwell, and the limits that operators have set."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.translation import gettext, gettext_lazy
from unfold.admin import ModelAdmin

from tasks_app.console.site import console
from tasks_app.core.errors import PunctualError
from tasks_app.core.hosts import HOST_LENGTH
from tasks_app.engine.operations.hosts import try_now
from tasks_app.engine.operations.jobs import once
from tasks_app.engine.watch.host_status import host_limits, unwell_hosts
from tasks_app.lifecycle import hosts
from tasks_app.lifecycle.audit import Operator
from tasks_app.models import Host, HostHealth
from tasks_app.pages.links import console_url
from tasks_app.pages.lists import refuse_unknown
from tasks_app.pages.typed import take_back

from .rights import LookOnly, may_operate_hosts, may_view_hosts, requires
from .secrets import ReasonOnly

SHOWN = 500
LIST = "punctual_host_changelist"


class HostForm(ReasonOnly):
    host = forms.CharField(label=gettext_lazy("Host, with its port unless that is 443"), max_length=HOST_LENGTH)
    max_running = forms.IntegerField(
        label=gettext_lazy("Calls at the same time, at most; empty: no limit"), required=False
    )
    rate = forms.FloatField(label=gettext_lazy("Calls a second, at most; empty: no limit"), required=False)
    burst = forms.FloatField(
        label=gettext_lazy("Calls that may begin at once after a pause; empty: a second's worth"), required=False
    )
    field_order = ("host", "max_running", "rate", "burst", "reason", "operation")


@admin.register(Host, site=console())
class HostAdmin(LookOnly, ModelAdmin):
    def has_module_permission(self, request: HttpRequest) -> bool:
        return may_view_hosts(request)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return may_view_hosts(request)

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return may_operate_hosts(request)

    def get_urls(self) -> list[URLPattern]:
        pages = [
            ("", self.changelist_view, "changelist"),
            ("add/", self.add_view, "add"),
            ("lift/<str:host>/", self.lift_view, "lift"),
            ("try/<str:tenant>/<str:host>/", self.try_view, "try"),
        ]
        return [
            path(where, self.admin_site.admin_view(view), name=f"punctual_host_{name}") for where, view, name in pages
        ]

    @requires(may_view_hosts)
    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        refuse_unknown(request)
        context = self._page(request, gettext("Hosts")) | {
            "unwell": unwell_hosts(SHOWN),
            "limits": host_limits(SHOWN),
            "may_operate": may_operate_hosts(request),
        }
        return TemplateResponse(request, "tasks_app/hosts.html", context)

    @requires(may_operate_hosts)
    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """A limit, a new one or another."""
        form = HostForm(request.POST or take_back(request))
        if request.method == "POST" and form.is_valid() and self._limited(request, form):
            messages.success(request, gettext("The limit is in force."))
            return HttpResponseRedirect(console_url(LIST))
        context = self._page(request, gettext("Limit a host")) | {"form": form}
        status = 400 if request.method == "POST" else 200
        return TemplateResponse(request, "tasks_app/host_form.html", context, status=status)

    @requires(may_operate_hosts)
    def lift_view(self, request: HttpRequest, host: str) -> HttpResponse:
        if not Host.objects.filter(host=host[:HOST_LENGTH].replace("\0", "")).exists():
            raise Http404(gettext("This host has no limit."))
        words = gettext("It is asked for as much as there is from now on.")
        return self._order_page(request, gettext("Lift the limit"), host, words, lambda by: hosts.lift(host, by))

    @requires(may_operate_hosts)
    def try_view(self, request: HttpRequest, tenant: str, host: str) -> HttpResponse:
        found = HostHealth.objects.filter(tenant=tenant.replace("\0", ""), host=host.replace("\0", ""))
        if not found.exists():
            raise Http404(gettext("Nothing is known of this host."))
        words = gettext("The next of its tasks that comes calls it. If it answers, the others follow.")
        called = hosts.Called(tenant, host)
        return self._order_page(request, gettext("Try it now"), host, words, lambda by: try_now(called, by))

    def _limited(self, request: HttpRequest, form: HostForm) -> bool:
        given = form.cleaned_data
        figures = {name: given[name] for name in ("max_running", "rate", "burst")}
        try:
            operator = _operator(request, form)
            once(operator, lambda: hosts.limit(given["host"], operator, **figures))
        except PunctualError as error:
            form.add_error(None, str(error))
            return False
        return True

    def _order_page(
        self, request: HttpRequest, button: str, host: str, words: str, verb: Callable[[Operator], object]
    ) -> HttpResponse:
        form = ReasonOnly(request.POST or None)
        if request.method == "POST" and form.is_valid():
            operator = _operator(request, form)
            try:
                once(operator, lambda: verb(operator))
                messages.success(request, gettext("{button}: {host}. Done.").format(button=button, host=host))
            except PunctualError as error:
                messages.warning(request, str(error))
            return HttpResponseRedirect(console_url(LIST))
        context = self._page(request, f"{button}: {host}") | {"form": form, "button": button, "words": words}
        context |= {"subject": host, "back": console_url(LIST), "danger": False}
        status = 400 if request.method == "POST" else 200
        return TemplateResponse(request, "tasks_app/host_order.html", context, status=status)

    def _page(self, request: HttpRequest, title: str) -> dict[str, Any]:
        return {**self.admin_site.each_context(request), "opts": self.opts, "title": title}


def _operator(request: HttpRequest, form: ReasonOnly) -> Operator:
    return Operator(request.user.get_username(), form.cleaned_data["reason"], form.cleaned_data["operation"])
