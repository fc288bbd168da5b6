"""What operators did, the latest first: by who, what, whose, when and why."""

from typing import Any

from django.contrib import admin
from django.core.exceptions import BadRequest
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from unfold.admin import ModelAdmin

from tasks_app.console.scope import whose, working_in
from tasks_app.console.site import console
from tasks_app.engine.watch.audit_browse import look_for_entries
from tasks_app.engine.watch.audit_status import read_audit
from tasks_app.models import AuditEntry, AuditLink
from tasks_app.pages.lists import refuse_unknown

from .forms import AuditForm
from .rights import LookOnly, hidden_verbs, may_view, requires
from .trail import link_of

PAGE = 50


@admin.register(AuditEntry, site=console())
class AuditEntryAdmin(LookOnly, ModelAdmin):
    def get_queryset(self, request: HttpRequest) -> QuerySet[AuditEntry]:
        """Who logged in from where is for those who may see the users."""
        return super().get_queryset(request).filter(**whose()).exclude(verb__in=hidden_verbs(request))

    @requires(may_view)
    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        refuse_unknown(request, (*AuditForm.base_fields, "after", "looked"))
        context = self.admin_site.each_context(request) | {"title": gettext("Audit entries"), "opts": self.opts}
        context |= _listed(request) | {"proof": read_audit() if working_in() is None else None}
        return TemplateResponse(request, "tasks_app/entry_list.html", context)

    @requires(may_view)
    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        entry = self.get_queryset(request).filter(id=int(object_id)).first() if _is_id(object_id) else None
        if entry is None:
            raise Http404(gettext("There is no audit entry {object_id!r}.").format(object_id=object_id[:40]))
        context = self.admin_site.each_context(request) | {
            "title": gettext("Audit entry {id}").format(id=entry.id),
            "opts": self.opts,
        }
        context |= {"entry": entry, "what": _about(entry), "shows_address": not hidden_verbs(request)}
        context |= {"link": AuditLink.objects.filter(entry=entry.id, at=entry.created_at).first()}
        return TemplateResponse(request, "tasks_app/entry.html", context)


def _listed(request: HttpRequest) -> dict[str, Any]:
    form, after, looked = AuditForm(request.GET), request.GET.get("after", ""), request.GET.get("looked", "")
    if after and not _is_id(after):
        raise BadRequest(gettext("{after!r} is no place in this list; begin at its start.").format(after=after[:40]))
    if not form.is_valid():
        return {"form": form, "found": None}
    found = look_for_entries(form.filter(hidden_verbs(request)), int(after) if after else None, PAGE)
    return {
        "form": form,
        "found": found,
        "entries": [(entry, _about(entry)) for entry in found.entries],
        "after": after,
        "looked": found.looked_at + (int(looked) if _is_id(looked) else 0),
    }


def _about(entry: AuditEntry) -> str | SafeString:
    url = link_of(entry)
    return format_html('<a href="{}">{}</a>', url, entry.subject) if url else entry.subject


def _is_id(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 19
