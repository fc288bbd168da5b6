"""What operators did, the latest first."""

from django.contrib import admin
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.html import format_html
from unfold.admin import ModelAdmin
from unfold.paginator import InfinitePaginator

from tasks_app.console.site import console
from tasks_app.engine.web import people
from tasks_app.models import AuditEntry
from tasks_app.pages.links import console_url
from tasks_app.pages.lists import OwnLookups
from tasks_app.templatetags.punctual import instant

from .rights import LookOnly, may_view, requires


@admin.register(AuditEntry, site=console())
class AuditEntryAdmin(OwnLookups, LookOnly, ModelAdmin):
    list_display = ["when", "actor", "verb", "about", "outcome", "reason"]
    search_fields = ["task_id__exact"]
    search_help_text = "The id of a task"
    show_full_result_count = False
    paginator = InfinitePaginator
    ordering = ["-id"]
    sortable_by: list[str] = []

    def get_queryset(self, request):
        """Who logged in from where is for those who may see the users."""
        found = super().get_queryset(request)
        return found if people.may_be_seen_by(request.user) else found.exclude(verb__in=people.VERBS)

    def get_search_results(self, request, queryset, search_term):
        if search_term and not _is_id(search_term):
            return queryset.none(), False
        return super().get_search_results(request, queryset, search_term)

    @requires(may_view)
    def change_view(self, request: HttpRequest, object_id: str, form_url="", extra_context=None) -> HttpResponse:
        entry = self.get_queryset(request).filter(id=int(object_id)).first() if _is_id(object_id) else None
        if entry is None:
            raise Http404(f"There is no audit entry {object_id[:40]!r}.")
        context = self.admin_site.each_context(request) | {"title": f"Audit entry {entry.id}", "opts": self.opts}
        return TemplateResponse(request, "tasks_app/entry.html", context | {"entry": entry, "what": self.about(entry)})

    @admin.display(description="when (UTC)")
    def when(self, entry: AuditEntry):
        return instant(entry.created_at)

    @admin.display(description="what")
    def about(self, entry: AuditEntry):
        kind, _, number = entry.subject.partition(" ")
        if kind == "job" and number.isdecimal():
            url = console_url("tasks_app_jobdefinition_change", number)
        elif entry.task_id is not None:
            url = console_url("tasks_app_scheduletask_change", entry.task_id)
        else:
            return entry.subject
        return format_html('<a href="{}">{}</a>', url, entry.subject)


def _is_id(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 19
