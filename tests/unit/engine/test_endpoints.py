"""How many calls an endpoint gets at once: what it earns by its answers, and which share is kept for others."""

import pytest

from tasks_app.engine.worker.callbacks import endpoints
from tasks_app.engine.worker.callbacks.endpoints import Connections, Endpoint, Speed, endpoint_of
from tasks_app.lifecycle.hosts import Called


@pytest.fixture(autouse=True)
def _connections(settings) -> None:
    settings.PUNCTUAL = settings.PUNCTUAL | {"CALLBACK_CONNECTIONS": 32}


def endpoint(host: str = "h", tenant: str = "t", *, seconds: float | None = 0.1) -> Endpoint:
    one = Endpoint(Called(tenant, host))
    one.seconds, one.limit = seconds, 1_000.0
    one.note_speed()
    return one


def filled(*ones: Endpoint) -> list[int]:
    """How many calls each has when none of them gets another one."""
    connections = Connections()
    while connections.free:
        free = [one for one in ones if connections.has_tenant_room(one.called.tenant) and connections.has_room(one)]
        if not free:
            break
        connections.begin(min(free, key=lambda one: len(one.calls)), object())
    return [len(one.calls) for one in ones]


def answered(one: Endpoint, task_id: int, *, failed: bool = False) -> None:
    one.begin(task_id)
    one.end(task_id, failed=failed)


def test_an_endpoint_begins_with_two_calls_and_has_twice_as_many_after_each_round_of_answers():
    one, limits = Endpoint(Called("t", "h")), []
    for _ in range(4):
        for n in range(int(one.limit)):
            one.begin(n)
        for n in list(one.calls):
            one.end(n, failed=False)
        limits.append(int(one.limit))

    assert limits == [4, 8, 16, 32]


def test_a_round_of_failures_halves_it_once_and_then_it_grows_by_one_a_round():
    one = endpoint()
    one.limit = 16.0
    for n in range(16):
        one.begin(n)
    for n in range(16):
        one.end(n, failed=True)
    assert one.limit == 8.0

    for n in range(8):
        one.begin(n)
    for n in range(8):
        one.end(n, failed=False)
    assert 8.1 <= one.limit <= 9.0
    for n in range(8):
        answered(one, n, failed=True)
    assert one.limit == 1.0


def test_answers_to_fewer_calls_than_allowed_do_not_raise_the_limit():
    one = Endpoint(Called("t", "h"))
    one.limit = 10.0
    for n in range(50):
        answered(one, n)

    assert one.limit == 10.0


@pytest.mark.parametrize(
    ("ones", "calls"),
    [
        ([endpoint("quick")], [24]),
        ([endpoint("shared", "a"), endpoint("shared", "b")], [12, 12]),
        ([endpoint("one"), endpoint("two")], [14, 14]),
        ([endpoint("slow", seconds=20.0), endpoint("quick", "b")], [8, 24]),
        ([endpoint("slow", seconds=20.0), endpoint("other", "b", seconds=20.0)], [4, 4]),
        ([endpoint("steady", seconds=1.0), endpoint("other", "b", seconds=1.0)], [8, 8]),
        ([endpoint("slow", seconds=20.0), endpoint("steady", "b", seconds=1.0)], [8, 8]),
        ([endpoint("new", seconds=None), endpoint("newer", "b", seconds=None)], [4, 4]),
        ([endpoint("slow", seconds=20.0), endpoint("new", "b", seconds=None)], [8, 8]),
    ],
)
def test_nobody_has_all_connections(ones, calls):
    assert filled(*ones) == calls


def test_a_new_endpoint_that_hangs_is_slow_and_leaves_its_place_to_the_next_new_one(monkeypatch):
    connections, hanging, new = Connections(), endpoint("hanging", seconds=None), endpoint("new", "b", seconds=None)
    for n in range(8):
        connections.begin(hanging, n)
    assert not connections.has_room(new)

    monkeypatch.setattr(endpoints, "FIRST_SECONDS", 0.0)
    connections.refresh()

    assert connections.has_room(new)


def test_however_many_new_endpoints_hang_quick_ones_keep_a_quarter(monkeypatch):
    monkeypatch.setattr(endpoints, "FIRST_SECONDS", -1.0)
    connections, quick = Connections(), endpoint("quick", "b")
    for n in range(100):
        hanging = endpoint(f"hanging {n}", seconds=None)
        hanging.speed = Speed.NEW  # until its first call has begun
        if connections.has_room(hanging):
            connections.begin(hanging, 0)

    assert connections.calls == 24
    while connections.has_room(quick):
        connections.begin(quick, object())
    assert len(quick.calls) >= 8


def test_what_has_ended_is_free(settings):
    connections, one = Connections(), endpoint()
    for n in range(24):
        connections.begin(one, n)
    connections.end(one, 0, failed=False)
    one.note_speed()

    assert connections.has_room(one) and connections.calls == 23
    for n in range(1, 24):
        connections.end(one, n, failed=False)
    assert (connections.calls, connections.of_tenant("t")) == (0, 0)


def test_a_single_connection_is_for_any_endpoint(settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"CALLBACK_CONNECTIONS": 1}

    assert Connections().has_room(endpoint()) and Connections().has_room(endpoint(seconds=None))


def test_tasks_that_are_sent_back_come_again_one_after_the_other_at_its_rate():
    one = endpoint(seconds=20.0)

    waits = [one.book(0.8, 2.0) for _ in range(4)]

    assert [round(wait, 1) for wait in waits] == [3.2, 4.5, 5.7, 7.0]
    one.note_idle()
    assert round(one.book(0.8, 2.0), 1) == 3.2


def test_those_that_were_not_called_for_the_longest_time_are_forgotten(monkeypatch):
    monkeypatch.setattr(endpoints, "REMEMBERED", 2)
    first, busy = endpoint_of(Called("t", "first")), endpoint_of(Called("t", "busy"))
    busy.begin(1)
    endpoint_of(Called("t", "third"))
    endpoint_of(Called("t", "fourth"))

    assert endpoint_of(Called("t", "busy")) is busy
    assert endpoint_of(Called("t", "first")) is not first
