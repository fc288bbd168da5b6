"""The page of tenants: who shares the installation, their quotas and what they use; suspend, resume and archive one."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.text import capfirst, format_lazy
from django.utils.translation import gettext, gettext_lazy
from unfold.admin import ModelAdmin

from tasks_app.console.site import console
from tasks_app.core.errors import PunctualError
from tasks_app.core.lanes import LANES
from tasks_app.core.tenants import QUOTAS, TENANT_LENGTH, TITLE_LENGTH, USUAL_WEIGHT
from tasks_app.engine.operations.api_tokens import listed
from tasks_app.engine.operations.jobs import once
from tasks_app.engine.watch.keys import keys_of, walk_view
from tasks_app.engine.watch.tenants import COUNTED, defaults_of, list_tenants, quotas_of, settings_of, view_of, words_of
from tasks_app.lifecycle import tenant_archive, tenants
from tasks_app.lifecycle.audit import Operator
from tasks_app.models import Tenant
from tasks_app.pages.language import speaking
from tasks_app.pages.links import console_url
from tasks_app.pages.lists import refuse_unknown
from tasks_app.pages.typed import take_back

from .forms import UtcField
from .rights import LookOnly, may_operate_tenants, may_view_tenants, requires
from .secrets import ReasonOnly
from .tenant_use import SPAN_WORDS, SPANS, use_charts

SHOWN = 500
LIST = "punctual_tenant_changelist"


class TenantForm(ReasonOnly):
    name = forms.CharField(label=gettext_lazy("Name, as tasks, jobs and tokens have it"), max_length=TENANT_LENGTH)
    title = forms.CharField(label=gettext_lazy("Title, for people"), max_length=TITLE_LENGTH, required=False)
    timezone = forms.CharField(
        label=gettext_lazy("Time zone of its new jobs; empty: UTC"), max_length=64, required=False
    )
    contacts = forms.CharField(
        label=gettext_lazy("Mail addresses of whom to tell, separated by commas"), required=False
    )
    weight = forms.IntegerField(
        label=format_lazy(gettext_lazy("Weight beside others; {weight} is the usual one"), weight=USUAL_WEIGHT),
        required=False,
    )
    encrypted = forms.BooleanField(
        label=gettext_lazy("Encrypt payloads, results, errors and secrets with a key of its own"), required=False
    )
    lane = forms.ChoiceField(
        label=gettext_lazy("Lane where neither a caller nor a type names one"),
        choices=[("", gettext_lazy("as types say")), *((lane, lane) for lane in LANES)],
        required=False,
    )
    retention = forms.CharField(
        label=gettext_lazy("Retention class of its past; empty: as the settings say"), max_length=20, required=False
    )
    retry_share = forms.FloatField(
        label=gettext_lazy("Retry budget: the share of all tries, such as 0.2; empty: as the settings say"),
        required=False,
    )
    retry_burst = forms.IntegerField(label=gettext_lazy("Retry budget: retries that may come at once"), required=False)
    seen = forms.CharField(required=False, widget=forms.HiddenInput)  # the version that the form was filled from
    field_order = (
        *("name", "title", "timezone", "contacts", "weight", "encrypted", *tenants.DEFAULTS),
        *(*QUOTAS, "reason", "operation", "seen"),
    )

    def __init__(self, *args: Any, row: Tenant | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for quota in QUOTAS.values():
            label = gettext("{quota}, at most; empty: no limit").format(quota=capfirst(gettext(quota.words)))
            self.fields[quota.name] = forms.IntegerField(label=label, required=False)
        self.order_fields(self.field_order)
        self.initial |= {"weight": USUAL_WEIGHT}
        if row is not None:
            del self.fields["name"]
            self.initial |= tenants.shown_fields(row) | {"contacts": ", ".join(row.contacts)}
            self.initial |= {"seen": tenants.version_of(row)}

    @property
    def values(self) -> dict[str, object]:
        given = self.cleaned_data
        weight = USUAL_WEIGHT if given["weight"] is None else given["weight"]
        plain = {"title": given["title"], "timezone": given["timezone"], "weight": weight}
        plain |= {"contacts": listed(given["contacts"]), "encrypted": given["encrypted"]}
        return plain | {name: given[name] for name in (*tenants.DEFAULTS, *QUOTAS)}


class SuspendForm(ReasonOnly):
    until = UtcField(label=gettext_lazy("Until (UTC); empty: until it is resumed"), required=False)
    field_order = ("until", "reason", "operation")


class ArchiveForm(ReasonOnly):
    name = forms.CharField(label=gettext_lazy("Its name, once more: this can't be undone"), max_length=TENANT_LENGTH)
    destroy_key = forms.BooleanField(
        label=gettext_lazy("Destroy its keys in the end: what is encrypted can't be read by anybody then"),
        required=False,
    )
    field_order = ("name", "destroy_key", "reason", "operation")

    def __init__(self, *args: Any, row: Tenant, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._row = row

    def clean_name(self) -> str:
        if self.cleaned_data["name"] != self._row.name:
            raise forms.ValidationError(gettext("That is not its name."))
        return self._row.name


@admin.register(Tenant, site=console())
class TenantAdmin(LookOnly, ModelAdmin):
    def has_module_permission(self, request: HttpRequest) -> bool:
        return may_view_tenants(request)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return may_view_tenants(request)

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return may_operate_tenants(request)

    def get_urls(self) -> list[URLPattern]:
        pages = [
            ("", self.changelist_view, "changelist"),
            ("add/", self.add_view, "add"),
            ("show/<path:name>/", self.show_view, "show"),
            ("edit/<path:name>/", self.edit_view, "edit"),
            ("suspend/<path:name>/", self.suspend_view, "suspend"),
            ("resume/<path:name>/", self.resume_view, "resume"),
            ("archive/<path:name>/", self.archive_view, "archive"),
            ("stop-archiving/<path:name>/", self.stop_archiving_view, "stop_archiving"),
            ("continue-archiving/<path:name>/", self.continue_archiving_view, "continue_archiving"),
        ]
        return [
            path(where, self.admin_site.admin_view(view), name=f"punctual_tenant_{name}") for where, view, name in pages
        ]

    @requires(may_view_tenants)
    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        refuse_unknown(request)
        found = list_tenants("", SHOWN)
        context = self._page(request, gettext("Tenants")) | {
            "found": found,
            "counted": COUNTED,
            "shown": SHOWN if len(found) == SHOWN else None,
            "may_operate": may_operate_tenants(request),
        }
        return TemplateResponse(request, "tasks_app/tenants.html", context)

    @requires(may_view_tenants)
    def show_view(self, request: HttpRequest, name: str) -> HttpResponse:
        row = _row(name)
        span = request.GET.get("use", "week")
        if span not in SPANS:
            raise Http404(gettext("There is no such span of time."))
        with speaking(request):
            charts = use_charts(row.name, span)
        context = self._page(request, gettext("Tenant {row}").format(row=row)) | {
            "charts": charts,
            "span": span,
            "spans": SPAN_WORDS,
            "row": row,
            "view": (view := view_of(row)),
            "archive": view.archive and words_of(view.archive),
            "counted": COUNTED,
            "quotas": quotas_of(row),
            "defaults": defaults_of(row),
            "settings": settings_of(row),
            "keys": keys_of(row.name),
            "walk": walk_view(),
            "may_operate": may_operate_tenants(request),
        }
        return TemplateResponse(request, "tasks_app/tenant.html", context)

    @requires(may_operate_tenants)
    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return self._form_page(request, None)

    @requires(may_operate_tenants)
    def edit_view(self, request: HttpRequest, name: str) -> HttpResponse:
        return self._form_page(request, _row(name))

    @requires(may_operate_tenants)
    def suspend_view(self, request: HttpRequest, name: str) -> HttpResponse:
        row = _row(name)
        words = gettext(
            "Nothing of it is started or planned from now on; what runs goes on to its end, and all its data stays. "
            "Its tokens can read, and nothing else."
        )
        form = SuspendForm(request.POST or take_back(request))

        def suspend(by: Operator) -> None:
            tenants.suspend(row.name, by, until=form.cleaned_data["until"])

        return self._order_page(request, row, form, gettext("Suspend"), words, suspend)

    @requires(may_operate_tenants)
    def resume_view(self, request: HttpRequest, name: str) -> HttpResponse:
        row = _row(name)
        words = gettext("What came due meanwhile is due again within seconds; what has expired does not run.")
        form = ReasonOnly(request.POST or take_back(request))
        return self._order_page(request, row, form, gettext("Resume"), words, lambda by: tenants.resume(row.name, by))

    @requires(may_operate_tenants)
    def archive_view(self, request: HttpRequest, name: str) -> HttpResponse:
        row = _row(name)
        words = gettext(
            "It is stopped for good. All that is its own (tasks, history, jobs, calendars, subscriptions, tokens) goes "
            "to the archive, is read back there, and is then removed here. The audit stays. Nobody else gets its name."
        )
        form = ArchiveForm(request.POST or take_back(request), row=row)

        def archive(by: Operator) -> None:
            tenant_archive.begin(row.name, by, destroy_key=form.cleaned_data["destroy_key"])

        return self._order_page(request, row, form, gettext("Archive"), words, archive)

    @requires(may_operate_tenants)
    def stop_archiving_view(self, request: HttpRequest, name: str) -> HttpResponse:
        row = _row(name)
        words = gettext("Nothing is lost. It can be continued; and resumed instead, as long as nothing was removed.")
        form = ReasonOnly(request.POST or take_back(request))
        return self._order_page(
            request, row, form, gettext("Stop archiving"), words, lambda by: tenant_archive.stop(row.name, by)
        )

    @requires(may_operate_tenants)
    def continue_archiving_view(self, request: HttpRequest, name: str) -> HttpResponse:
        row = _row(name)
        words = gettext("It goes on where it was stopped.")
        form = ReasonOnly(request.POST or take_back(request))
        return self._order_page(
            request, row, form, gettext("Continue archiving"), words, lambda by: tenant_archive.go_on(row.name, by)
        )

    def _form_page(self, request: HttpRequest, row: Tenant | None) -> HttpResponse:
        form = TenantForm(request.POST or take_back(request), row=row)
        if request.method == "POST" and form.is_valid() and self._saved(request, form, row):
            name = form.cleaned_data["name"] if row is None else row.name
            messages.success(request, gettext("Tenant {name} is saved.").format(name=name))
            return HttpResponseRedirect(console_url(LIST))
        title = gettext("New tenant") if row is None else gettext("Change: {row}").format(row=row)
        context = self._page(request, title) | {"form": form}
        status = 400 if request.method == "POST" else 200
        return TemplateResponse(request, "tasks_app/tenant_form.html", context, status=status)

    def _saved(self, request: HttpRequest, form: TenantForm, row: Tenant | None) -> bool:
        operator = _operator(request, form)
        try:
            if row is None:
                once(operator, lambda: tenants.create(form.cleaned_data["name"], operator, **form.values))
            else:
                seen = form.cleaned_data["seen"] or None
                once(operator, lambda: tenants.edit(row.name, form.values, operator, seen=seen))
        except PunctualError as error:
            form.add_error(None, str(error))
            return False
        return True

    def _order_page(
        self,
        request: HttpRequest,
        row: Tenant,
        form: ReasonOnly,
        button: str,
        words: str,
        verb: Callable[[Operator], object],
    ) -> HttpResponse:
        if request.method == "POST" and form.is_valid():
            operator = _operator(request, form)
            try:
                once(operator, lambda: verb(operator))
            except PunctualError as error:
                form.add_error(None, str(error))
            else:
                messages.success(request, gettext("{button}: {row}. Done.").format(button=button, row=row))
                return HttpResponseRedirect(console_url(LIST))
        context = self._page(request, f"{button}: {row}") | {"form": form, "button": button, "words": words}
        context |= {"subject": row, "back": console_url(LIST), "danger": isinstance(form, SuspendForm | ArchiveForm)}
        status = 400 if request.method == "POST" else 200
        return TemplateResponse(request, "tasks_app/host_order.html", context, status=status)

    def _page(self, request: HttpRequest, title: str) -> dict[str, Any]:
        return {**self.admin_site.each_context(request), "opts": self.opts, "title": title}


def _operator(request: HttpRequest, form: ReasonOnly) -> Operator:
    return Operator(request.user.get_username(), form.cleaned_data["reason"], form.cleaned_data["operation"])


def _row(name: str) -> Tenant:
    row: Tenant | None = Tenant.objects.filter(name=name[:TENANT_LENGTH].replace("\0", "")).first()
    if row is None:
        raise Http404(gettext("There is no such tenant."))
    return row
