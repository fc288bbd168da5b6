"""Publishes batches: one Celery message each, holding the batch number and nothing else, in one round trip."""

from collections.abc import Iterable, Sequence

import redis

from tasks_app.engine.celery_app import app
from tasks_app.engine.envelope import write
from tasks_app.engine.queues import is_wrong_type
from tasks_app.lifecycle.claim import ClaimedBatch


def publish(batches: Sequence[ClaimedBatch]) -> None:
    """Straight to the lanes' queues: `send_task` takes 0.8 ms a message, each with a round trip of its own.

    Raises LanesRefused if some lanes' queues are no queues; the messages of the others went out.
    """
    with (
        app.producer_or_acquire() as producer,
        producer.channel.conn_or_acquire() as client,
        client.pipeline(transaction=False) as pipeline,
    ):
        for batch in batches:
            # Workers take from the right.
            push = pipeline.rpush if batch.first else pipeline.lpush
            push(batch.lane, write(batch.batch_no, batch.lane))
        answers = pipeline.execute(raise_on_error=False)
    refused = set()
    for batch, answer in zip(batches, answers, strict=True):
        if is_wrong_type(answer):
            refused.add(batch.lane)
        elif isinstance(answer, redis.RedisError):
            raise answer  # it refuses all: a replica, or out of memory
    if refused:
        raise LanesRefused(refused)


def ask_broker() -> None:
    """Raises PublishFailed while the broker does not answer."""
    try:
        with app.producer_or_acquire() as producer:
            producer.channel.client.ping()
    except Exception as error:
        raise PublishFailed(str(error)) from error


class PublishFailed(Exception):
    """The broker did not take the batches; they are due again."""


class LanesRefused(Exception):
    """The queues of these lanes are no lists, so their messages are lost; all others went out."""

    def __init__(self, lanes: Iterable[str]) -> None:
        self.lanes = frozenset(lanes)
        super().__init__(", ".join(sorted(self.lanes)))
