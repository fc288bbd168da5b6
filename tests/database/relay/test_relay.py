"""The relays of several beats share the subscriptions, hand them over, and tell their couriers of news."""

from contextlib import contextmanager
from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from django_punctual import ToFunction, emit, subscribe
from tasks_app.conf import conf
from tasks_app.engine.beat.relay import reader, relay
from tasks_app.engine.beat.relay.relay import Relay
from tasks_app.lifecycle.claim import peek
from tasks_app.lifecycle.installation import look as look_at_installation
from tasks_app.models import Node, OutboxWindow, Subscription
from tests.support.engine import anybodys
from tests.support.marks import commits
from tests.support.outbox import subscribed, write
from tests.support.site import at, beat_at
from tests.support.wait import wait_until

pytestmark = commits


@pytest.fixture(autouse=True)
def _long_leases(settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"SHARD_LEASE_SECONDS": 3600.0}


def a_beat(name: str) -> Relay:
    node_id = uuid4()
    Node.objects.create(node_id=node_id, kind=Node.BEAT, name=name)
    return Relay(node_id, name)


@contextmanager
def relays(*names: str):
    made = [a_beat(name) for name in names]
    try:
        yield made
    finally:
        for one in made:
            one._leave()


def look(*some: Relay) -> None:
    for one in some:
        one._next_look = 0.0
        one.run_once()


def holders() -> dict[str, str]:
    return dict(Subscription.objects.order_by("name").values_list("name", "holder_name"))


def test_without_a_subscription_nothing_is_cut():
    write("a")
    with relays("one") as (one,):
        one.run_once()

    assert not OutboxWindow.objects.exists()


def test_while_no_subscription_is_active_nobody_asks_for_one(django_assert_num_queries):
    with subscribed(), relays("one") as (one,):
        one.heard(active=False)
        subscribe("test", events=["*"], to=ToFunction("test"))
        with django_assert_num_queries(0):
            assert 0 < one.run_once() <= 1.5 * conf().LOOK_SECONDS

        assert peek("test", anybodys(), besides=True).besides.subscriptions
        one.heard(active=True)
        assert one._woken.is_set()
        one.run_once()

        assert holders() == {"test": "one"}

        with django_assert_num_queries(1):  # what it has is renewed, whatever it hears
            one.heard(active=False)
            one._hold()
        Subscription.objects.update(state=Subscription.PAUSED)
        assert not peek("test", anybodys(), besides=True).besides.subscriptions
        look(one)
        assert one._couriers == {}


def test_that_no_subscription_is_active_is_not_believed_for_long(monkeypatch, settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"LOOK_SECONDS": 3000.0}
    with subscribed(), relays("one") as (one,):
        one.heard(active=False)
        assert one.run_once() <= 3600.0 / 3  # when it would look by itself

        monkeypatch.setattr(relay, "BELIEVED", 0.0)
        one.heard(active=False)
        subscribe("test", events=["*"], to=ToFunction("test"))
        one.run_once()

        assert holders() == {"test": "one"}


def test_an_event_reaches_its_subscriber():
    with subscribed() as received, relays("one") as (one,):
        subscribe("test", events=["*"], to=ToFunction("test"))
        look(one)
        emit("order.paid", {"order": 7}, task_type="ORDER", key="7")
        one.run_once()
        wait_until(lambda: received.events)

    (event,) = received.events
    assert (event.type, event.key, event.data) == ("order.paid", "7", {"order": 7})


def test_beats_share_the_subscriptions_and_a_newcomer_gets_some():
    with subscribed(), relays("one") as (one,):
        for number in range(4):
            subscribe(f"test-{number}", events=["*"], to=ToFunction("test"))
        look(one)
        alone = set(holders().values())
        with relays("two") as (two,):
            look(two)  # all are taken
            look(one)  # lets go of two
            wait_until(lambda: not any(thread.is_alive() for thread in one._leaving.values()))
            look(one, two)
            shared = holders()
            look(one, two)
            still = holders()

    assert alone == {"one"}
    assert sorted(shared.values()) == ["one", "one", "two", "two"]
    assert still == shared


