"""What a child of the pool has from its parent."""

import os
from types import SimpleNamespace

import pytest
from celery import Celery
from django.db import connection

from tasks_app.engine.worker import process, shutdown
from tasks_app.engine.worker.process import leave_parents_connections
from tasks_app.models import Node

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
