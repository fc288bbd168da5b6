"""The operator's pages: tasks and what became of them, to look at. Acting on them comes with the next pages."""

from django.contrib import admin
from unfold.admin import ModelAdmin, TabularInline
from unfold.decorators import display

from tasks_app.core.states import Status
from tasks_app.models import DlqEntry, Node, ScheduleTask, TaskAttempt, TaskBatch

LABELS = {
    Status.SUCCESS: "success",
    Status.FAIL: "warning",
    Status.DEAD: "danger",
    Status.RUNNING: "info",
    Status.INIT: "primary",
}


class ReadOnly:
    """Rows here are written by the scheduler alone; an edit in a form would step over its guards."""

    def has_add_permission(self, request, obj=None) -> bool:
        return False

    def has_change_permission(self, request, obj=None) -> bool:
        return False

    def has_delete_permission(self, request, obj=None) -> bool:
        return False


class AttemptInline(ReadOnly, TabularInline):
    model = TaskAttempt
    fields = ["attempt", "started_at", "finished_at", "worker", "error_code", "error_msg"]
    extra = 0


@admin.register(ScheduleTask)
class ScheduleTaskAdmin(ReadOnly, ModelAdmin):
    list_display = ["id", "task_type", "biz_key", "state", "execute_time", "due_at", "retry_count", "error_code"]
    list_filter = ["status", "lane"]
    search_fields = ["biz_key__exact"]
    search_help_text = "A whole key"
    show_full_result_count = False
    ordering = ["-id"]
    inlines = [AttemptInline]

    @display(description="status", label=LABELS)
    def state(self, task: ScheduleTask) -> str:
        return task.status


@admin.register(TaskBatch)
class TaskBatchAdmin(ReadOnly, ModelAdmin):
    list_display = [
        "batch_no",
        "task_type",
        "lane",
        "claimed_at",
        "started_at",
        "finished_at",
        "worker",
        "ok",
        "failed",
    ]
    show_full_result_count = False
    ordering = ["-claimed_at"]


@admin.register(DlqEntry)
class DlqEntryAdmin(ReadOnly, ModelAdmin):
    list_display = ["task_id", "task_type", "error_code", "created_at", "replay_status"]
    list_filter = ["replay_status"]
    ordering = ["-id"]


@admin.register(Node)
class NodeAdmin(ReadOnly, ModelAdmin):
    list_display = ["name", "kind", "slots", "lanes", "started_at", "seen_at"]
