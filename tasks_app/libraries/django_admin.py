"""Django's admin: its lists, their rows, filters and pages."""

from collections.abc import Callable
from typing import Any

from tasks_app.libraries import Uses
from tasks_app.libraries.django import WORKS_WITH

with Uses("Django", WORKS_WITH) as uses:
    from django.contrib.admin.filters import FieldListFilter
    from django.contrib.admin.options import IncorrectLookupParameters, ModelAdmin
    from django.contrib.admin.utils import get_fields_from_path
    from django.contrib.admin.views.main import PAGE_VAR, ChangeList
    from django.http import HttpRequest

    uses.of(ModelAdmin, "get_changelist_instance")
    uses.of(FieldListFilter, "create")
    uses.of(ChangeList, "get_results")
    uses.set_by(ChangeList.get_results, "result_list", "result_count", "full_result_count", "multi_page")
    uses.set_by(ChangeList.__init__, "has_filters")

__all__ = ["PAGE_VAR", "CantShow"]

CantShow = IncorrectLookupParameters  # raised by a filter that can't be applied


class Listing(ModelAdmin):
    def listed(self, request: HttpRequest, make: Callable[[HttpRequest], ChangeList]) -> ChangeList:
        """The list that is shown: `make` raises CantShow."""
        return make(request)

    def get_changelist_instance(self, request: HttpRequest) -> ChangeList:
        return self.listed(request, super().get_changelist_instance)


class RowsTogether(ChangeList):
    """What the rows show is read for the whole page at once, and filters are links above the list."""

    result_list: list[Any]

    def read(self, request: HttpRequest, rows: list[Any], found: int) -> None:
        raise NotImplementedError

    def get_queryset(self, *args: object, **options: object) -> Any:
        queryset = super().get_queryset(*args, **options)
        self.has_filters = False
        return queryset

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        self.full_result_count = self.result_count
        rows: list[Any] = list(self.result_list)
        self.result_list = rows
        self.read(request, rows, self.result_count)


def has_pages(shown: ChangeList) -> bool:
    found: bool = shown.multi_page
    return found


def parameters_of(field_path: str, request: HttpRequest | None, admin: ModelAdmin) -> list[str]:
    """Which a filter of this field takes from the address."""
    field = get_fields_from_path(admin.model, field_path)[-1]
    spec = FieldListFilter.create(field, request, {}, admin.model, admin, field_path=field_path)
    found: list[str] = spec.expected_parameters()
    return found
