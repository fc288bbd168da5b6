"""What a child of the pool has from its parent."""

import os
import threading
from types import SimpleNamespace

import pytest
from celery import Celery
from celery.signals import worker_init
from django.db import connection, connections

from django_punctual import schedule
from tasks_app.engine import celery_app
from tasks_app.engine.worker import process, shutdown
from tasks_app.engine.worker.executor import stop_threads
from tasks_app.engine.worker.process import leave_parents_connections
from tasks_app.models import Node
from tests.support.engine import run_due

pytestmark = pytest.mark.django_db(transaction=True)


def backend() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return cursor.fetchone()[0]


def test_a_child_has_a_connection_of_its_own_and_leaves_its_parents_alone():
    ours = backend()
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            leave_parents_connections()
            os.write(writing, str(backend()).encode())
            connection.close()
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    os.close(writing)
    theirs = int(os.read(reading, 20))
    os.close(reading)

    assert theirs != ours
    assert backend() == ours


def test_signals_of_another_apps_worker_in_this_process_change_nothing():
    theirs = SimpleNamespace(app=Celery("theirs", set_as_current=False), pool_cls="threads")

    process.begin(theirs)  # whose pool would be refused
    process.start_reporting(theirs)
    process.begin_shutdown()

    assert not Node.objects.exists()
    assert not shutdown.requested()


def test_the_threads_beside_guarded_batches_can_be_ended_and_are_begun_again_for_the_next():
    def beside() -> set[str]:
        return {one.name for one in threading.enumerate()} & {"punctual-watchdog", "punctual-heart"}

    for key in ("first", "second"):
        schedule("T_QUIET", key)
        run_due(guarded=True)
        assert beside() == {"punctual-watchdog", "punctual-heart"}
        stop_threads()
        assert beside() == set()


class OurWorker:
    app = celery_app.app
    pool_cls = "prefork"


def test_a_worker_has_its_connections_tuned_though_the_projects_tasks_can_not_be_imported(monkeypatch):
    """Celery only logs what a receiver of this signal raises, and the worker goes on."""
    theirs = Celery("theirs", set_as_current=False, include=["no_such_module_of_tasks"])
    monkeypatch.setattr(celery_app, "_project", theirs)
    monkeypatch.setattr(process, "_is_ours", False)
    untuned = connections.settings["default"] | {"CONN_MAX_AGE": 5}
    monkeypatch.setitem(connections.settings, "default", untuned)
    try:
        worker_init.send(OurWorker())

        assert connections.settings["default"]["CONN_MAX_AGE"] is None
    finally:
        connections["default"].close()
        del connections["default"]
