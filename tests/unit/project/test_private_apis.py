"""What we use of libraries that they never promised: docs/private-apis.md lists it, and each line has its test here."""

import ast
import asyncio
import hashlib
import http.client
import inspect
import io
import os
import re
import select
import selectors
import socket
import subprocess
import sys
import textwrap
import threading
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import django.db.transaction
import httpcore
import httpx
import psycopg
import pytest
import redis
import unfold
from asgiref.sync import SyncToAsync, ThreadSensitiveContext, sync_to_async
from billiard.pool import Pool
from celery import Celery, beat, concurrency
from celery.app.defaults import NAMESPACES, SETTING_KEYS
from celery.concurrency.asynpool import AsynPool
from celery.concurrency.prefork import TaskPool
from celery.worker import WorkController
from celery.worker.consumer import Consumer
from celery.worker.consumer.consumer import Evloop
from django.contrib import admin
from django.contrib.admin.actions import delete_selected
from django.contrib.admin.filters import FieldListFilter
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.utils import get_fields_from_path, quote, unquote
from django.contrib.admin.views.main import PAGE_VAR, ChangeList
from django.contrib.auth.models import Group, User
from django.contrib.contenttypes.models import ContentType
from django.core.management.base import OutputWrapper
from django.db import DatabaseError, connections, transaction
from django.db.utils import ConnectionHandler
from django.middleware.csrf import REASON_NO_CSRF_COOKIE, CsrfViewMiddleware
from django.template.backends.django import DjangoTemplates
from django.template.response import TemplateResponse
from django.template.utils import get_app_template_dirs
from django.test import RequestFactory
from django.urls import URLPattern, URLResolver, include
from django.urls import path as address
from django.urls.resolvers import RegexPattern
from django.utils.module_loading import autodiscover_modules
from django.views.decorators.csrf import csrf_exempt
from gunicorn.config import Config
from gunicorn.workers.gthread import TConn, ThreadWorker
from kombu.transport import TRANSPORT_ALIASES, memory, resolve_transport, virtual
from kombu.transport import redis as kombu_redis
from kombu.utils.encoding import bytes_to_str
from kombu.utils.scheduling import cycle_by_name
from ninja import NinjaAPI
from ninja.errors import HttpError
from ninja.openapi.docs import Swagger
from ninja.security import APIKeyCookie
from unfold.dataclasses import Favicon
from unfold.sites import UnfoldAdminSite

from tasks_app.engine.worker.consumer import watch_again

ROOT = Path(__file__).resolve().parents[3]
UNFOLD = Path(unfold.__file__).parent
OURS = ("tasks_app", "scheduler_project", "articles_app", "inventory_app")
PAGE = (ROOT / "docs" / "private-apis.md").read_text()
ROWS = [
    [re.findall(r"`([^`]+)`", cell) for cell in row.split("|")[1:-1]]
    for row in re.findall(r"^\| `.*$", PAGE, re.MULTILINE)
]
LIBRARIES = ["django", "redis", "httpx", "httpcore", "kombu", "celery", "gunicorn", "asgiref", "ninja", "unfold"]
LIBRARIES += ["python"]
# They begin with an underscore and are documented all the same.
DOCUMENTED = {"_meta", "_default_manager", "_replace", "_asdict", "_make", "_exit", "_getframe", "_current_frames"}


# The page and this file.


def test_the_page_names_each_test_once():
    here = {name for name in globals() if name.startswith(tuple(f"test_{library}_" for library in LIBRARIES))}
    told = [name for *_, tests in ROWS for name in tests]

    assert sorted(told) == sorted(here)


def test_the_page_tells_where_each_is_used():
    for names, places, *_ in ROWS:
        code = [(ROOT / place).read_text() for place in places]
        for name in names:
            last = re.split(r"[\[(]", name)[0].rpartition(".")[2]
            assert any(re.search(rf"\b{re.escape(last)}\b", text) for text in code), (name, places)


