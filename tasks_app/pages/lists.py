"""Lists that stay cheap, whoever asks: they answer to what they offer and to nothing else, and count up to a bound.

Django's own lists take any lookup of any field from the address, a regular expression on a long text among them.
"""

from collections.abc import Callable, Iterable
from typing import Any

from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.views.main import ChangeList
from django.core.exceptions import BadRequest, ValidationError
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.utils.functional import cached_property
from django.utils.text import capfirst
from django.utils.translation import gettext

from tasks_app.libraries.django_admin import PAGE_VAR, CantShow, Listing, RowsTogether, has_pages, parameters_of

__all__ = ["COUNTED", "BoundedPaginator", "CantShow", "OwnLookups", "RowsTogether", "refuse_unknown"]

COUNTED = 10_000
SHOWN = 40  # characters of what was sent


class OwnLookups(Listing):
    """For ModelAdmins with Django's list; before ModelAdmin among the bases."""

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        return lookup in self._offered(request)

    def _offered(self, request: HttpRequest | None) -> set[str]:
        """The parameters of the list's filters."""
        offered = set()
        for one in self.get_list_filter(request):
            if isinstance(one, str):
                offered |= set(parameters_of(one, request, self))
            else:
                offered.add(one.parameter_name)
        return offered

    def listed(self, request: HttpRequest, make: Callable[[HttpRequest], ChangeList]) -> ChangeList:
        page = request.GET.get(PAGE_VAR, "1")
        if not (page.isascii() and page.isdecimal() and len(page) < 10 and int(page)):
            raise BadRequest(
                gettext("{page_var}={page!r} is not a page; pages are counted from 1.").format(
                    page_var=PAGE_VAR, page=page[:SHOWN]
                )
            )
        try:
            found = make(request)
        except CantShow as error:
            reason = str(error) or gettext("it has no page {page}.").format(page=page)
            raise BadRequest(gettext("The list can't be shown: {reason}").format(reason=reason)) from error
        if int(page) > 1 and not has_pages(found):
            raise BadRequest(
                gettext("{page_var}={page} is past the end of the list; it has one page.").format(
                    page_var=PAGE_VAR, page=page
                )
            )
        if not found.is_popup:
            found.title = capfirst(self.opts.verbose_name_plural)  # not "Select article to change"
        return found

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        for chosen in request.POST.getlist(ACTION_CHECKBOX_NAME):
            try:
                self.model._meta.pk.to_python(chosen)
            except ValidationError:
                raise BadRequest(
                    gettext("{chosen!r} is not a row of this list.").format(chosen=chosen[:SHOWN])
                ) from None
            if "\0" in chosen:
                raise BadRequest(gettext("The id of a row contains a NUL character, which none has."))
        return super().changelist_view(request, extra_context)


def refuse_unknown(request: HttpRequest, known: Iterable[str] = ()) -> None:
    """For lists of our own: a misspelt filter must not show everything as if nothing had been asked."""
    known = list(known)
    unknown = [name for name in request.GET if name not in known]
    if unknown:
        words = (
            gettext("{unknown!r} is not a filter of this page; it has {known}.")
            if known
            else gettext("{unknown!r} is not a filter of this page; it has none.")
        )
        raise BadRequest(words.format(unknown=unknown[0][:SHOWN], known=", ".join(known)))


class BoundedPaginator(Paginator):
    """Counts up to 10,000. Nobody turns so many pages; a filter or a search finds what is further back.

    The list that uses it says with `is_more` whether there are more than were counted.
    """

    template_name = "tasks_app/pages.html"

    @cached_property
    def count(self) -> int:
        counted: int = self.object_list.order_by()[:COUNTED].count()
        return counted
