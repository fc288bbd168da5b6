"""Batches: which are open, which finished lately, and what is in one."""

from typing import Any
from uuid import UUID

from django.contrib import admin
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.translation import gettext
from unfold.admin import ModelAdmin

from tasks_app.conf import conf
from tasks_app.console.site import console
from tasks_app.core.lateness import percentile_ms
from tasks_app.engine.watch.names import with_names
from tasks_app.lifecycle.anywhere import tasks_by_id
from tasks_app.lifecycle.tries import with_queued
from tasks_app.models import AnyBatch, TaskBatch
from tasks_app.pages.lists import refuse_unknown

from .rights import LookOnly, may_view_platform, requires

SHOWN = 50
TASKS_SHOWN = 100


@admin.register(TaskBatch, site=console())
class TaskBatchAdmin(LookOnly, ModelAdmin):
    @requires(may_view_platform)
    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        refuse_unknown(request)
        batches = AnyBatch.objects.defer("lateness")
        context = self.admin_site.each_context(request) | {
            "title": gettext("Batches"),
            "opts": self.opts,
            # Each by its own index: no page needs to sort all of them.
            "open": list(batches.filter(finished_at=None).order_by("lease_until")[:SHOWN]),
            "finished": list(batches.filter(finished_at__isnull=False).order_by("-finished_at")[:SHOWN]),
            "shown": SHOWN,
        }
        return TemplateResponse(request, "tasks_app/batches.html", context)

    @requires(may_view_platform)
    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        batch = _batch(object_id)
        context = (
            self.admin_site.each_context(request)
            | {
                "title": gettext("Batch {batch_no}").format(batch_no=batch.batch_no),
                "opts": self.opts,
                "batch": batch,
                "original": TaskBatch(
                    batch_no=batch.batch_no, task_type=batch.task_type
                ),  # for the header and its links
                "late": [
                    (f"p{share:.0%}".strip("%"), percentile_ms(batch.lateness or [], share)) for share in (0.5, 0.99)
                ],
                "tasks": with_queued(
                    with_names(task for _, task in sorted(tasks_by_id(batch.ids[:TASKS_SHOWN]).items()))
                ),
                "more": max(len(batch.ids) - TASKS_SHOWN, 0),
            }
        )
        return TemplateResponse(request, "tasks_app/batch.html", context)


def _batch(object_id: str) -> AnyBatch:
    try:
        found: AnyBatch = AnyBatch.objects.get(batch_no=UUID(object_id))
        return found
    except (ValueError, AnyBatch.DoesNotExist):
        raise Http404(
            gettext("There is no batch {object_id!r}; finished ones are kept for {days:g} days.").format(
                object_id=object_id[:40], days=conf().KEEP_HOT_DAYS
            )
        ) from None