def test_the_page_has_every_attribute_with_an_underscore_that_is_not_ours():
    told = {name.rpartition(".")[2] for names, *_ in ROWS for name in names}
    read, made = defaultdict(set), defaultdict(set)  # by folder: what one file of it makes, another may read
    for path in (path for folder in OURS for path in (ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and re.match("_(?!_)|__ninja", node.attr):
                own = isinstance(node.ctx, ast.Store) and getattr(node.value, "id", "") == "self"
                (made if own else read)[path.parent].add(node.attr)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                made[path.parent].add(node.name)
            elif isinstance(node, ast.AnnAssign):
                made[path.parent].add(getattr(node.target, "id", ""))

    foreign = {name for folder, names in read.items() for name in names - made[folder] - DOCUMENTED}
    assert {name for name in foreign if not name.startswith("_punctual_")} <= told


# Django.


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


def test_django_writes_a_queryset_out_as_text(database):
    query = ContentType.objects.filter(app_label="it's 100%").values_list("id").query

    text = database.ops.compose_sql(*query.get_compiler("default", elide_empty=False).as_sql())
    none = ContentType.objects.filter(id__in=[]).values_list("id").query.get_compiler("default", elide_empty=False)

    assert "'it''s 100%'" in text
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


def test_django_remembers_that_a_block_has_to_be_rolled_back(database):
    with transaction.atomic():
        with pytest.raises(ZeroDivisionError), transaction.atomic(savepoint=False):
            raise ZeroDivisionError
        assert database.needs_rollback is True
    assert database.needs_rollback is False


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


def test_django_takes_a_body_that_was_read_for_it():
    request = RequestFactory().post("/")
    request._body = b"in chunks"

    assert request.body == b"in chunks"


def test_django_writes_what_a_command_prints_to_the_stream_inside():
    inside = io.StringIO()
    outside = OutputWrapper(inside)
    outside.write("seen")

    assert outside._out is inside
    assert (inside.getvalue(), outside.style_func("as it is")) == ("seen\n", "as it is")
    assert list(inspect.signature(OutputWrapper.write).parameters) == ["self", "msg", "style_func", "ending"]


class Groups(admin.ModelAdmin):
    list_filter = ["name"]

    def get_queryset(self, request):
        return Group.objects.none()


def _request(**query: str):
    request = RequestFactory().get("/", query)
    request.user = User(is_superuser=True, is_active=True)
    return request


@pytest.mark.django_db
def test_django_fills_a_list_in_get_results(monkeypatch):
    shown = []
    results = ChangeList.get_results

    def look(found, request) -> None:
        assert found.has_filters is not None
        results(found, request)
        shown.extend([found.result_count, found.full_result_count, list(found.result_list)])
        found.result_list = ["ours"]

    monkeypatch.setattr(ChangeList, "get_results", look)
    found = Groups(Group, admin.site).get_changelist_instance(_request())

    assert shown == [0, 0, []]
    assert found.result_list == ["ours"]


@pytest.mark.django_db
def test_django_makes_its_list_where_we_can_refuse_a_page():
    found = Groups(Group, admin.site).get_changelist_instance(_request())

    assert isinstance(found, ChangeList)
    assert found.multi_page is False
    assert "self.get_changelist_instance(request)" in inspect.getsource(admin.ModelAdmin.changelist_view)


def test_django_tells_which_parameters_a_filter_takes():
    field = get_fields_from_path(User, "groups__name")[-1]
    field_of_user = get_fields_from_path(User, "is_staff")[-1]
    spec = FieldListFilter.create(
        field_of_user, _request(), {}, User, admin.ModelAdmin(User, admin.site), field_path="is_staff"
    )

    assert field is Group._meta.get_field("name")
    assert set(spec.expected_parameters()) == {"is_staff__exact", "is_staff__isnull"}


@pytest.mark.django_db
def test_django_raises_its_own_error_for_a_page_that_is_not_there(monkeypatch):
    monkeypatch.setattr(Groups, "list_per_page", 1)
    monkeypatch.setattr(Groups, "get_queryset", lambda self, request: Group.objects.all())
    Group.objects.bulk_create([Group(name="one"), Group(name="two")])

    with pytest.raises(IncorrectLookupParameters):
        Groups(Group, admin.site).get_changelist_instance(_request(**{PAGE_VAR: "9"}))


def test_django_deletes_with_an_action_that_can_be_called():
    assert list(inspect.signature(delete_selected).parameters) == ["modeladmin", "request", "queryset"]


def test_django_quotes_a_key_for_its_address():
    assert quote("a/b_c") == "a_2Fb_5Fc"
    assert unquote(quote("a/b_c")) == "a/b_c"


def test_django_refuses_a_form_in_one_place():
    class Ours(CsrfViewMiddleware):
        def _reject(self, request, reason):
            return reason

    request = RequestFactory(enforce_csrf_checks=True).post("/", {"csrfmiddlewaretoken": "a" * 64})
    ours = Ours(lambda request: None)

    assert ours.process_view(request, lambda request: None, (), {}) == REASON_NO_CSRF_COOKIE
    assert ours.process_view(request, csrf_exempt(lambda request: None), (), {}) is None


def test_django_calls_what_a_pattern_has():
    one = address("one/", lambda request: "theirs", name="one")
    other = address("below/", include([one]))
    other.url_patterns[0].callback = lambda request: "ours"

    assert isinstance(other, URLResolver) and isinstance(one, URLPattern)
    assert other.resolve("below/one/").func(None) == "ours"


def test_django_makes_an_engine_of_a_dictionary(tmp_path):
    (tmp_path / "one.html").write_text("{{ word }}, ours")
    options = {"NAME": "x", "DIRS": [str(tmp_path)], "APP_DIRS": False, "OPTIONS": {}}

    found = DjangoTemplates(options).get_template("one.html")
    answer = TemplateResponse(RequestFactory().get("/"), "another.html", {"word": "a"})
    answer.template_name = found

    assert answer.render().content == b"a, ours"
    assert Path(admin.__file__).parent / "templates" in get_app_template_dirs("templates")


def test_django_knows_the_sites_of_a_urlconf():
    module = SimpleNamespace(__name__="mounted", urlpatterns=[address("", admin.AdminSite("other").urls)])
    mounted = address("x/", include(module))
    resolver = URLResolver(RegexPattern(r"^/"), [address("a/", admin.AdminSite("mine").urls), mounted])

    assert resolver.app_dict["admin"] == ["other", "mine"]
    assert mounted.urlconf_name is module


def test_django_imports_a_module_of_every_app(monkeypatch):
    imported = []
    monkeypatch.setattr("django.utils.module_loading.import_module", imported.append)

    autodiscover_modules("handlers", "links")

    assert {"tasks_app.handlers", "articles_app.handlers", "articles_app.links"} <= {*imported}


# redis-py.


@pytest.fixture
def server(tmp_path):
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "s"))
        listening.listen()
        listening.settimeout(5)
        yield listening


