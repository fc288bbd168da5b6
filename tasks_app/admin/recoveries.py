"""Recoveries: what was done after which incident, the latest first, and the report of one."""

from typing import Any

from django.contrib import admin
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.translation import gettext
from unfold.admin import ModelAdmin

from tasks_app.console.site import console
from tasks_app.engine.operations.recovery.report import as_page, goals_of, seconds_of, step_rows
from tasks_app.models import Recovery
from tasks_app.pages.lists import refuse_unknown

from .rights import LookOnly, may_view_platform, requires

SHOWN = 100


@admin.register(Recovery, site=console())
class RecoveryAdmin(LookOnly, ModelAdmin):
    @requires(may_view_platform)
    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        refuse_unknown(request)
        rows = Recovery.objects.order_by("-id")[:SHOWN]
        context = self.admin_site.each_context(request) | {
            "title": gettext("Recoveries"),
            "opts": self.opts,
            "found": [(row, seconds_of(row)) for row in rows],
            "shown": SHOWN,
        }
        return TemplateResponse(request, "tasks_app/recoveries.html", context)

    @requires(may_view_platform)
    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        row = Recovery.objects.filter(id=int(object_id)).first() if _is_id(object_id) else None
        if row is None:
            raise Http404(gettext("There is no recovery {object_id!r}.").format(object_id=object_id[:40]))
        context = self.admin_site.each_context(request) | {
            "title": gettext("Recovery from {incident}").format(incident=row.incident),
            "opts": self.opts,
            "original": row,
            "recovery": row,
            "seconds": seconds_of(row),
            "steps": step_rows(row),
            "report": as_page(row),
            "goals": goals_of(row),
        }
        return TemplateResponse(request, "tasks_app/recovery.html", context)


def _is_id(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 19
