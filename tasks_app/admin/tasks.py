"""The list of tasks and the page of one; what may be done to them is in orders.py, the overview in overview.py."""

import re
import time
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.core.exceptions import BadRequest
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy
from unfold.admin import ModelAdmin

from tasks_app.conf import conf
from tasks_app.console import saved
from tasks_app.console.looks import shared
from tasks_app.console.scope import may_change, may_change_each, member, seen
from tasks_app.console.site import console
from tasks_app.core.errors import InvalidTask, PunctualError
from tasks_app.core.links import LINKS
from tasks_app.core.phrases import for_outsiders
from tasks_app.engine.operations.reveal import reveal
from tasks_app.engine.watch.export import csv_lines
from tasks_app.engine.watch.listing import ArchiveUnreachable, page_of_tasks, walk_tasks
from tasks_app.engine.watch.names import with_names
from tasks_app.engine.watch.replays import Tries, before, grouped, replays_of
from tasks_app.engine.watch.runs import run_of
from tasks_app.engine.watch.task_events import event_by_id, events_of
from tasks_app.engine.watch.why import why_task
from tasks_app.lifecycle.anywhere import task_by_id, tasks_by_id
from tasks_app.lifecycle.audit import Operator
from tasks_app.lifecycle.confidential import is_hidden
from tasks_app.lifecycle.logs import lines_of
from tasks_app.lifecycle.operate import Row, Verb, expected
from tasks_app.lifecycle.tries import error_of, last_error, late_by, try_before, try_of, waited, with_queued, with_tries
from tasks_app.lifecycle.view import history
from tasks_app.models import AnyBatch, AnyTask, AuditEntry, DlqEntry, JobDefinition, ScheduleTask, TaskAttempt, TaskLog
from tasks_app.models.schedule_task import TaskFields
from tasks_app.pages.links import console_url
from tasks_app.pages.lists import refuse_unknown
from tasks_app.pages.saved import LISTS, FilteredList

from . import orders, overview, trail
from .forms import FilterForm
from .list_rows import task_rows
from .rights import LookOnly, may_decrypt, may_operate, may_order, may_view, may_view_jobs, may_view_lists, requires
from .secrets import ReasonOnly
from .words import VERBS, after_replay, doing

LISTS["tasks"] = FilteredList(orders.LIST, FilterForm, may_view)
PAGE = 50
MOST_EXPORTED = 100_000  # tasks in one file from the list
EXPORT_SECONDS = 120.0
_DECRYPTED = gettext_lazy(
    "Its payload, result, errors and log are shown to you this once. That you have looked is in the audit."
)
LOGS = 10  # tries whose lines a page shows
HISTORY = 50  # attempts, entries and rows of a unit that a page shows


