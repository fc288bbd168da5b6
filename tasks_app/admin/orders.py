"""An order from its preview to its report: who means which tasks, how many that are, why, and what became of them.

The tasks that somebody ticked are acted on at once; everything that matches is a campaign, which the beats carry out.
Either has an operation of its own, so a form that is sent again acts on nothing twice.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.core.exceptions import BadRequest, PermissionDenied
from django.db import OperationalError
from django.db.models import Count, Max, Min, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.template.response import TemplateResponse
from django.utils import translation
from django.utils.translation import gettext
from unfold.admin import ModelAdmin

from tasks_app.console.scope import may_change_each, member, seen, whose, working_in
from tasks_app.core.campaigns import CAP, CONFIRM_ABOVE, MOST
from tasks_app.core.errors import InvalidTask, NothingToDo, PunctualError, RetryLimited
from tasks_app.engine.operations.campaigns import start_matching, undo_operation, why_no_undo
from tasks_app.engine.operations.operate import (
    Preview,
    new_times,
    operate_tasks,
    preview_matching,
    preview_tasks,
)
from tasks_app.engine.watch.browse import browse
from tasks_app.lifecycle.anywhere import tasks_by_id
from tasks_app.lifecycle.audit import Operator
from tasks_app.lifecycle.campaigns.begin import LANE
from tasks_app.lifecycle.operate import ORDER, Answer
from tasks_app.lifecycle.tries import with_queued
from tasks_app.lifecycle.undo import UNDONE
from tasks_app.models import AuditEntry
from tasks_app.models.schedule_task import TaskFields
from tasks_app.pages.links import console_url
from tasks_app.pages.said import in_language

from .forms import FilterForm, OrderForm, ReasonForm, UndoForm
from .rights import hidden_verbs
from .words import DONE, KINDS, LEFT, WILL, order_words, split, tasks

EXAMPLES = 10
KINDS_SHOWN = 20  # types and lanes
LOOK = "look"  # the button that shows the new times
LIST = "punctual_scheduletask_changelist"


def preview(pages: ModelAdmin, request: HttpRequest) -> HttpResponse:
    """How many tasks an order would act on. Changes nothing."""
    given = request.POST.copy()
    given["ids"] = ",".join(request.POST.getlist("ids"))
    if given.get("scope") == OrderForm.CHOSEN and not given["ids"]:
        messages.error(request, gettext("No task is selected. Tick some, or choose everything that matches."))
        return HttpResponseRedirect(_back(given.get("filter", "")))
    form = OrderForm(given)
    if not form.is_valid():
        return _refused(pages, request, form)
    order = form.cleaned_data
    _refuse_foreign(order)
    foreseen = _foreseen(order)
    kept = {
        "verb": order["verb"],
        "scope": order["scope"],
        "ids": given["ids"] if order["scope"] == OrderForm.CHOSEN else "",
        "filter": given.get("filter", ""),
        "newest": foreseen.newest,
        "operation": order["operation"],
        "cap": CAP,
        "lane": LANE,
    }
    if LOOK not in given:
        return _preview_page(pages, request, ReasonForm(initial=kept), order, foreseen)
    typed = ReasonForm(given)
    if typed.is_valid() or not set(typed.errors) & {"at", "by", "over", "cap", "rate"}:
        kept |= {name: given.get(name, "") for name in ("at", "by", "over", "cap", "rate", "reason")}
        order |= {"cap": typed.cleaned_data.get("cap"), "move": typed.cleaned_data["move"]}
        return _preview_page(pages, request, ReasonForm(initial=kept), order, foreseen)
    for name in ("reason", "confirm"):  # which are asked for when it is carried out
        typed.errors.pop(name, None)
    return _preview_page(pages, request, typed, order | typed.cleaned_data, foreseen, status=400)


def carry_out(pages: ModelAdmin, request: HttpRequest) -> HttpResponse:
    """Act, or begin the campaign; then the report, or the campaign's page."""
    form = ReasonForm(request.POST)
    if not form.is_valid():
        if set(form.errors) - {"reason", "at", "by", "over", "cap", "rate", "lane", "confirm"}:
            return _refused(pages, request, form)
        _refuse_foreign(form.cleaned_data)
        return _preview_page(pages, request, form, form.cleaned_data, _foreseen(form.cleaned_data), status=400)
    order = form.cleaned_data
    _refuse_foreign(order)
    operator = Operator(request.user.get_username(), order["reason"], order["operation"])
    try:
        if order["scope"] == OrderForm.MATCHING:
            return HttpResponseRedirect(console_url("punctual_campaign_change", _begin(form, operator)))
        operate_tasks(order["verb"], order["ids"], operator, order["move"])
    except NothingToDo:
        messages.warning(request, gettext("Nothing matches any more; nothing was changed."))
        return HttpResponseRedirect(_back(request.POST.get("filter", "")))
    except InvalidTask as error:
        raise BadRequest(str(error)) from None
    except RetryLimited as error:
        form.add_error(None, gettext("{error} Nothing was changed.").format(error=error))
        return _preview_page(pages, request, form, order, _foreseen(order), status=429)
    except (PunctualError, OperationalError) as error:
        # A lock that somebody held for too long: nothing was written.
        form.add_error(
            None,
            gettext("It could not be done: {error} Nothing was changed; try again.").format(
                error=str(error).splitlines()[0]
            ),
        )
        return _preview_page(pages, request, form, order, _foreseen(order), status=503)
    if not AuditEntry.objects.filter(operation=operator.operation).exists():
        messages.warning(request, gettext("Nothing matches any more; nothing was changed."))
        return HttpResponseRedirect(_back(request.POST.get("filter", "")))
    return HttpResponseRedirect(console_url("punctual_operation", operator.operation))


