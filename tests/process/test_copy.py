"""A copy of the database's files, started with the original's settings by mistake, fires nothing and calls nobody."""

from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from uuid import UUID

import pytest
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from django_punctual import ToWebhook, schedule, subscribe
from tasks_app.embedded.postgres import Postgres
from tasks_app.engine.beat.publisher import publish
from tasks_app.engine.queues import depths
from tasks_app.lifecycle.installation import look, touch
from tasks_app.models import AuditEntry, Installation, ScheduleTask
from tasks_app.sql import execute
from tests.support.alarms import LOCAL
from tests.support.engine import claim_due, row
from tests.support.http_receiver import http_receiver
from tests.support.quarantine import add_file, base_backup, second_server, using
from tests.support.servers import OPTIONS
from tests.support.stack import Stack, url_of_test_database
from tests.support.testapp.models import Effect
from tests.support.wait import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def second(transactional_db) -> Iterator[Postgres]:
    """A second server, to be started on a copy of the files of the first."""
    with second_server(OPTIONS) as server:
        yield server


def test_a_copy_of_the_files_fires_nothing_until_an_operator_lets_it_go_on(stack: Stack, second: Postgres, settings):
    stack.knobs = {"EVENTS": ["*"]}
    settings.PUNCTUAL = settings.PUNCTUAL | stack.knobs | {"OUTGOING_ALLOW": LOCAL}
    look()
    touch()
    with http_receiver() as hook:
        subscribe("them", events=["task.*"], to=ToWebhook(hook.url))
        claimed = schedule("T_PLAIN", "claimed").task_id
        [batch] = claim_due()
        due = schedule("T_PLAIN", "due", payload={}).task_id
        base_backup(second.data)
        second.spawn()
        second.wait_ready()
        publish([batch])  # for a worker of the original
        there = {"HOST": str(second.sockets), "PORT": "5432"}
        with using(**there):
            elsewhere = {"DATABASE_URL": url_of_test_database(), "OUTGOING_ALLOW": ",".join(LOCAL)}
            worker = stack.worker(**elsewhere)  # first: no beat has looked at the copy yet
            beat = stack.beat(**elsewhere)
            wait_until(lambda: "installation.closed" in beat.text(), describe=stack.logs)
            assert "installation.closed" in worker.text()

            seen = Installation.objects.get()
            assert (seen.state, "its files were in" in seen.reason) == ("QUARANTINED", True)
            beats_counted = "SELECT count(*) FROM punctual_chore WHERE name = 'count' AND done_at IS NOT NULL"
            wait_until(lambda: _value(beats_counted), timeout=30, describe=stack.logs)  # it has gone round
            assert row(claimed).status == "RUNNING" and row(due).status == "INIT"
            assert ScheduleTask.objects.exclude(id__in=[claimed, due]).count() == 0
            assert (Effect.objects.count(), hook.got) == (0, [])
            assert depths()["default"] == 1  # what was meant for the original is still there

            out = StringIO()
            call_command("quarantine", "resume", "--reason", "the original is gone", stdout=out)
            wait_until(lambda: row(due).status == "SUCCESS", timeout=30, describe=stack.logs)
            wait_until(lambda: row(claimed).status == "SUCCESS", timeout=30, describe=stack.logs)
            wait_until(lambda: hook.got, timeout=30, describe=stack.logs)
        stack.stop()
    assert (row(due).status, look().state, row(due).due_at <= timezone.now()) == ("INIT", "ACTIVE", True)
    assert UUID(batch.batch_no) == row(claimed).batch_no


def test_a_standby_that_streamed_goes_on_when_it_is_promoted(second: Postgres):
    look()
    own = connection.settings_dict
    base_backup(second.data)
    add_file(second.data / "standby.signal")
    with open(second.data / "postgresql.auto.conf", "a") as file:
        file.write(f"primary_conninfo = 'host={own['HOST']} port={own['PORT'] or 5432} user={own['USER']}'\n")
    with standbys_let_in():
        second.spawn()
        second.wait_ready()
        wait_until(lambda: _value("SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'"), timeout=30)
    execute("UPDATE punctual_sign SET at = clock_timestamp() - interval '5 s'")
    touch()
    ahead = "SELECT count(*) FROM pg_stat_replication WHERE replay_lsn >= pg_current_wal_insert_lsn()"
    wait_until(lambda: _value(ahead), timeout=30)
    with using(HOST=str(second.sockets), PORT="5432"):
        assert _value("SELECT pg_promote()")

        seen = look()

        assert (seen.state, seen.facts.timeline, seen.facts.directory) == ("ACTIVE", 2, str(second.data))
        [entry] = AuditEntry.objects.all()
        assert (entry.verb, "was promoted" in entry.reason) == ("adopt", True)
    assert look().facts.timeline == 1


@contextmanager
def standbys_let_in() -> Iterator[None]:
    rules = Path(_value("SHOW hba_file"))
    before = rules.read_text()
    rules.write_text(f"local replication all trust\n{before}")
    _value("SELECT pg_reload_conf()")
    try:
        yield
    finally:
        rules.write_text(before)
        _value("SELECT pg_reload_conf()")


def _value(statement: str) -> object:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchone()[0]
