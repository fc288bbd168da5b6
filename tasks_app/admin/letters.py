"""Dead letters: by cause, one by one, and the page of one; replayed and discarded as campaigns, after a preview."""

import re
from dataclasses import replace
from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import BadRequest
from django.db import OperationalError
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.translation import gettext
from unfold.admin import ModelAdmin

from tasks_app.console.scope import changeable, member, seen
from tasks_app.console.site import console
from tasks_app.core.campaigns import CAP
from tasks_app.core.errors import InvalidTask, NothingToDo, PunctualError, RetryLimited
from tasks_app.engine.operations.letters import Foreseen, change_tags, deal_with, foresee
from tasks_app.engine.watch.letters import STEPS, Cause, Causes, Curve, LetterFilter, causes, curve, page_of_letters
from tasks_app.lifecycle.anywhere import task_by_id
from tasks_app.lifecycle.audit import Operator
from tasks_app.lifecycle.campaigns.begin import LANE
from tasks_app.lifecycle.operate import Answer, Verb
from tasks_app.models import AuditEntry, DlqEntry, JobDefinition
from tasks_app.pages.charts import Chart, Series, bars
from tasks_app.pages.links import console_url
from tasks_app.pages.lists import refuse_unknown
from tasks_app.pages.saved import LISTS, FilteredList
from tasks_app.pages.spans import span

from .letter_forms import LetterFilterForm, LetterOrderForm, LetterReasonForm, TagsForm
from .orders import to_confirm
from .rights import LookOnly, may_operate, may_view, requires
from .words import LETTER_VERBS, order_words

PAGE = 50
CAUSES = 50
ENTRIES = 20
LIST = "punctual_dlqentry_changelist"
LISTS["letters"] = FilteredList(LIST, LetterFilterForm, may_view)


