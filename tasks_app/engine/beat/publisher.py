"""Publishes batches: one Celery message each, holding the batch number and nothing else, in one round trip."""

import logging
from collections.abc import Callable, Iterable, Sequence

import redis
from django.db import DatabaseError, InterfaceError

from tasks_app.engine.celery_app import app
from tasks_app.engine.envelope import write
from tasks_app.engine.queues import is_wrong_type
from tasks_app.lifecycle.claim import ClaimedBatch, return_batches

from .lane_views import LaneViews
from .scan_positions import ScanPositions

log = logging.getLogger(__name__)

Send = Callable[[Sequence[ClaimedBatch]], None]


class Publisher:
    """Publishes what was claimed, and returns what could not be published."""

    def __init__(self, send: Send, lanes: LaneViews, positions: ScanPositions) -> None:
        self._send = send
        self._lanes = lanes
        self._positions = positions

    def publish(self, batches: Sequence[ClaimedBatch]) -> Sequence[ClaimedBatch]:
        """Returns the batches that the broker took."""
        try:
            self._send(batches)
            return batches
        except LanesRefused as error:
            lanes = error.lanes
            self.return_batches([batch for batch in batches if batch.lane in lanes])
            self._lanes.find_broken(lanes)
            return [batch for batch in batches if batch.lane not in lanes]
        except Exception as error:
            tasks = self.return_batches(batches)
            log.warning("batch.unpublished batches=%d tasks_returned=%s error=%r", len(batches), tasks, str(error))
            raise PublishFailed(str(error)) from error

    def return_batches(self, batches: Sequence[ClaimedBatch]) -> int | None:
        """Make their tasks due again. Messages that arrived do nothing, since a returned batch is finished."""
        self._positions.restart_all()
        try:
            return return_batches([batch.batch_no for batch in batches])
        except (DatabaseError, InterfaceError) as error:
            # Both are away, or a row is locked. The beat returns all it has when it reaches the broker again.
            log.warning("batch.not_returned batches=%d error=%r", len(batches), str(error).strip())
            return None


def publish(batches: Sequence[ClaimedBatch]) -> None:
    """Straight to the lanes' queues: `send_task` takes 0.8 ms a message, each with a round trip of its own.

    Raises LanesRefused if the keys of some lanes hold no lists; the messages of the others went out.
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
    """The keys of these lanes hold no lists, so their messages are lost; all others went out."""

    def __init__(self, lanes: Iterable[str]) -> None:
        self.lanes = frozenset(lanes)
        super().__init__(", ".join(sorted(self.lanes)))
