"""What we use of Django's connections and querysets that it never promised."""

from types import SimpleNamespace

import django.db.transaction
import psycopg
import pytest
from django.contrib.auth.models import Group
from django.contrib.contenttypes.models import ContentType
from django.db import DatabaseError, connections, transaction
from django.db.utils import ConnectionHandler


@pytest.fixture
def database(monkeypatch, django_db_setup, django_db_blocker):
    """A connection of its own, so that a test may break it."""
    handler = ConnectionHandler({"default": django.db.connection.settings_dict.copy()})
    monkeypatch.setattr(django.db.transaction, "connections", handler)
    with django_db_blocker.unblock():
        connection = handler["default"]
        connection.ensure_connection()
        yield connection
        connection.close()


def test_django_wraps_a_cursor_of_ours(database):
    ours, seen = database.connection.cursor(), []

    with database.execute_wrapper(lambda execute, *args: seen.append(args[0]) or execute(*args)):
        database._prepare_cursor(ours).execute("SELECT 7")

    assert (ours.fetchone(), seen) == ((7,), ["SELECT 7"])


def test_django_translates_the_errors_of_the_driver(database):
    with pytest.raises(DatabaseError), database.wrap_database_errors:
        raise psycopg.DatabaseError("no")


def test_django_closes_a_connection_that_is_not_healthy(database, monkeypatch):
    monkeypatch.setattr(database, "is_usable", lambda: False)
    database.health_check_enabled, database.health_check_done = True, False

    database.close_if_health_check_failed()

    assert database.connection is None


def test_django_compiles_a_queryset(database):
    query = ContentType.objects.filter(app_label="it's 100%").values_list("id").query

    text, params = query.get_compiler("default", elide_empty=False).as_sql()
    none = ContentType.objects.filter(id__in=[]).values_list("id").query.get_compiler("default", elide_empty=False)

    assert (text.count("%s"), params) == (1, ("it's 100%",))
    assert none.as_sql()[0].startswith("SELECT")


def test_django_lists_what_runs_on_commit_and_a_rollback_empties_it(database):
    def call() -> None: ...

    with transaction.atomic():
        transaction.on_commit(call, robust=True)
        [(_, noted, _)] = database.run_on_commit
        transaction.set_rollback(True)

    assert noted is call
    assert database.run_on_commit == []


def test_django_knows_whether_it_is_in_a_transaction(database):
    before = database.in_atomic_block
    with transaction.atomic():
        inside = database.in_atomic_block

    assert (before, inside, database.in_atomic_block) == (False, True, False)


def test_django_remembers_that_a_connection_was_closed_in_a_transaction(database):
    assert database.closed_in_transaction is False
    with transaction.atomic():
        database.close()
        assert (database.closed_in_transaction, database.needs_rollback) == (True, True)


def test_django_makes_another_connection_after_the_first_was_deleted():
    handler = ConnectionHandler({"default": {"ENGINE": "django.db.backends.postgresql"}})
    first = handler["default"]

    del handler["default"]

    assert handler["default"] is not first
    assert type(handler) is type(connections)


def test_django_connects_with_the_settings_as_they_are_then():
    handler = ConnectionHandler({"default": {"ENGINE": "django.db.backends.postgresql"}})

    handler.settings["default"]["OPTIONS"]["timeout"] = 7

    assert handler["default"].settings_dict["OPTIONS"] == {"timeout": 7}


def test_django_drops_a_connection_that_broke(database, monkeypatch):
    monkeypatch.setattr(database, "is_usable", lambda: False)
    database.close_if_unusable_or_obsolete()
    assert database.connection is not None

    database.errors_occurred = True
    database.close_if_unusable_or_obsolete()

    assert database.connection is None


def test_django_closes_a_pool():
    closed, pooled = [], {"ENGINE": "django.db.backends.postgresql", "OPTIONS": {"pool": True}}
    wrapper = ConnectionHandler({"default": {}, "pooled": pooled})["pooled"]
    wrapper._connection_pools["pooled"] = SimpleNamespace(close=lambda: closed.append(True))

    wrapper.close_pool()

    assert (closed, "pooled" in wrapper._connection_pools) == ([True], False)


def test_django_keeps_the_database_that_was_asked_for():
    assert (Group.objects.all()._db, Group.objects.using("other").filter(id=1)._db) == (None, "other")
