"""A synchronous standby takes over: nothing that was acknowledged is lost, and nothing counts on the old primary."""

import json
import os
import secrets
import shutil
import signal
import tempfile
import threading
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import psycopg
import pytest
from django.contrib.auth import get_user_model
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection
from django.test import Client
from django.urls import reverse

from django_punctual import schedule
from tasks_app import scope
from tasks_app.console.site import console
from tasks_app.embedded.postgres import Postgres
from tasks_app.embedded.standby import Standby
from tasks_app.engine.barrier import Barrier
from tasks_app.engine.primaries import NotPrimary
from tasks_app.engine.watch.site_status import read_sites
from tasks_app.engine.web.standby import REFUSED, STANDBY, WORDS
from tasks_app.lifecycle.installation import read_installation
from tasks_app.models import AnyTask, AuditEntry, JobDefinition, LanePause, ScheduleTask
from tests.support.api import Api
from tests.support.engine import row
from tests.support.quarantine import base_backup, second_server, using
from tests.support.stack import Stack, url_of_test_database
from tests.support.testapp.models import Effect
from tests.support.wait import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
# What changes nothing, with what it needs to know: {task}, {job}, {file}.
READING = """
alarms list, api_token list, archive, audit, audit verify, backfill nightly --since 2026-11-01, backup, calendars list,
campaign list, campaign start cancel --type T_QUIET --reason r --dry-run, compensate --dry-run, dlq list, dlq groups,
dlq replay --all --dry-run, doctor, doctor --past, failover report, history, history --unit T_QUIET shown, jobs list,
jobs apply {file} --check, keys show, lane list, member list, outbox, plan --preview nightly, quarantine show,
quarantine resume --dry-run, recover, recover INC-1 --dry-run, restore_day 2026-11-01 --dry-run, rules list,
rules history, scheduler_status, scheduler_status --wait=0, secrets list, secrets status, site show,
site activate main --dry-run, site standby --dry-run, slo, stock coverage, storage, tenant list, tenant show acme,
tenant suspend acme --reason r --dry-run, tenant use acme, why {task}, why --job {job}, worker list
"""
FOR_PROGRAMS = """
alarms list --json, doctor --json, failover report --json, outbox --json, quarantine show --json, recover --json,
scale --show, scheduler_status --json, site show --json, slo --json, storage --json, tenant show acme --json
"""
FILES = (
    "audit --json, audit --csv, audit export, database roles --dry-run, history --json, history --csv -, jobs export"
)
OPTIONS = {"fsync": "off", "shared_buffers": "128MB"}  # a killed process loses nothing that it has written


@pytest.fixture(scope="module")
def servers(django_db_setup, django_db_blocker) -> Iterator[Standby]:
    """Two servers with what the tests' own has: a primary, and its synchronous standby."""
    with django_db_blocker.unblock(), second_server(OPTIONS) as primary:
        base_backup(primary.data)
        primary.start()
        home = Path(tempfile.gettempdir(), f"punctual-standby-{secrets.token_hex(8)}")
        standby = Standby(primary, home, OPTIONS)
        standby.follow()
        standby.be_synchronous()
        yield standby
        standby.discard()
        shutil.rmtree(home, ignore_errors=True)


@pytest.fixture
def pair(servers: Standby, transactional_db) -> Iterator[Standby]:
    """Whoever connects finds the primary among them."""
    options = connection.settings_dict["OPTIONS"] | {"target_session_attrs": "read-write", "connect_timeout": 2}
    with using(HOST=f"{servers.primary.sockets},{servers.sockets}", PORT="5432", OPTIONS=options):
        yield servers


def test_the_console_and_the_api_answer_from_the_standby_while_nobody_takes_writes(pair, client):
    client.force_login(get_user_model().objects.create_superuser("ann"))
    schedule("T_QUIET", "shown", payload={})
    theirs = schedule("T_QUIET", "of acme", tenant="acme", delay=3600).task_id
    api, acme, other = Api(), Api("acme"), Api("other")
    assert b"Read-only" not in client.get(reverse("admin:index")).content
    [follower] = read_sites().standbys
    assert (follower.state, follower.sync, follower.behind_bytes is not None) == ("streaming", "sync", True)
    page = client.get(reverse("admin:punctual_site_changelist")).content.decode()
    assert "Standbys of the database" in page and f"{follower.name}, sync, streaming" in page
    connection.close()
    os.killpg(pair.primary.pid, signal.SIGSTOP)  # its machine swallows packets
    try:
        pages = [
            reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
            for model in console()._registry
        ]
        answers = {page: client.get(page) for page in [reverse("admin:index"), *pages]}
        health = api.get("/scheduler/health")

        assert connection.connection.info.host == str(pair.sockets)
        assert {page for page, answer in answers.items() if answer.status_code != 200} == set()
        ours = [answer for page, answer in answers.items() if page == reverse("admin:index") or "/punctual/" in page]
        assert (len(ours) > 10, all(b"Read-only" in answer.content for answer in ours)) == (True, True)
        assert b"shown" in answers[reverse("admin:punctual_scheduletask_changelist")].content
        assert (health.status, health.body["status"], health.body["problems"][0]) == (200, "trouble", WORDS)
        # Tenants are kept apart there, too, by the database alone if need be.
        assert [one["key"] for one in acme.get("/tasks").body["items"]] == ["of acme"]
        assert (acme.get(f"/tasks/{theirs}").status, other.get(f"/tasks/{theirs}").status) == (200, 404)
        with scope.request():
            scope.settle("other")
            assert (ScheduleTask.objects.count(), AnyTask.objects.count()) == (0, 0)
        refused = api.post("/tasks", {"task_type": "T_QUIET", "key": "b", "delay": 60})
        assert (refused.status, refused.code, refused.body["detail"]) == (503, "SCH_503_DATABASE_DOWN", REFUSED)
        page = client.post(reverse("admin:punctual_jobdefinition_add"), {"name": "j"})
        assert (page.status_code, page["Retry-After"], REFUSED in page.content.decode()) == (503, "5", True)
        assert api.get("/live").status == 200
    finally:
        os.killpg(pair.primary.pid, signal.SIGCONT)

    wait_until(lambda: _reads(client) == str(pair.primary.sockets), timeout=30)
    assert b"Read-only" not in client.get(reverse("admin:index")).content
    assert api.post("/tasks", {"task_type": "T_QUIET", "key": "b", "delay": 60}).status == 201


