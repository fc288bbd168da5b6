"""A synchronous standby takes over: nothing that was acknowledged is lost, and nothing counts on the old primary."""

import os
import secrets
import shutil
import signal
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from django.db import OperationalError, connection

from tasks_app.client import schedule
from tasks_app.embedded.postgres import Postgres
from tasks_app.embedded.standby import Standby
from tasks_app.engine.barrier import Barrier
from tasks_app.engine.primaries import NotPrimary
from tasks_app.lifecycle.installation import read_installation
from tasks_app.models import AuditEntry, ScheduleTask
from tests.support.engine import row
from tests.support.quarantine import base_backup, second_server, using
from tests.support.stack import Stack, url_of_test_database
from tests.support.testapp.models import Effect
from tests.support.wait import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
OPTIONS = {"fsync": "off", "shared_buffers": "128MB"}  # a killed process loses nothing that it has written


@pytest.fixture
def pair(transactional_db) -> Iterator[Standby]:
    """Two servers with what the tests' own has: a primary, and its synchronous standby. Whoever connects finds the
    primary among them."""
    with second_server(OPTIONS) as primary:
        base_backup(primary.data)
        primary.start()
        home = Path(tempfile.gettempdir(), f"punctual-standby-{secrets.token_hex(8)}")
        standby = Standby(primary, home, OPTIONS)
        standby.follow()
        standby.be_synchronous()
        options = connection.settings_dict["OPTIONS"] | {"target_session_attrs": "read-write"}
        with using(HOST=f"{primary.sockets},{standby.sockets}", PORT="5432", OPTIONS=options):
            yield standby
        standby.discard()
        shutil.rmtree(home, ignore_errors=True)


class Caller(threading.Thread):
    """Schedules a task, and notes what it was told."""

    def __init__(self, key: str) -> None:
        super().__init__(daemon=True)
        self.key, self.pid, self.told = key, None, None

    def run(self) -> None:
        connection.ensure_connection()
        self.pid = connection.connection.info.backend_pid
        try:
            self.told = schedule("T_EFFECT", self.key, payload={})
        except OperationalError as error:
            self.told = error
        connection.close()


def test_beats_and_workers_find_the_promoted_standby_and_nothing_is_lost_or_counts_elsewhere(stack: Stack, pair):
    primary: Postgres = pair.primary
    env = {"DATABASE_URL": f"{url_of_test_database()}&target_session_attrs=read-write"}
    stack.worker(**env)
    stack.beat(**env)
    done = schedule("T_EFFECT", "before", payload={}).task_id
    wait_until(lambda: row(done).status == "SUCCESS", timeout=30, describe=stack.logs)
    accepted = [schedule("T_EFFECT", f"k{n}", payload={}).task_id for n in range(50)]
    wait_until(lambda: read_installation().standbys, timeout=30, describe=stack.logs)  # a beat has seen it stream

    # Split off: it answers, and whoever is connected to it still is. But nothing that they do there is done.
    pair.promote()
    caller = Caller("split")
    caller.start()
    waits = "SELECT count(*) FROM pg_stat_activity WHERE pid = {} AND wait_event = 'SyncRep'"
    wait_until(lambda: caller.pid and primary.execute(waits.format(caller.pid)), timeout=30, describe=stack.logs)
    seen_there = "SELECT count(*) FROM punctual_task WHERE biz_key = 'split'"
    with psycopg.connect(host=str(primary.sockets), user="punctual", dbname=connection.settings_dict["NAME"]) as there:
        assert (there.execute(seen_there).fetchone(), caller.told) == ((0,), None)
    os.killpg(primary.pid, signal.SIGKILL)
    caller.join(30)
    assert isinstance(caller.told, OperationalError)
    connection.close()

    accepted += [schedule("T_EFFECT", "after", payload={}).task_id]
    wait_until(lambda: not _unfinished(accepted), timeout=60, describe=stack.logs)
    assert Effect.objects.count() == len(accepted) + 1
    assert (row(done).status, ScheduleTask.objects.filter(biz_key="split").exists()) == ("SUCCESS", False)
    seen = read_installation()
    assert (seen.state, seen.facts.timeline) == ("ACTIVE", 2)
    assert [entry.verb for entry in AuditEntry.objects.all()] == ["adopt"]

    # And back again, on its old timeline, taking writes as if nothing had been.
    primary.start()
    Barrier().look()
    with using(HOST=f"{primary.sockets},{pair.sockets}"):
        with pytest.raises(NotPrimary, match="is on timeline 1, and this installation has been on timeline 2"):
            Barrier().look()
        Barrier().look()
        assert connection.connection.info.host == str(pair.sockets)
    stack.stop()


def _unfinished(ids: list[int]) -> int:
    return ScheduleTask.objects.filter(id__in=ids).exclude(status="SUCCESS").count()
