"""What we use of Django's requests, addresses, templates and commands that it never promised."""

import inspect
import io
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.apps import apps
from django.contrib import admin
from django.core.checks.urls import check_url_config, check_url_namespaces_unique
from django.core.management.base import OutputWrapper
from django.db.migrations.autodetector import MigrationAutodetector
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import ProjectState
from django.middleware.csrf import REASON_NO_CSRF_COOKIE, CsrfViewMiddleware
from django.template.backends.django import DjangoTemplates
from django.template.response import TemplateResponse
from django.template.utils import get_app_template_dirs
from django.test import RequestFactory
from django.urls import URLPattern, URLResolver, get_resolver, include, reverse
from django.urls import path as address
from django.urls.resolvers import RegexPattern
from django.utils.functional import Promise
from django.utils.module_loading import autodiscover_modules
from django.views.decorators.csrf import csrf_exempt

from articles_app.models import Article
from tasks_app.pages.on_request import UrlsOnRequest


def test_django_makes_migrations_of_the_names_that_were_given():
    loader = MigrationLoader(None)
    changes = MigrationAutodetector(loader.project_state(), ProjectState.from_apps(apps)).changes(loader.graph)

    assert isinstance(Article._meta.verbose_name, Promise) and isinstance(Article._meta.fields[1].verbose_name, Promise)
    assert (str(Article._meta.verbose_name_raw), Article._meta.verbose_name_plural) == ("article", "articles")
    assert not changes.keys() & {"punctual", "articles_app", "inventory_app"}


def test_django_takes_a_body_that_was_read_for_it():
    request = RequestFactory().post("/")
    request._body = b"in chunks"

    assert request.body == b"in chunks"


def test_django_refuses_a_form_in_one_place():
    class Ours(CsrfViewMiddleware):
        def _reject(self, request, reason):
            return reason

    request = RequestFactory(enforce_csrf_checks=True).post("/", {"csrfmiddlewaretoken": "a" * 64})
    ours = Ours(lambda request: None)

    assert ours.process_view(request, lambda request: None, (), {}) == REASON_NO_CSRF_COOKIE
    assert ours.process_view(request, csrf_exempt(lambda request: None), (), {}) is None


def test_django_calls_what_a_pattern_has():
    one = address("one/", lambda request: "theirs", name="one")
    other = address("below/", include([one]))
    other.url_patterns[0].callback = lambda request: "ours"

    assert isinstance(other, URLResolver) and isinstance(one, URLPattern)
    assert other.resolve("below/one/").func(None) == "ours"


def test_django_makes_an_engine_of_a_dictionary(tmp_path):
    (tmp_path / "one.html").write_text("{{ word }}, ours")
    options = {"NAME": "x", "DIRS": [str(tmp_path)], "APP_DIRS": False, "OPTIONS": {}}

    found = DjangoTemplates(options).get_template("one.html")
    answer = TemplateResponse(RequestFactory().get("/"), "another.html", {"word": "a"})
    answer.template_name = found

    assert answer.render().content == b"a, ours"
    assert Path(admin.__file__).parent / "templates" in get_app_template_dirs("templates")


def test_django_knows_the_sites_of_a_urlconf():
    module = SimpleNamespace(__name__="mounted", urlpatterns=[address("", admin.AdminSite("other").urls)])
    mounted = address("x/", include(module))
    resolver = URLResolver(RegexPattern(r"^/"), [address("a/", admin.AdminSite("mine").urls), mounted])

    assert resolver.app_dict["admin"] == ["other", "mine"]
    assert mounted.urlconf_name is module


def test_django_asks_an_include_for_the_namespaces_in_it(settings):
    later = UrlsOnRequest("b/", "no.such_module", app_name="kind", namespace="later")
    settings.ROOT_URLCONF = (address("a/", include([later, address("one/", lambda request: "one", name="one")])),)
    whole = get_resolver()

    assert reverse("one") == "/a/one/" and whole.resolve("/a/one/").url_name == "one"
    assert (whole.app_dict, whole.namespace_dict["later"][0]) == ({"kind": ["later"]}, "a/b/")
    assert check_url_config(None) == [] == check_url_namespaces_unique(None)
    for asks in (lambda: whole.resolve("/a/b/two/"), lambda: reverse("later:two"), lambda: reverse("kind:two")):
        with pytest.raises(ModuleNotFoundError):
            asks()

    sys.modules["no.such_module"] = SimpleNamespace(urlpatterns=[address("two/", lambda request: "two", name="two")])
    try:
        found = whole.resolve("/a/b/two/")
        assert (found.view_name, found.app_names, found.route) == ("later:two", ["kind"], "a/b/two/")
        assert reverse("kind:two") == reverse("later:two") == "/a/b/two/"
    finally:
        del sys.modules["no.such_module"]

    settings.ROOT_URLCONF = (address("a/", include([later])), address("b/", include([later])))
    assert [one.id for one in check_url_namespaces_unique(None)] == ["urls.W005"]


def test_django_writes_what_a_command_prints_to_the_stream_inside():
    inside = io.StringIO()
    outside = OutputWrapper(inside)
    outside.write("seen")

    assert outside._out is inside
    assert (inside.getvalue(), outside.style_func("as it is")) == ("seen\n", "as it is")
    assert list(inspect.signature(OutputWrapper.write).parameters) == ["self", "msg", "style_func", "ending"]


def test_django_imports_a_module_of_every_app(monkeypatch):
    imported = []
    monkeypatch.setattr("django.utils.module_loading.import_module", imported.append)

    autodiscover_modules("handlers", "links")

    assert {"tasks_app.handlers", "articles_app.handlers", "articles_app.links"} <= {*imported}
