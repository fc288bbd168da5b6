"""Asks the database in a thread of its own, so that whoever waits for the answer can stop waiting.

A database that is stopped, or behind a network that swallows packets, answers nothing at all for half a minute; a
scrape must be answered within two seconds, and say so.
"""

import contextlib
import logging
import os
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, NamedTuple, TypeVar

from django.db import DatabaseError, InterfaceError

from tasks_app.database import close_connections, our_connection

log = logging.getLogger(__name__)

IDLE_SECONDS = 60.0  # after which its connection is closed

T = TypeVar("T")


class NoAnswer(Exception):
    """The database did not answer in time, or could not be reached."""


class _Question(NamedTuple):
    call: Callable[[], Any]
    until: float
    answer: Future[Any]


_Questions = queue.SimpleQueue[_Question | threading.Event]  # the event is set when the thread ends


class Background:
    """One thread in each process, from the first question on; it has one connection to the database."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process = 0
        self._questions: _Questions = queue.SimpleQueue()

    def ask(self, question: Callable[[], T], until: float) -> T:
        """The answer, if it comes before `until` by the monotonic clock; else NoAnswer."""
        answer: Future[T] = Future()
        self._begin()
        self._questions.put(_Question(question, until, answer))
        try:
            return answer.result(max(0.0, until - time.monotonic()))
        except TimeoutError:
            answer.cancel()  # if it has not begun, it need not
            raise NoAnswer("the database does not answer") from None

    def stop(self) -> None:
        """Ends the thread, when it has answered."""
        with self._lock:
            if self._process == os.getpid():
                ended = threading.Event()
                self._questions.put(ended)
                ended.wait(5)
            self._process = 0

    def _begin(self) -> None:
        with self._lock:
            if self._process != os.getpid():  # a fork has its parent's queue, but not its thread
                self._questions, self._process = queue.SimpleQueue(), os.getpid()
                threading.Thread(target=_answer, args=[self._questions], name="punctual-metrics", daemon=True).start()


def _answer(questions: _Questions) -> None:
    while True:
        try:
            asked = questions.get(timeout=IDLE_SECONDS)
        except queue.Empty:
            close_connections()
            continue
        if isinstance(asked, threading.Event):
            close_connections()
            asked.set()
            return
        question, until, answer = asked
        if time.monotonic() > until or not answer.set_running_or_notify_cancel():
            continue
        try:
            answer.set_result(_tried(question))
        except Exception as error:
            with contextlib.suppress(Exception):
                our_connection().close()
            known = isinstance(error, DatabaseError | InterfaceError)
            log.warning("metrics.unread error=%r", str(error).strip(), exc_info=not known)
            answer.set_exception(NoAnswer("the database does not answer") if known else error)


def _tried(question: Callable[[], T]) -> T:
    """Once more on a new connection: the one before may have been idle while the server was restarted."""
    fresh = our_connection().connection is None
    try:
        return question()
    except (DatabaseError, InterfaceError):
        if fresh:
            raise
        our_connection().close()
        return question()
