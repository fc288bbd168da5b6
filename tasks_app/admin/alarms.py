"""The pages of alarms: what is wrong now and was before, the rules that found it, and the channels that are told."""

from collections.abc import Callable
from typing import Any, TypeVar
from uuid import UUID

from django import forms
from django.contrib import admin, messages
from django.db import OperationalError
from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.translation import gettext, gettext_lazy
from unfold.admin import ModelAdmin

from tasks_app.console.scope import member, seen, whose, working_in
from tasks_app.console.site import console
from tasks_app.core.errors import NotThere, PunctualError
from tasks_app.engine.operations import alarms as operations
from tasks_app.engine.operations.jobs import Done, once
from tasks_app.engine.watch.alarm_browse import (
    IncidentFilter,
    alerts_of_channel,
    alerts_of_incident,
    page_of_incidents,
    rule_names,
)
from tasks_app.lifecycle.alarms.channels import create_channel, delete_channel, edit_channel
from tasks_app.lifecycle.alarms.rules import create_rule, delete_rule, edit_rule, told
from tasks_app.lifecycle.alarms.view import about, conditions_of, title_of
from tasks_app.lifecycle.audit import Operator
from tasks_app.models import AlarmChannel, AlarmIncident, AlarmRule, JobDefinition, ScheduleTask
from tasks_app.pages.links import console_url
from tasks_app.pages.lists import refuse_unknown
from tasks_app.pages.said import in_language
from tasks_app.pages.typed import take_back

from .alarm_forms import LARGEST, AlarmChannelForm, AlarmOrderForm, AlarmRuleForm
from .rights import LookOnly, View, may_operate_alarms, may_view, may_view_alarms, may_view_jobs, requires

PAGE = 50
SHOWN = 500
Found = TypeVar("Found", bound=Model)
RULES, RULE = "punctual_alarmrule_changelist", "punctual_alarmrule_change"
CHANNELS, CHANNEL = "punctual_alarmchannel_changelist", "punctual_alarmchannel_change"


class AlarmPages(LookOnly, ModelAdmin):
    """What the three have in common: one right to look at all of it, and one to change it."""

    title = ""

    def has_module_permission(self, request: HttpRequest) -> bool:
        return may_view_alarms(request)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return may_view_alarms(request)

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return may_operate_alarms(request)

    def paths(self, *pages: tuple[str, View, str]) -> list[URLPattern]:
        return [
            path(where, self.admin_site.admin_view(view), name=f"punctual_{self.opts.model_name}_{name}")
            for where, view, name in pages
        ]

    def page(self, request: HttpRequest, title: str = "", **more: object) -> dict[str, Any]:
        return {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": title or self.title,
            "may_operate": may_operate_alarms(request),
            **more,
        }

    def confirmed(
        self, request: HttpRequest, title: str, will: str, back: str, act: Callable[[Operator, dict[str, Any]], object]
    ) -> HttpResponse | None:
        """The page that asks for a reason; None if it was given and the deed is done."""
        form = AlarmOrderForm(request.POST or None)
        if request.method == "POST" and form.is_valid() and done(request, form, lambda by: act(by, form.cleaned_data)):
            return None
        context = self.page(request, title, form=form, will=will, back=back)
        return TemplateResponse(request, "tasks_app/alarm_order.html", context, status=_status(request))


