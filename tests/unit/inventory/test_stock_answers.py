"""What the stock system may answer, byte by byte, and what becomes of it; and the connections that are kept."""

import os
import socket
import threading
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest

from django_punctual import RetryableError, UnrecoverableError
from inventory_app import stock
from inventory_app.checks import check_settings
from inventory_app.conf import Conf
from tests.support import nursery
from tests.support.scripted import END, Step, http, server
from tests.support.tls import CERTIFICATE, server_tls
from tests.support.wait import wait_until

ROOT = Path(__file__).resolve().parents[3]
PATIENCE = 30.0  # for an answer that comes, however busy the machine is


def free_connection(url: str):
    pool, _ = stock._pool(url, os.getpid())
    return pool._free[-1]


def answer_to(settings, *script: Step, attempt: int = 1, **options: object):
    """What comes of one question: a quantity, or the error that says what to do."""
    with server(*script) as (url, _):
        settings.STOCK = {"STOCK_URL": url, "TIMEOUT_SECONDS": PATIENCE} | options
        try:
            return stock.ask("A1", attempt)
        except (RetryableError, UnrecoverableError) as error:
            return type(error), error.code


@pytest.mark.parametrize(
    ("body", "quantity"),
    [(b'{"quantity": 0}', 0), (b'{"quantity": 7, "more": [1]}', 7), (b'{"quantity": 9223372036854775807}', 2**63 - 1)],
)
def test_a_quantity_is_a_whole_number_of_0_or_more(settings, body, quantity):
    assert answer_to(settings, http(body)) == quantity


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"7",
        b"null",
        b"[7]",
        b"{}",
        b'{"quantity": null}',
        b'{"quantity": "7"}',
        b'{"quantity": 7.5}',
        b'{"quantity": true}',
        b'{"quantity": -1}',
        b'{"quantity": 9223372036854775808}',
        b"\xff\xfe",
        b"[" * 100_000,
    ],
)
def test_anything_else_is_malformed(settings, body):
    answered = answer_to(settings, http(body), ANSWER_MAX_BYTES=200_000)
    assert answered == (RetryableError, stock.MALFORMED)


@pytest.mark.parametrize(
    ("status", "error", "code"),
    [
        ("404 Not Found", UnrecoverableError, stock.NOT_FOUND),
        ("410 Gone", UnrecoverableError, stock.NOT_FOUND),
        ("301 Moved", UnrecoverableError, stock.REFUSED),
        ("401 Who", UnrecoverableError, stock.REFUSED),
        ("204 Empty", UnrecoverableError, stock.REFUSED),
        ("429 Busy", RetryableError, stock.BUSY),
        ("408 Slow", RetryableError, stock.UNAVAILABLE),
        ("500 Oh", RetryableError, stock.UNAVAILABLE),
        ("599 Oh", RetryableError, stock.UNAVAILABLE),
    ],
)
def test_every_status_has_its_cause(settings, status, error, code):
    assert answer_to(settings, http(b"", status)) == (error, code)


@pytest.mark.parametrize(
    "garbage", [b"SSH-2.0-OpenSSH\r\n\r\n", b"HTTP/1.1 abc\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-"]
)
def test_what_is_no_http_is_unavailable(settings, garbage):
    error, code = answer_to(settings, garbage, TIMEOUT_SECONDS=0.4)
    assert error is RetryableError and code in (stock.UNAVAILABLE, stock.TIMEOUT)


def test_a_body_that_is_too_long_is_malformed_and_not_read_to_its_end(settings):
    assert answer_to(settings, http(b" " * 5000), ANSWER_MAX_BYTES=1000) == (RetryableError, stock.MALFORMED)


