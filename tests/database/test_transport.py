"""A queue is a list that anybody with Redis can write to: what is no message is dropped, and the next one is read."""

import pytest

from chaos.faults import QUEUE_PREFIX, RUBBISH


@pytest.fixture
def received(redis):
    """What a consumer of the project's own connection gets out of the queue `low`, after the rubbish in it."""
    from scheduler_project.celery import app

    redis.flushall()

    def read_after(*items: bytes) -> list[dict]:
        got = []
        redis.lpush(f"{QUEUE_PREFIX}low", *items)
        app.send_task("punctual.run_batch", args=["good"], queue="low", ignore_result=True)
        with app.connection_for_read() as connection:
            queue = app.amqp.queues["low"]
            with connection.Consumer(
                [queue], callbacks=[lambda body, _: got.append(body)], accept=["json"], no_ack=True
            ):
                for _ in range(len(items) + 1):
                    connection.drain_events(timeout=5)
        return got

    yield read_after
    redis.flushall()


@pytest.mark.parametrize("rubbish", RUBBISH, ids=lambda item: repr(item[:24]))
def test_a_message_that_cannot_be_read_is_dropped_and_the_next_is_delivered(received, rubbish):
    assert received(rubbish)[-1][0] == ["good"]


def test_every_url_that_names_redis_gets_this_transport():
    from kombu import Connection

    import scheduler_project.celery  # noqa: F401  (names the transport)
    from tasks_app.engine.transport import Transport

    urls = ("redis://localhost/0", "rediss://localhost/0", "redis+socket:///tmp/x.sock?virtual_host=0")
    assert {Connection(url).transport_cls for url in urls} <= {"redis", "rediss"}
    assert {type(Connection(url).transport) for url in urls} == {Transport}
