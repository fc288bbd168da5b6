"""A real web process whose database is stopped, unreachable or frozen: what watches it is answered all the same."""

import http.client
import json
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from django.db import connection

from chaos.proxy import Proxy
from tasks_app.engine.beat.counting import count
from tasks_app.engine.operations import api_tokens
from tasks_app.engine.web import door
from tasks_app.metrics import view
from tests.support.marks import commits
from tests.support.operators import operator
from tests.support.stack import database_proxy, serving, url_of_test_database
from tests.support.wait import wait_until

pytestmark = commits

# Longer than anybody here waits for an answer: one that waits for the database is not given at all.
CONNECT_SECONDS, PATIENCE_SECONDS = 120, 40


class Answer(NamedTuple):
    status: int
    text: str


@contextmanager
def refused(proxy: Proxy) -> Iterator[None]:
    """It was stopped: connections have ended, and there is no new one."""
    proxy.cut()
    yield
    proxy.heal()


@contextmanager
def unheard(proxy: Proxy) -> Iterator[None]:
    """The network swallows everything, and nobody is told."""
    proxy.stall()
    yield
    proxy.heal()


@contextmanager
def frozen(proxy: Proxy) -> Iterator[None]:
    """All its processes have got SIGSTOP: it takes connections, and says nothing. (Not that of another machine.)"""
    with connection.cursor() as cursor:
        cursor.execute("SHOW data_directory")
        told = Path(cursor.fetchone()[0]) / "postmaster.pid"
    processes = []
    if not told.exists():
        proxy.stall()
    try:
        if told.exists():
            first = told.read_text().split()[0]
            processes.append(int(first))
            os.kill(processes[0], signal.SIGSTOP)  # first, so that it has no more children than these
            for pid in Path(f"/proc/{first}/task/{first}/children").read_text().split():
                processes.append(int(pid))
                os.kill(int(pid), signal.SIGSTOP)
        yield
    finally:
        for pid in processes:
            os.kill(pid, signal.SIGCONT)
        proxy.heal()


def asking(url: str) -> Callable[..., Answer]:
    def ask(path: str, token: str = "") -> Answer:
        with closing(http.client.HTTPConnection(urlsplit(url).netloc, timeout=PATIENCE_SECONDS)) as line:
            line.request("GET", path, headers={"Authorization": f"Bearer {token}"} if token else {})
            answer = line.getresponse()
            return Answer(answer.status, answer.read().decode())

    return ask


def says_so(answer: Answer) -> Answer | None:
    """What was read within the last second is as good as new."""
    return answer if "\npunctual_up 0.0\n" in answer.text else None


def test_metrics_and_health_answer_and_say_so_while_the_database_is_away():
    assert max(view.DEADLINE_SECONDS, door.ANSWER_SECONDS) < 2
    token = api_tokens.issue_for_metrics("prometheus", operator())[1]
    reader = api_tokens.issue("panel", "default", operator())[1]
    count()
    with closing(database_proxy()) as proxy:
        there = {"host": "127.0.0.1", "port": proxy.port, "connect_timeout": CONNECT_SECONDS}
        with serving(DATABASE_URL=url_of_test_database(**there)) as web:
            ask = asking(web.url)

            def is_well() -> bool:
                shown = ask("/metrics", token).text
                return "\npunctual_up 1.0\n" in shown and ask("/api/v1/scheduler/health", reader).status == 200

            for away in (refused, unheard, frozen):
                wait_until(is_well, 60, describe=web.logs)
                with away(proxy):
                    known = wait_until(lambda: says_so(ask("/metrics", token)), 20, describe=web.logs)
                    unknown = ask("/metrics", "pnc_nobody-knows-this-one")
                    health, live = ask("/api/v1/scheduler/health", reader), ask("/api/v1/live")

                assert (known.status, unknown.status) == (200, 503), away
                assert '\npunctual_due_tasks{lane="default"} 0.0\n' in known.text  # what it knew before
                assert "The database does not answer" in unknown.text
                assert (health.status, json.loads(health.text)["code"]) == (503, "SCH_503_DATABASE_DOWN")
                assert live.status == 200
            wait_until(is_well, 60, describe=web.logs)
