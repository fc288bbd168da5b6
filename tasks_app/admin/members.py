"""The page of members: who is what in which tenant; give somebody a role, another one, or none."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.translation import gettext, gettext_lazy
from unfold.admin import ModelAdmin

from tasks_app.console.scope import ROLE_WORDS, granter, whose
from tasks_app.console.site import console
from tasks_app.core.errors import PunctualError
from tasks_app.core.roles import Role
from tasks_app.engine.operations import members
from tasks_app.engine.operations.jobs import once
from tasks_app.lifecycle.audit import ACTOR_LENGTH, Operator
from tasks_app.models import Membership
from tasks_app.pages.links import console_url
from tasks_app.pages.lists import refuse_unknown
from tasks_app.pages.typed import take_back

from .forms import TenantField
from .rights import LookOnly, may_operate_members, may_view_members, requires
from .secrets import ReasonOnly

SHOWN = 500
LIST = "punctual_membership_changelist"


class MemberForm(ReasonOnly):
    tenant = TenantField()
    user = forms.CharField(label=gettext_lazy("User name"), max_length=ACTOR_LENGTH)
    role = forms.ChoiceField(label=gettext_lazy("Role"), choices=())
    field_order = ("tenant", "user", "role", "reason", "operation")

    def __init__(self, roles: list[Role], *args: Any, row: Membership | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["role"].choices = [(role.value, gettext(ROLE_WORDS[role])) for role in roles]
        if row is not None:
            del self.fields["tenant"], self.fields["user"]
            self.initial |= {"role": row.role}


@admin.register(Membership, site=console())
class MembershipAdmin(LookOnly, ModelAdmin):
    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return may_view_members(request)

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return may_operate_members(request)

    def get_urls(self) -> list[URLPattern]:
        pages = [
            ("", self.changelist_view, "changelist"),
            ("add/", self.add_view, "add"),
            ("<int:member_id>/edit/", self.edit_view, "edit"),
            ("<int:member_id>/revoke/", self.revoke_view, "revoke"),
        ]
        return [
            path(where, self.admin_site.admin_view(view), name=f"punctual_membership_{name}")
            for where, view, name in pages
        ]

    @requires(may_view_members)
    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        refuse_unknown(request)
        found = list(Membership.objects.filter(**whose()).order_by("tenant", "username")[:SHOWN])
        context = self._page(request, gettext("Members")) | {
            "found": [(row, gettext(ROLE_WORDS[Role(row.role)])) for row in found],
            "shown": SHOWN if len(found) == SHOWN else None,
            "may_operate": may_operate_members(request),
        }
        return TemplateResponse(request, "tasks_app/members.html", context)

    @requires(may_operate_members)
    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return self._form_page(request, None)

    @requires(may_operate_members)
    def edit_view(self, request: HttpRequest, member_id: int) -> HttpResponse:
        return self._form_page(request, _row(member_id))

    @requires(may_operate_members)
    def revoke_view(self, request: HttpRequest, member_id: int) -> HttpResponse:
        row, form = _row(member_id), ReasonOnly(request.POST or None)
        if request.method == "POST" and form.is_valid():
            by = _operator(request, form)
            try:
                once(by, lambda: members.revoke(row.tenant, row.username, by, granter=granter(request)))
            except PunctualError as error:
                form.add_error(None, str(error))
            else:
                messages.success(request, gettext("{row}: no role any more.").format(row=row))
                return HttpResponseRedirect(console_url(LIST))
        context = self._page(request, gettext("Revoke: {name}").format(name=row)) | {"form": form, "subject": row}
        context |= {"button": gettext("Revoke"), "back": console_url(LIST), "danger": True}
        context["words"] = gettext("With the next thing they do, they are no member of the tenant any more.")
        status = 400 if request.method == "POST" else 200
        return TemplateResponse(request, "tasks_app/host_order.html", context, status=status)

    def _form_page(self, request: HttpRequest, row: Membership | None) -> HttpResponse:
        asked = granter(request)
        roles = [role for role in Role if role.rights <= asked.rights]
        form = MemberForm(roles, request.POST or take_back(request), row=row)
        if request.method == "POST" and form.is_valid():
            given, by = form.cleaned_data, _operator(request, form)
            tenant, user = (row.tenant, row.username) if row else (given["tenant"], given["user"])
            try:
                once(by, lambda: members.grant(tenant, user, given["role"], by, granter=asked))
            except PunctualError as error:
                form.add_error(None, str(error))
            else:
                words = gettext("{user} is {role} in tenant {tenant} now.")
                role = gettext(ROLE_WORDS[Role(given["role"])])
                messages.success(request, words.format(user=user, role=role, tenant=tenant))
                return HttpResponseRedirect(console_url(LIST))
        title = gettext("New member") if row is None else gettext("Change: {name}").format(name=row)
        context = self._page(request, title) | {"form": form}
        status = 400 if request.method == "POST" else 200
        return TemplateResponse(request, "tasks_app/member_form.html", context, status=status)

    def _page(self, request: HttpRequest, title: str) -> dict[str, Any]:
        return {**self.admin_site.each_context(request), "opts": self.opts, "title": title}


def _operator(request: HttpRequest, form: ReasonOnly) -> Operator:
    return Operator(request.user.get_username(), form.cleaned_data["reason"], form.cleaned_data["operation"])


def _row(member_id: int) -> Membership:
    row: Membership | None = Membership.objects.filter(id=member_id, **whose()).first() if member_id < 2**63 else None
    if row is None:
        raise Http404(gettext("There is no such member."))
    return row