def report(pages: ModelAdmin, request: HttpRequest, operation: UUID) -> HttpResponse:
    """What an operation did: from its entries."""
    first, entries = _operation(request, operation)
    counts = Counter(dict(entries.values_list("outcome").annotate(Count("id"))))
    acted, left = split(counts)
    context = pages.page(request) | {
        "title": gettext("Report: {order}").format(order=_named(first, entries, sum(counts.values()))),
        "first": first,
        "times": entries.aggregate(begun=Min("created_at"), ended=Max("created_at")),
        "acted": [(count, DONE[answer]) for answer, count in acted.items()] + _of_jobs(counts),
        "left": [(count, LEFT[answer]) for answer, count in left.items()],
        "entries": entries.order_by("id")[:EXAMPLES],
        "more": max(sum(counts.values()) - EXAMPLES, 0),
    }
    if context["may_match"]:
        context |= undo_words(operation, counts)
    return TemplateResponse(request, "tasks_app/operation.html", context)


def undo(pages: ModelAdmin, request: HttpRequest, operation: UUID) -> HttpResponse:
    """GET says what it would do; POST begins the campaign, and goes to its page."""
    first, entries = _operation(request, operation)
    # An order that is older than undo has not written down where its tasks were.
    known = entries.filter(outcome__in=UNDONE, detail__has_key="was")
    counts = dict(known.values_list("outcome").annotate(Count("id")))
    why = why_no_undo(operation, working_in())
    form = UndoForm(sum(counts.values()), request.POST or None)
    asked = member()
    if asked is not None and asked.owns_only:
        raise PermissionDenied
    if form.is_valid():
        given = form.cleaned_data
        operator = Operator(request.user.get_username(), given["reason"], given["operation"])
        within = {} if asked is None else {"types": asked.usable_types(), "lanes": asked.lanes}
        try:
            campaign = undo_operation(operation, operator, tenant=working_in(), **within)
        except (PunctualError, OperationalError) as error:
            form.add_error(None, str(error).splitlines()[0])
        else:
            return HttpResponseRedirect(console_url("punctual_campaign_change", campaign.id))
    context = pages.page(request) | {
        "title": gettext("Undo: {order}").format(order=_named(first, entries, entries.count())),
        "first": first,
        "counts": [(count, DONE[Answer(answer)]) for answer, count in counts.items()],
        "why_no_undo": in_language(why),
        "form": form,
        "confirm": form.number if form.number > CONFIRM_ABOVE else None,
        "operation": operation,
    }
    return TemplateResponse(request, "tasks_app/undo.html", context, status=400 if form.is_bound else 200)


def undo_words(operation: UUID, counts: Mapping[str, int]) -> dict[str, Any]:
    """What its page says about undo: that it can be done, or why not. Nothing, if no task was moved or cancelled."""
    if not any(counts.get(answer) for answer in UNDONE):
        return {}
    why = why_no_undo(operation, working_in())
    return {"can_undo": why is None, "why_no_undo": in_language(why)}


def to_confirm(form: forms.Form, order: dict[str, Any], counted: int | None) -> int | None:
    """The number that has to be typed; None: none. What is counted now is what the form says from now on."""
    if order["scope"] == OrderForm.CHOSEN:
        number = len(order["ids"])
    else:
        number = min(order.get("cap") or CAP, MOST if counted is None else counted)
    if form.is_bound:
        form.data = form.data.copy()
        form.data["counted"] = "" if counted is None else counted
    else:
        form.initial["counted"] = counted
    return number if number > CONFIRM_ABOVE else None


