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


@pytest.fixture(autouse=True)
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
def caller(web, transactional_db):
    """Makes callers of the real web process, each with a token of its own."""
    from tests.support.caller import Caller

    return lambda *args, **options: Caller(web.url, *args, **options)
