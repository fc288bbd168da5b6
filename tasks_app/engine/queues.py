"""The lanes' queues in the broker: how much lies in them, and which are no queues."""

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import redis

from tasks_app.conf import conf
from tasks_app.core.lanes import LANES

from .wakeup import client

log = logging.getLogger(__name__)

_TIMEOUT_SECONDS = 0.5
# A lane whose queue is no queue is left alone for so long before it is looked at again.
ASK_AGAIN_SECONDS = 5.0


def key_of(lane: str) -> str:
    return conf().redis_key(lane)


def depths() -> dict[str, int | None] | None:
    """By lane, None for one whose queue is no list. None for all: the broker does not answer."""
    try:
        answers = _ask(lambda pipeline: [pipeline.llen(key_of(lane)) for lane in LANES])
    except (redis.RedisError, OSError):
        return None
    found = dict(zip(LANES, answers, strict=True))
    if any(isinstance(answer, Exception) and not is_wrong_type(answer) for answer in found.values()):
        return None
    return {lane: None if is_wrong_type(answer) else answer for lane, answer in found.items()}


def broken_ones(lanes: Iterable[str]) -> dict[str, str]:
    """Those of the lanes whose key holds something else than a list, and what."""
    lanes = list(lanes)
    kinds = _ask(lambda pipeline: [pipeline.type(key_of(lane)) for lane in lanes])
    return {lane: kind.decode() for lane, kind in zip(lanes, kinds, strict=True) if kind not in (b"list", b"none")}


def is_wrong_type(answer: object) -> bool:
    return isinstance(answer, redis.ResponseError) and "WRONGTYPE" in str(answer)


class BrokenLanes:
    """Lanes that can't be used since something else lies under their queue's key: left out, and tried again later."""

    def __init__(self, ask: Callable[[Iterable[str]], Mapping[str, str]] = broken_ones) -> None:
        self._ask = ask
        self._ask_at = 0.0
        self._lanes: dict[str, str] = {}

    def __contains__(self, lane: str) -> bool:
        return lane in self._lanes

    def __bool__(self) -> bool:
        return bool(self._lanes)

    def find(self, lanes: Iterable[str]) -> None:
        """One of these was refused: look which."""
        self._note({*lanes, *self._lanes})

    def look_again(self) -> None:
        """If it is time to: those that were deleted meanwhile are in use again."""
        if self._lanes and time.monotonic() >= self._ask_at:
            self._note(self._lanes)

    def _note(self, lanes: Iterable[str]) -> None:
        self._ask_at = time.monotonic() + ASK_AGAIN_SECONDS
        before, self._lanes = self._lanes, dict(self._ask(lanes))
        for lane, kind in self._lanes.items():
            if lane not in before:
                log.error(
                    "lane.broken lane=%r key=%s holds=%s hint=%r",
                    lane,
                    key_of(lane),
                    kind,
                    "nothing in it runs, and nothing is lost; delete that key in Redis, and it recovers",
                )
        for lane in before.keys() - self._lanes.keys():
            log.info("lane.mended lane=%r", lane)


def _ask(question: Callable[[redis.client.Pipeline], object]) -> list[Any]:
    """One round trip; an answer may be an error."""
    with client(_TIMEOUT_SECONDS) as broker, broker.pipeline(transaction=False) as pipeline:
        question(pipeline)
        answers: list[Any] = pipeline.execute(raise_on_error=False)
        return answers
