"""One web process for all tests here, as it is served; every test starts with empty tables."""

import shutil

import pytest


@pytest.fixture(scope="package")
def web(django_db_setup, django_db_blocker):
    """The real web process, on the test database."""
    from tests.support.stack import new_stack

    web = new_stack()
    with django_db_blocker.unblock():
        web.web()
    yield web
    web.stop()
    shutil.rmtree(web.folder, ignore_errors=True)


@pytest.fixture
def transactional_db(web, django_db_blocker):
    """In place of pytest-django's: real commits, gone after the test, but what the web server needs stays."""
    from django.db import connection

    from tests.support.tables import KEPT, truncate

    with django_db_blocker.unblock():
        yield
        names = [name for name in connection.introspection.django_table_names(only_existing=True) if name not in KEPT]
        with connection.cursor() as cursor:
            truncate(cursor, names, "RESTART IDENTITY CASCADE")


@pytest.fixture
def token(transactional_db) -> str:
    """That may write; and somebody dispatches."""
    from tasks_app.engine.operations.api_tokens import issue
    from tests.support.live import a_beat_is_alive
    from tests.support.operators import operator

    a_beat_is_alive()
    return issue("of a client", "default", operator(), can_write=True)[1]
