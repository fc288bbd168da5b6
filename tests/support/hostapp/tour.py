"""The whole path in a project with Punctual's tables in another database: prints what was seen as one JSON object."""

import json
import os
import signal
import sys
import tempfile
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import Permission, User
from django.core import checks
from django.core.management import call_command
from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.test import Client

from django_punctual import cancel, find, history, schedule
from django_punctual.compensation import compare_keys, differing_rows, waiting_keys
from django_punctual.jobs import JobRequest, create_job
from tasks_app.engine.operations.api_tokens import issue
from tasks_app.lifecycle.audit import Operator
from tasks_app.models import Node
from tests.support import nursery
from tests.support.hostapp.models import Order
from tests.support.hostapp.settings_of_session import settings_of_session
from tests.support.wait import wait_until

ME = Operator("me", "a tour")
BY_THE_BEAT = "seen by the beat"
seen: dict[str, object] = {}


def tables(alias: str) -> list[str]:
    return [name for name in connections[alias].introspection.table_names() if name.startswith(("punctual_", "auth_"))]


def see_tables() -> None:
    quiet = {"verbosity": 0, "interactive": False}
    call_command("migrate", run_syncdb=True, **quiet)
    call_command("migrate", "punctual", database="tasks", **quiet)
    seen["tables"] = {alias: tables(alias) for alias in connections}
    seen["permissions"] = Permission.objects.filter(content_type__app_label="punctual").count()
    found = checks.run_checks(databases=list(connections))
    seen["checks"] = [message.id for message in found if message.id.startswith("punctual.")]


class Processes:
    def __enter__(self) -> "Processes":
        self.folder = tempfile.TemporaryDirectory()
        self.log = Path(self.folder.name, "log")
        self.log.touch()
        connections.close_all()
        forked = nursery.fork()  # it has imported what they need
        self.running = [
            forked.start("celery", "-A", "django_punctual", *words.split(), env=os.environ, log=str(self.log))
            for words in ("beat", "worker -c 1 --without-gossip --without-mingle -n tour@test")
        ]
        wait_until(lambda: Node.objects.count() == 2 or self.ended(), 60, describe=self.text)
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.running:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(10)
        self.folder.cleanup()

    def ended(self) -> bool:
        assert all(process.poll() is None for process in self.running), self.text()
        return False

    def text(self) -> str:
        return self.log.read_text()[-6000:]


def done(processes: Processes, task_type: str, key: str, status: str = "SUCCESS") -> int:
    """Waits for the end of it; returns how many tries that took."""
    wait_until(lambda: find(task_type, key).status == status or processes.ended(), 40, describe=processes.text)
    return len(history(task_type, key))


def see_runs(processes: Processes) -> None:
    web = Client(raise_request_exception=False)
    seen["web"] = web.get("/order/web").json()["tasks"]
    done(processes, "HOST_LOOK", "web")
    seen["worker"] = Order.objects.get(name="web").seen
    seen["failed request"] = web.get("/order/failed?fail=1").status_code
    seen["left of it"] = [find("HOST_LOOK", "failed"), Order.objects.filter(name="failed").count()]

    schedule("HOST_EFFECT", "effect", payload={"succeed_at": 2})
    done(processes, "HOST_EFFECT", "effect")
    seen["effect"] = Order.objects.get(name="effect").seen["attempt"]

    # The worker keeps its connection to the project's database, and that one is lost.
    with connections["tasks"].cursor() as cursor:
        cursor.execute(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = %s AND pid <> %s",
            [settings.DATABASES[DEFAULT_DB_ALIAS]["NAME"], connections[DEFAULT_DB_ALIAS].connection.info.backend_pid],
        )
        seen["lost connections"] = cursor.fetchone()[0]
    schedule("HOST_LOOK", "after a loss")
    done(processes, "HOST_LOOK", "after a loss")

    create_job(JobRequest("every second", "HOST_LOOK", every=1), ME)
    fired = Order.objects.exclude(name__in=["web", "effect", "after a loss", BY_THE_BEAT])
    wait_until(lambda: fired.exists() or processes.ended(), 40, describe=processes.text)
    scanned = Order.objects.filter(name=BY_THE_BEAT)
    wait_until(lambda: scanned.exists() or processes.ended(), 40, describe=processes.text)
    seen["beat"] = scanned.get().seen
    schedule("HOST_LOOK", "rolling", repeat_after=0.2)
    wait_until(lambda: len(history("HOST_LOOK", "rolling")) >= 2 or processes.ended(), 40, describe=processes.text)


def see_transactions() -> None:
    try:
        with transaction.atomic():
            Order.objects.create(name="theirs")
            schedule("HOST_LOOK", "theirs", delay=3600)
            raise KeyError
    except KeyError:
        seen["their rollback"] = [Order.objects.filter(name="theirs").count(), find("HOST_LOOK", "theirs").status]
    try:
        with transaction.atomic("tasks"):
            schedule("HOST_LOOK", "ours", delay=3600)
            raise KeyError
    except KeyError:
        seen["our rollback"] = find("HOST_LOOK", "ours")


def see_scans() -> None:
    for name in ("wanted", "unplanned"):
        Order.objects.create(name=name)
    for key in ("wanted", "unwanted"):
        schedule("HOST_EFFECT", key, delay=3600)
    rows = Order.objects.filter(name__in=["wanted", "unplanned"])
    compared = compare_keys("HOST_EFFECT", rows, key="name")
    seen["compared"] = [compared.wanted, sorted(compared.not_waiting), sorted(compared.unwanted)]
    seen["compared with nothing"] = compare_keys("HOST_EFFECT", rows.none(), key="name").not_waiting
    seen["differing"] = sorted(differing_rows("HOST_EFFECT", rows, key="name"))
    seen["planned"] = waiting_keys("HOST_EFFECT", rows, key="name")
    cancel("HOST_EFFECT", "unwanted", reason="a tour")


def see_pages() -> None:
    User.objects.create_superuser("boss", password="x")
    people = Client(raise_request_exception=False)
    people.login(username="boss", password="x")
    pages = ("scheduletask", "jobdefinition", "taskbatch", "node", "auditentry", "apitoken", "subscription")
    pages += ("host", "secret")
    seen["pages"] = {name: people.get(f"/punctual/punctual/{name}/").status_code for name in pages}
    bearer = {"Authorization": f"Bearer {issue('tour', 'default', ME, can_write=True)[1]}"}
    api = Client(headers=bearer, raise_request_exception=False)
    body = json.dumps({"name": "of the API", "task_type": "HOST_LOOK", "every": 3600})
    made = [api.post("/punctual/api/v1/jobs", body, content_type="application/json") for _ in range(2)]
    read = [api.get(f"/punctual/api/v1/{name}") for name in ("tasks", "scheduler/health")]
    seen["api"] = [answer.status_code for answer in (*made, *read)]


def main() -> None:
    see_tables()
    with Processes() as processes:
        see_runs(processes)
        see_pages()
    see_transactions()
    see_scans()
    seen["command"] = settings_of_session("tasks")
    sys.stdout.write(json.dumps(seen, default=str))
