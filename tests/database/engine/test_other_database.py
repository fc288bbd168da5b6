"""Routers, checks and connection settings of a project, as far as one process shows them."""

import pytest
from django.apps import apps
from django.contrib import admin
from django.core import checks
from django.core.handlers.base import BaseHandler
from django.core.management import CommandError, call_command
from django.db import OperationalError, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.test import override_settings
from django.urls import URLPattern, path
from psycopg import IsolationLevel

from django_punctual import find, handler, schedule
from django_punctual.compensation import compare_keys
from django_punctual.router import Router
from tasks_app.api import api
from tasks_app.core.handlers import REGISTRY
from tasks_app.database import close_connections, own_transactions, tune_connections
from tasks_app.database_checks import check_server
from tasks_app.models import ScheduleTask
from tests.support.engine import row, run_due
from tests.support.marks import commits
from tests.support.testapp.models import Counter

pytestmark = pytest.mark.django_db


class Replicas:
    """A project's router, which speaks for every app."""

    def db_for_read(self, model, **hints) -> str:
        return "replica"

    def db_for_write(self, model, **hints) -> str:
        return "default"


class Elsewhere:
    def db_for_write(self, model, **hints) -> str:
        return "replica"


class Nowhere:
    def allow_migrate(self, db, app_label, **hints) -> bool:
        return False


@pytest.fixture
def alias(monkeypatch, django_db_blocker):
    """Adds an alias to DATABASES for one test, and lets it connect: Django's tests know only those of the settings."""
    monkeypatch.setattr(BaseDatabaseWrapper, "ensure_connection", django_db_blocker._real_ensure_connection)
    added = []

    def add(name: str, **given: object) -> None:
        server = {key: value for key, value in connections.settings["default"].items() if key != "TEST"}
        connections.settings[name] = server | given
        added.append(name)

    yield add
    for name in added:
        connections[name].close()
        del connections[name]
        del connections.settings[name]


def found(**given: object) -> dict[str, str]:
    """The checks' messages about the database, by id."""
    with override_settings(**given):
        messages = checks.run_checks(databases=["default"])
    ours = ("punctual.E01", "punctual.W01")
    return {one.id: f"{one.msg} {one.hint}" for one in messages if one.id.startswith(ours)}


@commits
def test_our_rows_are_never_read_from_a_replica(alias):
    alias("replica", HOST="/nowhere")
    with override_settings(DATABASE_ROUTERS=[Replicas()]):
        task_id = schedule("T_QUIET", "a", delay=60).task_id

        assert ScheduleTask.objects.get(id=task_id).biz_key == find("T_QUIET", "a").key == "a"
        Counter.objects.using("default").create(name="a")
        # The project reads its own rows there, but they are beside ours all the same.
        assert compare_keys("T_QUIET", Counter.objects.all(), key="name").not_waiting == []
        with pytest.raises(OperationalError):
            Counter.objects.count()


def test_the_router_speaks_for_our_models_only(settings):
    assert (Router().db_for_read(ScheduleTask), Router().db_for_write(Counter)) == ("default", None)
    assert Router().allow_migrate("default", "punctual") is True
    assert Router().allow_migrate("other", "punctual") is False
    assert Router().allow_migrate("other", "testapp") is None
    assert Router().allow_relation(ScheduleTask(), ScheduleTask()) is True
    assert Router().allow_relation(ScheduleTask(), Counter()) is None


def test_with_the_databases_as_they_are_there_is_nothing_to_say():
    assert found() == {}


def test_a_database_that_is_no_postgresql_is_an_error(settings, alias):
    alias("lite", ENGINE="django.db.backends.sqlite3", OPTIONS={}, NAME=":memory:")

    told = found(PUNCTUAL=settings.PUNCTUAL | {"DATABASE": "lite"})

    assert list(told) == ["punctual.E010"]
    assert "DATABASES['lite'] is SQLite" in told["punctual.E010"]


@pytest.mark.parametrize(
    ("routers", "words"),
    [
        ([], "its models to 'default'"),
        ([Elsewhere()], "its models to 'replica'"),
        ([Nowhere(), Router()], "keep Punctual's tables out of 'tasks'"),
    ],
)
def test_a_missing_router_is_an_error_with_the_line_to_add(settings, alias, routers, words):
    alias("tasks")

    told = found(PUNCTUAL=settings.PUNCTUAL | {"DATABASE": "tasks"}, DATABASE_ROUTERS=routers)

    assert words in told["punctual.E011"]
    assert 'DATABASE_ROUTERS = ["django_punctual.router.Router", …]' in told["punctual.E011"]


def test_with_the_router_only_transactional_handlers_are_told_of(settings, alias):
    alias("tasks")

    told = found(PUNCTUAL=settings.PUNCTUAL | {"DATABASE": "tasks"}, DATABASE_ROUTERS=["django_punctual.router.Router"])

    assert list(told) == ["punctual.W010"]
    assert "ARTICLE_PUBLISH" in told["punctual.W010"]
    assert "T_TWO_PHASE" in told["punctual.W010"]
    assert "T_QUIET" not in told["punctual.W010"]


