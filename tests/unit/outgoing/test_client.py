"""The guarded way out, against real servers: where it goes, when a call ends, and how much of an answer is taken."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from ipaddress import ip_address

import pytest

from tasks_app.core.allow_list import allow_list
from tasks_app.outgoing import Answer, Client, Refused, Unreachable
from tasks_app.outgoing.client import ANSWER_BYTES
from tasks_app.outgoing.connection import MOST_OF_HEAD
from tasks_app.outgoing.resolver import Place, ask_system
from tests.support.scripted import END, Step, http, server
from tests.support.tls import CERTIFICATE, server_tls
from tests.support.wait import wait_until

PATIENCE = 30.0  # for an answer that comes, however busy the machine is
SOON = 0.4  # for one that doesn't
HERE = allow_list(["127.0.0.1", "localhost"])
OK = http(b"thanks")


@pytest.fixture
def clients() -> Iterator[Callable[..., Client]]:
    """Makes them, and closes them in the end."""
    made = []

    def make(**options: object) -> Client:
        made.append(Client(**options))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def client(clients) -> Client:
    return clients()


def ask(client: Client, url: str, *, body: bytes = b"{}", seconds: float = PATIENCE, allow=HERE, **headers) -> Answer:
    return client.post(url, body, headers, timeout=seconds, allow=allow)


def answer_to(client: Client, *script: Step, seconds: float = PATIENCE) -> Answer:
    with server(*script) as (url, _):
        return ask(client, url, seconds=seconds)


def leading_to(*addresses: str, port: int | None = None) -> tuple:
    """A look-up that answers with these, and the names that it was asked for."""
    asked = []

    def resolve(host: str, wanted: int) -> list[Place]:
        asked.append(host)
        return [
            Place(socket.AF_INET6 if ":" in one else socket.AF_INET, (one, port or wanted), ip_address(one))
            for one in addresses
        ]

    return resolve, asked


def test_the_request_is_whole_and_names_the_host_it_was_meant_for(clients):
    came, listener = [], socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]

    def serve() -> None:
        connection, _ = listener.accept()
        with connection:
            while not came or b"{}" not in came[-1]:
                came.append(connection.recv(65_536))
            connection.sendall(OK)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    resolve, asked = leading_to("127.0.0.1")
    answer = ask(clients(resolve=resolve), f"http://Hooks.example:{port}/a?b=c", allow=HERE, **{"webhook-id": "7-1"})
    thread.join(5)
    listener.close()

    head, _, body = b"".join(came).partition(b"\r\n\r\n")
    lines = head.split(b"\r\n")
    assert lines[0] == b"POST /a?b=c HTTP/1.1"
    assert f"Host: hooks.example:{port}".encode() in lines
    assert {b"webhook-id: 7-1", b"Content-Length: 2", b"Accept-Encoding: identity"} <= {*lines}
    assert (body, asked, answer.status, answer.body_start) == (b"{}", ["hooks.example"], 200, b"thanks")


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:{port}/",
        "http://localhost:{port}/",
        "http://[::ffff:127.0.0.1]:{port}/",
        "http://[::ffff:7f00:1]:{port}/",
        "http://[::1]:{port}/",
        "http://0.0.0.0:{port}/",
        "http://127.1:{port}/",
        "http://0x7f.1:{port}/",
        "http://2130706433:{port}/",
        "http://0177.0.0.1:{port}/",
        "http://me@127.0.0.1:{port}/",
        "https://127.0.0.1:{port}/",
        "https://localhost:{port}/",
    ],
)
def test_nobody_who_is_not_listed_is_connected_to(client, url):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        with pytest.raises(Refused):
            ask(client, url.format(port=listener.getsockname()[1]), allow=allow_list(["public"]))
        listener.setblocking(False)
        with pytest.raises(BlockingIOError):
            listener.accept()


def test_a_name_with_one_address_that_is_not_allowed_is_refused_whole(clients):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        resolve, _ = leading_to("8.8.8.8", "127.0.0.1", port=listener.getsockname()[1])
        with pytest.raises(Refused, match=r"https://a\.example leads to a loopback address"):
            ask(clients(resolve=resolve), "https://a.example/", allow=allow_list(["public"]))
        listener.setblocking(False)
        with pytest.raises(BlockingIOError):
            listener.accept()


def test_a_name_that_leads_elsewhere_the_second_time_is_connected_to_where_it_led_when_it_was_checked(clients):
    """It is looked up once: what was checked is what is called."""
    with server(OK) as (url, seen):
        port = int(url.split(":")[2].split("/")[0])
        answers = iter([["127.0.0.1"], ["10.0.0.1"]])

        def resolve(host: str, _: int) -> list[Place]:
            return [Place(socket.AF_INET, (one, port), ip_address(one)) for one in next(answers)]

        client = clients(resolve=resolve)
        assert ask(client, "http://moving.example/", allow=HERE).status == 200
        assert seen == [1]
        client.close()
        with pytest.raises(Refused):
            ask(client, "http://moving.example/", allow=HERE)


def test_a_connection_made_under_one_list_is_not_used_under_another(client):
    with server(OK, OK) as (url, seen):
        assert ask(client, url).status == 200
        with pytest.raises(Refused):
            ask(client, url, allow=allow_list(["public"]))
        assert ask(client, url).status == 200 and seen == [1, 1]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("X-A", "1\r\nX-B: 2"),
        ("X-A", "1\nX-B: 2"),
        ("X-A", "1\r\n\r\nGET / HTTP/1.1"),
        ("X-A", "a\0b"),
        ("X-A", "ü"),
        ("X-A\r\nX-B", "1"),
        ("X A", "1"),
        ("", "1"),
        ("Host", "elsewhere"),
        ("content-length", "0"),
        ("Transfer-Encoding", "chunked"),
    ],
)
def test_a_header_that_would_make_another_request_is_refused(client, name, value):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        with pytest.raises(Refused, match="The header"):
            ask(client, f"http://127.0.0.1:{listener.getsockname()[1]}/", **{name: value})


def test_a_redirect_is_an_answer_and_not_followed(client):
    with server(http(b"", "302 Found", b"Location: http://169.254.169.254/\r\n"), OK) as (url, seen):
        assert ask(client, url).status == 302 and seen == [1]


def test_proxies_of_the_environment_are_left_alone(client, monkeypatch):
    with server(OK) as (url, _):
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy"):
            monkeypatch.setenv(name, "http://127.0.0.1:1")
        assert ask(client, url).status == 200


def test_a_connection_is_kept_and_one_that_the_server_closed_meanwhile_is_replaced(client):
    last = http(b"", headers=b"Connection: close\r\n")
    with server(OK, OK, (OK, END), OK, last, OK) as (url, seen):
        assert [ask(client, url).status for _ in range(3)] == [200] * 3
        [[kept]] = client._kept.values()
        wait_until(lambda: not kept.silent)
        assert [ask(client, url).status for _ in range(3)] == [200] * 3
        assert seen == [1, 1, 1, 2, 2, 3]


def test_what_comes_after_an_answer_is_not_taken_for_the_next_one(client):
    with server(OK + http(b"", "500 Oh"), OK) as (url, seen):
        assert [ask(client, url).status, ask(client, url).status] == [200, 200]
        assert seen == [1, 2]


@pytest.mark.parametrize(
    ("answer", "body", "kept"),
    [
        (b"HTTP/1.1 204 No Content\r\n\r\n", b"", True),
        (b"HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok", b"ok", True),
        (b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", b"", True),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;a=b\r\nok\r\n1\r\n!\r\n0\r\nX: y\r\n\r\n",
            b"ok!",
            True,
        ),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", b"ok", False),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok!", b"", False),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", None, False),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", b"", False),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", b"", False),
        (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\x1f\x8b\0\0", b"\x1f\x8b\0\0", True),
    ],
)
def test_an_answer_ends_where_it_says_so_or_its_connection_is_not_used_again(client, answer, body, kept):
    with server((answer, END) if not kept else answer, OK) as (url, _):
        first = ask(client, url)
        assert first.status in (200, 204)
        assert body is None or first.body_start == body
        assert bool(client._kept) == kept


@pytest.mark.parametrize(
    "answer",
    [
        http(b"x" * 1_000_000),
        b"HTTP/1.1 200 OK\r\nContent-Length: 999999999999\r\n\r\n" + b"x" * 20_000,
        b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 20_000,
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        + b"1000\r\n"
        + b"x" * 0x1000
        + b"\r\n"
        + b"1\r\nx\r\n" * 9,
    ],
)
def test_of_a_long_answer_the_beginning_is_taken_and_the_rest_is_left(client, answer):
    with server(answer) as (url, _):
        got = ask(client, url)
        assert (got.status, got.body_start, got.complete) == (200, b"x" * ANSWER_BYTES, False)
        assert not client._kept


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((b"SSH-2.0-OpenSSH\r\n\r\n",), "gave no proper answer: it began with b'SSH-2.0-OpenSSH"),
        ((b"HTTP/2 200\r\n\r\n",), "gave no proper answer"),
        ((b"HTTP/1.1 999 Oh\r\n\r\n",), "gave no proper answer"),
        ((b"HTTP/1.1 101 Switching\r\n\r\n",), "wants to speak another protocol"),
        ((b"HTTP/1.1 200 OK\r\nX: y", END), "it hung up before its answer was complete"),
        ((END,), "it hung up before its answer was complete"),
        ((b"HTTP/1.1 200 OK\r\nX: " + b"y" * 2 * MOST_OF_HEAD,), "its headers have more than 16,384 bytes"),
        ((b"HTTP/1.1 100 Continue\r\n\r\n" * 2_000,), "its headers have more than 16,384 bytes"),
    ],
)
def test_what_is_no_http_is_told(client, answer, words):
    with server(answer) as (url, _), pytest.raises(Unreachable) as failed:
        ask(client, url)
    assert words in str(failed.value)


@pytest.mark.parametrize("begin", [b"", b"HTTP/1.1 200 OK\r\nX-Slow: "])
def test_a_call_ends_in_time_however_steadily_its_answer_drips(client, begin):
    with dripping(begin) as url:
        began = time.monotonic()
        with pytest.raises(Unreachable, match=r"did not answer within 0.4 s") as failed:
            ask(client, url, seconds=SOON)
        assert time.monotonic() - began < PATIENCE and failed.value.ms >= SOON * 1_000


@pytest.mark.parametrize(
    "begin", [b"Content-Length: 100\r\n\r\n", b"\r\n", b"Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n"]
)
def test_once_the_status_is_known_it_counts_even_if_the_rest_never_ends(client, begin):
    with dripping(b"HTTP/1.1 200 OK\r\n" + begin) as url:
        answer = ask(client, url, seconds=4)  # enough for the status, even if the machine stands still for some
    assert (answer.status, answer.complete) == (200, False) and not client._kept


@contextmanager
def dripping(begin: bytes) -> Iterator[str]:
    """A receiver that sends this, and then a byte every 50 ms: each of them in time for a time-out of one read."""
    listener, ended = socket.create_server(("127.0.0.1", 0)), threading.Event()

    def drip() -> None:
        connection, _ = listener.accept()
        with connection, suppress(OSError):
            connection.recv(65_536)
            connection.sendall(begin)
            while not ended.wait(0.05):
                connection.sendall(b"x")

    thread = threading.Thread(target=drip, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
    finally:
        ended.set()
        thread.join(5)
        listener.close()


def test_a_body_that_nobody_reads_does_not_hold_the_call(client):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        with pytest.raises(Unreachable, match="did not answer within"):
            ask(client, f"http://127.0.0.1:{listener.getsockname()[1]}/", body=b"x" * 20_000_000, seconds=SOON)


def test_a_name_that_is_not_resolved_in_time_ends_the_call_and_holds_one_thread(clients):
    hung, asked = threading.Event(), []

    def resolve(host: str, port: int) -> list[Place]:
        asked.append(host)
        hung.wait(PATIENCE)
        return []

    client = clients(resolve=resolve)
    for _ in range(2):
        with pytest.raises(Unreachable, match="did not answer within"):
            ask(client, "https://slow.example/", seconds=0.1, allow=allow_list(["public"]))
    hung.set()
    assert asked == ["slow.example"]


def test_an_address_that_swallows_everything_leaves_time_for_the_next(clients):
    with server(OK) as (url, seen):
        port = int(url.split(":")[2].split("/")[0])
        full = socket.create_server(("127.0.0.1", 0), backlog=0)
        waiting = [socket.socket() for _ in range(4)]
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(full.getsockname())
        places = [Place(socket.AF_INET, at, ip_address(at[0])) for at in (full.getsockname(), ("127.0.0.1", port))]
        answer = ask(clients(resolve=lambda *_: places), "http://two.example/", seconds=4, allow=HERE)
        for one in (*waiting, full):
            one.close()
    assert answer.status == 200 and seen == [1]


@pytest.mark.parametrize(
    ("value", "seconds"),
    [(b"7", 7), (b"0", 0), (b"Mon, 01 Jan 2001 00:00:00 GMT", 0), (b"-1", None), (b"soon", None), (b"9" * 50, None)],
)
def test_how_long_to_wait_is_read_in_both_forms(client, value, seconds):
    answer = answer_to(client, http(b"", "429 Busy", b"Retry-After: %b\r\n" % value))

    assert answer.retry_after == seconds


def test_nobody_there_is_told(client, clients):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(Unreachable, match="can't be reached: Connection refused"):
        ask(client, f"http://127.0.0.1:{port}/")
    with pytest.raises(Unreachable, match="can't be reached"):
        ask(clients(resolve=ask_system), "https://nobody.invalid/", allow=allow_list(["public"]))


@pytest.mark.parametrize(
    ("ca_file", "host", "words"),
    [
        (CERTIFICATE, "localhost", ""),
        ("", "localhost", "has a certificate that can't be trusted: self-signed certificate"),
        (CERTIFICATE, "other.example", "has a certificate that can't be trusted: Hostname mismatch"),
    ],
)
def test_over_tls_the_certificate_must_be_the_hosts(clients, ca_file, host, words):
    with server(OK, OK, tls=server_tls()) as (url, seen):
        port = int(url.split(":")[2].split("/")[0])
        resolve, _ = leading_to("127.0.0.1", port=port)
        client = clients(ca_file=str(ca_file), resolve=resolve)
        url = f"https://{host}:{port}/"
        if words:
            with pytest.raises(Unreachable, match=words):
                ask(client, url, allow=HERE)
        else:
            assert [ask(client, url).status, ask(client, url).status] == [200, 200] and seen == [1, 1]


def test_plain_http_from_a_receiver_that_should_speak_tls_is_told(client):
    with server(OK) as (url, _), pytest.raises(Unreachable, match="can't be reached"):
        ask(client, url.replace("http://", "https://"))
