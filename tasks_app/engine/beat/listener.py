"""The dispatcher's side of a wake-up: announces its next scan, and waits for a signal, a timeout or the end."""

import logging
import os
import select
from collections.abc import Iterable
from enum import Enum
from math import inf, isnan
from typing import Any
from uuid import UUID

from tasks_app.conf import conf
from tasks_app.engine.wakeup import FLEET, NEXT_LOOK, SIGNAL, Breaker, client
from tasks_app.libraries.redis import Link

log = logging.getLogger(__name__)


# Takes the pending signals of all lists, and returns the earliest due time in them.
_TAKE = """
local first = false
for i = 1, #KEYS do
    local due = redis.call('LPOP', KEYS[i])
    if due and (not first or (tonumber(due) or 0) < (tonumber(first) or 0)) then first = due end
end
return first
"""


class Woken(Enum):
    NO = 0  # the timeout passed
    TASKS = 1  # a task is due in one of the shards
    FLEET = 2  # shards were taken or released


class Listener:
    def __init__(self, node_id: UUID) -> None:
        self._fleet_key = conf().redis_key(f"{FLEET}{node_id}")
        self._shards: tuple[int, ...] = ()
        self._signals: list[str] = []
        self._breaker = Breaker()
        self._client: Any = None  # the type hints of redis are incomplete
        self._link: Link | None = None
        self._armed = False
        self._more = True  # there may be signals in the lists; an outstanding pop receives the first of them
        self._heard = inf  # the earliest due time of the signals received
        self._stop_reader, self._stop_writer = os.pipe()
        os.set_blocking(self._stop_writer, False)

    def listen(self, shards: Iterable[int]) -> None:
        """Wait for signals of these shards from now on."""
        shards = tuple(sorted(shards))
        if shards != self._shards:
            self._shards = shards
            self._signals = [conf().redis_key(f"{SIGNAL}{shard}") for shard in shards]
            # The outstanding pop waits for other shards. A signal that it received is not lost: a scan follows.
            self._drop_connection()

    def heard(self) -> float:
        """The earliest due time in the signals since the last call, in epoch seconds of the database's clock. Infinity
        means no signal, and minus infinity an unknown time."""
        heard, self._heard = self._heard, inf
        return heard

    def take_signals(self, next_look: float) -> None:
        """Take the pending signals and announce the next scan, before the earliest due time is read.

        A transaction that commits after that read finds the scan announced and no signal in the way, so no wake-up is
        missed.
        """
        if self._more:
            take = ("EVAL", _TAKE, len(self._signals), *self._signals)
            answers = self._command(take, self._announcement(next_look))
            self._more = False
            if answers is None or answers[0] is not None:
                self._hear(None if answers is None else answers[0])
        else:
            self._command(self._announcement(next_look))

    def announce(self, next_look: float) -> None:
        """Announce that the next scan is earlier than announced before."""
        self._command(self._announcement(next_look))

    def wait(self, seconds: float) -> Woken:
        """Wait for a signal, at most for this time."""
        sources = [self._stop_reader]
        signals = self._arm()
        if signals is not None:
            sources.append(signals)
        readable, _, _ = select.select(sources, [], [], max(seconds, 0))
        return self._read_signal(self._link) if self._link is not None and signals in readable else Woken.NO

    def interrupt(self) -> None:
        """End a wait now; safe to call from a signal handler."""
        os.write(self._stop_writer, b"x")

    def close(self) -> None:
        self._drop_connection()
        if self._client is not None:
            self._client.close()

    def _announcement(self, next_look: float) -> tuple[Any, ...]:
        moment = repr(next_look)
        return ("HSET", conf().redis_key(NEXT_LOOK), *(word for shard in self._shards for word in (shard, moment)))

    def _command(self, *commands: tuple[Any, ...]) -> list[Any] | None:
        """The replies, or None if Redis was not asked or did not reply."""
        if self._breaker.open or not self._shards:
            return None
        try:
            if self._client is None:
                self._client = client(conf().WAKEUP_MS / 1000)
            answers = self._asked(*commands)
            self._breaker.worked()
            return answers
        except Exception as error:
            self._give_up(error)
            return None

    def _asked(self, *commands: tuple[Any, ...]) -> list[Any]:
        if len(commands) == 1:
            return [self._client.execute_command(*commands[0])]
        with self._client.pipeline(transaction=False) as pipeline:
            for command in commands:
                pipeline.execute_command(*command)
            answers: list[Any] = pipeline.execute()
            return answers

    def _arm(self) -> int | None:
        """Keep one blocking pop outstanding, so that waiting needs no further commands."""
        if self._link is None:
            if self._breaker.open:
                return None
            try:
                self._link = Link(client(conf().WAKEUP_MS / 1000))
            except Exception as error:
                self._give_up(error)
                return None
        try:
            if not self._armed:
                self._link.send("BLPOP", self._fleet_key, *self._signals, 0)
                self._armed = True
            return self._link.fileno()
        except Exception as error:
            self._give_up(error)
            return None

    def _read_signal(self, link: Link) -> Woken:
        try:
            key, due = link.read()
            self._armed, self._more = False, True
            self._breaker.worked()
            fleet = key == self._fleet_key.encode()
            self._hear(None if fleet else due)
            return Woken.FLEET if fleet else Woken.TASKS
        except Exception as error:
            self._give_up(error)
            return Woken.NO

    def _hear(self, due: bytes | float | None) -> None:
        """Note a due time. None, or a value that is no number, means an unknown time."""
        try:
            moment = -inf if due is None else float(due)
        except ValueError:
            moment = -inf
        self._heard = -inf if isnan(moment) else min(self._heard, moment)

    def _give_up(self, error: Exception) -> None:
        self._breaker.trip()
        self._drop_connection()
        log.warning("wakeup.lost error=%r pause_seconds=%g", str(error), self._breaker.pause_seconds)

    def _drop_connection(self) -> None:
        if self._link is not None:
            self._link.close()
        self._link, self._armed, self._more = None, False, True
