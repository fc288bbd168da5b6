"""Articles and their history, to look at. Acting on them comes with the next pages."""

from django.contrib import admin
from unfold.admin import ModelAdmin, TabularInline

from .models import Article, ArticleEvent


class ReadOnly:
    """Rows here are written by articles_app.lifecycle alone; an edit in a form would step over its guards."""

    def has_add_permission(self, request, obj=None) -> bool:
        return False

    def has_change_permission(self, request, obj=None) -> bool:
        return False

    def has_delete_permission(self, request, obj=None) -> bool:
        return False


class EventInline(ReadOnly, TabularInline):
    model = ArticleEvent
    fields = ["revision", "verb", "source", "target", "actor", "created_at"]
    ordering = ["revision"]
    extra = 0


@admin.register(Article)
class ArticleAdmin(ReadOnly, ModelAdmin):
    list_display = ["id", "title", "author", "status", "publish_time", "published_at", "revision"]
    list_filter = ["status"]
    show_full_result_count = False
    ordering = ["-id"]
    inlines = [EventInline]
