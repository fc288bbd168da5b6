"""The API against others who change the same thing at the same time."""

import threading

import pytest
from django.db import connection, connections, transaction

from django_punctual import Outcome, reschedule
from tasks_app.lifecycle.unit_revision import is_newest
from tasks_app.models import ScheduleTask
from tests.support.api import Api
from tests.support.engine import row
from tests.support.marks import commits
from tests.support.moves import MONDAY, TUESDAY, TYPE, WEDNESDAY, ids_of, scheduled, started
from tests.support.overlap import overlap
from tests.support.wait import wait_until

pytestmark = commits


@pytest.mark.parametrize("revision", [None, 7])
def test_a_move_by_id_does_not_move_the_task_that_took_its_place(revision):
    old, api = ids_of(started("a"))[0], Api()
    asked = {"at": WEDNESDAY.isoformat(), "revision": revision}

    first, second = overlap(
        lambda: reschedule(TYPE, "a", at=TUESDAY), lambda: api.post(f"/tasks/{old}/reschedule", asked)
    )

    assert (first.outcome, second.body["outcome"]) == (Outcome.REPLACED, "SUPERSEDED")
    assert row(first.task_id).due_at == TUESDAY


def test_a_move_by_id_locks_the_task_after_the_revision_as_one_by_unit_does():
    """The other way round the two could wait for each other."""
    [task], api = scheduled("a", at=MONDAY), Api()
    asked = {"at": TUESDAY.isoformat(), "revision": 8}
    mover = threading.Thread(target=lambda: (api.post(f"/tasks/{task}/reschedule", asked), connections.close_all()))

    with transaction.atomic():
        is_newest(("default", TYPE, "a"), 7)
        mover.start()
        wait_until(somebody_waits, describe=lambda: "the mover waits for nothing")
        ScheduleTask.objects.select_for_update(nowait=True).get(id=task)
    mover.join(20)

    assert row(task).due_at == TUESDAY


def somebody_waits() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
        return cursor.fetchone()[0] > 0
