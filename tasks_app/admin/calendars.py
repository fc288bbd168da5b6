"""The pages of calendars: the list, one with its days and the jobs that keep it, the form, and the deletion."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

from django import forms
from django.contrib import admin, messages
from django.db import OperationalError
from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy
from unfold.admin import ModelAdmin

from tasks_app.console.scope import whose
from tasks_app.console.site import console
from tasks_app.core.calendars import WEEKDAYS
from tasks_app.core.errors import NotThere, PunctualError
from tasks_app.core.tenants import DEFAULT_TENANT
from tasks_app.engine.operations import calendars
from tasks_app.engine.operations.jobs import Done, once
from tasks_app.lifecycle.audit import Operator
from tasks_app.models import AuditEntry, Calendar, JobDefinition
from tasks_app.models.calendar import CALENDAR_NAME_LENGTH
from tasks_app.pages.links import console_url
from tasks_app.pages.lists import refuse_unknown
from tasks_app.pages.typed import take_back

from .forms import TenantField, reason_field
from .rights import LookOnly, may_operate_jobs, may_view_jobs, requires

LIST, ONE = "punctual_calendar_changelist", "punctual_calendar_change"
SHOWN = 500  # calendars on the list, jobs on a page
HISTORY = 30


class DaysField(forms.CharField):
    """A day on each line, such as `2026-12-25 Christmas Day`."""

    widget = forms.Textarea(attrs={"rows": 10, "spellcheck": "false"})

    def clean(self, value: object) -> dict[str, str]:
        lines = [line.strip() for line in super().clean(value).splitlines() if line.strip()]
        return {day: note.strip() for day, _, note in (line.partition(" ") for line in lines)}


class CalendarOrderForm(forms.Form):
    reason = reason_field()
    operation = forms.UUIDField(widget=forms.HiddenInput)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"initial": {"operation": uuid4()}} | kwargs)


class CalendarForm(CalendarOrderForm):
    tenant = TenantField(initial=DEFAULT_TENANT)
    name = forms.CharField(label=gettext_lazy("Name"), max_length=CALENDAR_NAME_LENGTH)
    weekdays = forms.TypedMultipleChoiceField(
        label=gettext_lazy("Off in every week"),
        required=False,
        coerce=int,
        choices=list(enumerate(map(gettext_lazy, WEEKDAYS), start=1)),
        widget=forms.SelectMultiple(attrs={"size": len(WEEKDAYS)}),
    )
    days_off = DaysField(
        label=gettext_lazy("Days off, one on each line, such as 2026-12-25 Christmas Day"), required=False
    )
    ics = forms.FileField(
        label=gettext_lazy("iCalendar file (.ics), whose all-day events are added to the days off"), required=False
    )
    working_days = DaysField(
        label=gettext_lazy("Days on which people work though their weekday is off"), required=False
    )
    revision = forms.IntegerField(required=False, widget=forms.HiddenInput)
    left_out: tuple[str, ...] = ()  # sentences about what the file has and the calendar can't have
    field_order = ("tenant", "name", "weekdays", "days_off", "ics", "working_days", "reason", "operation", "revision")

    def __init__(self, *args: Any, calendar: Calendar | None = None, **kwargs: Any) -> None:
        initial = {"operation": uuid4(), "weekdays": [6, 7]}
        if calendar is not None:
            initial |= {"name": calendar.name, "weekdays": calendar.weekdays, "revision": calendar.revision}
            initial |= {name: _lines(getattr(calendar, name)) for name in ("days_off", "working_days")}
        super().__init__(*args, initial=initial, **kwargs)
        if calendar is not None:
            del self.fields["tenant"]  # it stays where it is

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean()
        file = given.get("ics")
        if file is not None and "days_off" in given:
            try:
                read = calendars.read_file(file.read(calendars.MOST_BYTES + 1))
            except PunctualError as error:
                self.add_error("ics", f"{file.name[:80]}: {error}")
            else:
                self.left_out = read.left_out
                given["days_off"] = {day.isoformat(): name for day, name in read.days.items()} | given["days_off"]
        return given

    @property
    def given(self) -> dict[str, Any]:
        return {name: self.cleaned_data[name] for name in ("name", "weekdays", "days_off", "working_days")}

    def blame(self, error: PunctualError) -> None:
        """Beside the field that the sentence begins with, if it has one."""
        word = str(error).partition("=")[0].partition(" ")[0]
        self.add_error(word if word in self.fields else None, str(error))


@admin.register(Calendar, site=console())
class CalendarAdmin(LookOnly, ModelAdmin):
    def has_module_permission(self, request: HttpRequest) -> bool:
        return may_view_jobs(request)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return may_view_jobs(request)

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return may_operate_jobs(request)

    def get_urls(self) -> list[URLPattern]:
        pages = [
            ("<int:calendar_id>/edit/", self.edit_view, "edit"),
            ("<int:calendar_id>/remove/", self.remove_view, "remove"),
        ]
        own = [
            path(where, self.admin_site.admin_view(view), name=f"punctual_calendar_{name}")
            for where, view, name in pages
        ]
        return [*own, *super().get_urls()]

    @requires(may_view_jobs)
    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        refuse_unknown(request)
        found = list(Calendar.objects.filter(**whose()).order_by("tenant", "name")[:SHOWN])
        rows = [(one, ", ".join(gettext(WEEKDAYS[day - 1]) for day in one.weekdays)) for one in found]
        context = self.page(request) | {"found": rows, "more": len(found) == SHOWN}
        return TemplateResponse(request, "tasks_app/calendars.html", context)

    @requires(may_view_jobs)
    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        calendar = _calendar(object_id)
        context = self.page(request) | {"title": calendar.name, "original": calendar, "calendar": calendar}
        context["weekdays"] = ", ".join(gettext(WEEKDAYS[day - 1]) for day in calendar.weekdays)
        context["days_off"] = sorted(calendar.days_off.items())
        context["working_days"] = sorted(calendar.working_days.items())
        context["jobs"] = JobDefinition.objects.filter(calendar=calendar.id).order_by("id")[:SHOWN]
        context["entries"] = AuditEntry.objects.filter(subject=f"calendar {calendar.id}").order_by("-id")[:HISTORY]
        return TemplateResponse(request, "tasks_app/calendar.html", context)

    @requires(may_operate_jobs)
    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return self._form_page(request, None)

    @requires(may_operate_jobs)
    def edit_view(self, request: HttpRequest, calendar_id: int) -> HttpResponse:
        return self._form_page(request, _calendar(calendar_id))

    @requires(may_operate_jobs)
    def remove_view(self, request: HttpRequest, calendar_id: int) -> HttpResponse:
        calendar, form, status = _calendar(calendar_id), CalendarOrderForm(request.POST or None), 200
        if request.method == "POST":
            if form.is_valid() and _carried_out(
                form, lambda by: calendars.delete_calendar(calendar.id, by, tenant=calendar.tenant), request
            ):
                messages.success(request, gettext("{name} is deleted.").format(name=calendar.name))
                return HttpResponseRedirect(console_url(LIST))
            status = 400
        context = self.page(request) | {
            "title": gettext("Delete: {name}").format(name=calendar.name),
            "calendar": calendar,
            "form": form,
        }
        return TemplateResponse(request, "tasks_app/calendar_form.html", context | {"removes": True}, status=status)

    def _form_page(self, request: HttpRequest, calendar: Calendar | None) -> HttpResponse:
        form, status = CalendarForm(request.POST or take_back(request), request.FILES, calendar=calendar), 200
        if request.method == "POST":
            status = 400
            if form.is_valid() and (saved := _carried_out(form, lambda by: _save(form, calendar, by), request)):
                messages.success(
                    request,
                    " ".join([gettext("{name} was saved.").format(name=form.cleaned_data["name"]), *form.left_out]),
                )
                where = console_url(ONE, saved.id) if isinstance(saved, Calendar) else console_url(LIST)
                return HttpResponseRedirect(where)
        title = gettext("New calendar") if calendar is None else gettext("Edit: {name}").format(name=calendar.name)
        context = self.page(request) | {"title": title, "form": form, "calendar": calendar}
        return TemplateResponse(request, "tasks_app/calendar_form.html", context, status=status)

    def page(self, request: HttpRequest) -> dict[str, Any]:
        """What every page of ours needs."""
        return {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": gettext("Calendars"),
            "may_operate": may_operate_jobs(request),
            "now": timezone.now(),
        }


def _save(form: CalendarForm, calendar: Calendar | None, operator: Operator) -> Calendar:
    if calendar is None:
        request = calendars.CalendarRequest(**form.given)
        return calendars.create_calendar(request, operator, tenant=form.cleaned_data["tenant"])
    # A form without its revision was not made by us; none is older than this.
    revision = form.cleaned_data["revision"] or 0
    return calendars.edit_calendar(calendar.id, form.given, operator, tenant=calendar.tenant, revision=revision)


def _carried_out(form: CalendarOrderForm, deed: Callable[[Operator], Done], request: HttpRequest) -> Done | bool:
    """What the deed says, or True if this form was sent before; False, and the form says why, if it can't be done."""
    try:
        operator = Operator(request.user.get_username(), form.cleaned_data["reason"], form.cleaned_data["operation"])
        return once(operator, lambda: deed(operator)) or True
    except NotThere as error:
        raise Http404(str(error)) from None
    except PunctualError as error:
        form.blame(error) if isinstance(form, CalendarForm) else form.add_error(None, str(error))
    except OperationalError as error:
        # A lock that somebody held for too long.
        form.add_error(
            None,
            gettext("It could not be done: {error} Nothing was changed; try again.").format(
                error=str(error).splitlines()[0]
            ),
        )
    return False


def _lines(days: dict[str, str]) -> str:
    return "\n".join(f"{day} {note}".rstrip() for day, note in sorted(days.items()))


def _calendar(object_id: int | str) -> Calendar:
    try:
        found: Calendar = Calendar.objects.get(id=int(object_id), **whose())
        return found
    except (ValueError, OverflowError, Calendar.DoesNotExist):
        raise Http404(gettext("There is no calendar {object_id!r}.").format(object_id=str(object_id)[:40])) from None
