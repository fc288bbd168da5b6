"""Wake-ups: at most one pending, none for what is later than the next look, never a burden on the caller."""

import socket
import threading
import time
from math import inf
from types import SimpleNamespace

import pytest
from django.conf import settings
from django.db import transaction
from django.test import override_settings

from django_punctual import reschedule, schedule, schedule_many
from tasks_app.conf import conf
from tasks_app.core.sharding import shard_of
from tasks_app.engine import wakeup
from tasks_app.engine.beat.listener import Listener, Woken
from tasks_app.engine.nodes import new_node_id
from tasks_app.engine.shared import Shared
from tasks_app.engine.wakeup import Breaker, Sender
from tests.support.engine import row

NEXT_LOOK_KEY = "punctual:next_look"
SIGNAL_KEY = "punctual:signal:"
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _fresh_sender(monkeypatch):
    """Each test starts with a sender that has not failed yet."""
    monkeypatch.setattr(wakeup, "SENDER", Sender())


@pytest.fixture
def listener():
    listener = Listener(new_node_id())
    listener.listen(range(conf().SHARDS))
    yield listener
    listener.close()


def pending(redis) -> int:
    """Signals in the lists of all shards."""
    return sum(redis.llen(key) for key in redis.keys(f"{SIGNAL_KEY}*"))


def shard(key: str) -> int:
    return shard_of("default", "T_QUIET", key, conf().SHARDS)


def test_however_many_tasks_are_added_one_signal_a_shard_is_pending(redis):
    for _ in range(3):
        for n in range(20):
            schedule("T_QUIET", n)
        schedule_many("T_QUIET", [{"key": f"more {n}"} for n in range(100)])

    assert {redis.llen(key) for key in redis.keys(f"{SIGNAL_KEY}*")} == {1}


def test_a_signal_goes_to_the_shard_of_its_task(redis):
    schedule("T_QUIET", "a")

    assert [key.decode() for key in redis.keys(f"{SIGNAL_KEY}*")] == [f"{SIGNAL_KEY}{shard('a')}"]


def test_a_task_in_one_shard_is_not_held_back_by_the_next_look_at_another(redis, listener):
    other = next(n for n in range(conf().SHARDS) if n != shard("a"))
    redis.hset(NEXT_LOOK_KEY, mapping={shard("a"): time.time() + 60, other: time.time() - 60})

    schedule("T_QUIET", "a", delay=1)

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
        schedule("T_QUIET", "b", delay=300)

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


def asked(redis) -> int:
    """How often anybody has asked Redis to send signals."""
    return redis.info("commandstats").get("cmdstat_eval", {}).get("calls", 0)


def test_one_transaction_asks_redis_once(redis):
    before = asked(redis)
    with transaction.atomic():
        for n in range(30):
            schedule("T_QUIET", n)
        schedule_many("T_QUIET", [{"key": f"m{n}"} for n in range(30)])

    assert asked(redis) - before == 1


def test_redis_is_not_asked_about_tasks_that_are_far_from_due(redis):
    before = asked(redis)

    schedule("T_QUIET", "a", delay=3600)
    schedule_many("T_QUIET", [{"key": f"m{n}", "delay": 3600 + n} for n in range(30)])
    reschedule("T_QUIET", "a", delay=7200)
    assert (asked(redis) - before, pending(redis)) == (0, 0)

    reschedule("T_QUIET", "a", delay=5)
    assert (asked(redis) - before, pending(redis)) == (1, 1)


def test_with_a_clock_that_is_minutes_behind_a_task_that_is_soon_due_sends_its_signal(redis, monkeypatch):
    monkeypatch.setattr(wakeup, "time", SimpleNamespace(time=lambda: time.time() - 300, monotonic=time.monotonic))

    schedule("T_QUIET", "a", delay=60)

    assert pending(redis) == 1


def test_a_signal_sent_before_the_wait_ends_it_at_once(listener):
    schedule("T_QUIET", "a")

    assert listener.wait(20) is Woken.TASKS


def test_a_signal_sent_during_the_wait_ends_it(listener):
    waited = []
    thread = threading.Thread(target=lambda: waited.append(listener.wait(20)))
    thread.start()

    schedule("T_QUIET", "a")
    thread.join(30)

    assert waited == [Woken.TASKS]


def test_a_wait_without_a_signal_ends_by_itself(listener):
    assert listener.wait(0.01) is Woken.NO


def test_a_wait_can_be_interrupted(listener):
    thread = threading.Thread(target=lambda: listener.wait(60))
    thread.start()

    listener.interrupt()
    thread.join(30)

    assert not thread.is_alive()


def test_a_listener_whose_connection_was_cut_waits_by_the_clock_and_comes_back(redis, listener):
    listener.wait(0.01)
    with override_settings(PUNCTUAL=settings.PUNCTUAL | {"WAKEUP_PAUSE_SECONDS": 0.01}):
        for one in redis.client_list():
            if one["cmd"] == "blpop":
                redis.client_kill_filter(_id=one["id"])
        assert listener.wait(5) is Woken.NO

        schedule("T_QUIET", "a")

        assert Woken.TASKS in (listener.wait(wait) for wait in (0.05, 20))


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
    pause = {"WAKEUP_PAUSE_SECONDS": 3600.0}  # of which a 64th is long enough for a test
    with override_settings(PUNCTUAL=settings.PUNCTUAL | {"REDIS_URL": server.url, "WAKEUP_MS": 50.0} | pause):
        yield server
    server.close()


