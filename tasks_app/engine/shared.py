"""Scripts in the Redis of all processes, for what they count together; each says what it does without an answer."""

import logging
import os
from collections.abc import Sequence
from typing import Any

import redis

from tasks_app.conf import conf

from .wakeup import Breaker, client

log = logging.getLogger(__name__)


class Shared:
    """Runs scripts; None for an answer that Redis doesn't give, and then it is left alone for a while. Nobody waits for
    it longer than WAKEUP_MS."""

    def __init__(self, name: str) -> None:
        self._name = name  # for the log
        self._client: redis.Redis | None = None
        self._made_for: tuple[int, str] = (0, "")
        self._breaker = Breaker()

    def __call__(self, script: str, keys: Sequence[str], words: Sequence[Any]) -> Any:
        wanted = (os.getpid(), conf().REDIS_URL)
        if self._made_for != wanted:
            self._breaker, self._made_for = Breaker(), wanted
            self._client = client(conf().WAKEUP_MS / 1000) if conf().REDIS_URL else None
        if self._client is None or self._breaker.open:
            return None
        try:
            answer = self._client.eval(script, len(keys), *keys, *words)
            self._breaker.worked()
            return answer
        except Exception as error:
            # Anything at all: neither a login nor an outcome may hang on Redis.
            self._breaker.trip()
            log.warning("%s.alone error=%r pause_seconds=%g", self._name, str(error), self._breaker.pause_seconds)
            return None
