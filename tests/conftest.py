"""Starts a real PostgreSQL and a real Valkey for the tests, unless DATABASE_URL and REDIS_URL name others."""

import compileall
import gc
import os
import shutil
import sys
from collections import Counter
from collections.abc import Generator
from copy import copy
from functools import cache
from importlib import import_module

import django
import pytest
import redis as redis_library
from django.conf import settings
from django.template import Context, RequestContext
from django.test import TransactionTestCase
from django.test import client as test_client
from django.test.utils import ContextList
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from redis.backoff import NoBackoff
from redis.retry import Retry

from tests.support.memory_folder import use_memory
from tests.support.new_process import end_chores, forget
from tests.support.plan_cache import keep_plans
from tests.support.scale import FULL
from tests.support.servers import TEMPLATE, Servers, Template

# These need no servers, so that they can begin while the database is made.
ALONE = ("unit/protocol/", "typecheck/", "process/test_embedded_services", "process/test_supervisor", "process/test_up")
LONG = (*ALONE, "process", "package", "attack", "clients", "api")
# Playwright leaves an event loop running in its thread, in which nobody else can run one. The longest of them first.
LAST = ("package/test_shop", "browser/test_operator", "browser/test_editor", "host", "browser")
OUR_CODE = (
    "django_punctual",
    "tasks_app",
    "articles_app",
    "inventory_app",
    "demo_app",
    "scheduler_project",
    "chaos",
    "tests/support",
)
_servers = None
_template = None
_memory = None


def pytest_configure(config) -> None:
    """Before Django reads its settings: they take the database and Redis from the environment."""
    global _servers, _template, _memory
    if config.option.markexpr == "not scale" and not FULL:  # what is at full scale doesn't fit in there
        _memory = use_memory()
    ours = not (os.environ.get("DATABASE_URL") and os.environ.get("REDIS_URL"))
    runs_tests = not config.getoption("side_by_side", 0) or config.getoption("told_by") is not None
    if not runs_tests:
        # The processes that run the tests each have servers of their own; this one only hands the tests out. All of
        # them begin with a copy of one database. In a fresh clone each would compile all of our code.
        if not sys.dont_write_bytecode:
            for folder in OUR_CODE:
                compileall.compile_dir(config.rootpath / folder, quiet=2, workers=2)
        if ours:
            _template = Template()
            os.environ[TEMPLATE] = str(_template.folder)
        return
    # However slow the machine, an example takes as long as it takes. The same ones each time: a gate that is closed by
    # chance tells whoever stands before it nothing about their change. `make prove` looks for others.
    hypothesis_settings.register_profile(
        "here",
        deadline=None,
        derandomize=not FULL,
        max_examples=100 if FULL else 25,
        suppress_health_check=[HealthCheck.too_slow],
    )
    hypothesis_settings.load_profile("here")
    if ours:
        _servers = Servers()
        os.environ.update(_servers.environment())
    os.environ.setdefault("SECRET_KEY", "only-for-tests")
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    gc.disable()  # to look for garbage in what is imported takes a fifth of the time of importing it
    django.setup()
    # It finds the pages of all apps: now, and not while a test has installed another.
    import_module(settings.ROOT_URLCONF)
    # All that was imported stays; and what a test leaves behind need not be looked for every few hundred objects.
    gc.freeze()
    gc.enable()
    gc.set_threshold(20_000, 20, 50)
    from whitenoise.middleware import WhiteNoiseMiddleware

    from tests.support.tables import empty_tables

    TransactionTestCase._fixture_teardown = lambda case: empty_tables()
    # Nor a new connection after each: its session would have to learn all tables and plans anew.
    TransactionTestCase._should_reload_connections = lambda case: False
    # Nor look for all static files anew, which each of Django's test clients would do at its first request.
    find_files, found = WhiteNoiseMiddleware.add_files_from_finders, {}

    def add_files(middleware: WhiteNoiseMiddleware) -> None:
        if not found:
            find_files(middleware)
            found.update(middleware.files)
        middleware.files.update(found)

    WhiteNoiseMiddleware.add_files_from_finders = add_files
    # Nor keep a copy of the context for each of the sixty templates of a page: tests look at the page's own.
    test_client.store_rendered_templates = _store_page
    keep_plans()


def _store_page(store: dict, signal, sender, template, context: Context, **_: object) -> None:
    """The first that is rendered for a request is the whole page."""
    if isinstance(context, RequestContext) and "context" not in store:
        store["templates"], store["context"] = [template], ContextList([copy(context)])


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items) -> None:
    """The folders whose files take longest first: at the end, all others would wait for the last of them."""
    order = [*LONG, "", *LAST]
    place = {folder: number for number, folder in enumerate(order)}
    items.sort(key=lambda item: place[next((one for one in [*LAST, *LONG] if f"tests/{one}" in item.nodeid), "")])
    alike = [name for name, times in Counter(item.nodeid for item in items).items() if times > 1]
    if alike:
        raise pytest.UsageError(f"Several tests are called {alike[0]}, so nobody can tell which of them failed.")
    if _servers is not None and any(isinstance(one, pytest.Item) and not _needs_nothing(one) for one in items):
        _servers.start()


def _needs_nothing(item) -> bool:
    return item.nodeid.startswith(tuple(f"tests/{one}" for one in ALONE))


def pytest_unconfigure(config) -> None:
    for one in (_servers, _template):
        if one is not None:
            one.discard()
    if _memory is not None:
        shutil.rmtree(_memory, ignore_errors=True)


@pytest.fixture(scope="session")
def django_db_setup(django_test_environment, django_db_blocker) -> None:
    """In place of pytest-django's: each process has a server of its own, and the database there may be a copy. It is
    left behind, since its server is thrown away with it."""
    from tests.support.tables import make_database, take_database

    with django_db_blocker.unblock():
        take_database() if TEMPLATE in os.environ else make_database()


@pytest.fixture(autouse=True, scope="session")
def _unused() -> None:
    """In place of fixtures that pytest-django sets up for each test, for markers and apps that no test here has."""


_dj_autoclear_mailbox = _django_clear_site_cache = _django_isolate_apps = _django_set_urlconf = _unused
_live_server_helper = _template_string_if_invalid_marker = _unused


@pytest.fixture(autouse=True)
def _quiet_redis(request):
    """Every test that touches the database starts with an empty Redis."""
    if request.node.get_closest_marker("django_db") or {"db", "transactional_db"} & set(request.fixturenames):
        _flusher().flushall()


@pytest.fixture
def every_event(settings) -> None:
    """Events that an installation does not keep by default are kept, too."""
    settings.PUNCTUAL = settings.PUNCTUAL | {"EVENTS": ["*"]}


@pytest.fixture
def redis():
    return redis_client()


@cache
def _flusher() -> redis_library.Redis:
    return redis_library.Redis.from_url(os.environ["REDIS_URL"], retry=Retry(NoBackoff(), 1))


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


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown() -> Generator[None]:
    """A test that ran guarded batches has started a worker's threads, which would read the settings of later tests.
    What its beat, worker or page has learnt, it has learnt for the whole process."""
    end_chores()
    if executor := sys.modules.get("tasks_app.engine.worker.executor"):
        executor.stop_threads()
    try:
        return (yield)
    finally:
        if barrier := sys.modules.get("tasks_app.engine.barrier"):
            barrier.connection_created.disconnect(dispatch_uid="punctual-barrier")
        forget()


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