@admin.register(DlqEntry, site=console())
class DlqEntryAdmin(LookOnly, ModelAdmin):
    def get_urls(self) -> list[URLPattern]:
        pages = [
            ("order/", self.order_view, "letter_order"),
            ("order/run/", self.run_view, "letter_run"),
            ("<int:letter>/tags/", self.tags_view, "letter_tags"),
        ]
        own = [path(where, self.admin_site.admin_view(view), name=f"punctual_{name}") for where, view, name in pages]
        return [*own, *super().get_urls()]

    @requires(may_view)
    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        refuse_unknown(request, (*LetterFilterForm.base_fields, "show", "after", "looked"))
        context = self._page(request) | _listed(request)
        return TemplateResponse(request, "tasks_app/letters.html", context)

    @requires(may_view)
    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        letter = _letter(object_id)
        context = self._page(request) | _told(letter) | {"title": gettext("Dead letter {id}").format(id=letter.id)}
        return TemplateResponse(request, "tasks_app/letter.html", context)

    @requires(may_operate, ("POST",))
    def tags_view(self, request: HttpRequest, letter: int) -> HttpResponse:
        row, form = changeable(_letter(str(letter))), TagsForm(request.POST)
        if form.is_valid():
            wanted = form.cleaned_data["tags"]
            change = {"add": [one for one in wanted if one not in row.tags]}
            change["remove"] = [one for one in row.tags if one not in wanted]
            operator = Operator(request.user.get_username(), form.cleaned_data["reason"])
            if not any(change.values()):
                messages.warning(request, gettext("The letter has exactly these tags already; nothing was changed."))
                return HttpResponseRedirect(console_url("punctual_dlqentry_change", row.id))
            try:
                done = change_tags(row, operator, **change)
            except InvalidTask as error:
                form.add_error("tags", str(error))
            else:
                if done is None:
                    messages.warning(request, gettext("The letter is closed; its tags stay as they are."))
                else:
                    messages.success(
                        request,
                        gettext("The letter's tags are now: {tags}.").format(tags=", ".join(done) or gettext("none")),
                    )
                return HttpResponseRedirect(console_url("punctual_dlqentry_change", row.id))
        context = (
            self._page(request)
            | _told(row)
            | {"title": gettext("Dead letter {id}").format(id=row.id), "tags_form": form}
        )
        return TemplateResponse(request, "tasks_app/letter.html", context, status=400)

    @requires(may_operate, ("POST",))
    def order_view(self, request: HttpRequest) -> HttpResponse:
        """How many letters an order would be for. Changes nothing."""
        given = request.POST.copy()
        given["ids"] = ",".join(request.POST.getlist("ids"))
        if given.get("scope") == LetterOrderForm.CHOSEN and not given["ids"]:
            messages.error(request, gettext("No letter is selected. Tick some, or choose everything that matches."))
            return HttpResponseRedirect(_back(given.get("filter", "")))
        form = LetterOrderForm(given)
        if not form.is_valid():
            return self._refused(request, form)
        order = form.cleaned_data
        kept = {
            "verb": order["verb"],
            "scope": order["scope"],
            "ids": given["ids"] if order["scope"] == LetterOrderForm.CHOSEN else "",
            "filter": given.get("filter", ""),
            "operation": order["operation"],
            "cap": CAP,
            "lane": LANE,
        }
        return self._preview(request, LetterReasonForm(initial=kept), order, form.filter_form.words)

    @requires(may_operate, ("POST",))
    def run_view(self, request: HttpRequest) -> HttpResponse:
        """Begin the campaign, and go to its page."""
        form = LetterReasonForm(request.POST)
        if not form.is_valid():
            if set(form.errors) - {"reason", "cap", "rate", "lane", "confirm"}:
                return self._refused(request, form)
            return self._preview(request, form, form.cleaned_data, form.filter_form.words, status=400)
        order = form.cleaned_data
        operator = Operator(request.user.get_username(), order["reason"], order["operation"])
        try:
            campaign = deal_with(order["verb"], _usable(order["filter"]), operator, form.pace, letters=_chosen(order))
        except NothingToDo:
            messages.warning(request, gettext("Nothing matches any more; nothing was changed."))
            return HttpResponseRedirect(_back(request.POST.get("filter", "")))
        except InvalidTask as error:
            raise BadRequest(str(error)) from None
        except (PunctualError, OperationalError) as error:
            form.add_error(None, gettext("{error} Nothing was changed.").format(error=str(error).splitlines()[0]))
            status = 429 if isinstance(error, RetryLimited) else 503
            return self._preview(request, form, order, form.filter_form.words, status=status)
        return HttpResponseRedirect(console_url("punctual_campaign_change", campaign.id))

    def _preview(
        self,
        request: HttpRequest,
        form: LetterReasonForm,
        order: dict[str, Any],
        words: list[tuple[str, str]],
        status: int = 200,
    ) -> HttpResponse:
        chosen = _chosen(order)
        foreseen = foresee(_usable(order["filter"]), order.get("cap") or CAP, chosen)
        counted = foreseen.letters if foreseen.complete else None
        button = _button(order["verb"], foreseen)
        context = self._page(request) | {
            "title": button,
            "form": form,
            "verb": order["verb"],
            "chosen": chosen is not None,
            "matching": words,
            "foreseen": foreseen,
            "confirm": to_confirm(form, order, counted),
            "button": button,
            "back": _back(form["filter"].value() or ""),
        }
        return TemplateResponse(request, "tasks_app/letter_order.html", context, status=status)

    def _refused(self, request: HttpRequest, form: forms.Form) -> HttpResponse:
        words = " ".join(error for errors in form.errors.values() for error in errors)
        raise BadRequest(words)

    def _page(self, request: HttpRequest) -> dict[str, Any]:
        return {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": gettext("Dead letters"),
            "may_operate": may_operate(request),
            "verbs": list(LETTER_VERBS.items()),
        }


def _listed(request: HttpRequest) -> dict[str, Any]:
    """The causes; or, of one cause or if somebody wants to see them, the letters."""
    form, after = LetterFilterForm(request.GET), request.GET.get("after") or None
    if not form.is_valid():
        return {"form": form, "found": None}
    wanted, shown = form.filter, {"form": form, "filtered": bool(form.query), "after": after}
    by_letter = wanted.fingerprint is not None or request.GET.get("show") == "letters" or after is not None
    found = causes(wanted, CAUSES) if not by_letter or wanted.fingerprint else Causes([], True)
    drawn = curve(wanted, found.causes)
    shown |= {"causes": [(one, _spark(one, drawn)) for one in found.causes], "found": found, "by_letter": by_letter}
    if not by_letter:
        return shown | {"range": _range(drawn)}
    if wanted.fingerprint is not None and drawn is not None:
        shown |= {"cause": found.causes[0], "chart": _chart(found.causes[0], drawn), "sample": _sample(found.causes[0])}
    try:
        page = page_of_letters(wanted, after, PAGE)
    except InvalidTask as error:
        raise BadRequest(str(error)) from None
    return shown | {"page": page, "looked": page.looked_at + _looked_before(request)}


