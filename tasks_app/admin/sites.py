"""The page of the sites: which one works and since when, who is at each, and how an operator switches."""

import re
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.translation import gettext, gettext_lazy
from unfold.admin import ModelAdmin

from tasks_app.conf import SITE_NAME
from tasks_app.console.site import console
from tasks_app.core.errors import PunctualError
from tasks_app.engine.operations import site as orders
from tasks_app.engine.operations.jobs import once
from tasks_app.engine.watch.site_status import ACTIVE, OPENING, STANDING_BY, last_choices, read_sites
from tasks_app.lifecycle.audit import Operator
from tasks_app.models import Recovery, Site
from tasks_app.pages.links import console_url
from tasks_app.pages.lists import refuse_unknown
from tasks_app.pages.said import in_language
from tasks_app.pages.typed import take_back

from .rights import LookOnly, may_operate_installation, may_view_installation, requires
from .secrets import ReasonOnly

LIST = "punctual_site_changelist"
CHOICES_SHOWN = 10
STATES = {
    ACTIVE: gettext_lazy("active"),
    OPENING: gettext_lazy("being opened"),
    STANDING_BY: gettext_lazy("standing by"),
}
ALL_STAND_BY = "stand by"  # what is typed to confirm it


class SiteForm(ReasonOnly):
    """An order that is typed out, about the sites as they were when the page was shown."""

    confirm = forms.CharField(
        max_length=60, widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"})
    )
    anyway = forms.BooleanField(label=gettext_lazy("None of its beats is alive: activate it anyway"), required=False)
    epoch = forms.IntegerField(widget=forms.HiddenInput)
    field_order = ("confirm", "anyway", "reason", "operation", "epoch")

    def __init__(self, *args: Any, word: str, epoch: int, dead: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.word = word
        self.initial |= {"epoch": epoch}
        self.fields["confirm"].label = gettext("Type {word} to confirm it").format(word=word)
        if not dead:
            del self.fields["anyway"]

    def clean_confirm(self) -> str:
        typed: str = self.cleaned_data["confirm"]
        if typed != self.word:
            raise forms.ValidationError(
                gettext("You typed {typed!r}. Nothing was changed; to go on, type {word!r}.").format(
                    typed=typed, word=self.word
                )
            )
        return typed


@admin.register(Site, site=console())
class SiteAdmin(LookOnly, ModelAdmin):
    def has_module_permission(self, request: HttpRequest) -> bool:
        return may_view_installation(request)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return may_view_installation(request)

    def get_urls(self) -> list[URLPattern]:
        pages = [
            ("", self.changelist_view, "changelist"),
            ("standby/", self.standby_view, "standby"),
            ("activate/<str:name>/", self.activate_view, "activate"),
        ]
        return [
            path(where, self.admin_site.admin_view(view), name=f"punctual_site_{name}") for where, view, name in pages
        ]

    @requires(may_view_installation)
    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        refuse_unknown(request)
        view = read_sites()
        context = self._page(request, gettext("Sites")) | {
            "view": view,
            "sites": [(one, STATES[one.state]) for one in view.sites],
            "recovery": view.resuming and Recovery.objects.filter(incident=view.resuming).first(),
            "choices": last_choices(CHOICES_SHOWN),
            "may_operate": may_operate_installation(request),
        }
        return TemplateResponse(request, "tasks_app/sites.html", context)

    @requires(may_operate_installation)
    def activate_view(self, request: HttpRequest, name: str) -> HttpResponse:
        """GET says what it would do; POST does it."""
        if not re.fullmatch(SITE_NAME, name, re.ASCII):
            raise Http404(gettext("No site can be called {name!r}.").format(name=name[:60]))
        return self._order_page(request, name)

    @requires(may_operate_installation)
    def standby_view(self, request: HttpRequest) -> HttpResponse:
        return self._order_page(request, None)

    def _order_page(self, request: HttpRequest, site: str | None) -> HttpResponse:
        view = read_sites()
        [seen] = orders.previews(view, [site])
        about: dict[str, Any] = {
            "word": site or ALL_STAND_BY,
            "epoch": view.epoch,
            "dead": site is not None and not seen.beats,
        }
        form = SiteForm(request.POST or take_back(request), **about)
        if request.method == "POST" and form.is_valid() and self._ordered(request, site, form):
            done = (
                gettext("All sites stand by.")
                if site is None
                else gettext("Site {site} is chosen, and no other one works.").format(site=site)
            )
            messages.success(request, done)
            return HttpResponseRedirect(console_url(LIST))
        button = gettext("Let all stand by") if site is None else gettext("Activate")
        subject = site or gettext("all sites")
        context = self._page(request, f"{button}: {subject}") | {
            "form": form,
            "button": button,
            "subject": subject,
            "words": in_language(
                seen.words,
                gettext("To go on, activate one.") if site is None else gettext("To go back, activate the other."),
            ),
            "back": console_url(LIST),
            "danger": True,
        }
        status = 400 if request.method == "POST" else 200
        return TemplateResponse(request, "tasks_app/host_order.html", context, status=status)

    def _ordered(self, request: HttpRequest, site: str | None, form: SiteForm) -> bool:
        given = form.cleaned_data
        by = Operator(request.user.get_username(), given["reason"], given["operation"])
        try:
            once(by, lambda: orders.order(site, by, anyway=given.get("anyway", False), epoch=given["epoch"]))
        except PunctualError as error:
            form.add_error(None, str(error))
            return False
        return True

    def _page(self, request: HttpRequest, title: str) -> dict[str, Any]:
        return {**self.admin_site.each_context(request), "opts": self.opts, "title": title}
