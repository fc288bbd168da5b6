"""Somebody else's project, served for real four times: plain and themed, before and after Punctual was installed."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

HOSTS = [("plain", ""), ("plain", "all"), ("themed", ""), ("themed", "all")]


@pytest.fixture(scope="module")
def hosts(django_db_setup, django_db_blocker):
    """By theme and what is installed: a client of the shop's boss; with one row of everything that has a page."""
    from tests.support.host.rows import one_of_each
    from tests.support.stack import new_stack
    from tests.support.tables import empty_tables

    stacks = {host: new_stack("tests.support.host.settings", wsgi="tests.support.host.wsgi") for host in HOSTS}
    with django_db_blocker.unblock():
        rows = one_of_each()
        with ThreadPoolExecutor() as threads:
            started = [
                threads.submit(stack.web, HOST_THEME=theme, HOST_PUNCTUAL=parts)
                for (theme, parts), stack in stacks.items()
            ]
            for one in started:
                one.result()
        yield SimpleNamespace(rows=rows, urls={host: stack.url for host, stack in stacks.items()})
        for stack in stacks.values():
            stack.stop()
            shutil.rmtree(stack.folder, ignore_errors=True)
        empty_tables()


@pytest.fixture
def transactional_db(hosts, django_db_blocker):
    """In place of pytest-django's: the rows stay for the next test, and for the web processes."""
    with django_db_blocker.unblock():
        yield