def test_a_server_that_is_too_old_is_told_to_whoever_asks_for_that_database(monkeypatch):
    monkeypatch.setattr("tasks_app.database_checks.OLDEST", connections["default"].pg_version // 10_000)
    assert found() == {}

    monkeypatch.setattr("tasks_app.database_checks.OLDEST", 99)
    assert "Punctual needs 99 or newer" in found()["punctual.E012"]
    assert check_server(databases=["another"]) == check_server() == []


@pytest.mark.parametrize(
    ("level", "told_as"),
    [
        (IsolationLevel.READ_COMMITTED, None),
        (IsolationLevel.REPEATABLE_READ, "REPEATABLE_READ"),
        (IsolationLevel.SERIALIZABLE, "SERIALIZABLE"),
    ],
)
def test_a_stricter_isolation_than_ours_is_told(settings, alias, level, told_as):
    alias("strict", OPTIONS={"isolation_level": level})

    told = found(PUNCTUAL=settings.PUNCTUAL | {"DATABASE": "strict"}, DATABASE_ROUTERS=[Router()])

    assert ("punctual.W011" in told) is (told_as is not None)
    assert told_as is None or f"isolation_level {told_as}." in told["punctual.W011"]


def test_no_request_is_a_transaction_around_a_view_of_ours(monkeypatch):
    monkeypatch.setitem(connections.settings["default"], "ATOMIC_REQUESTS", True)
    ours = [*api.urls[0], *own_transactions([path("admin/", admin.site.urls)])]

    views = [one.callback for one in _flat(ours)]

    assert len(views) > 50
    assert [view for view in views if BaseHandler().make_view_atomic(view) is not view] == []


def _flat(patterns: list) -> list[URLPattern]:
    return [each for one in patterns for each in (_flat(one.url_patterns) if hasattr(one, "url_patterns") else [one])]


@commits
def test_tuning_leaves_the_settings_and_other_databases_as_they_are(settings, alias):
    alias("tasks", OPTIONS={"pool": True}, CONN_MAX_AGE=0, DISABLE_SERVER_SIDE_CURSORS=False)
    alias("theirs", OPTIONS={}, CONN_MAX_AGE=0)
    given = connections.settings["tasks"]
    with override_settings(PUNCTUAL=settings.PUNCTUAL | {"DATABASE": "tasks"}, DATABASE_ROUTERS=[Router()]):
        tune_connections()

        made = connections["tasks"].settings_dict
        assert (made["CONN_MAX_AGE"], made["OPTIONS"]["prepare_threshold"]) == (None, 1)
        assert (given["CONN_MAX_AGE"], given["OPTIONS"]) == (0, {"pool": True})
        assert connections["theirs"].settings_dict["OPTIONS"] == {}
        with connections["tasks"].cursor() as cursor:
            cursor.execute("SHOW lock_timeout")
            assert cursor.fetchone() == ("5s",)
    close_connections()


@commits
@pytest.mark.parametrize("transactional", [False, True])
def test_a_database_of_the_handlers_own_that_is_away_is_the_handlers_error(alias, transactional):
    """It says nothing about ours: the try has failed, and what broke is connected to anew."""
    alias("theirs", HOST="/nowhere")

    @handler("T_THEIRS", transactional=transactional, max_retry=0)
    def ask(task):
        Counter.objects.using("theirs").count()

    try:
        task_id = schedule("T_THEIRS", "a").task_id
        run_due()
    finally:
        REGISTRY.discard("T_THEIRS")

    assert (row(task_id).status, row(task_id).error_code) == ("DEAD", "OperationalError")


@commits
def test_a_connection_of_the_handlers_own_that_broke_fails_no_batch(alias):
    """The batch is done again task by task, and by then it is connected anew."""
    alias("theirs", CONN_MAX_AGE=None, CONN_HEALTH_CHECKS=False)

    @handler("T_THEIRS", transactional=True, max_retry=0)
    def ask(task):
        Counter.objects.using("theirs").count()

    try:
        with connections["theirs"].cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            [pid] = cursor.fetchone()
        with connections["default"].cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s, 10000)", [pid])
        tasks = [schedule("T_THEIRS", key).task_id for key in "abc"]
        run_due()
    finally:
        REGISTRY.discard("T_THEIRS")

    assert [row(task_id).status for task_id in tasks] == ["SUCCESS"] * 3


class SchedulesInLite:
    def db_for_write(self, model, **hints) -> str | None:
        return "lite" if model._meta.app_label == "django_celery_beat" else None


def test_schedules_of_celery_beat_in_another_kind_of_database_are_left_to_people(settings, alias):
    alias("lite", ENGINE="django.db.backends.sqlite3", OPTIONS={}, NAME=":memory:")
    with override_settings(
        INSTALLED_APPS=[*settings.INSTALLED_APPS, "django_celery_beat"], DATABASE_ROUTERS=[SchedulesInLite()]
    ):
        with pytest.raises(CommandError, match=r"which is SQLite.* by hand"):
            call_command("import_celery_beat")
        # Its pages were added to the admin, and would be looked for in the menu of every page.
        for model in apps.get_app_config("django_celery_beat").get_models():
            if admin.site.is_registered(model):
                admin.site.unregister(model)
