"""The dispatcher's side of the wake-up: announces its next look, and waits for a signal, a moment, or the end."""

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


# Takes what is pending in all lists, and says when the first of what it tells of is due.
_TAKE = """
local first = false
for i = 1, #KEYS do
    local due = redis.call('LPOP', KEYS[i])
    if due and (not first or (tonumber(due) or 0) < (tonumber(first) or 0)) then first = due end
end
return first
"""


class Woken(Enum):
    NO = 0  # the time is over
    TASKS = 1  # something is due in one of the shards
    FLEET = 2  # shards were taken or left


class Listener:
    def __init__(self, node_id: UUID) -> None:
        self._fleet_key = conf().redis_key(f"{FLEET}{node_id}")
        self._shards: tuple[int, ...] = ()
        self._signals: list[str] = []
        self._breaker = Breaker()
        self._client: Any = None  # redis has types for a part of what they can do
        self._link: Link | None = None
        self._armed = False
        self._more = True  # signals may lie in the lists; while a pop is outstanding, it gets the first of them
        self._heard = inf  # when the first is due of what was told
        self._stop_reader, self._stop_writer = os.pipe()
        os.set_blocking(self._stop_writer, False)

    def listen(self, shards: Iterable[int]) -> None:
        """From now on wait for signals of these shards."""
        shards = tuple(sorted(shards))
        if shards != self._shards:
            self._shards = shards
            self._signals = [conf().redis_key(f"{SIGNAL}{shard}") for shard in shards]
            # The pop outstanding waits for others. What it may have got is not lost: a look follows every change.
            self._drop_connection()

    def heard(self) -> float:
        """When the first of all is due that signals have told of since this was asked last: epoch seconds, by the
        database's clock; infinity for none, and minus infinity if it may be anything."""
        heard, self._heard = self._heard, inf
        return heard

    def take_signals(self, next_look: float) -> None:
        """Before reading the earliest due moment: take what is pending, and say when the next look will be.

        Whoever commits after the reading finds no signal in the way, and the look announced: no wake-up falls between.
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
        """The next look will be earlier than was said before."""
        self._command(self._announcement(next_look))

    def wait(self, seconds: float) -> Woken:
        """Wait at most so long for a signal."""
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
        """The answers; None if Redis was not asked, or gave none."""
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
        """Have one blocking pop outstanding, so that waiting costs no command at all."""
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
        """None, and what nobody of ours has written: it may be anything."""
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