@admin.register(AlarmRule, site=console())
class AlarmRuleAdmin(AlarmPages):
    title = gettext_lazy("Alarm rules")

    def get_urls(self) -> list[URLPattern]:
        return self.paths(
            ("", self.changelist_view, "changelist"),
            ("add/", self.add_view, "add"),
            ("<int:rule_id>/change/", self.rule_view, "change"),
            ("<int:rule_id>/delete/", self.remove_view, "delete"),
        )

    @requires(may_view_alarms)
    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        refuse_unknown(request)
        found = list(AlarmRule.objects.filter(**whose()).order_by("tenant", "name")[:SHOWN])
        names = _channel_names()
        still_open = AlarmIncident.objects.filter(closed_at__isnull=True, **whose())
        open_now = set(still_open.values_list("rule", flat=True)[:SHOWN])
        rows = [
            (
                rule,
                conditions_of(rule),
                about(rule),
                [names.get(one) or gettext("one of the operators'") for one in rule.channels],
                rule.id in open_now,
            )
            for rule in found
        ]
        context = self.page(request, found=rows, shown=SHOWN if len(found) == SHOWN else None)
        return TemplateResponse(request, "tasks_app/alarm_rules.html", context)

    @requires(may_operate_alarms)
    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return self._form_page(request, None)

    @requires(may_operate_alarms)
    def rule_view(self, request: HttpRequest, rule_id: int) -> HttpResponse:
        return self._form_page(request, _found(AlarmRule, rule_id, "rule"))

    @requires(may_operate_alarms)
    def remove_view(self, request: HttpRequest, rule_id: int) -> HttpResponse:
        rule = _found(AlarmRule, rule_id, "rule")
        asked = self.confirmed(
            request,
            gettext("Delete: {name}").format(name=rule.name),
            gettext("Nobody is told any more. What it found stays to be read for a while."),
            console_url(RULES),
            lambda by, _: delete_rule(rule.id, by, tenant=rule.tenant),
        )
        if asked is None:
            messages.success(request, gettext("{name} is deleted.").format(name=rule.name))
        return asked or HttpResponseRedirect(console_url(RULES))

    def _form_page(self, request: HttpRequest, rule: AlarmRule | None) -> HttpResponse:
        form = AlarmRuleForm(request.POST or take_back(request), rule=rule, initial=_asked_for(request))
        if request.method == "POST" and form.is_valid() and done(request, form, lambda by: _save_rule(form, rule, by)):
            messages.success(request, gettext("{name} was saved.").format(name=form.cleaned_data["name"]))
            return HttpResponseRedirect(console_url(RULES))
        title = gettext("New alarm rule") if rule is None else gettext("Edit: {name}").format(name=rule.name)
        context = self.page(request, title, form=form, rule=rule, channels=bool(form.fields["channels"].choices))
        return TemplateResponse(request, "tasks_app/alarm_rule_form.html", context, status=_status(request))


