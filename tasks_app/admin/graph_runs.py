"""Runs of graphs: a list, a page of each with the picture of what waits for whom, and the order to run it again."""

import re
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import BadRequest, PermissionDenied
from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy
from unfold.admin import ModelAdmin

from tasks_app.console.scope import seen, usable_kinds
from tasks_app.console.site import console
from tasks_app.core.errors import PunctualError
from tasks_app.core.graphs import RunState
from tasks_app.core.states import UNDER_WAY
from tasks_app.engine.operations.jobs import once
from tasks_app.engine.operations.runs import rerun
from tasks_app.engine.watch.runs import RunFilter, kinds_in, page_of_runs, run_by_id
from tasks_app.lifecycle.audit import Operator
from tasks_app.lifecycle.jobs.request import field_of
from tasks_app.lifecycle.jobs.run import Node, RunView, read_lines
from tasks_app.models import AuditEntry, GraphRun
from tasks_app.pages.gantt import Gantt, Part, gantt
from tasks_app.pages.graph import Box, Picture, picture
from tasks_app.pages.links import console_url
from tasks_app.pages.lists import refuse_unknown

from .forms import TenantField, reason_field
from .rights import LookOnly, may_operate_jobs, may_view, may_view_jobs, requires

PAGE = 30
ENTRIES = 50
ONE = "punctual_graphrun_change"
WORDS = {
    RunState.WAITING: gettext_lazy("Nothing of it has begun."),
    RunState.RUNNING: gettext_lazy("It is under way."),
    RunState.STUCK: gettext_lazy("Something failed, and what comes after it waits until somebody acts."),
    RunState.SUCCEEDED: gettext_lazy("All of it is done."),
    RunState.FAILED: gettext_lazy("It is over, and not all of it succeeded."),
    RunState.UNKNOWN: gettext_lazy("It is over. Some of its tasks are kept no longer; none of the others failed."),
}


class FilterForm(forms.Form):
    tenant = TenantField(required=False)
    job = forms.IntegerField(
        label=gettext_lazy("Number of its first job"), required=False, min_value=1, max_value=2**63 - 1
    )


class RerunForm(forms.Form):
    from_job = forms.ChoiceField(label=gettext_lazy("From"), required=False)
    reason = reason_field()
    operation = forms.UUIDField(widget=forms.HiddenInput)

    def __init__(self, view: RunView, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"initial": {"operation": uuid4()}} | kwargs)
        names = [(node.name, node.name) for node in view.nodes.values()]
        self.fields["from_job"].choices = [("", gettext("What failed first")), *names]


@admin.register(GraphRun, site=console())
class GraphRunAdmin(LookOnly, ModelAdmin):
    def has_module_permission(self, request: HttpRequest) -> bool:
        return may_view_jobs(request)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return may_view_jobs(request)

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.rerun_view)
        return [path("<int:run_id>/rerun/", view, name="punctual_graphrun_rerun"), *super().get_urls()]

    @requires(may_view_jobs)
    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        refuse_unknown(request, (*FilterForm.base_fields, "after"))
        return TemplateResponse(request, "tasks_app/graph_runs.html", self._page(request) | _listed(request))

    @requires(may_view_jobs)
    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        view = _view(object_id)
        entries = AuditEntry.objects.filter(subject=f"run {view.run.id}").order_by("-created_at", "-id")[:ENTRIES]
        context = self._page(request) | {
            "title": gettext("Run {id}").format(id=view.run.id),
            "original": view.run,
            "view": view,
            "name": _name(view),
            "words": WORDS[view.state],
            "path": [view.nodes[job].name for job in view.critical_path],
            "gantt": bars_of(view, linked=may_view(request)),
            "picture": drawn(view, linked=may_view(request)),
            "entries": entries,
            "may_operate": may_operate_jobs(request) and usable_kinds(kinds_in(view)),
        }
        return TemplateResponse(request, "tasks_app/graph_run.html", context)

    @requires(may_operate_jobs)
    def rerun_view(self, request: HttpRequest, run_id: int) -> HttpResponse:
        """GET says what it would do; POST does it."""
        view = _view(str(run_id))
        if not usable_kinds(kinds_in(view)):
            raise PermissionDenied
        form = RerunForm(view, request.POST or None)
        if form.is_valid():
            given = form.cleaned_data
            by = Operator(request.user.get_username(), given["reason"], given["operation"])
            try:
                done = once(by, lambda: rerun(run_id, by, tenant=view.run.tenant, from_job=given["from_job"] or None))
            except PunctualError as error:
                form.add_error(field_of(error, {"from_job"}), str(error))
            else:
                said = (
                    gettext("{jobs} of run {run} started again.").format(jobs=", ".join(done.started), run=run_id)
                    if done
                    else gettext("Run {run} started again when this form was sent first.").format(run=run_id)
                )
                messages.success(request, said)
                return HttpResponseRedirect(console_url(ONE, run_id))
        context = self._page(request) | {
            "title": gettext("Run {run_id} again").format(run_id=run_id),
            "view": view,
            "form": form,
        }
        return TemplateResponse(request, "tasks_app/graph_rerun.html", context, status=400 if form.is_bound else 200)

    def _page(self, request: HttpRequest) -> dict[str, Any]:
        return {**self.admin_site.each_context(request), "opts": self.opts, "title": gettext("Runs of graphs")}


def drawn(view: RunView, *, linked: bool) -> Picture:
    critical = set(view.critical_path)
    boxes = []
    for node in view.nodes.values():
        waits = ", ".join(one.name for one in view.waits_for(node))
        boxes.append(
            Box(
                node.job,
                node.name,
                node.parents,
                node.status,
                _task_url(node) if linked else "",
                critical=node.job in critical,
                note=gettext("waits for {waits}").format(waits=waits) if waits else "",
            )
        )
    return picture(boxes)


def bars_of(view: RunView, *, linked: bool) -> Gantt | None:
    critical = set(view.critical_path)
    parts = []
    for node in view.nodes.values():
        allowed, task = view.allowed_at(node), node.task
        began = task.began if task and (task.over or task.status in UNDER_WAY) else None
        parts.append(
            Part(
                node.name,
                node.status,
                min(allowed, began) if allowed and began else allowed,
                began,
                task and task.ended,
                critical=node.job in critical,
                url=_task_url(node) if linked else "",
            )
        )
    return gantt(parts, timezone.now())


def _task_url(node: Node) -> str:
    return console_url("punctual_scheduletask_change", node.task.id) if node.task else ""


def _listed(request: HttpRequest) -> dict[str, Any]:
    form, after = FilterForm(request.GET), request.GET.get("after", "")
    if after and not re.fullmatch("[1-9][0-9]{0,17}", after):
        raise BadRequest(gettext("{after!r} is no place in this list; begin at its start.").format(after=after[:40]))
    if not form.is_valid():
        return {"form": form, "found": None}
    given = {name: value for name, value in form.cleaned_data.items() if value}
    found, more = page_of_runs(RunFilter(**given), int(after) if after else None, PAGE)
    return {
        "form": form,
        "found": read_lines(found),
        "next": urlencode(given | {"after": more}) if more else "",
    }


def _name(view: RunView) -> str:
    return view.nodes[view.run.job].name


def _view(object_id: str) -> RunView:
    found = run_by_id(int(object_id)) if re.fullmatch("[0-9]{1,18}", object_id) else None
    if found is None or seen(found.run) is None:
        raise Http404(
            gettext("There is no run {object_id!r}; they are kept as long as what is over.").format(
                object_id=object_id[:40]
            )
        )
    return found
