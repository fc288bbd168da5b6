"""The page of the installation: whether it works, what is overdue, and what an operator can do about both."""

from dataclasses import dataclass
from typing import Any, NamedTuple

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
from tasks_app.core.lanes import LANES
from tasks_app.core.overdue import WORDS, Answer, Choice
from tasks_app.engine.operations import quarantine
from tasks_app.engine.operations.jobs import once
from tasks_app.engine.watch.installation_status import InstallationView, read_view
from tasks_app.lifecycle.audit import Operator
from tasks_app.models import Installation
from tasks_app.pages.links import console_url
from tasks_app.pages.lists import refuse_unknown

from .rights import LookOnly, may_operate_installation, may_view_installation, may_view_platform, requires
from .secrets import ReasonOnly

LIST = "punctual_installation_changelist"
HOUR = 3_600.0
KNOWN = "_punctual_installation"  # in a request: the view of it that its page has read anyway
CHOICES = {"resume": Choice.RUN, "latest": Choice.LATEST, "shift": Choice.SHIFT, "expire": Choice.EXPIRE}
BUTTONS = {
    "enter": gettext_lazy("Quarantine"),
    "rehearse": gettext_lazy("Rehearse"),
    "resume": gettext_lazy("Run all"),
    "latest": gettext_lazy("Latest only"),
    "shift": gettext_lazy("Shift"),
    "expire": gettext_lazy("Expire"),
}
STOPS = {
    "enter": gettext_lazy(
        "Nothing more is dispatched and nobody is called, until somebody lets it go on. What runs goes on to its end."
    ),
    "rehearse": gettext_lazy(
        "Tasks go to workers, which put them aside instead of calling their handlers. Going on puts them back."
    ),
}
GOES_ON = gettext_lazy(
    "This database is the installation's from now on, and everything that is due later goes on at once."
)


class GoOnForm(ReasonOnly):
    lanes = forms.MultipleChoiceField(
        label=gettext_lazy("Only in these lanes; none: in all that are held"),
        choices=[(lane, lane) for lane in LANES],
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    field_order: tuple[str, ...] = ("lanes", "reason", "operation")

    def answer(self, choice: Choice) -> Answer:
        given = self.cleaned_data
        return Answer.checked(choice, given["lanes"], given.get("older_than"), given.get("spread"))


class ExpireForm(GoOnForm):
    older_than = forms.CharField(
        label=gettext_lazy("How long a task may be overdue, such as 1h"), max_length=40, initial="1h"
    )
    field_order = ("older_than", "lanes", "reason", "operation")

    def clean_older_than(self) -> float:
        return _seconds(self.cleaned_data["older_than"])


class ShiftForm(GoOnForm):
    spread = forms.CharField(
        label=gettext_lazy("Over how long, such as 30m; empty: as long as nobody dispatched"),
        max_length=40,
        required=False,
    )
    field_order = ("spread", "lanes", "reason", "operation")

    def clean_spread(self) -> float | None:
        given = self.cleaned_data["spread"]
        return _seconds(given) if given else None


FORMS = {"enter": ReasonOnly, "rehearse": ReasonOnly, "expire": ExpireForm, "shift": ShiftForm}


class Offered(NamedTuple):
    """A choice for what is overdue, as the page shows it."""

    verb: str
    button: str
    words: str
    foreseen: str


@admin.register(Installation, site=console())
class InstallationAdmin(LookOnly, ModelAdmin):
    def has_module_permission(self, request: HttpRequest) -> bool:
        return may_view_installation(request)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return may_view_installation(request)

    def get_urls(self) -> list[URLPattern]:
        pages = [("", self.changelist_view, "changelist"), ("<str:verb>/", self.order_view, "order")]
        return [
            path(where, self.admin_site.admin_view(view), name=f"punctual_installation_{name}")
            for where, view, name in pages
        ]

    @requires(may_view_installation)
    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        refuse_unknown(request)
        view, seen = read_view(), quarantine.preview(HOUR)
        open_question = view.closed or view.asks
        context = self._page(request, gettext("Quarantine")) | {
            "view": view,
            "seen": seen,
            "choices": [
                Offered(verb, BUTTONS[verb], gettext(WORDS[choice]), seen.foreseen(choice))
                for verb, choice in CHOICES.items()
            ]
            if open_question
            else [],
            "may_operate": may_operate_installation(request),
        }
        return TemplateResponse(request, "tasks_app/installation.html", context)

    @requires(may_operate_installation)
    def order_view(self, request: HttpRequest, verb: str) -> HttpResponse:
        """GET says what it would do; POST does it."""
        if verb not in BUTTONS:
            raise Http404(gettext("Nothing of the kind can be done to an installation."))
        form = FORMS.get(verb, GoOnForm)(request.POST or None)
        if request.method == "POST" and form.is_valid() and self._ordered(request, verb, form):
            messages.success(request, gettext("{button}: done, or being done by a beat.").format(button=BUTTONS[verb]))
            return HttpResponseRedirect(console_url(LIST))
        words = STOPS.get(verb) or "{} {}".format(
            GOES_ON, gettext("What is overdue: {what}.").format(what=gettext(WORDS[CHOICES[verb]]))
        )
        subject = gettext("this installation")
        context = self._page(request, f"{BUTTONS[verb]}: {subject}") | {"form": form, "button": BUTTONS[verb]}
        context |= {
            "subject": subject,
            "words": words,
            "back": console_url(LIST),
            "danger": verb in ("enter", "expire"),
        }
        status = 400 if request.method == "POST" else 200
        return TemplateResponse(request, "tasks_app/host_order.html", context, status=status)

    def _ordered(self, request: HttpRequest, verb: str, form: ReasonOnly) -> bool:
        given = form.cleaned_data
        try:
            by = Operator(request.user.get_username(), given["reason"], given["operation"])
            if verb in CHOICES:
                answer = form.answer(CHOICES[verb])
                once(by, lambda: quarantine.resume(answer, by))
            else:
                once(by, lambda: getattr(quarantine, verb)(by))
        except PunctualError as error:
            form.add_error(None, str(error))
            return False
        return True

    def _page(self, request: HttpRequest, title: str) -> dict[str, Any]:
        return {**self.admin_site.each_context(request), "opts": self.opts, "title": title}


@dataclass(frozen=True)
class StandbySite:
    """Above the pages of a site that stands by: all that people do here counts, and others carry it out."""

    view: InstallationView
    linked: bool = False
    sites: bool = True  # there is a link to their page

    @property
    def head(self) -> str:
        return gettext("Standing by") if self.view.site is None else ""

    calm: str = gettext_lazy("Standing by")

    @property
    def told(self) -> str:
        return self.view.site_words


def banner(request: HttpRequest) -> list[InstallationView | StandbySite]:
    """That nothing runs, or that somebody is asked: for those who may look at tasks."""
    if not may_view_platform(request):
        return []
    view = getattr(request, KNOWN, None) or read_view()
    return [view] * bool(view.sentence) + [StandbySite(view)] * bool(view.site_words)


def _seconds(text: str) -> float:
    try:
        return seconds_of(text)
    except InvalidTask as error:
        raise forms.ValidationError(str(error)) from None
