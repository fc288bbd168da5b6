"""Something that many ask for at the same time, and that takes long to read: it is read once for all of them."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

Answer = TypeVar("Answer")


class Together(Generic[Answer]):
    """What anybody gets was read after they had asked for it, so nobody sees what was so before."""

    def __init__(self, read: Callable[[], Answer]) -> None:
        self._read = read
        self._lock = threading.Lock()
        self._reading = threading.Lock()  # one at a time; meanwhile the next ones gather
        self._gathering: Future[Answer] | None = None

    def ask(self, wait: float = 0.0) -> Answer:
        """`wait`: seconds for others to come, of somebody who is in no hurry."""
        with self._lock:
            first = self._gathering is None
            answer = self._gathering = self._gathering or Future()
        if first:
            time.sleep(wait)
            with self._reading:
                with self._lock:
                    self._gathering = None
                try:
                    answer.set_result(self._read())
                except BaseException as error:
                    answer.set_exception(error)
        return answer.result()
