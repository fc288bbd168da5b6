"""The page of the API's tokens: issue one, whose text is shown this once; see which are in use; change, revoke."""

from datetime import datetime
from typing import Any
from uuid import uuid4

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.text import format_lazy
from django.utils.translation import gettext, gettext_lazy
from unfold.admin import ModelAdmin

from tasks_app.console.scope import granter, whose, working_in
from tasks_app.console.site import console
from tasks_app.core.errors import PunctualError
from tasks_app.core.lanes import LANES
from tasks_app.core.roles import USUAL_LANES, Right, highest
from tasks_app.core.tenants import INTERNAL_TENANT
from tasks_app.engine.operations import api_tokens
from tasks_app.engine.operations.jobs import once
from tasks_app.lifecycle.audit import Operator
from tasks_app.models import ApiToken
from tasks_app.pages.links import console_url
from tasks_app.pages.lists import refuse_unknown
from tasks_app.pages.typed import take_back

from .forms import TenantField, reason_field
from .rights import (
    LookOnly,
    may_decrypt,
    may_operate_tokens,
    may_view_tokens,
    requires,
)

SHOWN = 500
LIST = "punctual_apitoken_changelist"
RIGHT_WORDS = {
    Right.READ: gettext_lazy("read"),
    Right.SCHEDULE: gettext_lazy("schedule: also make jobs and tasks, and change those it has made"),
    Right.OPERATE: gettext_lazy("operate: also change everything of the tenant"),
    Right.ADMINISTER: gettext_lazy("administer: also say who may do what in the tenant"),
}


class RevokeForm(forms.Form):
    reason = reason_field()
    operation = forms.UUIDField(widget=forms.HiddenInput)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, initial={"operation": uuid4()}, **kwargs)


