"""Wake-ups: at most one pending, none for what is later than the next look, never a burden on the caller."""

import socket
import threading
import time

import pytest
from django.conf import settings
from django.db import transaction
from django.test import override_settings

from tasks_app.client import schedule, schedule_many
from tasks_app.engine import wakeup
from tasks_app.engine.wakeup import NEXT_LOOK_KEY, SIGNAL_KEY, Listener, Sender
from tests.support.engine import row

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _fresh_sender(monkeypatch):
    """Each test starts with a sender that has not failed yet."""
    monkeypatch.setattr(wakeup, "SENDER", Sender())


@pytest.fixture
def listener():
    listener = Listener()
    yield listener
    listener.close()


def pending(redis) -> int:
    return redis.llen(SIGNAL_KEY)


def test_a_task_due_before_the_next_look_sends_one_signal_however_many_are_added(redis):
    for n in range(20):
        schedule("T_QUIET", n)

    assert pending(redis) == 1


def test_a_task_due_after_the_announced_look_sends_none(redis, listener):
    listener.announce(time.time() + 5)

    schedule("T_QUIET", "a", delay=60)

    assert pending(redis) == 0


def test_a_task_due_before_the_announced_look_sends_one(redis, listener):
    listener.announce(time.time() + 60)

    schedule("T_QUIET", "a", delay=5)

    assert pending(redis) == 1


def test_a_rollback_sends_none_and_leaves_nothing_for_the_next_transaction(redis, listener):
    listener.announce(time.time() + 60)
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        schedule("T_QUIET", "a")
        raise ZeroDivisionError
    with transaction.atomic():
        schedule("T_QUIET", "b", delay=3600)

    assert pending(redis) == 0


def test_nothing_is_sent_before_the_commit(redis):
    with transaction.atomic():
        schedule("T_QUIET", "a")
        assert pending(redis) == 0

    assert pending(redis) == 1


def test_a_rolled_back_savepoint_takes_only_its_own_signal_along(redis):
    with transaction.atomic():
        with pytest.raises(ZeroDivisionError), transaction.atomic():
            schedule("T_QUIET", "undone")
            raise ZeroDivisionError
        schedule("T_QUIET", "kept")

    assert pending(redis) == 1


def test_one_transaction_asks_redis_once(redis):
    before = redis.info("commandstats").get("cmdstat_eval", {}).get("calls", 0)
    with transaction.atomic():
        for n in range(30):
            schedule("T_QUIET", n)
        schedule_many("T_QUIET", [{"key": f"m{n}"} for n in range(30)])

    assert redis.info("commandstats")["cmdstat_eval"]["calls"] - before == 1


def test_a_signal_sent_before_the_wait_ends_it_at_once(listener):
    schedule("T_QUIET", "a")

    assert listener.wait(20) is True


def test_a_signal_sent_during_the_wait_ends_it(listener):
    waited = []
    thread = threading.Thread(target=lambda: waited.append(listener.wait(20)))
    thread.start()

    schedule("T_QUIET", "a")
    thread.join(10)

    assert waited == [True]


def test_a_wait_without_a_signal_ends_by_itself(listener):
    assert listener.wait(0.01) is False


def test_a_wait_can_be_interrupted(listener):
    thread = threading.Thread(target=lambda: listener.wait(60))
    thread.start()

    listener.interrupt()
    thread.join(10)

    assert not thread.is_alive()


def test_a_listener_whose_connection_was_cut_waits_by_the_clock_and_comes_back(redis, listener):
    listener.wait(0.01)
    with override_settings(PUNCTUAL=settings.PUNCTUAL | {"WAKEUP_PAUSE_SECONDS": 0.01}):
        for one in redis.client_list():
            if one["cmd"] == "blpop":
                redis.client_kill_filter(_id=one["id"])
        assert listener.wait(5) is False

        schedule("T_QUIET", "a")

        assert listener.wait(0.05) or listener.wait(20)


class StalledRedis:
    """Accepts connections and never answers."""

    def __init__(self) -> None:
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.accepted: list[socket.socket] = []
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.socket.getsockname()[1]}/0"

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            self.accepted.append(connection)

    def close(self) -> None:
        self.socket.close()
        for connection in self.accepted:
            connection.close()


@pytest.fixture
def stalled_redis():
    server = StalledRedis()
    with override_settings(PUNCTUAL=settings.PUNCTUAL | {"REDIS_URL": server.url}):
        yield server
    server.close()


def test_a_stalled_redis_neither_fails_nor_holds_the_caller_and_is_left_alone_for_a_while(stalled_redis, caplog):
    ids = [schedule("T_QUIET", n).task_id for n in range(5)]

    assert {row(i).status for i in ids} == {"INIT"}
    assert len(stalled_redis.accepted) <= 1
    assert len([r for r in caplog.records if r.getMessage().startswith("wakeup.failed")]) == 1


def test_a_redis_that_is_not_there_does_not_fail_the_caller():
    with override_settings(PUNCTUAL=settings.PUNCTUAL | {"REDIS_URL": "unix:///nonexistent/valkey.sock"}):
        task = schedule("T_QUIET", "a")

    assert row(task.task_id).status == "INIT"


def test_the_announcement_is_on_the_database_clock(redis, listener):
    listener.announce(1234.5)

    assert float(redis.get(NEXT_LOOK_KEY)) == 1234.5
