"""A library without something that we use: its adapter names it when it is imported."""

import importlib.util
import re
import tomllib
from itertools import chain
from pathlib import Path
from types import ModuleType

import pytest
from asgiref.sync import SyncToAsync
from django.contrib.admin import ModelAdmin
from django.core.management.base import OutputWrapper
from django.db.backends.base.base import BaseDatabaseWrapper
from gunicorn.glogging import Logger
from gunicorn.workers.gthread import ThreadWorker
from ninja.operation import Operation
from redis.connection import AbstractConnection

from tasks_app.libraries import UnsupportedLibrary, Uses
from tasks_app.libraries.django import WORKS_WITH

ROOT = Path(__file__).parents[3]
USES = re.compile(r'^with Uses\("([\w-]+)", "([^"]+)"', re.MULTILINE)


def _import_again(name: str) -> ModuleType:
    """As a new process would; the module that others have imported stays as it is."""
    spec = importlib.util.find_spec(name)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _message_of(name: str) -> str:
    with pytest.raises(UnsupportedLibrary) as raised:
        _import_again(name)
    return str(raised.value)


def test_the_message_names_the_library_its_version_what_is_missing_and_what_works():
    with pytest.raises(UnsupportedLibrary, match=r"with Django \d\S+: .*str\.lost.* works with Django>=5,<6\. Install"):
        with Uses("Django", ">=5,<6") as uses:
            uses.of(str, "lost")


def test_the_versions_in_the_message_are_those_that_are_asked_for():
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = {"Python": wanted["requires-python"]}
    for one in (*wanted["dependencies"], *chain(*wanted["optional-dependencies"].values())):
        name, versions = re.fullmatch(r"([\w-]+)(.*)", one).groups()
        asked[name] = versions
    named = dict(
        pair for path in (ROOT / "tasks_app/libraries").glob("*.py") for pair in USES.findall(path.read_text())
    )

    assert len(named) == 5
    for name, versions in named.items():
        assert versions == asked[name], name
    assert asked["Django"] == WORKS_WITH


def test_an_import_that_fails_is_named_too():
    with pytest.raises(UnsupportedLibrary, match=r"with Django \S+: cannot import name 'lost' from 'django\.db'\. It"):
        with Uses("Django", ">=5,<6"):
            from django.db import lost  # noqa: F401


def test_a_library_that_is_not_there_is_no_matter_of_its_version():
    with pytest.raises(ModuleNotFoundError, match="no_such_library"):
        with Uses("no-such-library", "1"):
            import no_such_library  # noqa: F401


def test_django_without_a_method(monkeypatch):
    monkeypatch.delattr(BaseDatabaseWrapper, "_prepare_cursor")

    assert "BaseDatabaseWrapper._prepare_cursor not found" in _message_of("tasks_app.libraries.django")


def test_django_without_an_attribute_of_its_connections(monkeypatch):
    monkeypatch.setattr(BaseDatabaseWrapper, "__init__", lambda self: None)

    assert ": in_atomic_block, " in _message_of("tasks_app.libraries.django")


def test_redis_without_a_socket_that_can_be_waited_for(monkeypatch):
    monkeypatch.setattr(AbstractConnection, "__init__", lambda self: None)

    assert ": _sock, " in _message_of("tasks_app.libraries.redis")


def test_asgiref_without_its_note_in_the_thread(monkeypatch):
    monkeypatch.delattr(SyncToAsync, "threadlocal")

    assert "SyncToAsync.threadlocal not found" in _message_of("tasks_app.libraries.asgiref")


def test_a_python_without_its_encoder(monkeypatch):
    monkeypatch.delattr("json.encoder.c_make_encoder")
    assert "cannot import name 'c_make_encoder'" in _message_of("tasks_app.libraries.python")

    monkeypatch.setattr("json.encoder.c_make_encoder", None, raising=False)  # as PyPy has it
    assert "'NoneType' object is not callable" in _message_of("tasks_app.libraries.python")


def test_ninja_without_a_place_where_its_parameters_are_read(monkeypatch):
    monkeypatch.delattr(Operation, "_get_values")

    assert "Operation._get_values not found" in _message_of("tasks_app.libraries.ninja")


def test_prometheus_client_without_native_histograms(monkeypatch):
    monkeypatch.delattr("prometheus_client.core.NativeHistogram")

    assert "cannot import name 'NativeHistogram'" in _message_of("tasks_app.libraries.prometheus")


def test_an_admin_without_a_place_where_a_list_is_made(monkeypatch):
    monkeypatch.delattr(ModelAdmin, "get_changelist_instance")

    assert "ModelAdmin.get_changelist_instance not found" in _message_of("tasks_app.libraries.django_admin")


def test_commands_without_the_stream_inside(monkeypatch):
    monkeypatch.setattr(OutputWrapper, "__init__", lambda self: None)

    assert ": _out not found" in _message_of("tasks_app.libraries.django_commands")


def test_gunicorn_without_its_connections_in_a_poller(monkeypatch):
    monkeypatch.setattr(ThreadWorker, "__init__", lambda self: None)

    assert ": poller, " in _message_of("scheduler_project.web_worker")


def test_gunicorn_without_one_log(monkeypatch):
    monkeypatch.setattr(Logger, "__init__", lambda self: None)

    assert ": error_log not found" in _message_of("scheduler_project.web_log")
