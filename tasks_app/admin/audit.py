"""What operators did, the latest first."""

from django.contrib import admin
from django.urls import reverse
from django.utils.html import format_html
from unfold.admin import ModelAdmin
from unfold.paginator import InfinitePaginator

from tasks_app.engine.web.people import VERBS
from tasks_app.models import AuditEntry
from tasks_app.pages.lists import OwnLookups

from .rights import LookOnly


@admin.register(AuditEntry)
class AuditEntryAdmin(OwnLookups, LookOnly, ModelAdmin):
    list_display = ["created_at", "actor", "verb", "about", "outcome", "reason"]
    search_fields = ["task_id__exact"]
    search_help_text = "The id of a task"
    show_full_result_count = False
    paginator = InfinitePaginator
    ordering = ["-id"]
    sortable_by: list[str] = []

    def get_queryset(self, request):
        """Who logged in from where is for those who may see the users."""
        found = super().get_queryset(request)
        return found if request.user.has_perm("auth.view_user") else found.exclude(verb__in=VERBS)

    def get_search_results(self, request, queryset, search_term):
        if search_term and not (search_term.isdecimal() and len(search_term) < 19):
            return queryset.none(), False
        return super().get_search_results(request, queryset, search_term)

    @admin.display(description="what")
    def about(self, entry: AuditEntry):
        kind, _, number = entry.subject.partition(" ")
        if kind == "job" and number.isdecimal():
            url = reverse("admin:tasks_app_jobdefinition_change", args=[number])
        elif entry.task_id is not None:
            url = reverse("admin:tasks_app_scheduletask_change", args=[entry.task_id])
        else:
            return entry.subject
        return format_html('<a href="{}">{}</a>', url, entry.subject)
