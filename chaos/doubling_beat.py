"""A beat that publishes every batch twice, out of order, and some copies long after the first."""

import os
import random
from collections.abc import Callable, Sequence

from tasks_app.engine.beat.dispatcher import Dispatcher
from tasks_app.engine.beat.process import PunctualBeat
from tasks_app.engine.beat.publisher import publish
from tasks_app.lifecycle.claim import ClaimedBatch

KEPT_BACK = 20  # copies that go out with a later publish


class DoublingBeat(PunctualBeat):
    def setup_schedule(self) -> None:
        super().setup_schedule()
        self._dispatcher = Dispatcher(self._name, Doubler(), self._listener)


class Doubler:
    def __init__(self, send: Callable[[Sequence[ClaimedBatch]], None] = publish) -> None:
        self._send = send
        self._dice = random.Random(f"{os.environ['CHAOS_SEED']}/{os.environ['CHAOS_PROCESS']}")
        self._copies: list[ClaimedBatch] = []

    def __call__(self, batches: Sequence[ClaimedBatch]) -> None:
        self._copies += batches
        self._dice.shuffle(self._copies)
        late, self._copies = self._copies[KEPT_BACK:], self._copies[:KEPT_BACK]
        messages = [*batches, *late]
        self._dice.shuffle(messages)
        self._send(messages)