def _operation(request: HttpRequest, operation: UUID) -> tuple[AuditEntry, QuerySet[AuditEntry]]:
    """Its first entry, and those of all that it was for, as far as they may be seen."""
    entries = AuditEntry.objects.filter(operation=operation, **whose()).exclude(verb__in=hidden_verbs(request))
    first = entries.order_by("id").first()
    if first is None:
        raise Http404(gettext("There is no such operation."))
    return first, entries.exclude(subject__startswith=ORDER, task_id=None)


def _named(first: AuditEntry, entries: QuerySet[AuditEntry], number: int) -> str:
    """What was done, and to what: the one thing, or how many."""
    words = KINDS.get(first.verb, first.verb)
    one = entries.order_by("id").first() or first
    if number > 1:
        return f"{words}, {tasks(number)}" if one.task_id else f"{words}, {one.subject} …"
    return f"{words}, {one.subject}"


def _of_jobs(counts: Counter[str]) -> list[tuple[int, str]]:
    """What became of jobs and lanes is written as it is said."""
    return [(count, outcome) for outcome, count in counts.items() if outcome not in list(Answer)]


def _refuse_foreign(order: dict[str, Any]) -> None:
    """For whoever works in one tenant, what is elsewhere is not there, and what they may not change stays as it is."""
    asked = member()
    if asked is None:
        return
    if order["scope"] == OrderForm.MATCHING:
        if asked.owns_only:
            raise PermissionDenied
        order["filter"] = replace(order["filter"], types=asked.usable_types(), lanes=asked.lanes)
        return
    rows = tasks_by_id(order["ids"])
    for id_ in order["ids"]:
        if seen(rows.get(id_)) is None:
            raise Http404(gettext("There is no task {id}.").format(id=id_))
    if len(may_change_each(list(rows.values()))) < len(rows):
        raise PermissionDenied


def _foreseen(order: dict[str, Any]) -> Preview:
    if order["scope"] == OrderForm.CHOSEN:
        return preview_tasks(order["verb"], order["ids"])
    return preview_matching(order["verb"], order["filter"])


def _begin(form: ReasonForm, operator: Operator) -> int:
    """The campaign for everything that matches and was there when it was counted."""
    order = form.cleaned_data
    with translation.override(None):  # what is stored is in English, whoever reads it later
        words = ", ".join(f"{name}: {value}" for name, value in form.filter_form.words)
    wanted = replace(order["filter"], newest=order["newest"])
    move = order["move"]
    times = {} if move is None else {"at": move.at, "by": move.by, "over": move.over}
    begun = start_matching(order["verb"], wanted, operator, form.pace, **times, selection=words or "all tasks")
    return int(begun.id)


def _preview_page(
    pages: ModelAdmin,
    request: HttpRequest,
    form: ReasonForm,
    order: dict[str, Any],
    foreseen: Preview,
    status: int = 200,
) -> HttpResponse:
    acted, left = split(foreseen.counts)
    most = order.get("cap") or (CAP if order["scope"] == OrderForm.MATCHING else foreseen.acted)
    move = order.get("move")
    button = order_words(order["verb"], min(foreseen.acted, most), foreseen.complete or foreseen.acted >= most)
    context = pages.page(request) | {
        "title": button,
        "form": form,
        "verb": order["verb"],
        "foreseen": foreseen,
        "button": button,
        "most": most,
        "trimmed": foreseen.acted > most,
        "acted": [(count, WILL[answer]) for answer, count in acted.items()],
        "left": [(count, LEFT[answer]) for answer, count in left.items()],
        "kinds": foreseen.kinds[:KINDS_SHOWN],
        "more_kinds": max(len(foreseen.kinds) - KINDS_SHOWN, 0),
        "planned": foreseen.planned,
        "new_times": move and new_times(foreseen, move, most),
        "confirm": to_confirm(form, order, foreseen.acted if foreseen.complete else None),
        "examples": _examples(order),
        "chosen": order["scope"] == OrderForm.CHOSEN,
        "matching": FilterForm(QueryDict(form["filter"].value() or "")).words,
        "back": _back(form["filter"].value() or ""),
    }
    return TemplateResponse(request, "tasks_app/order.html", context, status=status)


def _refused(pages: ModelAdmin, request: HttpRequest, form: forms.Form) -> HttpResponse:
    context = pages.page(request) | {"title": gettext("This can't be done"), "form": form, "back": _back("")}
    return TemplateResponse(request, "tasks_app/refused.html", context, status=400)


def _examples(order: dict[str, Any]) -> list[TaskFields]:
    if order["scope"] == OrderForm.CHOSEN:
        ids = order["ids"][:EXAMPLES]
    else:
        ids = [task.id for task in browse(order["filter"], size=EXAMPLES).tasks]
    rows = tasks_by_id(ids)
    return with_queued(rows[id_] for id_ in ids if id_ in rows)


def _back(query: str) -> str:
    return console_url(LIST) + (f"?{query}" if query else "")