@admin.register(AlarmChannel, site=console())
class AlarmChannelAdmin(AlarmPages):
    title = gettext_lazy("Alarm channels")

    def get_urls(self) -> list[URLPattern]:
        return self.paths(
            ("", self.changelist_view, "changelist"),
            ("add/", self.add_view, "add"),
            ("<int:channel_id>/change/", self.channel_view, "change"),
            ("<int:channel_id>/edit/", self.edit_view, "edit"),
            ("<int:channel_id>/test/", self.test_view, "test"),
            ("<int:channel_id>/delete/", self.remove_view, "delete"),
        )

    @requires(may_view_alarms)
    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        refuse_unknown(request)
        found = list(AlarmChannel.objects.filter(**whose()).defer("target").order_by("tenant", "name")[:SHOWN])
        context = self.page(request, found=found, shown=SHOWN if len(found) == SHOWN else None)
        return TemplateResponse(request, "tasks_app/alarm_channels.html", context)

    @requires(may_view_alarms)
    def channel_view(self, request: HttpRequest, channel_id: int) -> HttpResponse:
        channel = _found(AlarmChannel, channel_id, "channel")
        naming = AlarmRule.objects.filter(channels__contains=[channel.id], **whose())
        rules = list(naming.order_by("name")[:PAGE])
        context = self.page(request, channel.name, channel=channel, rules=rules, alerts=alerts_of_channel(channel.id))
        return TemplateResponse(request, "tasks_app/alarm_channel.html", context)

    @requires(may_operate_alarms)
    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        form = AlarmChannelForm(request.POST or take_back(request), channel=None)
        if request.method == "POST" and form.is_valid():
            tenant = form.cleaned_data["tenant"] or None
            made = done(request, form, lambda by: create_channel(form.request, by, tenant))
            if made is True:
                messages.warning(request, gettext("This form was already sent."))
                return HttpResponseRedirect(console_url(CHANNELS))
            if made:
                messages.success(
                    request,
                    gettext("{name} was saved. Send it a test alert to see whether it works.").format(
                        name=made.channel.name
                    ),
                )
                context = self.page(request, made.channel.name, channel=made.channel, secret=made.secret)
                return TemplateResponse(request, "tasks_app/alarm_channel.html", context)
        context = self.page(request, gettext("New alarm channel"), form=form, back=console_url(CHANNELS))
        return TemplateResponse(request, "tasks_app/alarm_channel_form.html", context, status=_status(request))

    @requires(may_operate_alarms)
    def edit_view(self, request: HttpRequest, channel_id: int) -> HttpResponse:
        channel = _found(AlarmChannel, channel_id, "channel")
        form = AlarmChannelForm(request.POST or take_back(request), channel=channel)
        if request.method == "POST" and form.is_valid():
            revision = form.cleaned_data["revision"] or 0
            saved = done(
                request,
                form,
                lambda by: edit_channel(channel.id, form.values, by, tenant=channel.tenant, revision=revision),
            )
            if saved:
                messages.success(request, gettext("{name} was saved.").format(name=form.cleaned_data["name"]))
                return HttpResponseRedirect(console_url(CHANNEL, channel.id))
        context = self.page(
            request, gettext("Edit: {name}").format(name=channel.name), form=form, back=console_url(CHANNEL, channel.id)
        )
        return TemplateResponse(request, "tasks_app/alarm_channel_form.html", context, status=_status(request))

    @requires(may_operate_alarms, methods=("POST",))
    def test_view(self, request: HttpRequest, channel_id: int) -> HttpResponse:
        channel = _found(AlarmChannel, channel_id, "channel")
        try:
            tested = operations.test_channel(channel, _operator(request, "the test button"))
        except PunctualError as error:
            messages.warning(request, gettext("No test alert was sent: {error}").format(error=error))
        else:
            if tested.ok:
                messages.success(request, gettext("The test alert was sent: {words}.").format(words=tested.words))
            else:
                messages.error(request, gettext("The test alert could not be sent. {words}").format(words=tested.words))
        return HttpResponseRedirect(console_url(CHANNEL, channel.id))

    @requires(may_operate_alarms)
    def remove_view(self, request: HttpRequest, channel_id: int) -> HttpResponse:
        channel = _found(AlarmChannel, channel_id, "channel")
        asked = self.confirmed(
            request,
            gettext("Delete: {name}").format(name=channel.name),
            gettext("Nothing is sent there any more, not even what waits."),
            console_url(CHANNEL, channel.id),
            lambda by, _: delete_channel(channel.id, by, tenant=channel.tenant),
        )
        if asked is None:
            messages.success(request, gettext("{name} is deleted.").format(name=channel.name))
        return asked or HttpResponseRedirect(console_url(CHANNELS))


class IncidentFilterForm(forms.Form):
    show = forms.ChoiceField(
        label=gettext_lazy("Show"),
        required=False,
        choices=[("", gettext_lazy("All")), ("open", gettext_lazy("What is open"))],
    )
    rule = forms.IntegerField(label=gettext_lazy("Rule, by its number"), required=False, min_value=1, max_value=LARGEST)
    after = forms.IntegerField(required=False, min_value=1, max_value=LARGEST, widget=forms.HiddenInput)