def test_commands_that_only_read_answer_from_the_standby_and_all_others_fail(pair, settings, tmp_path):
    folders = {"ARCHIVE_URL": str(tmp_path), "BACKUP_URLS": [str(tmp_path)]}
    settings.PUNCTUAL = settings.PUNCTUAL | folders
    (tmp_path / "jobs.yaml").write_text("jobs: [{name: nightly, task_type: T_QUIET, cron: 0 3 * * *}]")
    _told("jobs", "apply", str(tmp_path / "jobs.yaml"))
    _told("quarantine", "show")  # the installation has its row
    task = schedule("T_QUIET", "shown", payload={}, tenant="acme").task_id
    about = {"task": task, "job": JobDefinition.objects.get().id, "file": tmp_path / "jobs.yaml"}
    gone = {"HOST": f"/nowhere,{pair.sockets}"}
    with using(**gone):
        wait_until(lambda: _told("why", str(task))[0] == 0, timeout=30)  # the standby has applied it
        read_from = f"Read from the standby {pair.sockets}:5432, since no server of the database takes writes."
        for words in _split(READING.format(**about)):
            code, out, err = _told(*words)
            assert (words, out.startswith(read_from), "can't be" in err) == (words, True, False), (code, out, err)
        for words in _split(FOR_PROGRAMS):
            _, out, err = _told(*words)
            found = json.loads(out)["read_from"]
            assert (words, found["server"], found["standby"]) == (words, f"{pair.sockets}:5432", True)
            assert err.startswith(read_from)
        for words in _split(FILES):
            _, out, err = _told(*words)
            assert (words, "Read from" in out, err.startswith(read_from)) == (words, False, True)

        code, out, _ = _told("scheduler_status", "--json")
        status = json.loads(out)
        assert (code, status["verdict"], status["problems"][0], status["unserved"][0]) == (1, "trouble", WORDS, WORDS)
        assert _told("lane", "pause", "low", "--reason", "r") == (2, "", REFUSED)
    wait_until(lambda: "Read from" not in _told("lane", "list")[1], timeout=30)
    with using(**gone):  # as in a process that has read nothing yet
        for words in ("lane pause low --reason r", "doctor --repair due", "quarantine enter --reason r"):
            assert (_told(*words.split())[0], STANDBY.reading) == (2, False)
        assert _told("scheduler_status", "--here")[0] == 2
    assert not LanePause.objects.exists()


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
    assert Effect.objects.filter(task_id__in=[done, *accepted]).count() == len(accepted) + 1
    assert (row(done).status, ScheduleTask.objects.filter(biz_key="split").exists()) == ("SUCCESS", False)
    seen = read_installation()
    assert (seen.state, seen.facts.timeline) == ("ACTIVE", 2)
    assert AuditEntry.objects.filter(verb="adopt").count() == 1
    assert not AuditEntry.objects.filter(verb="failover").exists()  # nothing that anybody had seen was taken back

    # And back again, on its old timeline, taking writes as if nothing had been.
    primary.start()
    Barrier().look()
    with using(HOST=f"{primary.sockets},{pair.sockets}"):
        with pytest.raises(NotPrimary, match="is on timeline 1, and this installation has been on timeline 2"):
            Barrier().look()
        Barrier().look()
        assert connection.connection.info.host == str(pair.sockets)
    stack.stop()


def _reads(client: Client) -> str:
    """The server that a page was read from."""
    client.get(reverse("admin:index"))
    return connection.connection.info.host


def _split(commands: str) -> list[list[str]]:
    return [one.split() for one in commands.split(",")]


def _told(*words: str) -> tuple[int, str, str]:
    """The exit code of a command, and what it printed."""
    out, err = StringIO(), StringIO()
    try:
        call_command(*words, stdout=out, stderr=err)
    except CommandError as error:
        return error.returncode, out.getvalue(), str(error)
    except SystemExit as end:
        return end.code, out.getvalue(), err.getvalue()
    return 0, out.getvalue(), err.getvalue()


def _unfinished(ids: list[int]) -> int:
    return ScheduleTask.objects.filter(id__in=ids).exclude(status="SUCCESS").count()
