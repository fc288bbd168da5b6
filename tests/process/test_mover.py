"""A real beat that is killed while it moves what is over to the past."""

import threading
from datetime import UTC, datetime

from django.db import connection, connections, transaction

from django_punctual import schedule_many
from tasks_app.engine.beat.partitions import keep_partitions
from tasks_app.engine.doctor.whole import assert_consistent
from tasks_app.models import PastTask, ScheduleTask
from tasks_app.storage.partitions import partitions
from tests.support.wait import wait_until

KEYS = [f"key-{number}" for number in range(300)]


def movers_that_wait(partition: str) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pid FROM pg_locks WHERE relation = %s::regclass AND NOT granted", [partition])
        return [pid for (pid,) in cursor.fetchall()]


def test_a_beat_that_is_killed_while_it_moves_loses_and_doubles_nothing(stack):
    stack.knobs = {"KEEP_LIVE_SECONDS": 0.05, "MOVE_SECONDS": 0.05}  # it takes what is over at once
    keep_partitions()
    today = next(one.name for one in partitions("punctual_past_default") if one.covers(datetime.now(UTC)))
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"LOCK TABLE {today} IN SHARE MODE")  # reading goes on, writing waits
        beat = stack.beat()
        stack.worker()
        _schedule()
        wait_until(lambda: movers_that_wait(today), timeout=30, describe=stack.logs)

        beat.kill()

        assert PastTask.objects.count() == 0
    # What the killed one had asked for is not done although its server goes on with it: nobody commits.
    wait_until(lambda: not movers_that_wait(today), describe="the session of the killed beat to end")
    stack.beat()
    wait_until(lambda: ScheduleTask.objects.count() == 0, timeout=30, describe=stack.logs)
    assert sorted(PastTask.objects.values_list("biz_key", flat=True)) == sorted(KEYS)
    assert set(PastTask.objects.values_list("status", flat=True)) == {"SUCCESS"}
    assert_consistent()


def _schedule() -> None:
    """In a transaction of their own, since the test's own is still open."""

    def act() -> None:
        try:
            schedule_many("T_QUIET", [{"key": key} for key in KEYS])
        finally:
            connections.close_all()

    thread = threading.Thread(target=act)
    thread.start()
    thread.join()