@admin.register(ScheduleTask, site=console())
class ScheduleTaskAdmin(LookOnly, ModelAdmin):
    def get_urls(self) -> list[URLPattern]:
        pages = [
            ("export/", self.export_view, "export"),
            ("order/", self.order_view, "order"),
            ("order/run/", self.run_view, "run"),
            ("operation/<uuid:operation>/", self.operation_view, "operation"),
            ("operation/<uuid:operation>/undo/", self.undo_view, "undo"),
            ("<int:task>/decrypt/", self.decrypt_view, "task_decrypt"),
            ("<int:task>/events/", self.events_view, "task_events"),
            ("event/<slug:event_id>/", self.event_view, "event"),
            ("saved/", self.save_view, "saved_add"),
            ("saved/<int:number>/remove/", self.remove_view, "saved_remove"),
        ]
        own = [path(where, self.admin_site.admin_view(view), name=f"punctual_{name}") for where, view, name in pages]
        return [*own, *super().get_urls()]

    @requires(may_view)
    @shared
    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        refuse_unknown(request, (*FilterForm.base_fields, "after", "looked"))
        key = request.GET.get("key", "")
        if key.startswith("#") and key[1:].isdecimal() and len(key) < 20:
            return HttpResponseRedirect(console_url("punctual_scheduletask_change", key[1:]))
        context = self.page(request) | _listed(request)
        return TemplateResponse(request, "tasks_app/tasks.html", context)

    @requires(may_view)
    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        task = _task(object_id)
        known_by = ScheduleTask(
            id=task.id, task_type=task.task_type, biz_key=task.biz_key
        )  # in the header and its links
        context = (
            self.page(request)
            | _told(task)
            | _running(task)
            | {"title": gettext("Task {id}").format(id=task.id), "original": known_by}
        )
        context["why"] = why_task(task) if "why" in request.GET else None
        context["may_decrypt"] = is_hidden(task) and may_decrypt(request)
        context["may_operate"] = may_order(request) and may_change(task)
        return TemplateResponse(request, "tasks_app/task.html", context)

    @requires(may_decrypt)
    def decrypt_view(self, request: HttpRequest, task: int) -> HttpResponse:
        """What is encrypted of it, for whoever may see it and says why; each look is audited."""
        row, form = _task(str(task)), ReasonOnly(request.POST or None)
        context = self.page(request) | {
            "title": gettext("Decrypt task {id}").format(id=row.id),
            "task": row,
            "form": form,
        }
        if request.method == "POST" and form.is_valid():
            operator = Operator(
                request.user.get_username(), form.cleaned_data["reason"], form.cleaned_data["operation"]
            )
            try:
                context["plain"] = reveal(row, operator)
            except PunctualError as error:
                form.add_error(None, str(error))
            else:
                answer = TemplateResponse(request, "tasks_app/task_decrypted.html", context)
                answer["Cache-Control"] = "no-store"
                return answer
        context |= {
            "button": gettext("Decrypt"),
            "subject": gettext("task {id}").format(id=row.id),
            "words": _DECRYPTED,
            "danger": False,
        }
        context["back"] = console_url("punctual_scheduletask_change", row.id)
        status = 400 if request.method == "POST" else 200
        return TemplateResponse(request, "tasks_app/host_order.html", context, status=status)

    @requires(may_view)
    def events_view(self, request: HttpRequest, task: int) -> HttpResponse:
        """What was told of it, live or past; looked for when somebody asks, since no index leads there."""
        row = _task(str(task))
        refuse_unknown(request)
        context = self.page(request) | {
            "title": gettext("Events of task {id}").format(id=row.id),
            "task": row,
            "found": events_of(row),
            "days": conf().KEEP_OUTBOX_DAYS,
        }
        return TemplateResponse(request, "tasks_app/task_events.html", context)

    @requires(may_view)
    def event_view(self, request: HttpRequest, event_id: str) -> HttpResponse:
        """One event, by the id that subscribers get; it leads to its task."""
        event = seen(event_by_id(event_id))
        if event is None:
            raise Http404(
                gettext("There is no event {event_id!r}; they are kept for {days:g} days.").format(
                    event_id=event_id[:40], days=conf().KEEP_OUTBOX_DAYS
                )
            )
        context = self.page(request) | {
            "title": gettext("Event {id}").format(id=event.id),
            "event": event,
            "task": seen(task_by_id(event.task)) if event.task is not None else None,
            "may_view_jobs": may_view_jobs(request),
            "everywhere": member() is None,
        }
        return TemplateResponse(request, "tasks_app/event.html", context)

    @requires(may_view, ("GET",))
    def export_view(self, request: HttpRequest) -> HttpResponseBase:
        refuse_unknown(request, FilterForm.base_fields)
        return _exported(request)

    @requires(may_order, ("POST",))
    def order_view(self, request: HttpRequest) -> HttpResponse:
        return orders.preview(self, request)

    @requires(may_order, ("POST",))
    def run_view(self, request: HttpRequest) -> HttpResponse:
        return orders.carry_out(self, request)

    @requires(may_view)
    def operation_view(self, request: HttpRequest, operation: UUID) -> HttpResponse:
        return orders.report(self, request, operation)

    @requires(may_operate)
    def undo_view(self, request: HttpRequest, operation: UUID) -> HttpResponse:
        return orders.undo(self, request, operation)

    @requires(may_view_lists, ("POST",))
    def save_view(self, request: HttpRequest) -> HttpResponse:
        return saved.save(request)

    @requires(may_view_lists, ("POST",))
    def remove_view(self, request: HttpRequest, number: int) -> HttpResponse:
        return saved.remove(request, number)

    def page(self, request: HttpRequest) -> dict[str, Any]:
        """What every page of ours needs."""
        return {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": gettext("Tasks"),
            "may_operate": may_order(request),
            "may_match": may_operate(request),
            "now": timezone.now(),
        }


def _without_payloads(rows: QuerySet[AnyTask]) -> QuerySet[AnyTask]:
    return rows.defer("payload", "payload_bytes")


def _listed(request: HttpRequest) -> dict[str, Any]:
    form = FilterForm(request.GET)
    if not form.is_valid():
        return {"form": form, "found": None}
    after, cold = request.GET.get("after") or None, form.cleaned_data.get("cold", False)
    try:
        found = page_of_tasks(form.filter, after, PAGE, cold=cold, shaped=_without_payloads)
    except InvalidTask as error:
        raise BadRequest(str(error)) from None
    except ArchiveUnreachable as error:
        return {"form": form, "found": None, "unreachable": str(error)}
    tasks, changeable = with_queued(with_names(found.tasks)), may_change_each(found.tasks)
    return {
        "form": form,
        "found": found,
        "tasks": tasks,
        "rows": task_rows(tasks, cold=bool(found.cold), chosen=may_order(request), changeable=changeable),
        "after": after,
        "next": found.next or "",
        "looked": found.looked_at + _looked_before(request),
        "verbs": [(verb, words) for verb, words in VERBS.items()],
        "filtered": bool(form.query),
        "exported": MOST_EXPORTED,
    }