def test_a_connection_is_kept_and_one_that_the_server_closed_meanwhile_is_replaced(settings):
    good = http(b'{"quantity": 1}')
    last = http(b'{"quantity": 1}', headers=b"Connection: close\r\n")
    with server(good, good, (good, END), good, last, good) as (url, seen):
        settings.STOCK = {"STOCK_URL": url, "TIMEOUT_SECONDS": PATIENCE}
        assert [stock.ask("A1") for _ in range(3)] == [1] * 3
        wait_until(lambda: not free_connection(url).silent)
        assert [stock.ask("A1") for _ in range(3)] == [1] * 3
        assert seen == [1, 1, 1, 2, 2, 3]


def test_what_comes_after_an_answer_is_not_taken_for_the_next_one(settings):
    """An answer that is sent twice would otherwise be another product's quantity."""
    good, read = http(b'{"quantity": 1}'), threading.Event()
    with server((good, read, http(b'{"quantity": 99}')), good) as (url, seen):
        settings.STOCK = {"STOCK_URL": url, "TIMEOUT_SECONDS": PATIENCE}
        assert stock.ask("A1") == 1
        read.set()
        wait_until(lambda: not free_connection(url).silent)
        assert stock.ask("A2") == 1 and seen == [1, 2]


def test_a_question_is_asked_once_even_if_a_kept_connection_is_hung_up(settings):
    """Asking again on the next kept one, and the next, would be more questions than the rate allows."""
    with server(http(b'{"quantity": 1}'), END, http(b'{"quantity": 1}')) as (url, seen):
        settings.STOCK = {"STOCK_URL": url, "TIMEOUT_SECONDS": PATIENCE}
        assert stock.ask("A1") == 1
        with pytest.raises(RetryableError) as failed:
            stock.ask("A1")
        assert failed.value.code == stock.UNAVAILABLE and seen == [1, 1]
        assert stock.ask("A1") == 1 and seen == [1, 1, 2]


@pytest.mark.parametrize("trusted", [True, False])
def test_over_https_a_connection_is_kept_too_and_only_a_known_one_is_trusted(settings, monkeypatch, trusted):
    if trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    with server(http(b'{"quantity": 1}'), http(b'{"quantity": 2}'), tls=server_tls()) as (url, seen):
        settings.STOCK = {"STOCK_URL": url, "TIMEOUT_SECONDS": PATIENCE}
        if trusted:
            assert [stock.ask("A1"), stock.ask("A1")] == [1, 2] and seen == [1, 1]
        else:
            with pytest.raises(RetryableError, match="CERTIFICATE_VERIFY_FAILED") as failed:
                stock.ask("A1")
            assert failed.value.code == stock.UNAVAILABLE and seen == []


def test_a_new_connection_that_hangs_up_is_not_tried_for_ever(settings):
    assert answer_to(settings, END) == (RetryableError, stock.UNAVAILABLE)


