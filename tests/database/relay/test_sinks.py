"""What arrives in a stream and in a queue is the event, once, in order, and nothing if the receiver refuses."""

import json
from contextlib import suppress

import pytest
from django.conf import settings as django_settings
from kombu import Connection

from django_punctual import ToFunction, ToQueue, ToStream, subscribe
from tasks_app.conf import conf
from tasks_app.engine.beat.relay.queue import QueueSink
from tasks_app.engine.beat.relay.sinks import sink_for
from tasks_app.engine.beat.relay.stream import AT_ONCE, StreamSink, stream_key
from tests.support.marks import commits
from tests.support.outbox import courier_of, cut, read_all, write

pytestmark = commits


@pytest.fixture
def broker(settings) -> str:
    settings.PUNCTUAL = settings.PUNCTUAL | {
        "BROKERS": {"own": django_settings.PUNCTUAL["REDIS_URL"].replace("unix://", "redis+socket://")}
    }
    return "own"


def test_a_stream_gets_an_entry_for_each_event(redis):
    subscription = subscribe("test", events=["*"], to=ToStream("orders"))
    row = write("a", "b")
    cut()

    courier_of(subscription).run_once()

    first, second = (entry for _, entry in redis.xrange(stream_key("orders")))
    assert (first[b"id"].decode(), first[b"type"]) == (f"{row}-1", b"order.paid")
    event = json.loads(second[b"event"])
    assert (event["id"], event["unit"]["key"], event["data"]) == (f"{row}-2", "b", {"key": "b"})


def test_a_stream_is_trimmed(redis):
    subscription = subscribe("test", events=["*"], to=ToStream("orders", maxlen=10))
    write(*map(str, range(2 * AT_ONCE)))
    cut()

    courier_of(subscription).run_once()

    assert 10 <= redis.xlen(stream_key("orders")) < 300  # Redis trims whole nodes
    ((_, last),) = redis.xrevrange(stream_key("orders"), count=1)
    assert json.loads(last[b"event"])["unit"]["key"] == str(2 * AT_ONCE - 1)


def test_a_stream_that_refuses_takes_nothing_of_a_call(redis):
    redis.set(stream_key("orders"), "no stream")
    subscription = subscribe("test", events=["*"], to=ToStream("orders"))
    write("a")
    cut()

    courier_of(subscription).run_once()

    subscription.refresh_from_db()
    assert subscription.attempts == 1
    assert "WRONGTYPE" in subscription.last_error


def test_a_redis_that_is_away_is_tried_again(settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"BROKERS": {"away": "redis://127.0.0.1:1/0"}}
    subscription = subscribe("test", events=["*"], to=ToStream("orders", broker="away"))
    write("a")
    cut()

    assert courier_of(subscription).run_once() > 0
    subscription.refresh_from_db()
    assert subscription.last_error.startswith("ConnectionError")


def received_from(queue: str) -> list[dict]:
    with Connection(conf().BROKERS["own"]) as connection, connection.SimpleQueue(queue) as simple:
        taken = []
        with suppress(simple.Empty):
            while True:
                message = simple.get(block=False)
                taken.append({"id": message.properties.get("message_id"), "body": json.loads(message.body)})
                message.ack()
        return taken


def test_a_queue_gets_a_message_for_each_event(broker):
    subscription = subscribe("test", events=["*"], to=ToQueue(broker, "orders"))
    row = write("a", "b")
    cut()

    courier_of(subscription).run_once()

    messages = received_from("orders")
    assert [one["id"] for one in messages] == [f"{row}-1", f"{row}-2"]
    assert [one["body"]["unit"]["key"] for one in messages] == ["a", "b"]


def test_a_queue_works_again_after_the_broker_was_flushed(broker, redis):
    """Bindings would be gone with it; there are none."""
    subscription = subscribe("test", events=["*"], to=ToQueue(broker, "orders"))
    courier = courier_of(subscription)
    write("a")
    cut()
    courier.run_once()
    redis.flushall()
    write("b")
    cut()

    courier.run_once()

    assert [one["body"]["unit"]["key"] for one in received_from("orders")] == ["b"]


def test_what_was_queued_before_the_broker_went_is_not_queued_again(broker, monkeypatch):
    subscription = subscribe("test", events=["*"], to=ToQueue(broker, "orders"))
    write("a", "b", "c")
    cut()
    courier = courier_of(subscription)
    publish = QueueSink._publish

    def until_b(self, producer, event, text):
        if event.key == "b":
            raise ConnectionError("reset by peer")
        publish(self, producer, event, text)

    with monkeypatch.context() as patched:
        patched.setattr(QueueSink, "_publish", until_b)
        courier.run_once()
    courier._next_try = 0.0
    courier.run_once()

    assert [one["body"]["unit"]["key"] for one in received_from("orders")] == ["a", "b", "c"]


def test_a_function_that_is_not_there_is_told(redis):
    from tests.support.outbox import subscribed

    with subscribed("mine"):
        subscription = subscribe("test", events=["*"], to=ToFunction("mine"))
    write("a")
    cut()

    courier_of(subscription).run_once()

    subscription.refresh_from_db()
    assert "there is no subscriber 'mine' in this beat" in subscription.last_error


def test_every_kind_of_sink_is_closed_without_having_been_used(broker):
    write("a")
    cut()
    read_all()
    for to, kind in ((ToStream("s"), StreamSink), (ToQueue(broker, "q"), QueueSink)):
        sink = sink_for(subscribe(f"to {kind.__name__}", events=["*"], to=to))
        assert isinstance(sink, kind)
        sink.close()
