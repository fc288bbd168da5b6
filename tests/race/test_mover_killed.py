"""The mover, or who brings a task back, is killed between any two steps: that changes nothing but when it is done."""

import threading
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from django.db import OperationalError, connection, connections, transaction

from django_punctual import cancel, ensure, schedule
from tasks_app.engine.beat.partitions import keep_partitions
from tasks_app.lifecycle.past import move_batches, move_strays
from tasks_app.models import PastBatch, PastTask, ScheduleTask, TaskBatch
from tasks_app.storage.partitions import partitions
from tests.support.marks import commits
from tests.support.moves import TUESDAY, TYPE, scheduled, settled, started
from tests.support.wait import wait_until

pytestmark = commits


@pytest.fixture(autouse=True)
def _at_once(settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"KEEP_LIVE_SECONDS": 0.000001}


class Victim(threading.Thread):
    """Does something in a session of its own, which is terminated before it is done."""

    def __init__(self, action: Callable[[], object]) -> None:
        super().__init__()
        self._action = action
        self._pid: int | None = None
        self.error: Exception | None = None
        self.start()

    def run(self) -> None:
        try:
            connection.ensure_connection()
            self._pid = connection.connection.info.backend_pid
            self._action()
        except Exception as error:
            self.error = error
        finally:
            connections.close_all()

    def kill(self) -> None:
        """Once it waits for something."""
        wait_until(lambda: not self.is_alive() or (self._pid and _waits(self._pid)), describe="the victim to wait")
        assert self.is_alive(), f"it was done before it was killed: {self.error}"
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s, 10000)", [self._pid])
            assert cursor.fetchone() == (True,)

    def end(self) -> None:
        self.join(60)
        assert isinstance(self.error, OperationalError), self.error


def _waits(pid: int) -> bool:
    """For a lock, or for its client to go on."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_clear_snapshot()")  # within a transaction the first look would last
        cursor.execute(
            "SELECT wait_event_type = 'Lock' OR state = 'idle in transaction' FROM pg_stat_activity WHERE pid = %s",
            [pid],
        )
        return cursor.fetchone() == (True,)


def killed_halfway(action: Callable[[], object], hold: Callable[[], object]) -> None:
    """Killed within its statement, when it comes to what `hold` has in a transaction that is rolled back afterwards."""
    with transaction.atomic():
        hold()
        victim = Victim(action)
        victim.kill()
        victim.end()
        transaction.set_rollback(True)


def partition_of_now(family: str) -> str:
    """A statement takes the lock of a partition when the first row gets there: those before it are deleted by then."""
    return next(one.name for one in partitions(family) if one.covers(datetime.now(UTC)))


def killed_before_commit(action: Callable[[], object]) -> None:
    """Killed when the statement is done and the transaction is not."""
    killed = threading.Event()

    def act() -> None:
        with transaction.atomic():
            action()
            killed.wait(20)

    victim = Victim(act)
    victim.kill()
    killed.set()
    victim.end()


def places() -> tuple[list[str], list[str], int, int]:
    """Keys that are live, keys in the past, batches here and there."""
    live = ScheduleTask.objects.order_by("biz_key").values_list("biz_key", flat=True)
    past = PastTask.objects.order_by("biz_key").values_list("biz_key", flat=True)
    return list(live), list(past), TaskBatch.objects.count(), PastBatch.objects.count()


def over() -> None:
    """Two tasks that a batch ran, and a stray, which no batch knows of."""
    keep_partitions()
    settled(started("a", "b"))
    scheduled("stray", at=TUESDAY)
    cancel(TYPE, "stray")


def move() -> None:
    move_batches()
    move_strays(0)


@pytest.mark.parametrize(
    ("step", "family"),
    [
        (move_batches, "punctual_past_default"),
        (move_batches, "punctual_past_batch"),
        (lambda: move_strays(0), "punctual_past_default"),
    ],
    ids=["tasks", "batches", "strays"],
)
def test_a_mover_that_is_killed_within_a_step_has_moved_nothing(step, family):
    over()
    before = places()

    def hold() -> None:
        with connection.cursor() as cursor:
            cursor.execute(f"LOCK TABLE {partition_of_now(family)} IN SHARE MODE")  # reading goes on, writing waits

    killed_halfway(step, hold)

    assert places() == before == (["a", "b", "stray"], [], 1, 0)
    move()
    assert places() == ([], ["a", "b", "stray"], 0, 1)


@pytest.mark.parametrize("step", [move_batches, lambda: move_strays(0)], ids=["batches", "strays"])
def test_a_mover_that_is_killed_before_it_commits_has_moved_nothing(step):
    over()

    killed_before_commit(step)

    assert places() == (["a", "b", "stray"], [], 1, 0)
    move()
    assert places() == ([], ["a", "b", "stray"], 0, 1)


def test_a_mover_that_is_killed_between_two_steps_goes_on_where_it_was():
    over()

    move_batches()  # and no more

    assert places() == (["stray"], ["a", "b"], 0, 1)
    move()
    assert places() == ([], ["a", "b", "stray"], 0, 1)


def test_a_way_back_that_is_cut_short_within_its_statement_changes_nothing():
    over()
    move()

    # The row is out of the past, and waits for whoever is in its place to commit.
    killed_halfway(lambda: ensure(TYPE, "a", at=TUESDAY), lambda: schedule(TYPE, "a", at=TUESDAY))

    assert places() == ([], ["a", "b", "stray"], 0, 1)


def test_a_task_whose_way_back_is_cut_short_is_still_in_the_past():
    over()
    move()

    killed_before_commit(lambda: ensure(TYPE, "a", at=TUESDAY))

    assert places() == ([], ["a", "b", "stray"], 0, 1)
    assert ensure(TYPE, "a", at=TUESDAY).outcome == "CREATED"
    assert places() == (["a", "a"], ["b", "stray"], 0, 1)
