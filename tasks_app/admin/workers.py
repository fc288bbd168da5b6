"""The page of a worker: what it runs, what it ran last, and what people did to it. From here it is drained."""

from datetime import datetime
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext, gettext_lazy
from unfold.admin import ModelAdmin

from tasks_app.core.errors import InvalidTask, NotThere
from tasks_app.engine.operations import workers
from tasks_app.engine.watch.names import with_names
from tasks_app.engine.watch.workers import WorkerView, read_worker, slot_of
from tasks_app.lifecycle.anywhere import tasks_by_id
from tasks_app.models.schedule_task import TaskFields
from tasks_app.pages.links import console_url
from tasks_app.pages.lists import refuse_unknown

from . import overview
from .forms import reason_field
from .rights import may_operate_platform

DRAIN, RESUME = "drain", "resume"
BATCHES = 50  # that it ran last
TASKS = 3  # of a batch that runs
BUTTONS = {DRAIN: gettext_lazy("Drain"), RESUME: gettext_lazy("Take batches again")}
WORDS = {
    DRAIN: gettext_lazy(
        "It finishes what it has and takes no more batches, until somebody lets it take them again or it is restarted. "
        "Others go on."
    ),
    RESUME: gettext_lazy("It takes batches again within seconds."),
}


class WorkerForm(forms.Form):
    reason = reason_field()


def page(admin: ModelAdmin, request: HttpRequest, name: str) -> HttpResponse:
    refuse_unknown(request, ("until",))
    context = admin.page(request) | _read(request, name)
    context |= {"title": gettext("Worker {name}").format(name=name)}
    return TemplateResponse(request, "tasks_app/worker.html", context)


def order(admin: ModelAdmin, request: HttpRequest, name: str, verb: str) -> HttpResponse:
    """GET says what it would do; POST does it."""
    if verb not in BUTTONS:
        raise Http404(gettext("There is no action {verb!r} here.").format(verb=verb[:20]))
    form = WorkerForm(request.POST or None)
    if form.is_valid():
        answer = _carry_out(request, name, verb, form)
        if answer is not None:
            return answer
    context = admin.page(request) | {
        "title": f"{BUTTONS[verb]}: {name}",
        "form": form,
        "button": BUTTONS[verb],
        "subject": name,
        "words": WORDS[verb],
        "danger": verb == DRAIN,
        "back": console_url("punctual_worker", name),
    }
    return TemplateResponse(request, "tasks_app/host_order.html", context, status=400 if form.is_bound else 200)


def _carry_out(request: HttpRequest, name: str, verb: str, form: WorkerForm) -> HttpResponse | None:
    """None: it was refused, and the form says why."""
    note = {"reason": form.cleaned_data["reason"], "by": request.user.get_username()}
    try:
        done = workers.drain(name, **note) if verb == DRAIN else workers.resume(name, **note)
    except NotThere as error:
        raise Http404(str(error)) from None
    except InvalidTask as error:
        form.add_error("reason", str(error))
        return None
    if done:
        said = (
            gettext("{name} finishes what it has and takes no more.")
            if verb == DRAIN
            else gettext("{name} takes batches again.")
        )
        messages.success(request, said.format(name=name))
    else:
        said = (
            gettext("{name} was drained already; nothing was changed.")
            if verb == DRAIN
            else gettext("{name} was not drained; nothing was changed.")
        )
        messages.warning(request, said.format(name=name))
    return HttpResponseRedirect(console_url("punctual_worker", name))


def _read(request: HttpRequest, name: str) -> dict[str, Any]:
    view = read_worker(name, _until(request), BATCHES)
    if view.node is None and not (view.running or view.ran or view.entries):
        raise Http404(
            gettext(
                "There is no worker {name!r}, and none of the last {count:,} batches ran there. The page of a batch "
                "leads to its worker as it was then."
            ).format(name=name[:80], count=view.looked_at)
        )
    return {
        "parts": overview.parts(["worker"]),
        "view": view,
        "node": view.node,
        "slots": _slots(view),
        "may_operate": may_operate_platform(request) and view.node is not None and view.node.live,
        "until": _until(request),
    }


def _slots(view: WorkerView) -> list[tuple[str, object, list[TaskFields]]]:
    """Each batch that runs there, with its process and the first of its tasks."""
    found = tasks_by_id([id_ for batch in view.running for id_ in batch.ids[:TASKS]])
    first = {task.id: task for task in with_names(found.values())}
    return [
        (slot_of(batch.worker), batch, [first[id_] for id_ in batch.ids[:TASKS] if id_ in first])
        for batch in view.running
    ]


def _until(request: HttpRequest) -> datetime | None:
    given = request.GET.get("until", "")
    found: datetime | None
    try:
        found = parse_datetime(given)
    except ValueError:
        found = None
    if given and (found is None or found.tzinfo is None):
        raise BadRequest(
            gettext("{given!r} is not a time; write it like 2027-03-01T09:00:00Z.").format(given=given[:40])
        )
    return found
