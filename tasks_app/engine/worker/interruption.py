"""Interrupting a handler: an exception raised in the thread that runs it."""

import ctypes
import signal
import threading
from itertools import count

TIMEOUT = "TIMEOUT"
SHUTDOWN = "SHUTDOWN"


class Interrupted(BaseException):
    """Raised inside a handler that ran over its time or into a shutdown. No `except Exception` catches it."""

    def __init__(self, code: str, message: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def over_time(timeout: float) -> Interrupted:
    return Interrupted(TIMEOUT, f"timeout: ran longer than {timeout:g} s")


def over_shutdown(limit: float) -> Interrupted:
    return Interrupted(SHUTDOWN, f"shutdown: still running {limit:g} s after the worker was told to stop")


class MainThreadInterrupter:
    """Raises Interrupted in the main thread, but only while the call it was meant for is still running.

    The main thread numbers its calls: `enter` gives a number, `leave` ends it. A signal that arrives after its
    call ended finds another number, or none, and does nothing.
    """

    SIGNAL = signal.SIGALRM

    def __init__(self) -> None:
        self.numbers = count(1)
        self.call: int | None = None  # the number of the call that is running
        self._victim: tuple[int, Interrupted] | None = None
        self._main = threading.main_thread().ident or 0  # the main thread always has one

    def install(self) -> None:
        """Must run in the main thread."""
        signal.signal(self.SIGNAL, self._on_signal)

    def enter(self) -> None:
        self.call = next(self.numbers)

    def leave(self) -> None:
        self.call = None

    def interrupt(self, call: int, reason: Interrupted) -> None:
        """From another thread: end call number `call`."""
        self._victim = (call, reason)
        signal.pthread_kill(self._main, self.SIGNAL)

    def _on_signal(self, signum: int, frame: object) -> None:
        victim, self._victim = self._victim, None
        if victim is not None and victim[0] == self.call:
            raise victim[1]


class OverTime(Interrupted):
    """In a thread: what is raised there is a class, and has to know its code by itself."""

    def __init__(self) -> None:
        super().__init__(TIMEOUT)


class OverShutdown(Interrupted):
    def __init__(self) -> None:
        super().__init__(SHUTDOWN)


def interrupt_thread(ident: int, reason: type[OverTime | OverShutdown]) -> None:
    """Raise it in a pool thread at its next bytecode; a thread inside a C call doesn't notice until then."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(ident), ctypes.py_object(reason))
