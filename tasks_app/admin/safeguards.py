"""The page of the safeguards: what each is about, what it holds back and why, what it did; and orders for operators."""

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
from tasks_app.core.durations import seconds_of
from tasks_app.core.errors import InvalidTask, PunctualError
from tasks_app.core.safeguards import Name, stages_of
from tasks_app.engine.operations import safeguards
from tasks_app.engine.operations.jobs import once
from tasks_app.engine.watch.safeguard_status import ActingView, acting, page_of_incidents, read_safeguards
from tasks_app.lifecycle.audit import Operator
from tasks_app.models import Safeguard
from tasks_app.models.safeguard import SUBJECT_LENGTH
from tasks_app.pages.links import console_url
from tasks_app.pages.lists import refuse_unknown

from .rights import LookOnly, may_operate_safeguards, may_view_platform, may_view_safeguards, requires
from .secrets import ReasonOnly

LIST = "punctual_safeguard_changelist"
TELL_IT = {"index", "punctual_node_changelist"}  # pages with the verdict, which says it, too
SHOWN = 50
WORDS = {
    "force": gettext_lazy("It acts from now on, whatever is found, until its time is over."),
    "forbid": gettext_lazy("It ends what it does, and doesn't act until its time is over, whatever is found."),
    "end": gettext_lazy(
        "It ends what it does, and what was forced or forbidden. It acts anew if its limit stays passed."
    ),
}
BUTTONS = {"force": gettext_lazy("Force it"), "forbid": gettext_lazy("Forbid it"), "end": gettext_lazy("End it")}


class EndForm(ReasonOnly):
    subject = forms.CharField(
        label=gettext_lazy("About: a task type, or host: and a host; empty: all"),
        max_length=SUBJECT_LENGTH,
        required=False,
    )
    field_order: tuple[str, ...] = ("subject", "reason", "operation")


class ForbidForm(EndForm):
    length = forms.CharField(label=gettext_lazy("For how long, such as 30m or 2h"), max_length=40, initial="1h")
    field_order: tuple[str, ...] = ("subject", "length", "reason", "operation")

    def clean_length(self) -> float:
        try:
            return seconds_of(self.cleaned_data["length"])
        except InvalidTask as error:
            raise forms.ValidationError(str(error)) from None


class ForceForm(ForbidForm):
    stage = forms.IntegerField(label=gettext_lazy("Stage: how far it goes; empty: as it would begin"), required=False)
    field_order = ("subject", "stage", "length", "reason", "operation")


FORMS = {"force": ForceForm, "forbid": ForbidForm, "end": EndForm}


@admin.register(Safeguard, site=console())
class SafeguardAdmin(LookOnly, ModelAdmin):
    def has_module_permission(self, request: HttpRequest) -> bool:
        return may_view_safeguards(request)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return may_view_safeguards(request)

    def get_urls(self) -> list[URLPattern]:
        pages = [("", self.changelist_view, "changelist"), ("<str:name>/<str:verb>/", self.order_view, "order")]
        return [
            path(where, self.admin_site.admin_view(view), name=f"punctual_safeguard_{name}")
            for where, view, name in pages
        ]

    @requires(may_view_safeguards)
    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        refuse_unknown(request)
        context = self._page(request, gettext("Safeguards")) | {
            "safeguards": read_safeguards(),
            "incidents": page_of_incidents(None, SHOWN),
            "may_operate": may_operate_safeguards(request),
        }
        return TemplateResponse(request, "tasks_app/safeguards.html", context)

    @requires(may_operate_safeguards)
    def order_view(self, request: HttpRequest, name: str, verb: str) -> HttpResponse:
        """GET says what it would do; POST does it."""
        if name not in tuple(Name) or verb not in FORMS:
            raise Http404(gettext("There is no such safeguard, or nothing of the kind can be done to one."))
        form = FORMS[verb](request.POST or None)
        form.fields["subject"].initial = request.GET.get("subject", "")[:SUBJECT_LENGTH]
        if request.method == "POST" and form.is_valid() and self._ordered(request, name, verb, form):
            messages.success(
                request,
                gettext("{button}: {name}. A beat does it within seconds.").format(button=BUTTONS[verb], name=name),
            )
            return HttpResponseRedirect(console_url(LIST))
        context = self._page(request, f"{BUTTONS[verb]}: {name}") | {"form": form, "button": BUTTONS[verb]}
        words = WORDS[verb]
        if verb == "force" and stages_of(name) > 1:
            words += " " + gettext("It has {count} stages.").format(count=stages_of(name))
        context |= {"words": words, "subject": name, "back": console_url(LIST), "danger": False}
        status = 400 if request.method == "POST" else 200
        return TemplateResponse(request, "tasks_app/host_order.html", context, status=status)

    def _ordered(self, request: HttpRequest, name: str, verb: str, form: EndForm) -> bool:
        given = form.cleaned_data
        options = {"subject": given["subject"]}
        if verb != "end":
            options["seconds"] = given["length"]
        if verb == "force":
            options["stage"] = given["stage"]
        try:
            by = Operator(request.user.get_username(), given["reason"], given["operation"])
            once(by, lambda: getattr(safeguards, verb)(name, by, **options))
        except PunctualError as error:
            form.add_error(None, str(error))
            return False
        return True

    def _page(self, request: HttpRequest, title: str) -> dict[str, Any]:
        return {**self.admin_site.each_context(request), "opts": self.opts, "title": title}


def banner(request: HttpRequest) -> list[ActingView]:
    """What safeguards do now, for those who may look at tasks."""
    told = request.resolver_match is not None and request.resolver_match.url_name in TELL_IT
    return acting() if may_view_platform(request) and not told else []
