"""What we use of Django's requests, addresses, templates and commands that it never promised."""

import inspect
import io
import sys
from types import SimpleNamespace

import pytest
from django.apps import apps
from django.contrib import admin
from django.core.checks.urls import check_url_config, check_url_namespaces_unique
from django.core.management.base import OutputWrapper
from django.db.migrations.autodetector import MigrationAutodetector
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import ProjectState
from django.test import RequestFactory
from django.urls import URLPattern, URLResolver, get_resolver, include, reverse
from django.urls import path as address
from django.urls.resolvers import RegexPattern
from django.utils.functional import Promise

from articles_app.models import Article
from tasks_app.libraries.django import UrlsOnRequest


def test_django_makes_migrations_of_the_names_that_were_given():
    loader = MigrationLoader(None)
    changes = MigrationAutodetector(loader.project_state(), ProjectState.from_apps(apps)).changes(loader.graph)

    assert isinstance(Article._meta.verbose_name, Promise) and isinstance(Article._meta.fields[1].verbose_name, Promise)
    assert (str(Article._meta.verbose_name), Article._meta.verbose_name_plural) == ("article", "articles")
    assert not changes.keys() & {"punctual", "articles_app", "inventory_app"}


def test_django_takes_a_body_that_was_read_for_it():
    request = RequestFactory().post("/")
    request._body = b"in chunks"

    assert request.body == b"in chunks"


def test_django_calls_what_a_pattern_has():
    one = address("one/", lambda request: "theirs", name="one")
    other = address("below/", include([one]))
    other.url_patterns[0].callback = lambda request: "ours"

    assert isinstance(other, URLResolver) and isinstance(one, URLPattern)
    assert other.resolve("below/one/").func(None) == "ours"


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