def _exported(request: HttpRequest) -> HttpResponseBase:
    """What the list's filter finds as CSV, while it is found. A table that was cut says so in its last line."""
    form = FilterForm(request.GET)
    if not form.is_valid():
        raise BadRequest(form.errors.as_text())
    tasks = walk_tasks(form.filter, cold=form.cleaned_data.get("cold", False))
    if member() is not None:
        tasks = _without_frames(tasks)
    answer = StreamingHttpResponse(_lines(tasks), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="tasks-{timezone.now():%Y%m%d-%H%M%S}.csv"'
    answer["Cache-Control"] = "no-store"
    return answer


def _without_frames(tasks: Iterator[AnyTask]) -> Iterator[AnyTask]:
    """What handlers said, not where they run."""
    for task in tasks:
        if isinstance(task.error_msg, str):
            task.error_msg = for_outsiders(task.error_msg)
        yield task


def _lines(tasks: Iterator[AnyTask]) -> Iterator[str]:
    deadline = time.monotonic() + EXPORT_SECONDS
    try:
        for number, line in enumerate(csv_lines(tasks)):
            if number > MOST_EXPORTED or time.monotonic() > deadline:
                yield f'"Cut after {number - 1:,} tasks: narrow the filter, or use manage.py history --csv."\r\n'
                return
            yield line
    except (ArchiveUnreachable, InvalidTask) as error:
        yield f'"Incomplete: {str(error).replace(chr(34), chr(39))}"\r\n'


def _looked_before(request: HttpRequest) -> int:
    """How many tasks the pages before this one have looked at without finding any."""
    given = request.GET.get("looked", "")
    return int(given) if given.isdecimal() and len(given) < 12 else 0


def _told(task: TaskFields) -> dict[str, Any]:
    row = Row(task.id, task.tenant, task.task_type, task.biz_key, task.status, task.due_at is not None, task.current)
    unit, _ = history(task.task_type, task.biz_key, tenant=task.tenant, limit=HISTORY)
    run = try_of(task)
    attempts = list(TaskAttempt.objects.filter(task_id=task.id).order_by("-id")[:HISTORY])
    replays = replays_of(task.id)
    entries = list(AuditEntry.objects.filter(task_id=task.id).order_by("-id")[:HISTORY])
    batch = AnyBatch.objects.filter(batch_no=run.batch).only("claimed_at").first() if run.batch else None
    linked = tasks_by_id([*(task.deferred or ()), *([task.deferred_from] if task.deferred_from else ())])
    return {
        "task": task,
        "deferrer": linked.get(task.deferred_from),
        "deferred": [(id_, linked.get(id_)) for id_ in task.deferred or ()],
        "doing": doing(task, timezone.now()),
        "link": LINKS.find(task.task_type, task.biz_key),
        "job": JobDefinition.objects.filter(id=task.job).first() if task.job else None,
        "graph_run": run_of(task),
        "verbs": [(verb, words) for verb, words in VERBS.items() if expected(Verb(verb), row).acted],
        "run": run,
        "before": try_before(task),
        "error": error_of(task),
        "last_error": last_error(task),
        "late": late_by(task),
        "waited": waited(task),
        "tries": [
            (after_replay(group), [(one, _logs_of(task, one)) for one in group.attempts])
            for group in grouped(attempts, replays, rolls=task.repeat_after is not None)
        ],
        "replayed": bool(replays) or (task.repeat_after is None and task.retry_count > task.attempt > 0),
        "took": run.finished_at - run.started_at if run.started_at and run.finished_at else None,
        "run_logs": trail.logs_of(task, run.worker, run.batch, run.started_at, run.finished_at),
        "life": trail.life(task, run, attempts, replays, entries, run.claimed_at or (batch and batch.claimed_at)),
        "batch": member() is None and batch is not None,
        "letters": DlqEntry.objects.filter(task_id=task.id).order_by("-id")[:HISTORY],
        "entries": entries,
        "logs": [
            (one, (replay := before(replays, one.started_at)) and after_replay(Tries(True, replay)))
            for one in _logs(TaskLog.objects.filter(task_id=task.id).exclude(batch_no=task.batch_no))
        ],
        "unit": unit,  # the current one first
    }


def _logs_of(task: TaskFields, one: TaskAttempt) -> str:
    return trail.logs_of(task, one.worker, one.batch_no, one.started_at, one.finished_at)


def _running(task: TaskFields) -> dict[str, Any]:
    """What the run under way tells; it changes while one looks at it."""
    found = _logs(TaskLog.objects.filter(task_id=task.id, batch_no=task.batch_no)) if task.batch_no else []
    return {
        "task": task,
        "parts": overview.parts(["run"]),
        "run": try_of(task),
        "progress": task.progress,
        "log": found[0] if found else None,
    }


def _logs(rows: QuerySet[TaskLog]) -> list[TaskLog]:
    """The latest few, each with its lines."""
    found = list(rows.order_by("-id")[:LOGS])
    for one in found:
        one.told = lines_of(one)
    return found


def _task(object_id: str) -> TaskFields:
    task = seen(task_by_id(int(object_id))) if re.fullmatch("[0-9]{1,18}", object_id) else None
    if task is None:
        raise Http404(
            gettext("There is no task {object_id!r}; finished ones are kept for some days.").format(
                object_id=object_id[:40]
            )
        )
    return with_tries([task])[0]
