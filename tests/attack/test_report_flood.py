"""A receiver that sends hundreds of reports at once delays no page and no probe: against gunicorn as it is shipped."""

from __future__ import annotations

import json
import re
import socket
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from urllib.parse import urlsplit

import psycopg

from tasks_app.core.away import Run
from tasks_app.engine.addresses import addresses
from tasks_app.models import ScheduleTask
from tests.support.engine import row
from tests.support.marks import commits
from tests.support.moves import away, ids_of
from tests.support.slow_clients import HEAD, answered
from tests.support.stack import serving, url_of_test_database
from tests.support.wait import wait_until

pytestmark = commits

REPORTS = 700
API = "https://scheduler.example.com/api/v1"


@contextmanager
def locked(task: int) -> Iterator[None]:
    """Reports about it wait in the database."""
    with psycopg.connect(url_of_test_database()) as other:
        other.execute("SELECT FROM punctual_task WHERE id = %s FOR UPDATE", [task])
        yield
        other.rollback()


def report_about(task: int) -> bytes:
    found = row(task)
    about = Run(found.tenant, found.token, found.id, found.batch_no or found.ran_in)
    where = "/api/v1" + addresses(about).complete.removeprefix(API)
    return f"POST {where} ".encode() + HEAD + b"Connection: close\r\nContent-Length: 2\r\n\r\n{}"


def status_of(answer: bytes) -> int:
    return int(answer.split()[1]) if answer else 0


def page(path: str) -> bytes:
    return f"GET {path} ".encode() + HEAD + b"Connection: close\r\n\r\n"


def test_pages_and_probes_are_answered_beside_a_flood_of_reports(settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"API_URL": API}
    [task] = ids_of(away("film"))
    report = report_about(task)
    with serving(WEB_STATEMENT_SECONDS="600") as web, ExitStack() as ending:
        port = urlsplit(web.url).port
        wait_until(lambda: status_of(answered(port)[0]) == 200, 60, describe=web.logs)
        with locked(task):
            flood = []
            for _ in range(REPORTS):  # each is sent at once: connections without a request make room for others
                flood.append(ending.enter_context(socket.create_connection(("127.0.0.1", port))))
                flood[-1].sendall(report)
            refused = flood[-1]
            refused.settimeout(60)
            answer = refused.recv(65_536)

            for path in ("/admin/login/", "/api/v1/live"):
                assert status_of(answered(port, page(path))[0]) == 200, web.logs()
            assert status_of(answered(port, page("/api/v1/scheduler/health"))[0]) == 401
            assert ScheduleTask.objects.get(id=task).status == "AWAY"

        assert answer.startswith(b"HTTP/1.1 503"), answer
        assert 5 <= int(re.search(rb"Retry-After: (\d+)", answer)[1]) <= 15
        assert json.loads(answer.partition(b"\r\n\r\n")[2])["code"] == "SCH_503_OVERLOADED"
        statuses = [status_of(said(client)) for client in flood[:-1]]
        assert set(statuses) == {200, 503} and statuses.count(200) >= 64, (Counter(statuses), web.logs())
        assert status_of(answered(port, report)[0]) == 200, "sent again, it gets the same answer"
        wait_until(lambda: "web.refused kind=report count=" in web.logs(), 30, describe=web.logs)
    assert row(task).status == "SUCCESS"


def said(client: socket.socket) -> bytes:
    """The whole answer; nothing, if the connection was closed to make room for others once it had been sent."""
    client.settimeout(60)
    parts = []
    try:
        while part := client.recv(65_536):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)
