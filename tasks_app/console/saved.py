"""Filters of the lists that people have named: shown above the list, kept and removed. Each is nobody's but theirs."""

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.core.exceptions import BadRequest, PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy

from tasks_app.core.text import control_in
from tasks_app.database import atomic
from tasks_app.models import SavedFilter
from tasks_app.models.saved_filter import NAME_LENGTH, QUERY_LENGTH
from tasks_app.pages.links import console_url
from tasks_app.pages.saved import LISTS
from tasks_app.sql import execute

from .scope import working_in
from .templates import find

MOST = 50  # of one person, for one list: more than anybody finds their way in
_TAKE_TURNS = "SELECT pg_advisory_xact_lock(hashtextextended(%(whose)s, 11))"


class SaveForm(forms.Form):
    page = forms.ChoiceField(choices=lambda: [(page, page) for page in LISTS], widget=forms.HiddenInput)
    query = forms.CharField(max_length=QUERY_LENGTH, widget=forms.HiddenInput)
    name = forms.CharField(label=gettext_lazy("Save this filter as"), max_length=NAME_LENGTH)

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if control_in(name):
            raise forms.ValidationError(gettext("A name has no control characters."))
        return name

    def clean(self) -> dict[str, Any]:
        """What the list doesn't know is left out; what it could not read is refused."""
        cleaned: dict[str, Any] = super().clean()
        if "page" in cleaned and "query" in cleaned:
            known = LISTS[cleaned["page"]].form(QueryDict(cleaned["query"]))
            cleaned["query"] = query_of(known)
            if not known.is_valid() or not cleaned["query"] or len(cleaned["query"]) > QUERY_LENGTH:
                raise forms.ValidationError(gettext("This is no filter of the list; find something first."))
        return cleaned


def query_of(form: forms.Form) -> str:
    """The filter as the query of an address, without what is empty."""
    return urlencode({name: form.data[name] for name in form.fields if form.data.get(name)})


def shown(request: HttpRequest, page: str) -> dict[str, Any]:
    """What the list shows of them."""
    form = LISTS[page].form(request.GET) if request.GET else None
    query = query_of(form) if form is not None and form.is_valid() else ""
    if len(query) > QUERY_LENGTH:  # too long to be kept
        query = ""
    return {
        "saved": list(_own(request).filter(page=page).order_by("name")),
        "saving": SaveForm(initial={"page": page, "query": query}, auto_id="saved_%s") if query else None,
        "saved_query": query,
    }


def drawn(request: HttpRequest, page: str) -> SafeString:
    told = shown(request, page)
    if not told["saved"] and not told["saving"]:
        return SafeString("")
    return SafeString(find("tasks_app/saved.html").render(told, request))


def save(request: HttpRequest) -> HttpResponse:
    """Under a name that is there, the new one takes its place: sent twice, it is there once."""
    form = SaveForm(request.POST)
    if not form.is_valid():
        raise BadRequest(" ".join(error for errors in form.errors.values() for error in errors))
    given = form.cleaned_data
    _refuse_unseen(request, given["page"])
    address = f"{console_url(LISTS[given['page']].address)}?{given['query']}"
    own = {"user_key": str(request.user.pk), "tenant": working_in(), "page": given["page"]}
    with atomic():
        execute(_TAKE_TURNS, {"whose": f"{own['user_key']}\n{own['page']}"})
        there = _own(request).filter(page=given["page"])
        if not there.filter(name=given["name"]).update(query=given["query"]):
            if there.count() >= MOST:
                words = gettext(
                    "You have {count} saved filters of this list, and more can't be kept; remove one first."
                )
                messages.error(request, words.format(count=MOST))
                return HttpResponseRedirect(address)
            SavedFilter.objects.create(name=given["name"], query=given["query"], **own)
    messages.success(request, gettext("The filter is saved as {name}.").format(name=given["name"]))
    return HttpResponseRedirect(address)


def remove(request: HttpRequest, number: int) -> HttpResponse:
    found = _own(request).filter(id=number).first()
    if found is None:
        raise Http404(gettext("There is no such saved filter."))
    found.delete()
    messages.success(request, gettext("The saved filter {name} is removed.").format(name=found.name))
    return HttpResponseRedirect(console_url(LISTS[found.page].address))


def _own(request: HttpRequest) -> QuerySet[SavedFilter]:
    return SavedFilter.objects.filter(user_key=str(request.user.pk), tenant=working_in(), page__in=LISTS)


def _refuse_unseen(request: HttpRequest, page: str) -> None:
    if not LISTS[page].allowed(request):
        raise PermissionDenied
