"""The console and the API in projects with other settings than ours: numbers, caches, logins, users and folders."""

import re

import pytest
from django.contrib import admin
from django.contrib.auth.signals import user_logged_in
from django.core.cache import cache
from django.test import Client, RequestFactory
from django.utils import timezone

from tasks_app.api.auth import Session
from tasks_app.console import templates
from tasks_app.engine.web import people
from tasks_app.models import ApiToken, ScheduleTask
from tests.support.api import Api
from tests.support.browser import person
from tests.support.clients import client_of
from tests.support.moves import MONDAY, scheduled

pytestmark = pytest.mark.django_db

LIST = "/admin/punctual/scheduletask/"
GERMAN, GROUPED = {"LANGUAGE_CODE": "de"}, {"USE_THOUSAND_SEPARATOR": True}


@pytest.mark.parametrize("numbers", [GROUPED, GERMAN, GERMAN | GROUPED])
def test_the_id_in_a_form_is_the_tasks_however_a_project_writes_numbers(settings, numbers):
    olga = client_of(person("olga", "punctual.view_scheduletask", "punctual.operate_scheduletask"))
    scheduled("a", at=MONDAY)
    ScheduleTask.objects.update(id=1_234_567)
    for name, value in numbers.items():
        setattr(settings, name, value)

    for where in (LIST, f"{LIST}1234567/change/"):
        shown = olga.get(where).content.decode()
        assert re.findall(r'name="ids" value="([^"]*)"', shown) == ["1234567"], where
        assert "1,234,567" not in shown and "1.234.567" not in shown


def test_a_cache_for_all_pages_of_a_project_keeps_no_answer_of_the_api(settings):
    caching = "django.middleware.cache."
    settings.MIDDLEWARE = [
        f"{caching}UpdateCacheMiddleware",
        *settings.MIDDLEWARE,
        f"{caching}FetchFromCacheMiddleware",
    ]
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": "pages"}}
    scheduled("a", at=MONDAY)
    api = Api()
    olga = client_of(person("olga", "punctual.view_scheduletask", "punctual.view_jobdefinition"))
    try:
        assert len(api.get("/tasks").body["items"]) == 1
        scheduled("b", at=MONDAY)
        assert len(api.get("/tasks").body["items"]) == 2
        ApiToken.objects.update(revoked_at=timezone.now())
        assert api.get("/tasks").status == 401
        seen = [olga.get("/api/v1/tasks", headers={"X-Tenant": name}).json()["items"] for name in ("default", "acme")]
        assert [len(items) for items in seen] == [2, 0]
    finally:
        cache.clear()


def test_a_project_whose_pages_all_need_a_login_has_an_api_for_tokens_and_the_consoles_own_login(settings):
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, "django.contrib.auth.middleware.LoginRequiredMiddleware"]
    settings.LOGIN_URL = "/accounts/login/"

    assert Api().get("/tasks").status == 200
    for where, status in (("/live", 200), ("/tasks", 401), ("/nothing", 404)):
        nobody = Api(token="none")
        nobody.token = ""
        assert nobody.get(where).status == status, where
    for where in ("/admin/", LIST, "/admin/stream/"):
        assert Client().get(where).url.startswith("/admin/login/?next="), where
    assert Client().get("/admin/login/").status_code == 200


def test_logins_are_for_those_who_may_see_the_users_whatever_model_those_are_of(settings):
    vera, gerd = person("vera", "auth.view_user"), person("gerd", "auth.view_group")
    assert (people.may_be_seen_by(vera), people.may_be_seen_by(gerd)) == (True, False)

    settings.AUTH_USER_MODEL = "auth.Group"
    assert (people.may_be_seen_by(vera), people.may_be_seen_by(gerd)) == (False, True)


def test_a_page_of_the_projects_own_is_found_in_its_folders_and_ours_stay_ours(settings, tmp_path):
    (tmp_path / "admin").mkdir()
    (tmp_path / "shop.html").write_text('{% extends "admin/base.html" %}{% block content %}orders{% endblock %}')
    (tmp_path / "admin/base.html").write_text("the shop's")
    settings.TEMPLATES = [settings.TEMPLATES[0] | {"DIRS": [tmp_path]}]
    templates.engine.cache_clear()
    try:
        olga = client_of(person("olga", "punctual.view_scheduletask"))
        request = olga.get(LIST).wsgi_request
        shown = templates.find("shop.html").render(admin.site.each_context(request), request)
        assert "orders" in shown and "the shop's" not in shown and "/unfold/css/" in shown
    finally:
        templates.engine.cache_clear()


class Clerk:
    """A user with what Django's admin asks of one, as in Django's own documentation; and one with less."""

    pk, is_authenticated, is_active = 7, True, True

    def __init__(self, *rights: str, **more: object) -> None:
        self.rights = rights
        vars(self).update(more)

    def get_username(self) -> str:
        return "clerk"

    def has_perm(self, right: str, obj: object = None) -> bool:
        return right in self.rights


VIEW = ("punctual.view_jobdefinition", "punctual.view_scheduletask")


@pytest.mark.parametrize(
    ("user", "admitted"), [(Clerk(*VIEW, is_staff=True), True), (Clerk(is_staff=True), False), (Clerk(*VIEW), False)]
)
def test_the_api_asks_no_more_of_a_projects_users_than_the_admin_does(user, admitted):
    request = RequestFactory().get("/api/v1/tasks")
    request.user = user

    assert (Session().authenticate(request, "a session") is not None) == admitted


def test_a_login_without_a_session_is_none_of_ours():
    user_logged_in.send(Clerk, request=RequestFactory().post("/token/"), user=person("olga"))
