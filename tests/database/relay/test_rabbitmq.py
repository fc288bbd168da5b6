"""A queue of a real RabbitMQ (Debian: apt install rabbitmq-server) gets every event, also over its crash."""

import json

import pytest
from kombu import Connection

from django_punctual import ToQueue, subscribe
from tests.support.marks import commits
from tests.support.outbox import courier_of, cut, write
from tests.support.rabbitmq import SERVER, rabbitmq

pytestmark = [commits, pytest.mark.scale]


@pytest.fixture(scope="module")
def rabbit():
    assert SERVER.exists(), "RabbitMQ is not installed, and this is never left out: apt install rabbitmq-server"
    with rabbitmq() as server:
        yield server


@pytest.fixture
def subscription(rabbit, settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"BROKERS": {"rabbit": rabbit.url}}
    return subscribe("test", events=["*"], to=ToQueue("rabbit", "orders"))


@pytest.fixture
def courier(subscription):
    courier = courier_of(subscription)
    yield courier
    courier.close()


def received(url: str) -> list[tuple[str, str]]:
    """What is in the queue: the ids of the messages, and the keys in their bodies."""
    taken = []
    with Connection(url) as connection:
        while (message := connection.default_channel.basic_get("orders", no_ack=True)) is not None:
            assert message.content_type == "application/json"
            assert message.properties["delivery_mode"] == 2
            taken.append((message.properties["message_id"], json.loads(message.body)["unit"]["key"]))
    return taken


def delete_queue(url: str) -> None:
    with Connection(url) as connection:
        connection.default_channel.queue_delete("orders")


def test_a_queue_that_is_not_there_is_made_and_made_again(rabbit, courier):
    row = write("a", "b")
    cut()

    courier.run_once()
    first = received(rabbit.url)
    delete_queue(rabbit.url)
    write("c")
    cut()
    courier.run_once()

    assert first == [(f"{row}-1", "a"), (f"{row}-2", "b")]
    assert [key for _, key in received(rabbit.url)] == ["c"]


def test_a_queue_of_its_owner_is_taken_as_it_is(rabbit, courier):
    delete_queue(rabbit.url)
    with Connection(rabbit.url) as connection:
        connection.default_channel.queue_declare(
            "orders", durable=True, arguments={"x-max-length": 5}, auto_delete=False
        )
    write("a")
    cut()

    courier.run_once()

    assert [key for _, key in received(rabbit.url)] == ["a"]
    delete_queue(rabbit.url)


def test_what_was_confirmed_survives_a_crash_and_the_rest_comes_again(rabbit, courier, subscription):
    write("a")
    cut()
    courier.run_once()
    rabbit.kill()
    write("b")
    cut()

    courier.run_once()
    subscription.refresh_from_db()
    failed = subscription.attempts
    rabbit.start()
    courier._next_try = 0.0
    courier.run_once()

    assert failed == 1
    assert [key for _, key in received(rabbit.url)] == ["a", "b"]