def _looked_before(request: HttpRequest) -> int:
    given = request.GET.get("looked", "")
    return int(given) if given.isascii() and given.isdecimal() and len(given) < 12 else 0


def _spark(one: Cause, drawn: Curve | None) -> tuple[str, str]:
    """The path of a small curve, and what it says to who can't see it."""
    values = drawn.values.get(one.fingerprint, []) if drawn else []
    chart = bars("spark", "", "", [""] * len(values), [Series("", "pu-bad", values)], "letter")
    most = max(values, default=0)
    busy = max(range(len(values)), key=values.__getitem__, default=0)
    if drawn is None:
        return chart.series[0].shape, gettext("{most:,} in the busiest step").format(most=most)
    words = gettext("{most:,} in the busiest step, most of them around {at} UTC")
    at = drawn.since + (busy + 0.5) * drawn.step
    return chart.series[0].shape, words.format(most=most, at=f"{at:%d %b %H:%M}")


def _chart(one: Cause, drawn: Curve) -> Chart:
    values = drawn.values.get(one.fingerprint, [0] * STEPS)
    labels = [f"{drawn.since + number * drawn.step:%d %b %H:%M:%S}" for number in range(len(values))]
    words = gettext("Open letters by when their tasks died, in steps of {step} (UTC).").format(
        step=span(max(drawn.step, timedelta(seconds=1)))
    )
    return bars(
        "cause",
        gettext("Over time"),
        words,
        labels,
        [Series(gettext("Died"), "pu-bad", values)],
        "letter",
        step=gettext("From (UTC)"),
    )


def _range(drawn: Curve | None) -> str:
    if drawn is None:
        return ""
    until = drawn.since + STEPS * drawn.step
    return gettext("{since} to {until} UTC").format(since=f"{drawn.since:%d %b %H:%M}", until=f"{until:%d %b %H:%M}")


def _sample(one: Cause) -> dict[str, Any] | None:
    letter = seen(DlqEntry.objects.filter(id=one.letter).first())
    return None if letter is None else {"letter": letter, "task": task_by_id(letter.task_id)}


def _told(letter: DlqEntry) -> dict[str, Any]:
    task = task_by_id(letter.task_id)
    return {
        "letter": letter,
        "task": task,
        "original": letter,
        "job": JobDefinition.objects.filter(id=letter.job).first() if letter.job else None,
        "tags_form": TagsForm(initial={"tags": ", ".join(letter.tags)}),
        "entries": _entries(letter),
    }


def _entries(letter: DlqEntry) -> QuerySet[AuditEntry]:
    """What people did to the letter, and to its task from its death until the letter was closed.

    The entry of what closed it is written after that, in the same transaction, and before the task can die again.
    """
    meanwhile = Q(task_id=letter.task_id, created_at__gte=letter.created_at)
    if letter.closed_at is not None:
        meanwhile &= Q(created_at__lte=letter.closed_at) | Q(outcome__in=(Answer.REPLAYED, Answer.DISCARDED))
    later = DlqEntry.objects.filter(task_id=letter.task_id, id__gt=letter.id).order_by("id").first()
    if later is not None:
        meanwhile &= Q(created_at__lt=later.created_at)
    own = Q(subject=f"dead letter {letter.id}")
    return AuditEntry.objects.filter(own | meanwhile).order_by("-created_at", "-id")[:ENTRIES]


def _usable(wanted: LetterFilter) -> LetterFilter:
    """Of those, the ones that whoever works in one tenant may act on."""
    asked = member()
    return wanted if asked is None else replace(wanted, types=asked.usable_types())


def _chosen(order: dict[str, Any]) -> list[int] | None:
    return order["ids"] if order["scope"] == LetterOrderForm.CHOSEN else None


def _button(verb: Verb, foreseen: Foreseen) -> str:
    return order_words(verb, foreseen.taken)


def _back(query: str) -> str:
    return f"{console_url(LIST)}?{query}" if query else console_url(LIST)


def _letter(object_id: str) -> DlqEntry:
    known = re.fullmatch("[0-9]{1,18}", object_id)
    found: DlqEntry | None = seen(DlqEntry.objects.filter(id=int(object_id)).first()) if known else None
    if found is None:
        raise Http404(
            gettext("There is no dead letter {object_id!r}; closed ones are kept for some days.").format(
                object_id=object_id[:40]
            )
        )
    return found
