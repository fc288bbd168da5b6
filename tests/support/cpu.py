"""Work under a limit of processor time: it runs in a child process, which the kernel ends at the limit."""

import gc
import mmap
import os
import resource
import signal
import traceback
from collections.abc import Callable, Sequence
from typing import NamedTuple

SECONDS = 1


class Piece(NamedTuple):
    """A small piece of work; it must not use connections of this process."""

    name: str  # pieces of the same name are not run after one of them was too slow
    text: str  # what it works on, for people
    work: Callable[[], object]


def ends_in_time(work: Callable[[], object], seconds: float = SECONDS) -> bool:
    """Whether it takes less than a second of processor time. It must not use connections of this process."""
    child = os.fork()
    if child == 0:
        _run(work, seconds)
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) in (signal.SIGPROF, signal.SIGKILL), f"ended by signal {os.WTERMSIG(status)}"
        return False
    assert os.WEXITSTATUS(status) == 0, "the work raised an error; it is printed above"
    return True


def too_slow(pieces: Sequence[Piece], seconds: float = SECONDS) -> list[Piece]:
    """Those that take a second of processor time. All share a child, in which each has a second of its own: it writes
    down which piece it is at, and the one at which it was ended runs once more alone."""
    found: dict[str, Piece] = {}
    left = list(pieces)
    with mmap.mmap(-1, 8) as at:

        def work() -> None:
            for number, piece in enumerate(left):
                at[:] = number.to_bytes(8, "big")
                _limit(seconds)
                try:
                    piece.work()
                except BaseException as error:
                    error.add_note(f"{piece.name}: {piece.text}")
                    raise

        while left and not ends_in_time(work, seconds):
            ended = left[int.from_bytes(at[:], "big")]
            left = left[int.from_bytes(at[:], "big") + 1 :]
            if not ends_in_time(ended.work, seconds):
                found[ended.name] = ended
                left = [piece for piece in left if piece.name != ended.name]
    return list(found.values())


def _run(work: Callable[[], object], seconds: float) -> None:
    """In the child; nothing of the parent's exit handlers may run here."""
    status = 1
    try:
        gc.freeze()  # else collections would go through, and copy, all that the tests' process has
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        _limit(seconds)
        work()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def _limit(seconds: float) -> None:
    """From now on; counted for all threads of the process, and kept by code in C, too."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
