"""One browser and one web server for all tests here; every test starts with empty tables.

PUNCTUAL_BROWSER=required, as `.ci/run` sets it, makes a missing browser a failure; otherwise the tests are skipped.
"""

import shutil

import pytest


@pytest.fixture(scope="package")
def web(chromium, django_db_setup, django_db_blocker):
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
def visits(chromium, web, transactional_db):
    """Opens pages. Any complaint of the browser that the test did not forgive fails it."""
    from tests.support.browser import Visits

    visits = Visits(chromium, web.url)
    yield visits
    visits.close()
    assert visits.complaints == []