def _client(server: socket.socket) -> redis.Redis:
    return redis.Redis.from_url(f"unix://{server.getsockname()}", socket_timeout=5, protocol=2, driver_info=None)


def test_redis_has_a_connection_that_can_be_waited_for(server):
    with _client(server) as client:
        connection = client.connection_pool.get_connection()
        connection.send_command("BLPOP", "key", 0)
        peer, _ = server.accept()
        with peer:
            assert select.select([connection._sock.fileno()], [], [], 0)[0] == []
            peer.sendall(b"*2\r\n$3\r\nkey\r\n$1\r\n1\r\n")
            assert select.select([connection._sock.fileno()], [], [], 5)[0] == [connection._sock.fileno()]
            assert connection.read_response() == [b"key", b"1"]
        connection.disconnect()


def test_redis_says_nothing_before_its_first_command(server):
    with _client(server) as client:
        connection = client.connection_pool.get_connection()
        connection.send_command("BLPOP", "key", 0)
        peer, _ = server.accept()
        with peer:
            assert peer.recv(1000) == b"*3\r\n$5\r\nBLPOP\r\n$3\r\nkey\r\n$1\r\n0\r\n"
        connection.disconnect()


# httpx and httpcore.


def _through(backend: httpcore.NetworkBackend) -> httpx.Client:
    transport = httpx.HTTPTransport()
    transport._pool.close()
    transport._pool = httpcore.ConnectionPool(network_backend=backend)
    return httpx.Client(transport=transport)


