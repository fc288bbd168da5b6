"""What we use of gunicorn that it never promised."""

import os
import selectors
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
from gunicorn.config import Config
from gunicorn.http.wsgi import default_environ
from gunicorn.util import write_chunk
from gunicorn.workers.gthread import TConn, ThreadWorker

from scheduler_project.web_log import JsonLogger
from scheduler_project.web_worker import LAST_CHUNK
from tasks_app.logs import JsonFormatter


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


def test_gunicorn_says_what_it_says_in_one_log(capsys):
    made = JsonLogger(Config())
    made.info("listening at %s", "here")

    [handler] = made.error_log.handlers
    assert isinstance(handler.formatter, JsonFormatter)
    made.error_log.removeHandler(handler)


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


def test_gunicorn_gives_the_application_its_socket_and_ends_with_an_empty_chunk(worker):
    sent, done, app = [], [], object()
    channel = SimpleNamespace(sendall=sent.append)
    worker.app = SimpleNamespace(wsgi=lambda: app)

    worker.load_wsgi()
    worker.method_queue.defer(done.append, "deferred")
    worker.method_queue.run_callbacks(None)
    write_chunk(channel, b"")
    request = SimpleNamespace(body=None, method="GET", query="", uri="/", version=(1, 1))

    assert (worker.wsgi, done, sent) == (app, ["deferred"], [LAST_CHUNK])
    assert default_environ(request, channel, Config())["gunicorn.socket"] is channel