def test_a_stalled_redis_neither_fails_nor_holds_the_caller_and_is_left_alone_for_a_while(stalled_redis, caplog):
    ids = [schedule("T_QUIET", n).task_id for n in range(5)]

    assert {row(i).status for i in ids} == {"INIT"}
    assert len(stalled_redis.accepted) <= 1
    assert len([r for r in caplog.records if r.getMessage().startswith("wakeup.failed")]) == 1


def test_pauses_get_longer_while_redis_keeps_failing_and_begin_anew_when_it_works():
    """A machine that stood still for a moment doesn't make a process deaf for seconds."""
    breaker, pauses = Breaker(), []
    for _ in range(9):
        breaker.trip()
        breaker.trip()  # by another thread, in the same stall
        pauses.append(breaker.pause_seconds)
        breaker._closed_again = 0.0  # it is over

    assert pauses[:3] == [5 / 64, 5 / 32, 5 / 16]
    assert pauses[5:] == [2.5, 5.0, 5.0, 5.0]
    breaker.worked()
    breaker.trip()
    assert breaker.open and breaker.pause_seconds == 5 / 64


def _listener() -> Listener:
    listener = Listener(new_node_id())
    listener.listen([0])
    return listener


@pytest.mark.parametrize(
    "make, ask",
    [
        (Sender, lambda sender: sender.wake({0: 0.0})),
        (_listener, lambda listener: listener.announce(1.0)),
        (lambda: Shared("test"), lambda shared: shared("return 1", [], [])),
    ],
)
def test_whatever_asks_redis_notices_that_it_works_again(redis, make, ask):
    user = make()
    ask(user)
    user._breaker.pause_seconds = 2.5  # as after failures, the last of them a while ago

    ask(user)

    assert user._breaker.pause_seconds == 0


def test_a_redis_that_is_not_there_does_not_fail_the_caller():
    with override_settings(PUNCTUAL=settings.PUNCTUAL | {"REDIS_URL": "unix:///nonexistent/valkey.sock"}):
        task = schedule("T_QUIET", "a")

    assert row(task.task_id).status == "INIT"


def test_the_announcement_is_on_the_database_clock(redis, listener):
    listener.announce(1234.5)

    assert {float(look) for look in redis.hvals(NEXT_LOOK_KEY)} == {1234.5}
    assert len(redis.hkeys(NEXT_LOOK_KEY)) == conf().SHARDS


def test_every_look_takes_the_signals_of_all_its_shards(redis, listener):
    for _ in range(2):
        schedule_many("T_QUIET", [{"key": f"{time.time()} {n}"} for n in range(100)])
        assert listener.wait(20) is Woken.TASKS
        assert pending(redis) > 1

        listener.heard()
        listener.take_signals(time.time() + 60)

        assert listener.heard() < time.time() + 1
        assert pending(redis) == 0
        listener.take_signals(time.time() + 60)
        assert listener.heard() == inf


def test_a_pending_signal_tells_of_the_earliest(redis, listener):
    earlier = time.time()
    redis.hset(NEXT_LOOK_KEY, shard("a"), earlier + 60)
    wakeup.SENDER.wake({shard("a"): earlier + 5})
    wakeup.SENDER.wake({shard("a"): earlier})
    wakeup.SENDER.wake({shard("a"): earlier + 10})

    listener.take_signals(earlier + 60)

    assert listener.heard() == earlier


@pytest.mark.parametrize("rubbish", ["", "soon", "nan"])
def test_rubbish_in_the_place_of_a_signal_tells_of_anything(redis, listener, rubbish):
    redis.lpush(f"punctual:{wakeup.SIGNAL}{shard('a')}", rubbish)
    wakeup.SENDER.wake({shard("a"): time.time()})

    listener.take_signals(time.time() + 60)

    assert listener.heard() <= 0


def test_a_signal_sent_after_the_signals_were_taken_is_not_lost(listener):
    """Between "I looked" and "I sleep": whoever commits now finds the look announced and no signal in the way."""
    schedule("T_QUIET", "a")
    assert listener.wait(20) is Woken.TASKS
    listener.take_signals(time.time() + 60)

    schedule("T_QUIET", "b", delay=1)

    assert listener.wait(20) is Woken.TASKS


def test_a_listener_hears_only_of_its_own_shards(listener):
    listener.listen([n for n in range(conf().SHARDS) if n != shard("a")])

    schedule("T_QUIET", "a")
    assert listener.wait(0.01) is Woken.NO

    listener.listen(range(conf().SHARDS))
    assert listener.wait(20) is Woken.TASKS


def test_a_beat_can_be_told_to_look_at_its_leases(redis):
    node_id = new_node_id()
    listener = Listener(node_id)
    for _ in range(3):
        wakeup.SENDER.tell([str(node_id)])

    assert listener.wait(20) is Woken.FLEET
    assert listener.wait(0.01) is Woken.NO
    listener.close()
