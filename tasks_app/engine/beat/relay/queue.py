"""Events to a queue of a message broker, through kombu."""

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from kombu import Connection, Producer, Queue
from kombu.exceptions import ChannelError

from tasks_app.conf import conf
from tasks_app.core.events import Event
from tasks_app.models import Subscription

from .encoding import json_texts
from .sink import Attempt

TIMEOUT_SECONDS = 10.0
_NOT_FOUND = 404


class QueueSink:
    """A durable message for each event, straight to the queue by its name: there is no binding that could get lost.

    RabbitMQ confirms each one before the next is sent. Redis has it when it has answered.
    """

    def __init__(self, subscription: Subscription) -> None:
        self._url = conf().BROKERS[subscription.target["broker"]]
        self._name = subscription.target["queue"]
        self._connection: Any = None
        self._producer: Producer | None = None

    def deliver(self, events: Sequence[Event]) -> Iterator[Attempt]:
        begun = time.perf_counter()
        done = 0
        try:
            producer = self._ready()
            for event, text in zip(events, json_texts(events), strict=True):
                self._publish(producer, event, text)
                done += 1
        except Exception:
            self.close()
            if done:
                yield Attempt(events[:done], True, "queued", (time.perf_counter() - begun) * 1000)
            raise
        yield Attempt(events, True, "queued", (time.perf_counter() - begun) * 1000)

    def close(self) -> None:
        connection, self._connection, self._producer = self._connection, None, None
        if connection is not None:
            with suppress(Exception):
                connection.release()  # says goodbye, which one that is broken can't
            connection.collect()  # and closes what is left of it

    def _ready(self) -> Producer:
        """A producer whose queue is there: somebody may have deleted it, and then RabbitMQ would drop what we send."""
        if self._connection is None:
            self._connection = Connection(
                self._url, connect_timeout=TIMEOUT_SECONDS, transport_options=self._transport_options()
            )
            self._connection.connect()
        self._declare()
        if self._producer is None:
            self._producer = Producer(self._connection.default_channel)
        return self._producer

    def _declare(self) -> None:
        """As it is, if it is there: its owner may have given it other options than we would."""
        if self._confirms:
            channel = self._connection.channel()
            try:
                channel.queue_declare(self._name, passive=True)
                channel.close()
                return
            except ChannelError as error:
                if getattr(error, "reply_code", None) != _NOT_FOUND:
                    raise
        Queue(self._name, durable=True, channel=self._connection.default_channel).queue_declare()

    def _publish(self, producer: Producer, event: Event, text: str) -> None:
        producer.publish(
            text,
            exchange="",
            routing_key=self._name,
            content_type="application/json",
            content_encoding="utf-8",
            delivery_mode=2,
            message_id=event.id,
            type=event.type,
            **({"confirm_timeout": TIMEOUT_SECONDS} if self._confirms else {}),
        )

    @property
    def _confirms(self) -> bool:
        return str(self._url).startswith(("amqp://", "amqps://", "pyamqp://"))

    def _transport_options(self) -> dict[str, object]:
        if self._confirms:
            return {"confirm_publish": True, "read_timeout": TIMEOUT_SECONDS, "write_timeout": TIMEOUT_SECONDS}
        if self._url.startswith(("redis://", "rediss://", "redis+socket://")):
            return {"socket_timeout": TIMEOUT_SECONDS, "socket_connect_timeout": TIMEOUT_SECONDS}
        return {}
