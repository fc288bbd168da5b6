"""Starts a real PostgreSQL and a real Valkey for the tests, unless DATABASE_URL and REDIS_URL name others."""

import os
import shutil
import tempfile
from collections import Counter
from pathlib import Path

import django
import pytest
from django.test import TransactionTestCase

from tasks_app import embedded

LONG = ("process", "unit/protocol", "package", "typecheck", "attack", "clients", "api")
# Playwright leaves an event loop running in its thread, in which nobody else can run one. The longest of them first.
LAST = ("package/test_shop", "browser/test_operator", "browser/test_editor", "host", "browser")
_services = None
_home = None


def pytest_configure(config) -> None:
    """Before Django reads its settings: they take the database and Redis from the environment."""
    global _services, _home
    if config.getoption("numprocesses", None):
        return  # the processes that run the tests each have servers of their own; this one only hands the tests out
    if not (os.environ.get("DATABASE_URL") and os.environ.get("REDIS_URL")):
        _home = Path(tempfile.mkdtemp(prefix="punctual-tests-"))
        # Durability is for the chaos tests and benchmarks; here a crash of the machine ends the tests anyway.
        # Little memory for pages: whatever drops or empties a table looks through all of it.
        options = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "shared_buffers": "128MB"}
        _services = embedded.start(_home, postgres_options=options)
        os.environ["DATABASE_URL"] = _services.database_url
        os.environ["REDIS_URL"] = _services.redis_url
    os.environ.setdefault("SECRET_KEY", "only-for-tests")
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    django.setup()
    from tests.support.tables import empty_tables

    TransactionTestCase._fixture_teardown = lambda case: empty_tables()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items) -> None:
    """The folders whose files take longest first: at the end, all others would wait for the last of them."""
    order = [*LONG, "", *LAST]
    place = {folder: number for number, folder in enumerate(order)}
    items.sort(key=lambda item: place[next((one for one in [*LAST, *LONG] if f"tests/{one}" in item.nodeid), "")])
    alike = [name for name, times in Counter(item.nodeid for item in items).items() if times > 1]
    if alike:
        raise pytest.UsageError(f"Several tests are called {alike[0]}, and pytest-xdist would run one of them.")


def pytest_unconfigure(config) -> None:
    if _services is not None:
        _services.discard()
        shutil.rmtree(_home, ignore_errors=True)


@pytest.fixture(autouse=True)
def _quiet_redis(request):
    """Every test that touches the database starts with an empty Redis."""
    if request.node.get_closest_marker("django_db") or {"db", "transactional_db"} & set(request.fixturenames):
        redis_client().flushall()


@pytest.fixture
def redis():
    return redis_client()


def redis_client():
    from tasks_app.engine.wakeup import client

    return client(timeout=5)


@pytest.fixture
def stack(transactional_db):
    """Starts beats and workers for one test, and ends whatever is left of them."""
    from tests.support.stack import new_stack

    stack = new_stack()
    yield stack
    stack.stop()
    shutil.rmtree(stack.folder, ignore_errors=True)


@pytest.fixture(scope="session")
def web(django_db_setup):
    """The real web process on the test database, one for all tests that take it as it is served; `transactional_db`
    leaves nothing of one to the next."""
    from tests.support.stack import serving

    with serving() as web:
        yield web


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """A failing process test shows what its processes said."""
    outcome = yield
    report = outcome.get_result()
    if report.when == "call" and report.failed:
        for name in {"stack", "web"} & getattr(item, "funcargs", {}).keys():
            report.sections.append(("processes", item.funcargs[name].logs()))


@pytest.fixture(scope="session")
def chromium():
    """One for all: Playwright can't be started twice in a process."""
    from tests.support.browser import a_browser

    with a_browser() as browser:
        yield browser
