"""The page of the secrets that callbacks refer to by name: set one, delete one. Their values are never shown."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

from django import forms
from django.contrib import admin, messages
from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.translation import gettext, gettext_lazy
from unfold.admin import ModelAdmin

from tasks_app.console.scope import whose
from tasks_app.console.site import console
from tasks_app.core.callbacks import HEADER_LENGTH, NAME_LENGTH
from tasks_app.core.errors import PunctualError
from tasks_app.core.tenants import DEFAULT_TENANT
from tasks_app.engine.operations.api_tokens import listed
from tasks_app.engine.operations.jobs import once
from tasks_app.lifecycle import secret_verbs
from tasks_app.lifecycle.audit import Operator
from tasks_app.models import Secret
from tasks_app.pages.links import console_url
from tasks_app.pages.lists import refuse_unknown

from .forms import TenantField, reason_field
from .rights import LookOnly, may_operate_secrets, may_view_secrets, requires

SHOWN = 500
LIST = "punctual_secret_changelist"


class ReasonOnly(forms.Form):
    reason = reason_field()
    operation = forms.UUIDField(widget=forms.HiddenInput)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, initial={"operation": uuid4()}, **kwargs)


class SecretForm(ReasonOnly):
    name = forms.CharField(label=gettext_lazy("Name, by which callbacks refer to it"), max_length=NAME_LENGTH)
    tenant = TenantField(initial=DEFAULT_TENANT)
    value = forms.CharField(
        label=gettext_lazy("Value; empty: one that signs is made, and shown once on the next page"),
        max_length=HEADER_LENGTH,
        required=False,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
    )
    hosts = forms.CharField(
        label=gettext_lazy("The only hosts it may be sent to, separated by commas; empty: any"), required=False
    )
    keep_old = forms.BooleanField(
        label=gettext_lazy("Keep the old value: it signs, too, until it is withdrawn"), required=False
    )
    field_order = ("name", "tenant", "value", "hosts", "keep_old", "reason", "operation")

    def __init__(self, *args: Any, secret: Secret | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if secret is not None:
            del self.fields["name"], self.fields["tenant"]
            self.initial |= {"hosts": ", ".join(secret.hosts)}


@admin.register(Secret, site=console())
class SecretAdmin(LookOnly, ModelAdmin):
    def has_module_permission(self, request: HttpRequest) -> bool:
        return may_view_secrets(request)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return may_view_secrets(request)

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return may_operate_secrets(request)

    def get_urls(self) -> list[URLPattern]:
        pages = [
            ("", self.changelist_view, "changelist"),
            ("add/", self.add_view, "add"),
            ("<int:secret_id>/set/", self.set_view, "set"),
            ("<int:secret_id>/withdraw/", self.withdraw_view, "withdraw"),
            ("<int:secret_id>/delete/", self.forget_view, "forget"),
        ]
        return [
            path(where, self.admin_site.admin_view(view), name=f"punctual_secret_{name}") for where, view, name in pages
        ]

    @requires(may_view_secrets)
    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        refuse_unknown(request)
        found = list(Secret.objects.filter(**whose()).order_by("tenant", "name")[:SHOWN])
        context = self._page(request, gettext("Secrets")) | {
            "found": found,
            "shown": SHOWN if len(found) == SHOWN else None,
            "may_operate": may_operate_secrets(request),
        }
        return TemplateResponse(request, "tasks_app/secrets.html", context)

    @requires(may_operate_secrets)
    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return self._form_page(request, None)

    @requires(may_operate_secrets)
    def set_view(self, request: HttpRequest, secret_id: int) -> HttpResponse:
        return self._form_page(request, _row(secret_id))

    @requires(may_operate_secrets)
    def withdraw_view(self, request: HttpRequest, secret_id: int) -> HttpResponse:
        words = gettext(
            "Only its newest value is valid from now on. A receiver that doesn't have it refuses what is signed."
        )
        return self._order_page(request, _row(secret_id), gettext("Withdraw old values"), words, secret_verbs.withdraw)

    @requires(may_operate_secrets)
    def forget_view(self, request: HttpRequest, secret_id: int) -> HttpResponse:
        words = gettext("Its value is forgotten. Callbacks that refer to it fail, until it is set again.")
        return self._order_page(request, _row(secret_id), gettext("Delete"), words, secret_verbs.delete)

    def _form_page(self, request: HttpRequest, row: Secret | None) -> HttpResponse:
        # Not kept over a login as other forms are: a value would lie in the session meanwhile.
        form = SecretForm(request.POST or None, secret=row)
        if request.method == "POST" and form.is_valid() and (answer := self._set(request, form, row)):
            return answer
        title = gettext("New secret") if row is None else gettext("Set: {row}").format(row=row)
        context = self._page(request, title) | {"form": form}
        status = 400 if request.method == "POST" else 200
        return TemplateResponse(request, "tasks_app/secret_form.html", context, status=status)

    def _set(self, request: HttpRequest, form: SecretForm, row: Secret | None) -> HttpResponse | None:
        given = form.cleaned_data
        name, tenant = (given["name"], given["tenant"]) if row is None else (row.name, row.tenant)
        how = {"value": given["value"] or None, "hosts": listed(given["hosts"]), "keep_old": given["keep_old"]}
        try:
            operator = _operator(request, form)
            kept = once(operator, lambda: secret_verbs.set_secret(name, operator, tenant=tenant, **how))
        except PunctualError as error:
            form.add_error(None, str(error))
            return None
        if kept is not None and kept.made is not None:
            context = self._page(request, gettext("Secret {row}").format(row=kept.row)) | {
                "secret": kept.row,
                "text": kept.made,
            }
            return TemplateResponse(request, "tasks_app/secret.html", context)
        messages.success(request, gettext("Secret {name} of tenant {tenant} is set.").format(name=name, tenant=tenant))
        return HttpResponseRedirect(console_url(LIST))

    def _order_page(
        self, request: HttpRequest, row: Secret, button: str, words: str, verb: Callable[..., object]
    ) -> HttpResponse:
        form = ReasonOnly(request.POST or None)
        if request.method == "POST" and form.is_valid():
            operator = _operator(request, form)
            try:
                once(operator, lambda: verb(row.name, operator, tenant=row.tenant))
            except PunctualError as error:
                messages.warning(request, str(error))
            else:
                messages.success(request, gettext("{button}: {row}. Done.").format(button=button, row=row))
            return HttpResponseRedirect(console_url(LIST))
        context = self._page(request, f"{button}: {row}") | {"form": form, "button": button, "words": words}
        context |= {"subject": row, "back": console_url(LIST), "danger": True}
        status = 400 if request.method == "POST" else 200
        return TemplateResponse(request, "tasks_app/host_order.html", context, status=status)

    def _page(self, request: HttpRequest, title: str) -> dict[str, Any]:
        return {**self.admin_site.each_context(request), "opts": self.opts, "title": title}


def _operator(request: HttpRequest, form: ReasonOnly) -> Operator:
    return Operator(request.user.get_username(), form.cleaned_data["reason"], form.cleaned_data["operation"])


def _row(secret_id: int) -> Secret:
    row: Secret | None = Secret.objects.filter(id=secret_id, **whose()).first() if secret_id < 2**63 else None
    if row is None:
        raise Http404(gettext("There is no such secret."))
    return row