def test_beats_of_a_site_that_stands_by_get_none_and_leave_none_undelivered():
    look_at_installation()
    beat_at("b")
    with subscribed(), relays("one") as (one,):
        for number in range(2):
            subscribe(f"test-{number}", events=["*"], to=ToFunction("test"))
        look(one)
        assert set(holders().values()) == {"one"}
        Subscription.objects.update(holder=None, holder_name="")
        with at("b"), relays("at b") as (other,):
            look(other)  # whatever it believes
            assert set(holders().values()) == {""}


def test_what_a_dead_beat_delivered_is_taken_over():
    with subscribed() as received, relays("dead") as (dead,):
        subscribe("test", events=["*"], to=ToFunction("test"))
        look(dead)
        fence = Subscription.objects.get().fence
        Subscription.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
        Node.objects.all().delete()
        with relays("heir") as (heir,):
            look(heir)
            write("a")
            heir.run_once()
            wait_until(lambda: received.events)

            assert holders() == {"test": "heir"}
            assert Subscription.objects.get().fence == fence + 1


def test_a_beat_that_stops_leaves_its_subscriptions_to_others_at_once():
    with subscribed(), relays("one") as (one,):
        subscribe("test", events=["*"], to=ToFunction("test"))
        look(one)
        one._leave()

        assert holders() == {"test": ""}


def test_one_that_hangs_holds_up_no_other():
    import threading

    from tasks_app.core.subscribers import SUBSCRIBERS

    released = threading.Event()
    SUBSCRIBERS.add("hangs", lambda events: released.wait(20))
    try:
        with subscribed() as received, relays("one") as (one,):
            subscribe("hangs", events=["*"], to=ToFunction("hangs"))
            subscribe("test", events=["*"], to=ToFunction("test"))
            look(one)
            write("a")
            one.run_once()
            wait_until(lambda: received.keys == ["a"])
            write("b")
            one.run_once()
            wait_until(lambda: received.keys == ["a", "b"])
            released.set()
    finally:
        released.set()
        SUBSCRIBERS.discard("hangs")


def test_who_wants_nothing_of_a_window_sleeps_on_and_is_not_behind(monkeypatch):
    from tasks_app.engine.beat.relay import courier as couriers
    from tasks_app.engine.watch.relay_status import read_relay

    monkeypatch.setattr(couriers, "NOTE_SECONDS", 0.0)
    monkeypatch.setattr(couriers, "PASSING_SECONDS", 0.0)
    reads: list[int] = []
    monkeypatch.setattr(couriers, "read", lambda *given: reads.append(1) or reader.read(*given))
    with subscribed() as received, relays("one") as (one,):
        subscribe("test", events=["task.dead"], to=ToFunction("test"))
        write("first", event="order.paid")
        look(one)
        (courier,) = one._couriers.values()
        wait_until(lambda: courier._resting)
        wait_until(lambda: not courier._news.is_set())
        before = len(reads)
        for number in range(3):
            write(str(number), event="order.paid")
            one.run_once()
        slept = len(reads) - before
        look(one)
        wait_until(lambda: not read_relay().subscriptions[0].waiting_events)
        write("wanted", event="task.dead")
        one.run_once()
        wait_until(lambda: received.keys)

    assert (slept, received.keys) == (0, ["wanted"])


def test_a_paused_one_is_taken_from_its_courier_and_taken_up_again():
    from django_punctual import Operator, subscriptions

    with subscribed() as received, relays("one") as (one,):
        subscribe("test", events=["order.*"], to=ToFunction("test"))
        look(one)
        subscriptions.pause_subscription("test", Operator("olga", "quiet"))
        look(one)
        write("a")
        assert (one._couriers, holders()) == ({}, {"test": ""})
        subscriptions.resume_subscription("test", Operator("olga", "go on"))
        look(one)
        one.run_once()
        wait_until(lambda: received.keys == ["a"])