@admin.register(AlarmIncident, site=console())
class AlarmIncidentAdmin(AlarmPages):
    title = gettext_lazy("Incidents")

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def get_urls(self) -> list[URLPattern]:
        return self.paths(
            ("", self.changelist_view, "changelist"),
            ("<int:incident_id>/", self.incident_view, "change"),
        )

    @requires(may_view_alarms)
    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        refuse_unknown(request, IncidentFilterForm.base_fields)
        form = IncidentFilterForm(request.GET)
        context = self.page(request, form=form, found=None)
        if form.is_valid():
            given = form.cleaned_data
            whom = {"everybody": True} if member() is None else {"tenant": working_in()}
            wanted = IncidentFilter(open_only=given["show"] == "open", rule=given["rule"], **whom)
            found, more = page_of_incidents(wanted, given["after"], PAGE)
            names, query = rule_names(found), request.GET.copy()
            query["after"] = str(more or "")
            context["found"] = [(one, in_language(title_of(one)), names.get(one.rule)) for one in found]
            context["next"] = query.urlencode() if more else ""
        return TemplateResponse(request, "tasks_app/alarm_incidents.html", context)

    @requires(may_view_alarms)
    def incident_view(self, request: HttpRequest, incident_id: int) -> HttpResponse:
        one = _found(AlarmIncident, incident_id, "incident")
        task = one.sample.get("task")
        sees_task = may_view(request) and isinstance(task, int)
        sees_task = sees_task and ScheduleTask.objects.filter(id=task, **whose()).exists()
        sees_job = one.job and may_view_jobs(request) and JobDefinition.objects.filter(id=one.job, **whose()).exists()
        context = self.page(
            request,
            in_language(title_of(one)),
            incident=one,
            rule=AlarmRule.objects.filter(id=one.rule, **whose()).first(),
            alerts=alerts_of_incident(one.id, working_in()),
            channels=_channel_names(),
            sees_task=sees_task,
            sees_job=sees_job,
            sees_tasks=may_view(request),
        )
        return TemplateResponse(request, "tasks_app/alarm_incident.html", context)


def done(request: HttpRequest, form: AlarmOrderForm, deed: Callable[[Operator], Done]) -> Done | bool:
    """What the deed says, or True if this form was sent before; False, and the form says why, if it can't be done."""
    try:
        by = _operator(request, form.cleaned_data["reason"], operation=form.cleaned_data["operation"])
        return once(by, lambda: deed(by)) or True
    except NotThere as error:
        raise Http404(str(error)) from None
    except PunctualError as error:
        form.add_error(None, str(error))
    except OperationalError as error:  # a lock that somebody held for too long
        form.add_error(
            None,
            gettext("It could not be done: {error} Nothing was changed; try again.").format(
                error=str(error).splitlines()[0]
            ),
        )
    return False


def _operator(request: HttpRequest, reason: str, **more: UUID) -> Operator:
    """Bound to the tenant that somebody works in, as its tokens are."""
    return Operator(request.user.get_username(), reason, tenant=working_in(), **more)


def _channel_names() -> dict[int, str]:
    return dict(AlarmChannel.objects.filter(**whose()).values_list("id", "name"))


def _save_rule(form: AlarmRuleForm, rule: AlarmRule | None, by: Operator) -> AlarmRule:
    if rule is None:
        return create_rule(form.request, by, form.cleaned_data["tenant"] or None)
    asked, known = form.request, told(rule)
    changes = {name: getattr(asked, name) for name in known if _plain(getattr(asked, name)) != _plain(known[name])}
    if not changes:
        raise PunctualError(gettext("nothing has changed, so there is nothing to save."))
    return edit_rule(rule.id, changes, by, tenant=rule.tenant, revision=form.cleaned_data["revision"] or 0)


def _plain(value: object) -> object:
    return sorted(value) if isinstance(value, list | tuple) else value


def _asked_for(request: HttpRequest) -> dict[str, Any]:
    """What another page suggests for a new rule, in its address."""
    suggested = AlarmOrderSuggestion(request.GET)
    return {name: value for name, value in suggested.cleaned_data.items() if value} if suggested.is_valid() else {}


class AlarmOrderSuggestion(forms.Form):
    tenant = AlarmRuleForm.base_fields["tenant"]
    job = AlarmRuleForm.base_fields["job"]
    task_types = AlarmRuleForm.base_fields["task_types"]


_NOT_THERE = {
    "rule": gettext_lazy("There is no such alarm rule."),
    "channel": gettext_lazy("There is no such alarm channel."),
    "incident": gettext_lazy("There is no such alarm incident."),
}


def _found(model: type[Found], number: int, noun: str) -> Found:
    row: Found | None = seen(model.objects.filter(id=number).first() if number <= LARGEST else None)
    if row is None:
        raise Http404(str(_NOT_THERE[noun]))
    return row


def _status(request: HttpRequest) -> int:
    return 400 if request.method == "POST" else 200
