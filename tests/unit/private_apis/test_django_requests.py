"""What we use of Django's requests, addresses, templates and commands that it never promised."""

import inspect
import io
from types import SimpleNamespace

from django.apps import apps
from django.contrib import admin
from django.core.management.base import OutputWrapper
from django.db.migrations.autodetector import MigrationAutodetector
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import ProjectState
from django.test import RequestFactory
from django.urls import URLPattern, URLResolver, include
from django.urls import path as address
from django.urls.resolvers import RegexPattern
from django.utils.functional import Promise

from articles_app.models import Article


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


def test_django_writes_what_a_command_prints_to_the_stream_inside():
    inside = io.StringIO()
    outside = OutputWrapper(inside)
    outside.write("seen")

    assert outside._out is inside
    assert (inside.getvalue(), outside.style_func("as it is")) == ("seen\n", "as it is")
    assert list(inspect.signature(OutputWrapper.write).parameters) == ["self", "msg", "style_func", "ending"]