def test_httpx_sends_through_the_pool_in_its_transport():
    with _through(httpcore.MockBackend([b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"])) as client:
        assert client.get("http://nobody.invalid/").text == "hi"


def test_httpx_translates_the_time_outs_of_the_backend():
    class Late(httpcore.NetworkBackend):
        def connect_tcp(self, *args, **options):
            raise errors.pop()

    errors = [httpcore.ReadTimeout(), httpcore.WriteTimeout(), httpcore.ConnectTimeout()]
    with _through(Late()) as client:
        for _ in range(3):
            with pytest.raises(httpx.TimeoutException):
                client.get("http://nobody.invalid/")


def test_httpcore_connects_with_these_arguments():
    taken = list(inspect.signature(httpcore.SyncBackend.connect_tcp).parameters)

    assert taken == ["self", "host", "port", "timeout", "local_address", "socket_options"]


# kombu.


def test_kombu_finds_a_transport_by_its_alias(monkeypatch):
    monkeypatch.setitem(TRANSPORT_ALIASES, "redis", "kombu.transport.memory:Transport")

    assert resolve_transport("redis") is memory.Transport


def test_kombu_reads_a_message_as_our_copy_does():
    """If this fails: compare kombu's method with tasks_app/engine/worker/transport.py, then write its new sum here."""
    source = ast.unparse(ast.parse(textwrap.dedent(inspect.getsource(kombu_redis.Channel._brpop_read))))

    assert hashlib.sha256(source.encode()).hexdigest()[:16] == "61a2bfc9294c1c8c"


def test_kombu_asks_for_nothing_without_a_queue():
    channel = SimpleNamespace(brpop_timeout=1, active_queues=(), _queue_cycle=cycle_by_name("round_robin")())

    kombu_redis.Channel._brpop_start(channel)  # it has no client that could be asked

    assert list(inspect.signature(kombu_redis.Channel._brpop_start).parameters) == ["self", "timeout"]


def test_kombu_pops_from_the_queues_of_its_cycle():
    channel = SimpleNamespace(active_queues=["a", "b"], _queue_cycle=cycle_by_name("round_robin")())

    kombu_redis.Channel._update_queue_cycle(channel)
    first = list(channel._queue_cycle.consume(2))
    channel._queue_cycle.rotate("a")

    assert (first, list(channel._queue_cycle.consume(2))) == (["a", "b"], ["b", "a"])
    assert isinstance(kombu_redis.Channel.active_queues, property)


def test_kombu_asks_for_the_size_of_a_queue():
    assert list(inspect.signature(kombu_redis.Channel._size).parameters) == ["self", "queue"]
    assert "_size" in virtual.Channel.queue_declare.__code__.co_names
    assert kombu_redis.Channel._get_response_error(None) is redis.ResponseError
    assert "ResponseError" in kombu_redis.Channel.__init__.__code__.co_names


def test_kombu_delivers_to_the_consumer_of_the_queue():
    delivered = []

    virtual.Transport._deliver(SimpleNamespace(_callbacks={"lane": delivered.append}), {"body": ""}, "lane")

    assert delivered == [{"body": ""}]
    assert kombu_redis.Transport._deliver is virtual.Transport._deliver


def test_kombu_hands_out_a_client_that_prefixes_keys_in_a_pipeline():
    made = kombu_redis.PrefixedStrictRedis(global_keyprefix="punctual:")

    with kombu_redis.Channel.conn_or_acquire(SimpleNamespace(_create_client=lambda: made)) as client:
        with client.pipeline(transaction=False) as pipeline:
            pipeline.lpush("lane", "message")
            [(words, _)] = pipeline.command_stack
            assert words == ("LPUSH", "punctual:lane", "message")


def test_kombu_reads_names_and_messages_with_these():
    priority = f"lane{kombu_redis.Channel.sep}3".encode()

    assert bytes_to_str(priority).rsplit(kombu_redis.Channel.sep, 1)[0] == "lane"
    assert kombu_redis.loads('{"a": 1}') == {"a": 1}


# Celery and billiard.


def test_celery_leaves_the_intervals_of_reconnecting_to_the_connection():
    asked = {}
    consumer = Consumer.__new__(Consumer)
    consumer.first_connection_attempt = False
    consumer.app = Celery(set_as_current=False)

    consumer.ensure_connected(SimpleNamespace(ensure_connection=lambda *args, **options: asked.update(options)))

    assert set(asked) == {"callback"}


def test_celery_asks_for_its_arguments_when_its_loop_begins():
    begun = []
    consumer = SimpleNamespace(
        loop_args=lambda: ("a", "b"), loop=lambda *args: begun.append(args), qos=SimpleNamespace()
    )

    Evloop.start(Evloop.__new__(Evloop), consumer)

    assert begun == [("a", "b")]


def test_celery_watches_a_child_again_without_its_note():
    reading, writing = os.pipe()
    child = SimpleNamespace(_popen=SimpleNamespace(sentinel=reading))
    watched = []
    hub = SimpleNamespace(add_reader=lambda fd, *_: watched.append(fd), remove=lambda fd: watched.remove(fd))
    pool = AsynPool.__new__(AsynPool)

    pool._track_child_process(child, hub)
    pool._untrack_child_process(child, hub)
    assert (child._sentinel_poll, watched) == (None, [])
    watch_again(SimpleNamespace(_pool=SimpleNamespace(_pool=[child])))
    pool._track_child_process(child, hub)
    assert watched == [child._sentinel_poll]

    for fd in (reading, writing, child._sentinel_poll):
        os.close(fd)


def test_celery_has_a_pool_of_billiard_with_its_children():
    assert "_pool" in TaskPool.on_start.__code__.co_names
    assert issubclass(AsynPool, Pool)
    assert "self._pool = []" in inspect.getsource(Pool.__init__)


def test_celery_takes_its_consumer_from_the_settings():
    assert "consumer" in NAMESPACES["worker"]
    assert "worker_consumer" in WorkController.setup_defaults.__code__.co_consts


def test_celery_names_a_pool_by_its_module():
    names = [concurrency.get_implementation(name).__module__.rpartition(".")[2] for name in ("prefork", "solo")]

    assert names == ["prefork", "solo"]
    assert "pool_cls" in WorkController.setup_defaults.__code__.co_names


def test_celery_tells_its_slots_and_queues():
    app = Celery(set_as_current=False)
    app.amqp.queues.select(["a", "b"])

    assert sorted(app.amqp.queues.consume_from) == ["a", "b"]
    assert TaskPool.num_processes.fget(SimpleNamespace(_pool=SimpleNamespace(_processes=3))) == 3


def test_celery_makes_a_message_of_headers_and_body():
    made = Celery(set_as_current=False).amqp.as_task_v2("id", "name", ignore_result=True)
    args, kwargs, options = made.body

    assert (made.headers["task"], made.headers["id"], made.headers["ignore_result"]) == ("name", "id", True)
    assert (list(args), kwargs, any(options.values())) == ([], {}, False)
    assert {"root_id", "argsrepr", "kwargsrepr"} <= made.headers.keys()


def test_celery_beat_sets_up_ticks_and_closes(monkeypatch):
    life = []

    def wait(seconds: float) -> None:
        raise AssertionError("it waits by itself")

    monkeypatch.setattr(beat.time, "sleep", wait)

    class Scheduler(beat.Scheduler):
        def setup_schedule(self) -> None:
            life.append("set up")

        def tick(self) -> float:
            life.append("tick")
            if life.count("tick") == 2:
                raise SystemExit(0)
            return 0.0

        def close(self) -> None:
            life.append("close")

    beat.Service(Celery(set_as_current=False), scheduler_cls=Scheduler).start()

    assert life == ["set up", "tick", "tick", "close"]


LOOK_FOR_APP = """
from celery.app import app_or_default
ours = Celery("ours", set_as_current=False, fixups=[])
assert app_or_default() is not ours and app_or_default().main == "default"
theirs = Celery("theirs")
assert app_or_default() is theirs
"""


def test_celery_tells_the_app_that_a_project_made():
    """In a process of its own: what is current stays so."""
    subprocess.run([sys.executable, "-c", "from celery import Celery" + LOOK_FOR_APP], check=True)


SEND = """
from celery import Celery, current_app, shared_task
theirs, ours = Celery("theirs"), Celery("ours", set_as_current=False, fixups=[])

@shared_task(name="a")
def a(): ...

ours.set_current(), ours.set_default()  # as a worker does
assert a.app is ours
theirs.set_current(), theirs.set_default()
assert a.app is theirs
from threading import Thread
found = []
thread = Thread(target=lambda: found.append(a.app))
thread.start(), thread.join()
assert found == [theirs]
"""


def test_celery_sends_shared_tasks_with_the_default_app():
    subprocess.run([sys.executable, "-c", SEND], check=True)


def test_celery_lists_its_options():
    assert {"task_acks_late", "worker_max_memory_per_child", "beat_scheduler", "broker_url"} <= SETTING_KEYS


# gunicorn.


@pytest.fixture
def pair():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


@pytest.fixture
def worker():
    made = ThreadWorker(1, os.getppid(), [], None, 30, Config(), SimpleNamespace(debug=print, info=print))
    made.tpool, made.poller = ThreadPoolExecutor(1), selectors.DefaultSelector()
    made.method_queue.init()
    yield made
    made.tpool.shutdown()
    made.poller.close()
    made.method_queue.close()
    made.tmp.close()


def test_gunicorn_reads_through_the_socket_it_is_given(pair):
    ours, _ = pair
    read = []
    channel = SimpleNamespace(
        setblocking=lambda flag: None, recv=lambda size: read.append(size) or b"", close=lambda: read.append("closed")
    )
    conn = TConn(Config(), channel, ("127.0.0.1", 1), ours.getsockname())
    conn.data_ready = True

    assert conn.wait_for_data(0) is True
    conn.init()
    conn.init()
    with pytest.raises(StopIteration):
        next(conn.parser)
    conn.close()

    assert (conn.sock, read[-1]) == (channel, "closed")


def test_gunicorn_gives_back_what_was_not_read(pair):
    ours, _ = pair
    conn = TConn(Config(), ours, ("127.0.0.1", 1), ours.getsockname())
    conn.init()
    conn.parser.unreader.unread(b"GET /first HTTP/1.1\r\nHost: x\r\n\r\nGET /second")

    assert next(conn.parser).path == "/first"
    assert conn.parser.unreader.take_buffered() == b"GET /second"
    assert conn.parser.unreader.take_buffered() == b""


def test_gunicorn_calls_what_a_socket_was_registered_with(worker, pair):
    ours, theirs = pair
    accepted = []
    worker.sockets, worker.accept = [ours], accepted.append

    worker.set_accept_enabled(True)
    theirs.sendall(b"x")
    worker.wait_for_and_dispatch_events(5)

    assert accepted == [ours]


def test_gunicorn_finishes_a_request_in_its_main_thread(worker):
    finished = []
    worker.handle = lambda conn: f"handled {conn}"
    worker.finish_request = lambda conn, future: finished.append((conn, future.result(), threading.current_thread()))
    worker.poller.register(worker.method_queue.fileno(), selectors.EVENT_READ, worker.method_queue.run_callbacks)

    worker.enqueue_req("conn")
    worker.wait_for_and_dispatch_events(5)

    assert finished == [("conn", "handled conn", threading.current_thread())]


def test_gunicorn_looks_for_overdue_connections_and_stops_accepting(worker):
    done = []
    worker.notify = worker.is_parent_alive = lambda: True
    worker.murder_pending = lambda: done.append("murder")
    worker.set_accept_enabled = lambda enabled: done.append(enabled)
    worker.wait_for_and_dispatch_events = lambda timeout: done.append(timeout) or setattr(worker, "alive", False)
    assert (worker.nr_conns, worker.worker_connections) == (0, Config().worker_connections)
    worker._accepting = True

    worker.run()

    assert done == [True, 1.0, "murder", False]


# asgiref.


def test_asgiref_notes_its_loop_in_the_thread():
    async def ask() -> dict:
        with ThreadPoolExecutor(1) as thread:
            async with ThreadSensitiveContext(executor=thread):
                noted = await sync_to_async(lambda: dict(vars(SyncToAsync.threadlocal)))()
        assert noted["main_event_loop"] is asyncio.get_running_loop()
        return noted

    assert "main_event_loop_pid" in asyncio.run(ask())
    assert isinstance(SyncToAsync.threadlocal, threading.local)


# django-ninja.


@pytest.fixture
def api() -> NinjaAPI:
    made = NinjaAPI(urls_namespace="private-apis")

    @made.get("/things")
    def things(request, first: int = 1, second: str = ""):
        return first

    return made


def _operation(api: NinjaAPI):
    [view] = [view for router in api._get_bound_routers() for view in router.path_operations.values()]
    [operation] = view.operations
    return operation


def test_ninja_has_its_root_as_the_last_address(api):
    *own, root = api._get_urls()

    assert root.name == "api-root"
    assert all(callable(one.callback) for one in own)
    assert len(own) == 3  # the schema, its page and the operation


def test_ninja_has_its_operations_in_its_routers(api):
    assert _operation(api).methods == ["GET"]
    assert api._get_bound_routers() is api._get_bound_routers()  # what we change in them stays


def test_ninja_reads_its_parameters_in_one_place(api):
    operation = _operation(api)
    read, seen = operation._get_values, []
    operation._get_values = lambda request, *args: seen.append(request) or read(request, *args)

    answer = operation.run(request := RequestFactory().get("/things", {"first": "7"}))

    assert (answer.content, seen) == (b"7", [request])


def test_ninja_tells_the_names_of_its_query_parameters(api):
    [model] = _operation(api).models

    assert model.__ninja_param_source__ == "query"
    assert list(model.__ninja_flatten_map__) == ["first", "second"]


def test_ninja_checks_the_csrf_token_when_it_reads_the_cookie():
    class Cookie(APIKeyCookie):
        param_name = "session"

        def authenticate(self, request, key): ...

    request = RequestFactory(enforce_csrf_checks=True).get("/")
    request.COOKIES["session"] = "key"
    assert Cookie()._get_key(request) == "key"
    request = RequestFactory(enforce_csrf_checks=True).post("/")
    with pytest.raises(HttpError, match="CSRF"):
        Cookie()._get_key(request)


def test_ninja_has_the_parts_of_its_page():
    assert Swagger().template == "ninja/swagger.html"
    assert Swagger({"a": 1}).settings["a"] == 1
    assert Swagger().get_openapi_url(SimpleNamespace(urls_namespace="punctual-api"), {}) == "/api/v1/openapi.json"
    assert list(inspect.signature(Swagger.render_page).parameters) == ["self", "request", "api", "kwargs"]


# django-unfold.


def test_unfold_takes_its_looks_from_the_context(settings):
    settings.UNFOLD = {"SITE_TITLE": "Theirs"}

    class Site(UnfoldAdminSite):
        settings_name = "NOBODYS"

    shown = Site("admin").each_context(_request())

    assert shown["site_title"] is None and shown["site_symbol"] is None and shown["site_favicons"] == []
    assert UnfoldAdminSite("admin").each_context(_request())["site_title"] == "Theirs"
    assert Favicon(href="/icon.svg", rel="icon", type="image/svg+xml").href == "/icon.svg"


def test_unfold_changes_the_forms_of_django_in_one_place():
    """Were there another place, `tests/host` would see it; if there is none any more, our guard can go."""
    patches = [
        f"{path.relative_to(UNFOLD)}:{function.name}"
        for path in UNFOLD.rglob("*.py")
        for function in ast.walk(ast.parse(path.read_text()))
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Attribute)
        and getattr(node.targets[0].value, "id", "") in ("helpers", "options", "main", "admin", "sites")
    ]

    assert {one.rpartition(":")[2] for one in patches} == {"changeform_view", "ready"}


# Python.


def test_python_connects_and_reads_through_what_we_give_it(pair):
    ours, theirs = pair
    asked = []
    wire = SimpleNamespace(setsockopt=lambda *_: None, sendall=ours.sendall, close=ours.close)
    wire.makefile = lambda mode: asked.append(mode) or ours.makefile(mode)
    connection = http.client.HTTPConnection("nobody.invalid", 80)
    connection._create_connection = lambda address, *rest: asked.append(address) or wire

    connection.connect()
    assert (asked, connection.sock) == ([("nobody.invalid", 80)], wire)
    connection.request("GET", "/")
    theirs.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi")
    with connection.getresponse() as response:
        assert (response.read(), asked[-1], connection.sock) == (b"hi", "rb", None)
