"""What we use of the lists of Django's admin that it never promised."""

import inspect

import pytest
from django.contrib import admin
from django.contrib.admin.filters import FieldListFilter
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.utils import get_fields_from_path
from django.contrib.admin.views.main import PAGE_VAR, ChangeList
from django.contrib.auth.models import Group, User
from django.test import RequestFactory


class Groups(admin.ModelAdmin):
    list_filter = ["name"]

    def get_queryset(self, request):
        return Group.objects.none()


def _request(**query: str):
    request = RequestFactory().get("/", query)
    request.user = User(is_superuser=True, is_active=True)
    return request


@pytest.mark.django_db
def test_django_fills_a_list_in_get_results(monkeypatch):
    shown = []
    results = ChangeList.get_results

    def look(found, request) -> None:
        assert found.has_filters is not None
        results(found, request)
        shown.extend([found.result_count, found.full_result_count, list(found.result_list)])
        found.result_list = ["ours"]

    monkeypatch.setattr(ChangeList, "get_results", look)
    found = Groups(Group, admin.site).get_changelist_instance(_request())

    assert shown == [0, 0, []]
    assert found.result_list == ["ours"]


@pytest.mark.django_db
def test_django_makes_its_list_where_we_can_refuse_a_page():
    found = Groups(Group, admin.site).get_changelist_instance(_request())

    assert isinstance(found, ChangeList)
    assert found.multi_page is False
    assert "self.get_changelist_instance(request)" in inspect.getsource(admin.ModelAdmin.changelist_view)


def test_django_tells_which_parameters_a_filter_takes():
    field = get_fields_from_path(User, "groups__name")[-1]
    field_of_user = get_fields_from_path(User, "is_staff")[-1]
    spec = FieldListFilter.create(
        field_of_user, _request(), {}, User, admin.ModelAdmin(User, admin.site), field_path="is_staff"
    )

    assert field is Group._meta.get_field("name")
    assert set(spec.expected_parameters()) == {"is_staff__exact", "is_staff__isnull"}


@pytest.mark.django_db
def test_django_raises_its_own_error_for_a_page_that_is_not_there(monkeypatch):
    monkeypatch.setattr(Groups, "list_per_page", 1)
    monkeypatch.setattr(Groups, "get_queryset", lambda self, request: Group.objects.all())
    Group.objects.bulk_create([Group(name="one"), Group(name="two")])

    with pytest.raises(IncorrectLookupParameters):
        Groups(Group, admin.site).get_changelist_instance(_request(**{PAGE_VAR: "9"}))