class RightsForm(RevokeForm):
    """What a token may do."""

    may = forms.ChoiceField(label=gettext_lazy("It may"), choices=())
    types = forms.CharField(
        label=gettext_lazy("Task types, separated by commas; empty: all that are open to its tenant"), required=False
    )
    lanes = forms.CharField(label=gettext_lazy("Lanes, separated by commas; empty: all but critical"), required=False)
    field_order: tuple[str, ...] = ("may", "types", "lanes", "reason", "operation")

    def __init__(
        self, choices: list[tuple[str, str]], *args: Any, token: ApiToken | None = None, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.fields["may"].choices = choices
        if token is not None:
            self.initial |= {"may": api_tokens.rights_of(token), "types": ", ".join(token.types or ())}
            self.initial |= {"lanes": ", ".join(LANES if token.lanes is None else token.lanes)}

    @property
    def wanted(self) -> dict[str, Any]:
        given = self.cleaned_data
        return {
            "rights": [given["may"]],
            "types": api_tokens.listed(given["types"]) or None,
            "lanes": api_tokens.listed(given["lanes"]) or USUAL_LANES,
        }


class TokenForm(RightsForm):
    name = forms.CharField(label=gettext_lazy("Who will use it"), max_length=api_tokens.NAME_LENGTH)
    tenant = TenantField()
    internal = forms.BooleanField(
        label=format_lazy(
            gettext_lazy("Internal: yes, for tenant {tenant}, with the scheduler's own tasks and those of its apps"),
            tenant=INTERNAL_TENANT,
        ),
        required=False,
    )
    decrypt = forms.BooleanField(label=gettext_lazy("It may see what is encrypted"), required=False)
    days = forms.FloatField(label=gettext_lazy("Expires after this many days; empty: never"), required=False)
    field_order = ("name", "tenant", "internal", "may", "decrypt", "types", "lanes", "days", "reason", "operation")

    def __init__(self, choices: list[tuple[str, str]], decrypts: bool, *args: Any, **kwargs: Any) -> None:
        super().__init__(choices, *args, **kwargs)
        if not decrypts:
            del self.fields["decrypt"]
        self.initial |= {"days": 365}
        if working_in() is not None:
            del self.fields["internal"]


@admin.register(ApiToken, site=console())
class ApiTokenAdmin(LookOnly, ModelAdmin):
    def has_module_permission(self, request: HttpRequest) -> bool:
        return may_view_tokens(request)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return may_view_tokens(request)

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return may_operate_tokens(request) and bool(_rights(request))

    def get_urls(self) -> list[URLPattern]:
        pages = [
            ("", self.changelist_view, "changelist"),
            ("add/", self.add_view, "add"),
            ("<int:token_id>/edit/", self.edit_view, "edit"),
            ("<int:token_id>/revoke/", self.revoke_view, "revoke"),
        ]
        return [
            path(where, self.admin_site.admin_view(view), name=f"punctual_apitoken_{name}")
            for where, view, name in pages
        ]

    @requires(may_view_tokens)
    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        refuse_unknown(request)
        found = list(ApiToken.objects.defer("digest").filter(**whose()).order_by("-id")[:SHOWN])
        now = timezone.now()
        context = self._page(request, gettext("API tokens")) | {
            "found": [(token, _state(token, now), _may(token)) for token in found],
            "internal": INTERNAL_TENANT,
            "shown": SHOWN if len(found) == SHOWN else None,
            "may_issue": self.has_add_permission(request),
            "may_operate": may_operate_tokens(request),
        }
        return TemplateResponse(request, "tasks_app/tokens.html", context)

    @requires(may_operate_tokens)
    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        rights = _rights(request)
        if not rights:
            raise PermissionDenied
        form = TokenForm(rights, may_decrypt(request), request.POST or take_back(request))
        if request.method == "POST" and form.is_valid() and (answer := self._issued(request, form)):
            return answer
        context = self._page(request, gettext("New API token")) | {"form": form}
        status = 400 if request.method == "POST" else 200
        return TemplateResponse(request, "tasks_app/token_form.html", context, status=status)

    @requires(may_operate_tokens)
    def edit_view(self, request: HttpRequest, token_id: int) -> HttpResponse:
        """Other rights, types or lanes, from the next call on; never more than whoever changes it has."""
        token, rights = _token(token_id), _rights(request)
        if not rights:
            raise PermissionDenied
        if token.metrics or token.revoked_at:
            raise Http404(gettext("There is no such token."))
        form = RightsForm(rights, request.POST or take_back(request), token=token)
        if request.method == "POST" and form.is_valid():
            operator = _operator(request, form)
            try:
                once(operator, lambda: api_tokens.change(token.id, operator, granter=granter(request), **form.wanted))
            except PunctualError as error:
                form.add_error(None, str(error))
            else:
                messages.success(request, gettext("{name} was saved.").format(name=token.name))
                return HttpResponseRedirect(console_url(LIST))
        title = gettext("Change: {name}").format(name=token.name)
        context = self._page(request, title) | {"form": form, "token": token}
        status = 400 if request.method == "POST" else 200
        return TemplateResponse(request, "tasks_app/token_form.html", context, status=status)

    @requires(may_operate_tokens)
    def revoke_view(self, request: HttpRequest, token_id: int) -> HttpResponse:
        token = _token(token_id)
        form = RevokeForm(request.POST or None)
        if request.method == "POST" and form.is_valid():
            operator = _operator(request, form)
            if once(operator, lambda: api_tokens.revoke(token.id, operator, tenant=working_in())):
                messages.success(request, gettext("{name} no longer works.").format(name=token.name))
            else:
                messages.warning(
                    request, gettext("{name} was already revoked; nothing was changed.").format(name=token.name)
                )
            return HttpResponseRedirect(console_url(LIST))
        context = self._page(request, gettext("Revoke: {name}").format(name=token.name)) | {
            "form": form,
            "token": token,
        }
        status = 400 if request.method == "POST" else 200
        return TemplateResponse(request, "tasks_app/token_revoke.html", context, status=status)

    def _issued(self, request: HttpRequest, form: TokenForm) -> HttpResponse | None:
        """The page with its text, which is nowhere else; None if it was refused, and the form says why."""
        given = form.cleaned_data
        how = form.wanted | {"days": given["days"], "granter": granter(request)}
        how["can_decrypt"] = given.get("decrypt", False)
        how["internal"] = given.get("internal", False)
        try:
            operator = _operator(request, form)
            made = once(operator, lambda: api_tokens.issue(given["name"], given["tenant"], operator, **how))
        except PunctualError as error:
            form.add_error(None, str(error))
            return None
        if made is None:
            messages.warning(
                request, gettext("This form was already sent, and the token was shown then. Issue another one.")
            )
            return HttpResponseRedirect(console_url(LIST))
        token, text = made
        context = self._page(request, gettext("New API token")) | {
            "token": token,
            "text": text,
            "internal": how["internal"],
        }
        return TemplateResponse(request, "tasks_app/token.html", context)

    def _page(self, request: HttpRequest, title: str) -> dict[str, Any]:
        return {**self.admin_site.each_context(request), "opts": self.opts, "title": title}


def _rights(request: HttpRequest) -> list[tuple[str, str]]:
    """What a token of this person may do: nobody hands out more than they have."""
    return [(right.value, words) for right, words in RIGHT_WORDS.items() if right in granter(request).rights]


def _token(token_id: int) -> ApiToken:
    token: ApiToken | None = (
        ApiToken.objects.defer("digest").filter(id=token_id, **whose()).first() if token_id < 2**63 else None
    )
    if token is None:
        raise Http404(gettext("There is no such token."))
    return token


def _may(token: ApiToken) -> str:
    return "" if token.metrics else RIGHT_WORDS[highest(token.rights)]


def _operator(request: HttpRequest, form: RevokeForm) -> Operator:
    return Operator(request.user.get_username(), form.cleaned_data["reason"], form.cleaned_data["operation"])


def _state(token: ApiToken, now: datetime) -> str:
    if token.revoked_at:
        return gettext("revoked")
    return gettext("expired") if token.expires_at and token.expires_at <= now else gettext("valid")
