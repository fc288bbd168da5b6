"""The observer of a beat: a small child process that ends the beat when it hangs, and records what it hung on.

While C code holds the interpreter, no thread of the beat runs, so the beat can write nothing. The observer reads the
marks of its threads from shared memory (core/at_work.py), asks for their stacks, writes one row, and kills the beat.
Whatever restarts it (systemd, Kubernetes, a shell) starts a beat that reads this row before it works. An end of any
other cause (kill -9, no memory, power) is no evidence, and writes nothing.

The beat also ends itself if the observer can't: a timer of `faulthandler`, in C, which a thread of the beat keeps
setting anew.
"""

import faulthandler
import gc
import logging
import mmap
import os
import resource
import select
import signal
import threading
import time
from contextlib import suppress
from itertools import takewhile
from pathlib import Path

from tasks_app.conf import conf
from tasks_app.core.at_work import MARKS, Kind, Mark, ask_for_stacks, read_marks, read_pulse
from tasks_app.core.stall import Judge
from tasks_app.database import our_connection
from tasks_app.engine.nodes import process_name
from tasks_app.lifecycle.stalls import note_params
from tasks_app.sql import filled

log = logging.getLogger(__name__)

POLLS = 10  # polls of the observer within the limit
# Times the limit after which the beat's own timer ends it: the process 1 of a container can't be killed.
ENDS_ITSELF = 2
STACK_SECONDS = 1.0  # that the stacks may take to arrive
STACK_LINES = 30
DUMP = signal.SIGUSR1  # as in Celery's workers
STDERR = 2  # sys.stderr may be one of Celery's loggers
_TICKS = os.sysconf("SC_CLK_TCK")


class Observer:
    """The beat's side of it. Nothing happens before start()."""

    def __init__(self) -> None:
        self._stopped = threading.Event()

    def start(self) -> None:
        """Before the beat has any threads or connections."""
        if not (limit := conf().STALL_SECONDS):
            return
        memory, beat, name = MARKS.share(), os.getpid(), process_name()
        reads, writes = os.pipe()
        faulthandler.register(DUMP, file=writes, all_threads=True)
        if os.fork() == 0:
            try:
                os.close(writes)
                _be_small(reads)
                _observe(beat, reads, memory, limit, name)
            finally:
                os._exit(0)
        os.close(reads)
        threading.Thread(target=self._pulse, args=(limit, writes), name="punctual-pulse", daemon=True).start()

    def stop(self) -> None:
        self._stopped.set()
        faulthandler.cancel_dump_traceback_later()

    def _pulse(self, limit: float, writes: int) -> None:
        while not self._stopped.is_set():
            MARKS.pulse()
            if MARKS.asked:
                faulthandler.dump_traceback(writes, all_threads=True)
            faulthandler.dump_traceback_later(ENDS_ITSELF * limit, exit=True, file=STDERR)
            self._stopped.wait(limit / POLLS)
        faulthandler.cancel_dump_traceback_later()


OBSERVER = Observer()


def _be_small(reads: int) -> None:
    """It ends with the beat, not by its signals; it keeps none of its sockets, and copies few of its pages."""
    gc.disable()
    faulthandler.unregister(DUMP)
    for signum in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(signum, signal.SIG_IGN)
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    os.closerange(3, reads)
    os.closerange(reads + 1, most if most != resource.RLIM_INFINITY else 65_536)


def _observe(beat: int, reads: int, memory: mmap.mmap, limit: float, name: str) -> None:
    """Until the beat has ended: its end of the pipe is closed then."""
    judge, pause, polled_at = Judge(limit, lambda thread: _cpu(beat, thread)), limit / POLLS, time.monotonic()
    while True:
        if select.select([reads], [], [], pause)[0] and not os.read(reads, 65_536):
            return
        now = time.monotonic()
        # If this process was stopped as well, it has not seen what happened meanwhile.
        mark = judge.poll(min(now - polled_at, 2 * pause), read_pulse(memory), read_marks(memory))
        polled_at = now
        if mark is None:
            continue
        if judge.silent > 2 * pause:
            os.kill(beat, DUMP)  # no thread of it can answer, and none changes its stack meanwhile
        else:
            ask_for_stacks(memory)  # a signal could find stacks that change
        _end(beat, mark, name, _stack_of(_stacks(reads, STACK_SECONDS + 2 * pause), mark.thread))
        while os.read(reads, 65_536):  # until it is gone: it counts once, even if only its own timer can end it
            pass
        return


def _end(beat: int, mark: Mark, name: str, stack: str) -> None:
    _say(f"beat.stalled kind={mark.kind} item={mark.item!r} place={mark.place or '-'} beat={name}\n{stack}\n")
    try:
        # A connection of its own: those of the beat are the beat's.
        ours = our_connection()
        with ours.get_new_connection(ours.get_connection_params()) as link:
            link.execute(filled("note_stall"), note_params(Kind(mark.kind), mark.item, mark.place, name, stack))
    except Exception as error:
        _say(f"beat.stall_not_noted error={str(error).strip()!r}\n")
    os.kill(beat, signal.SIGKILL)


def _stacks(reads: int, seconds: float) -> str:
    """Of all its threads, as faulthandler writes them."""
    text, until = b"", time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0 and select.select([reads], [], [], left)[0]:
        if not (part := os.read(reads, 65_536)):
            break
        text += part
        until = min(until, time.monotonic() + STACK_SECONDS / 10)
    return text.decode(errors="replace")


def _stack_of(stacks: str, thread: int) -> str:
    """The thread's lines, the innermost call first; of all threads if it is not known which it is."""
    lines = stacks.splitlines()
    heads = [place for place, line in enumerate(lines) if _is_head(line, thread)] if thread else []
    if heads:
        lines = list(takewhile(lambda line: line.startswith("  "), lines[heads[0] + 1 :]))
    return "\n".join(line.strip() for line in lines[:STACK_LINES])


def _is_head(line: str, thread: int) -> bool:
    """`Thread 0x00007f… (most recent call first):`, and `Current thread …` for the one that dumps."""
    words = line.lower().split()
    number = next((word for word in words[:3] if word.startswith("0x")), "")
    return "thread" in words[:2] and number.removeprefix("0x").lstrip("0") == f"{thread:x}"


def _cpu(process: int, thread: int) -> float | None:
    """Seconds of CPU that the thread has used, or all of the process (0)."""
    folder = Path(f"/proc/{process}")
    try:
        stat = (folder / "task" / str(thread) / "stat" if thread else folder / "stat").read_text()
    except OSError:  # it has ended, or this is no Linux
        return None
    return sum(map(int, stat.rpartition(")")[2].split()[11:13])) / _TICKS


def _say(text: str) -> None:
    """Not by logging: its files are the beat's."""
    with suppress(OSError):
        os.write(STDERR, text.encode())