@pytest.fixture
def silent_port() -> Iterator[int]:
    """One that neither takes nor refuses a connection: its queue is full."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=0)
    waiting = [socket.socket() for _ in range(4)]
    for one in waiting:
        one.setblocking(False)
        one.connect_ex(listener.getsockname())
    yield listener.getsockname()[1]
    for one in (*waiting, listener):
        one.close()


def test_all_addresses_of_a_host_share_the_time_of_a_call(settings, silent_port, monkeypatch):
    kind = (socket.AF_INET, socket.SOCK_STREAM, 6, "")
    with socket.create_server(("127.0.0.1", 0)) as other:
        addresses = [(*kind, ("127.0.0.1", silent_port)), (*kind, other.getsockname())]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: addresses)
        settings.STOCK = {"STOCK_URL": "http://stock.example/stock", "TIMEOUT_SECONDS": 0.3}
        with pytest.raises(RetryableError) as failed:
            stock.ask("A1")
        assert failed.value.code == stock.TIMEOUT
        other.setblocking(False)
        with pytest.raises(BlockingIOError):  # the first address had used up the time, so nobody came here
            other.accept()


@pytest.mark.parametrize("begin", [b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n", b"HTTP/1.1 200 OK\r\nX-Slow: "])
def test_a_call_ends_in_time_however_steadily_its_answer_drips(settings, begin):
    listener = socket.create_server(("127.0.0.1", 0))
    ended = threading.Event()

    def drip() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(65_536)
            connection.sendall(begin)
            # A byte every 50 ms, each of them in time for a time-out of one read.
            while not ended.wait(0.05):
                try:
                    connection.sendall(b"x")
                except OSError:
                    return

    thread = threading.Thread(target=drip, daemon=True)
    thread.start()
    settings.STOCK = {"STOCK_URL": f"http://127.0.0.1:{listener.getsockname()[1]}/stock", "TIMEOUT_SECONDS": 0.4}
    try:
        with pytest.raises(RetryableError) as failed:
            stock.ask("A1")
        assert failed.value.code == stock.TIMEOUT
    finally:
        ended.set()
        thread.join(5)
        listener.close()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("RATE", 0),
        ("RATE", float("nan")),
        ("BURST", 2.5),
        ("BURST", 10**6),
        ("CONCURRENCY", 500),
        ("WINDOW_SECONDS", 0.1),
        ("WINDOW_SECONDS", 10**12),
        ("ROUND", 86_400),
        ("ROUND", "0 2 * * * Europe/Atlantis"),
        ("ROUND", "02:00"),
        ("ROUND_SECONDS", 86_400),
        ("BATCH_MAX", True),
        ("BATCH_MAX", 10**9),
        ("RATE", 1e300),
        ("RATE", 1e-300),
        ("TIMEOUT_SECONDS", 1e300),
        ("RETRY_MAX_SECONDS", 1e300),
        ("ANSWER_MAX_BYTES", 10**12),
        ("STOCK_URL", "ftp://x"),
        ("STOCK_URL", 7),
        ("STOCK_URL", "http://[x"),
        ("STOCK_URL", "http://x:99999/stock"),
        ("STOCK_URL", "http://x:0/stock"),
        ("STOCK_URL", "http://a..b/stock"),
        ("STOCK_URL", "http://x/my stock"),
        ("STOCK_URL", "http://x/bestände"),
        ("STOCK_URL", "http://x/stock\n"),
        ("STOCK_URL", "http://me:secret@x/stock"),
        ("STOCK_URL", "http://x/stock?code="),
        ("STOCK_TOKEN", "a\r\nb"),
        ("STOCK_TOKEN", "schlüssel"),
        ("COLOUR", "red"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused_by_name(settings, name, value):
    settings.STOCK = {name: value}
    problems = [problem.msg for problem in check_settings()]
    assert len(problems) == 1 and name in problems[0]


@pytest.mark.parametrize(
    "url", ["http://x", "https://stock.example:8443/v1/stock/", "http://[::1]:80/s", "http://10.0.0.1/"]
)
def test_an_address_is_taken_as_it_is(settings, url):
    settings.STOCK = {"STOCK_URL": url, "STOCK_TOKEN": "pnc_abc.DEF-123=="}
    assert check_settings() == []


def test_whole_numbers_become_what_the_setting_is():
    whole = {"WINDOW_SECONDS": 86_400, "RATE": 5, "TIMEOUT_SECONDS": 3, "RETRY_MAX_SECONDS": 60}
    assert {type(getattr(Conf(**whole), name)) for name in whole} == {float}


def test_a_wrong_setting_is_told_by_the_check_and_not_by_a_stack():
    environment = os.environ | {"STOCK_RATE": "0", "DJANGO_SETTINGS_MODULE": "scheduler_project.settings"}
    told = nursery.run("manage", "check", env=environment)
    assert told.returncode == 1
    assert '(stock.E001) STOCK["RATE"] is 0.0; it must be a number of more than 0.' in told.stderr


def test_every_setting_is_in_the_docs_with_its_default():
    page = (ROOT / "docs" / "configuration.md").read_text()
    section = page.split("## Stock")[1].replace(",", "")
    for field in fields(Conf):
        if field.default != "":
            assert f"| `{field.name}` | {int(field.default)} |" in section, field.name
