"""The pages of jobs: the list, one job with its times and its history, the form, and orders with a reason."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, tzinfo
from typing import Any, NamedTuple
from uuid import uuid4

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import BadRequest, PermissionDenied
from django.db import OperationalError
from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy
from unfold.admin import ModelAdmin

from tasks_app.console.looks import shared
from tasks_app.console.scope import changeable, may_change, may_change_each, member, seen, whose
from tasks_app.console.site import console
from tasks_app.core.errors import InvalidTask, PunctualError, RetryLimited, UnknownJob
from tasks_app.core.jobs import JobStatus, Overlap
from tasks_app.core.schedule import in_zone
from tasks_app.core.tenants import DEFAULT_TENANT
from tasks_app.core.zones import zone_of
from tasks_app.engine.operations import jobs
from tasks_app.engine.operations.backfill import Foreseen, backfills_of, foresee_backfill
from tasks_app.engine.operations.backfill import start as start_backfill
from tasks_app.engine.operations.jobs import Done
from tasks_app.engine.watch.browse import Bookmark, Filter
from tasks_app.engine.watch.job_browse import (
    MOST_SORTED,
    Sort,
    entries_of,
    last_runs,
    page_of_instances,
    page_of_jobs,
    sorted_jobs,
)
from tasks_app.engine.watch.job_draft import missing_fields, read_draft
from tasks_app.engine.watch.job_history import read_history
from tasks_app.engine.watch.listing import ArchiveUnreachable
from tasks_app.engine.watch.status import somebody_dispatches
from tasks_app.engine.watch.why import why_job
from tasks_app.lifecycle.audit import Operator
from tasks_app.lifecycle.campaigns.begin import Slot
from tasks_app.lifecycle.jobs.declared import drift, records_of
from tasks_app.lifecycle.jobs.family import graph_of, root_of
from tasks_app.lifecycle.jobs.lock import database_now
from tasks_app.lifecycle.jobs.parents import load_parents, names_of
from tasks_app.lifecycle.jobs.request import calendar_name
from tasks_app.lifecycle.jobs.view import (
    firing_in_words,
    known_zone,
    preview,
    previewed,
    state_of,
)
from tasks_app.lifecycle.tries import try_of
from tasks_app.models import AuditEntry, JobDefinition
from tasks_app.pages.graph import Box, Picture, picture
from tasks_app.pages.links import api_url, console_url
from tasks_app.pages.lists import refuse_unknown
from tasks_app.pages.said import in_language
from tasks_app.pages.saved import LISTS, FilteredList
from tasks_app.pages.typed import take_back

from . import forecast, trail
from .forms import parse_bookmark, written_bookmark
from .job_forms import OVERLAP_WORDS, BackfillForm, FiringForm, JobFilterForm, JobForm, JobOrderForm, JobsOrderForm
from .list_rows import job_rows
from .rights import (
    LookOnly,
    may_create_over_api,
    may_make_jobs,
    may_operate_alarms,
    may_operate_jobs,
    may_view,
    may_view_forecast,
    may_view_jobs,
    requires,
)
from .words import schedule_words

PAGE = 50
SAID = 5  # jobs that are named after an order for many
HISTORY = 30
BACKFILLS = 5
LIST = "punctual_jobdefinition_changelist"
LISTS["jobs"] = FilteredList(LIST, JobFilterForm, may_view_jobs)
ONE = "punctual_jobdefinition_change"
DRAFT = "punctual_job_draft"
MISSING_TYPE = gettext_lazy("The task type is missing; it says what runs.")
# What the button says, what the page before it says will happen, and what is said afterwards.
VERBS = {
    "pause": (
        gettext_lazy("Pause"),
        gettext_lazy(
            "Planned instances that nobody has claimed are taken back; those running or waiting for a retry go on."
        ),
        gettext_lazy("{job} is paused."),
    ),
    "resume": (
        gettext_lazy("Resume"),
        gettext_lazy("It fires on its schedule again."),
        gettext_lazy("{job} fires again."),
    ),
    "trigger": (
        gettext_lazy("Run now"),
        gettext_lazy("One instance runs now, in addition to the schedule."),
        gettext_lazy("{job} was triggered."),
    ),
    "delete": (
        gettext_lazy("Delete"),
        gettext_lazy(
            "It no longer fires. Planned instances that nobody has claimed are taken back, and what waits for its turn "
            "is cancelled; its history stays."
        ),
        gettext_lazy("{job} is deleted."),
    ),
}


MANY = ("pause", "resume", "trigger")  # what can be done to several at once
# The same for one firing.
FIRING_VERBS = {
    "skip": (
        gettext_lazy("Skip"),
        gettext_lazy("One firing does not run; the schedule stays as it is."),
        gettext_lazy("{job}: the firing is skipped."),
    ),
    "move": (
        gettext_lazy("Move"),
        gettext_lazy("One firing runs at another time; the schedule stays as it is."),
        gettext_lazy("{job}: the firing is moved."),
    ),
    "restore": (
        gettext_lazy("Restore"),
        gettext_lazy("One firing runs by the schedule again."),
        gettext_lazy("{job}: the firing runs by the schedule again."),
    ),
}


@admin.register(JobDefinition, site=console())
class JobDefinitionAdmin(LookOnly, ModelAdmin):
    def has_module_permission(self, request: HttpRequest) -> bool:
        return may_view_jobs(request)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return may_view_jobs(request)

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return may_make_jobs(request)

    def get_urls(self) -> list[URLPattern]:
        pages = [
            ("forecast/", self.forecast_view, "forecast"),
            ("panel/", self.panel_view, "panel"),
            ("draft/", self.draft_view, "draft"),
            ("bulk/", self.bulk_view, "bulk"),
            ("<int:job_id>/draft/", self.draft_view, "draft_of"),
            ("<int:job_id>/edit/", self.edit_view, "edit"),
            ("<int:job_id>/backfill/", self.backfill_view, "backfill"),
            ("<int:job_id>/order/<slug:verb>/", self.order_view, "order"),
            ("<int:job_id>/firing/<slug:verb>/", self.firing_view, "firing"),
        ]
        own = [
            path(where, self.admin_site.admin_view(view), name=f"punctual_job_{name}") for where, view, name in pages
        ]
        return [*own, *super().get_urls()]

    @requires(may_view_jobs)
    @shared
    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        refuse_unknown(request, (*JobFilterForm.base_fields, "after"))
        context = self.page(request) | _listed(request)
        context["may_create_over_api"] = may_create_over_api(request)
        return TemplateResponse(request, "tasks_app/jobs.html", context)

    @requires(may_view_jobs)
    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        job = _job_or_none(object_id)
        if job is None:
            return self._deleted_page(request, object_id)
        context = self.page(request) | _told(job, _bookmark(request)) | {"title": job.name, "original": job}
        context["why"] = why_job(job) if "why" in request.GET else None
        context["sees_tasks"] = may_view(request)
        context["picture"] = _graph(job)
        context["may_alarm"] = may_operate_alarms(request)
        context["may_operate"] = may_make_jobs(request) and may_change(job)
        context["may_backfill"] = may_operate_jobs(request)
        return TemplateResponse(request, "tasks_app/job.html", context)

    def _deleted_page(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """What is left of a job that was deleted: its instances, and what people did to it."""
        number = int(object_id) if re.fullmatch("[0-9]{1,18}", object_id) else None
        if number is None:
            raise _no_job(object_id)
        entries = _entries_seen(number)
        if not entries and (member() is not None or not last_runs([number])):
            raise _no_job(object_id)
        deleted = next((one for one in entries if one.verb == "delete"), None)
        name = ((deleted.detail or {}).get("before") or {}).get("name") if deleted else None
        title = gettext("{name}, deleted").format(name=name or gettext("Job {id}").format(id=number))
        context = self.page(request) | _trail(number, UTC, _bookmark(request))
        context |= {"title": title, "deleted": deleted, "sees_tasks": may_view(request)}
        return TemplateResponse(request, "tasks_app/job_deleted.html", context)

    @requires(may_view_forecast, methods=("GET", "HEAD"))
    def forecast_view(self, request: HttpRequest) -> HttpResponse:
        refuse_unknown(request)
        return TemplateResponse(request, "tasks_app/forecast.html", self.page(request) | forecast.read(request))

    @requires(may_create_over_api, methods=("GET", "HEAD"))
    def panel_view(self, request: HttpRequest) -> HttpResponse:
        """The panel that other pages can have too: a short form, which calls the API."""
        refuse_unknown(request)
        context = self.page(request) | {"title": gettext_lazy("New job: the short form"), "api_url": api_url()}
        return TemplateResponse(request, "tasks_app/job_panel.html", context)

    @requires(may_make_jobs, methods=("POST",))
    def draft_view(self, request: HttpRequest, job_id: int | None = None) -> HttpResponse:
        """What the form would save, for whoever is filling it in."""
        job = None if job_id is None else _job(job_id)
        form = JobForm(request.POST, job=job)
        known = form.found_wrong
        draft, tenant = form.draft, form.cleaned_data.get("tenant") or DEFAULT_TENANT
        missing = missing_fields({"name": draft.name, "task_type": draft.task_type}, MISSING_TYPE)
        answer = JsonResponse(read_draft(draft, job, tenant, [*known, *missing]).told())
        answer["Cache-Control"] = "no-store"
        return answer

    @requires(may_make_jobs)
    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return self._form_page(request, None)

    @requires(may_make_jobs)
    def edit_view(self, request: HttpRequest, job_id: int) -> HttpResponse:
        return self._form_page(request, changeable(_job(job_id)))

    @requires(may_make_jobs)
    def order_view(self, request: HttpRequest, job_id: int, verb: str) -> HttpResponse:
        if verb not in VERBS:
            raise Http404(gettext("There is no action {verb!r} here.").format(verb=verb[:20]))
        job = changeable(_job(job_id))
        form = JobOrderForm(verb, job, request.POST or None)
        status = 200
        if request.method == "POST":
            if form.is_valid() and _carried_out(
                form, lambda operator: _act(verb, job, form.cleaned_data, operator), request
            ):
                messages.success(request, VERBS[verb][2].format(job=job.name))
                return HttpResponseRedirect(console_url(LIST) if verb == "delete" else console_url(ONE, job.id))
            status = 400
        button, will, _ = VERBS[verb]
        context = self.page(request) | {"title": f"{button}: {job.name}", "job": job, "form": form, "verb": verb}
        context |= {"button": button, "will": will} | (_declared(job) if verb == "delete" else {})
        return TemplateResponse(request, "tasks_app/job_order.html", context, status=status)

    @requires(may_make_jobs, methods=("POST",))
    def bulk_view(self, request: HttpRequest) -> HttpResponse:
        """The first form says which jobs and what; the next one shows them, asks why, and does it."""
        verb, chosen = request.POST.get("verb", ""), _chosen(request)
        if verb not in MANY:
            raise BadRequest(gettext("There is no action {verb!r} here.").format(verb=verb[:20]))
        if not chosen:
            messages.warning(request, gettext("No job was selected; nothing was changed."))
            return HttpResponseRedirect(console_url(LIST))
        first = "confirmed" not in request.POST
        given = {"ids": ",".join(str(job.id) for job in chosen), "verb": verb, "confirmed": True, "operation": uuid4()}
        form = JobsOrderForm(initial=given) if first else JobsOrderForm(request.POST)
        if not first and form.is_valid():
            _act_on_each(request, verb, chosen, form)
            return HttpResponseRedirect(console_url(LIST))
        button, will, _ = VERBS[verb]
        names = ", ".join(job.name for job in chosen[:SAID]) + (" …" if len(chosen) > SAID else "")
        context = self.page(request) | {"title": f"{button}: {names}", "form": form, "button": button, "will": will}
        context["jobs"] = chosen
        return TemplateResponse(request, "tasks_app/jobs_order.html", context, status=200 if first else 400)

    @requires(may_make_jobs)
    def firing_view(self, request: HttpRequest, job_id: int, verb: str) -> HttpResponse:
        if verb not in FIRING_VERBS:
            raise Http404(gettext("There is no action {verb!r} here.").format(verb=verb[:20]))
        job = changeable(_job(job_id))
        form = FiringForm(verb, request.GET.get("at", ""), request.POST or None)
        status = 200
        if request.method == "POST":
            if form.is_valid() and _carried_out(
                form, lambda operator: _decide(verb, job, form.cleaned_data, operator), request
            ):
                messages.success(request, FIRING_VERBS[verb][2].format(job=job.name))
                return HttpResponseRedirect(console_url(ONE, job.id))
            status = 400
        button, will, _ = FIRING_VERBS[verb]
        which = form.data.get("fire_time") if form.is_bound else form.initial["fire_time"]
        context = self.page(request) | {"title": f"{button}: {job.name}", "job": job, "form": form, "verb": verb}
        context |= {"button": button, "will": f"{will} {_which(job, which or '')}"}
        return TemplateResponse(request, "tasks_app/job_order.html", context, status=status)

    @requires(may_operate_jobs)
    def backfill_view(self, request: HttpRequest, job_id: int) -> HttpResponse:
        """GET asks for the range, POST is the dry run, and only what that has shown can be begun."""
        job = changeable(_job(job_id))
        form, foreseen, status = BackfillForm(job, request.POST or None), None, 200
        if request.method == "POST":
            status = 400
            if form.is_valid():
                try:
                    if form.begins:
                        given = form.cleaned_data
                        operator = Operator(request.user.get_username(), given["reason"], given["operation"])
                        campaign = start_backfill(form.request, operator, form.pace)
                        messages.success(request, gettext("Campaign {id} has begun.").format(id=campaign.id))
                        seen = may_view(request)
                        where = ("punctual_campaign_change", campaign.id) if seen else (ONE, job.id)
                        return HttpResponseRedirect(console_url(*where))
                    foreseen, status = foresee_backfill(form.request, form.pace), 200
                except (PunctualError, ArchiveUnreachable) as error:
                    form.add_error(None, str(error))
                    status = 429 if isinstance(error, RetryLimited) else 400
                except OperationalError as error:
                    words = str(error).splitlines()[0]
                    form.add_error(
                        None,
                        gettext("It could not be done: {words} Nothing was changed; try again.").format(words=words),
                    )
                    status = 503
            elif form.begins and set(form.errors) == {"reason"}:
                foreseen = _foreseen_again(form)
        context = self.page(request) | {
            "title": gettext("Backfill: {name}").format(name=job.name),
            "job": job,
            "form": form,
        }
        context |= {"foreseen": foreseen, "shown": _shown(foreseen), "schedule": _firings_in_words(job)}
        return TemplateResponse(request, "tasks_app/job_backfill.html", context, status=status)

    def _form_page(self, request: HttpRequest, job: JobDefinition | None) -> HttpResponse:
        form = JobForm(
            request.POST or take_back(request), job=job, jitter=_offered_jitter(request), like=_copied(request, job)
        )
        times, status = None, 200
        if request.method == "POST":
            status = 400
            if form.is_valid() and form.previews:
                times, status = _previewed(form, job)
            elif form.is_valid():
                saved = _carried_out(form, lambda operator: _save(form, job, operator), request)
                if saved:
                    messages.success(request, gettext("{name} was saved.").format(name=form.cleaned_data["name"]))
                    if not isinstance(saved, JobDefinition):
                        return HttpResponseRedirect(console_url(LIST))
                    if advice := forecast.advice_after(saved, job):
                        messages.warning(request, advice)
                    return HttpResponseRedirect(console_url(ONE, saved.id))
        title = gettext("New job") if job is None else gettext("Edit: {name}").format(name=job.name)
        context = self.page(request) | {"title": title, "form": form, "job": job, "times": times}
        context["draft_url"] = console_url(DRAFT) if job is None else console_url(f"{DRAFT}_of", job.id)
        context |= _declared(job) if job is not None else {}
        return TemplateResponse(request, "tasks_app/job_form.html", context, status=status)

    def page(self, request: HttpRequest) -> dict[str, Any]:
        """What every page of ours needs."""
        return {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": gettext("Jobs"),
            "may_operate": may_make_jobs(request),
            "now": timezone.now(),
        }


def _offered_jitter(request: HttpRequest) -> int | None:
    """What the page before has offered, to be saved by somebody who says why."""
    given = request.GET.get("jitter", "")
    return int(given) if request.method == "GET" and re.fullmatch("[0-9]{1,5}", given) else None


def _copied(request: HttpRequest, job: JobDefinition | None) -> JobDefinition | None:
    """The job that a new one is to be like."""
    given = request.GET.get("like", "")
    return _job(given) if request.method == "GET" and job is None and given else None


def _firings_in_words(job: JobDefinition) -> str:
    """By which schedule it fires: a job that waits for others has that of the first of its graph."""
    root = root_of(job)
    return (
        gettext("that of {name}, {schedule}").format(name=root.name, schedule=schedule_words(root))
        if job.has_parents
        else schedule_words(job)
    )


def _foreseen_again(form: BackfillForm) -> Foreseen | None:
    """For a form that lacks nothing but its reason."""
    try:
        return foresee_backfill(form.request, form.pace)
    except (PunctualError, ArchiveUnreachable, OperationalError):
        return None


def _shown(foreseen: Foreseen | None) -> list[tuple[Slot | None, str]]:
    """The first and the last firings with the names of their jobs; None where some are left out."""
    if foreseen is None:
        return []
    last = [slot for slot in foreseen.last if slot not in foreseen.first]
    gap = [None] if foreseen.instances > len(foreseen.first) + len(last) else []
    return [(slot, foreseen.names[slot.job] if slot else "") for slot in [*foreseen.first, *gap, *last]]


def _listed(request: HttpRequest) -> dict[str, Any]:
    form = JobFilterForm(request.GET)
    if not form.is_valid():
        return {"form": form, "found": None}
    after = request.GET.get("after") or None
    if after and "\0" in after:
        raise BadRequest(gettext("{after!r} is not the name of a job.").format(after=after[:40]))
    sort, bounded = form.cleaned_data["sort"], False
    if sort:
        (found, bounded), more = sorted_jobs(form.filter, Sort(sort), PAGE), None
    else:
        found, more = page_of_jobs(form.filter, after, PAGE)
    load_parents(found)
    runs = last_runs([job.id for job in found])
    query = request.GET.copy()
    query["after"] = more or ""
    now = database_now()
    told = [(job, schedule_words(job), in_language(state_of(job, now).words), runs.get(job.id)) for job in found]
    changeable = may_change_each(found)
    return {
        "form": form,
        "found": found,
        "rows": job_rows(told, acting=may_make_jobs(request), changeable=changeable),
        "next": query.urlencode() if more else "",
        "tenant": form.filter.tenant,
        "filtered": any(request.GET.values()),
        "sorted": len(found) if sort else 0,
        "bounded": MOST_SORTED if bounded else 0,
        "changeable": changeable,
        "many": [(verb, VERBS[verb][0]) for verb in MANY],
    }


def _chosen(request: HttpRequest) -> list[JobDefinition]:
    """Those that were selected and are still there, by name; at most a page of them."""
    given = [one for text in request.POST.getlist("ids") for one in text.split(",") if one]
    if any(not re.fullmatch("[0-9]{1,18}", one) for one in given) or len(given) > PAGE:
        raise BadRequest(gettext("Select at most {count} jobs of the list.").format(count=PAGE))
    return list(JobDefinition.objects.filter(id__in=map(int, given), **whose()).order_by("name"))


def _act_on_each(request: HttpRequest, verb: str, chosen: list[JobDefinition], form: JobsOrderForm) -> None:
    """Each by itself: one that is refused keeps no other from it. A form that is sent twice acts once on each."""
    given, done = form.cleaned_data, []
    operator = Operator(request.user.get_username(), given["reason"], given["operation"])
    before = set(AuditEntry.objects.filter(operation=operator.operation).values_list("subject", flat=True))
    options = {"until": None, "on_resume": "", "payload": None, "overlap": ""}
    for job in chosen:
        if f"job {job.id}" in before:
            continue
        try:
            changeable(job)
            _act(verb, job, options, operator)
        except (PunctualError, PermissionDenied, OperationalError) as error:
            words = str(error).splitlines()[0] if str(error) else gettext("You may not change it.")
            messages.warning(request, f"{job.name}: {words}")
        else:
            done.append(job.name)
    if before:
        messages.success(request, gettext("It was done when this form was sent first."))
    for name in done[:SAID]:
        messages.success(request, VERBS[verb][2].format(job=name))
    if len(done) > SAID:
        messages.success(request, gettext("And {count} more.").format(count=len(done) - SAID))


def _trail(job_id: int, zone: tzinfo, after: Bookmark | None) -> dict[str, Any]:
    """What became of it: of a job that is there, and of one that was deleted."""
    try:
        found, more = page_of_instances(Filter(job=job_id), after, HISTORY)
    except InvalidTask as error:
        raise BadRequest(str(error)) from None
    history = read_history(job_id, zone)
    return {
        "history": history,
        "durations": trail.durations_chart(history),
        "zone": str(zone),
        "instances": [(task, try_of(task)) for task in found],
        "after": after,
        "next": written_bookmark(more),
        "entries": _entries_seen(job_id),
    }


def _entries_seen(job_id: int) -> list[AuditEntry]:
    return [entry for entry in entries_of(job_id, HISTORY) if seen(entry) is not None]


def _told(job: JobDefinition, after: Bookmark | None) -> dict[str, Any]:
    return (
        _trail(job.id, zone_of(known_zone(job)), after)
        | {
            "job": job,
            "words": schedule_words(job),
            "state": in_language(state_of(job).words),
            "overlap": OVERLAP_WORDS[Overlap(job.overlap)],
            "preview": _preview(job),
            "calendar": calendar_name(job),
            "runs": last_runs([job.id]).get(job.id),
            "verbs": [(verb, VERBS[verb][0]) for verb in _offered(job)],
            "backfills": backfills_of(job.id, BACKFILLS),
        }
        | _declared(job)
    )


def _declared(job: JobDefinition) -> dict[str, Any]:
    """Which file declares it, and what was changed by hand since."""
    record = records_of([job]).get(job.id)
    return {"declared": record, "drift": [one.field for one in drift(record, job)] if record else []}


def _graph(job: JobDefinition) -> Picture | None:
    """The graph that it is part of, all below its root; None if it is part of none."""
    if not job.has_parents and not job.has_children:
        return None
    parents = graph_of([job.id])
    names = names_of(parents)
    boxes = [
        Box(one, names[one], above, url=console_url(ONE, one), this=one == job.id)
        for one, above in sorted(parents.items())
        if one in names
    ]
    return picture(boxes)


class _Line(NamedTuple):
    """A firing on the page of a job, and what can be done about it."""

    words: str
    fire_time: str
    verbs: list[tuple[str, str]]
    runs: bool = True


def _preview(job: JobDefinition) -> list[_Line]:
    """The next firings, and in their places what falls out between them."""
    try:
        found = previewed(job)
    except InvalidTask:
        return []  # its state says why
    lines = []
    for one in found.times:
        verbs = [] if job.run_at else ["move", "skip"] if one.at == one.fire_time else ["move", "skip", "restore"]
        lines.append((one.at, _line(firing_in_words(job, one), one.fire_time, verbs)))
    for out in found.out:
        lines.append((out.fire_time, _line(out.words, out.fire_time, ["restore"] if out.override else [], runs=False)))
    return [line for _, line in sorted(lines, key=lambda one: one[0])]


def _line(words: str, fire_time: datetime, verbs: list[str], *, runs: bool = True) -> _Line:
    return _Line(words, fire_time.isoformat(), [(verb, FIRING_VERBS[verb][0]) for verb in verbs], runs)


def _which(job: JobDefinition, fire_time: str) -> str:
    try:
        return gettext("It is that of {time}.").format(time=in_zone(datetime.fromisoformat(fire_time), known_zone(job)))
    except (ValueError, OverflowError):
        return ""  # the form says what is wrong with it


def _decide(verb: str, job: JobDefinition, given: dict[str, Any], operator: Operator) -> object:
    at = given["fire_time"]
    if verb == "skip":
        return jobs.skip_firing(job.id, operator, fire_time=at, tenant=job.tenant)
    if verb == "move":
        return jobs.move_firing(job.id, given["to"], operator, fire_time=at, tenant=job.tenant)
    return jobs.restore_firing(job.id, at, operator, tenant=job.tenant)


def _offered(job: JobDefinition) -> list[str]:
    return ["resume" if job.status == JobStatus.PAUSED else "pause", "trigger", "delete"]


def _act(verb: str, job: JobDefinition, given: dict[str, Any], operator: Operator) -> object:
    match verb:
        case "pause":
            how = {"until": given["until"], "on_resume": given["on_resume"] or job.on_resume}
            return jobs.pause_job(job.id, operator, tenant=job.tenant, **how)
        case "resume":
            return jobs.resume_job(job.id, operator, tenant=job.tenant, on_resume=given["on_resume"] or None)
        case "trigger":
            if not somebody_dispatches():
                raise PunctualError(
                    gettext("no beat is dispatching, so nothing would run now. Start one and try again.")
                )
            key = str(operator.operation)
            own = given["payload"] == job.payload  # as the form showed it
            options = {"payload": None if own else given["payload"], "overlap": given["overlap"] or None}
            return jobs.trigger_job(job.id, key, operator, tenant=job.tenant, **options)
    return jobs.delete_job(job.id, operator, tenant=job.tenant)


def _save(form: JobForm, job: JobDefinition | None, operator: Operator) -> JobDefinition:
    given, asked = form.cleaned_data, member()
    if asked is not None:
        asked.refuse_closed_type(given["task_type"])
    if job is None:
        saved = jobs.create_job(form.request, operator, tenant=given["tenant"])
    elif not form.changes:
        raise PunctualError(gettext("nothing has changed, so there is nothing to save."))
    else:
        # A form without its revision was not made by us; none is older than this.
        revision = given["revision"] or 0
        saved = jobs.edit_job(job.id, form.changes, operator, tenant=job.tenant, revision=revision)
    if asked is not None:
        asked.refuse_closed_lane(saved.lane)  # that of its type, if none was named; else what was done is undone
    return saved


def _carried_out(form: forms.Form, deed: Callable[[Operator], Done], request: HttpRequest) -> Done | bool:
    """What the deed says, or True if this form was sent before; False, and the form says why, if it can't be done."""
    try:
        operator = Operator(request.user.get_username(), form.cleaned_data["reason"], form.cleaned_data["operation"])
        return jobs.once(operator, lambda: deed(operator)) or True
    except UnknownJob as error:
        raise Http404(str(error)) from None
    except PunctualError as error:
        form.blame(error) if isinstance(form, JobForm) else form.add_error(None, str(error))
    except OperationalError as error:
        # A lock that somebody held for too long.
        form.add_error(
            None,
            gettext("It could not be done: {error} Nothing was changed; try again.").format(
                error=str(error).splitlines()[0]
            ),
        )
    return False


def _previewed(form: JobForm, job: JobDefinition | None) -> tuple[list[str] | None, int]:
    try:
        return preview(form.request, job, tenant=form.cleaned_data.get("tenant") or DEFAULT_TENANT), 200
    except PunctualError as error:
        form.blame(error)
        return None, 400


def _bookmark(request: HttpRequest) -> Bookmark | None:
    try:
        return parse_bookmark(request.GET.get("after", ""))
    except forms.ValidationError as error:
        raise BadRequest(error.message) from None


def _job(object_id: int | str) -> JobDefinition:
    found = _job_or_none(object_id)
    if found is None:
        raise _no_job(object_id)
    return found


def _job_or_none(object_id: int | str) -> JobDefinition | None:
    try:
        found: JobDefinition | None = JobDefinition.objects.filter(id=int(object_id), **whose()).first()
        return found
    except (ValueError, OverflowError):
        return None


def _no_job(object_id: int | str) -> Http404:
    return Http404(gettext("There is no job {object_id!r}.").format(object_id=str(object_id)[:40]))
