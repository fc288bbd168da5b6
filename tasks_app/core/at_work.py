"""What each thread of a process is working on, in memory that another process reads while this one hangs.

A mark costs about two microseconds and no statement. Where nobody reads them (web processes, workers) there are none.
"""

import itertools
import mmap
import struct
import threading
from contextlib import AbstractContextManager, nullcontext
from enum import StrEnum
from typing import NamedTuple

SLOTS = 512  # marks at the same time; work beyond them is not marked
_NUMBER = struct.Struct("<Q")
_PULSE, _ASKED, _SLOTS = 0, _NUMBER.size, 2 * _NUMBER.size  # where they are
# Its number (0: the slot is free), the thread for Python and for the system, patient; kind, place and item.
_SLOT = struct.Struct("<QQQ?15s32s440s")
ITEM_BYTES = 440
_SIZE = _SLOTS + SLOTS * _SLOT.size
_NOTHING = nullcontext()


class Kind(StrEnum):
    """What a beat works on. A part is a chore or a loop of the beat itself: it is named, and never skipped."""

    SUBSCRIPTION = "subscription"
    JOB = "job"
    CALENDAR = "calendar"
    TENANT = "tenant"
    PART = "part"


class Mark(NamedTuple):
    number: int  # a later mark has a larger one
    thread: int  # threading.get_ident()
    native_id: int
    patient: bool  # it may use any amount of CPU, as long as the process responds
    place: str  # the part of the beat that works on it
    kind: str
    item: str


class Marks:
    def __init__(self) -> None:
        self._memory: mmap.mmap | None = None
        self._free: list[int] = []
        self._numbers = itertools.count(1)

    def share(self) -> mmap.mmap:
        """From now on marks are kept; children that are forked after this call see them."""
        self._memory = mmap.mmap(-1, _SIZE)
        self._free = list(range(_SLOTS, _SIZE, _SLOT.size))
        return self._memory

    def pulse(self) -> None:
        """The interpreter runs: another thread of it got its turn."""
        if self._memory is not None:
            _NUMBER.pack_into(self._memory, _PULSE, read_pulse(self._memory) + 1)

    @property
    def asked(self) -> bool:
        """Whether the reader of the marks wants the stacks of all threads."""
        return self._memory is not None and bool(_NUMBER.unpack_from(self._memory, _ASKED)[0])

    def on(self, kind: Kind, item: object, place: str, *, patient: bool = False) -> AbstractContextManager[None]:
        """This thread works on the item until the context ends. Of marks within each other, the innermost counts."""
        return _NOTHING if self._memory is None else _Marked(self, kind, str(item), place, patient)

    def set(self, kind: Kind, item: str, place: str, patient: bool) -> int | None:
        """Returns the slot; None: all are taken."""
        if self._memory is None or not self._free:
            return None
        slot = self._free.pop()
        thread, texts = threading.get_ident(), (place.encode(), item.encode()[:ITEM_BYTES])
        _SLOT.pack_into(
            self._memory, slot, next(self._numbers), thread, threading.get_native_id(), patient, kind.encode(), *texts
        )
        return slot

    def clear(self, slot: int) -> None:
        if self._memory is not None:
            _NUMBER.pack_into(self._memory, slot, 0)
            self._free.append(slot)


class _Marked:
    __slots__ = ("_about", "_marks", "_slot")

    def __init__(self, marks: Marks, kind: Kind, item: str, place: str, patient: bool) -> None:
        self._marks, self._about = marks, (kind, item, place, patient)

    def __enter__(self) -> None:
        self._slot = self._marks.set(*self._about)

    def __exit__(self, *error: object) -> None:
        if self._slot is not None:
            self._marks.clear(self._slot)


def read_pulse(memory: mmap.mmap) -> int:
    number: int = _NUMBER.unpack_from(memory, _PULSE)[0]
    return number


def ask_for_stacks(memory: mmap.mmap) -> None:
    _NUMBER.pack_into(memory, _ASKED, 1)


def read_marks(memory: mmap.mmap) -> list[Mark]:
    """Those that are set. A mark written during the read may be incomplete; a second read shows that."""
    found = []
    for slot in range(_SLOTS, _SIZE, _SLOT.size):
        if _NUMBER.unpack_from(memory, slot)[0]:
            number, thread, native_id, patient, *texts = _SLOT.unpack_from(memory, slot)
            kind, place, item = (text.rstrip(b"\0").decode(errors="replace") for text in texts)
            found.append(Mark(number, thread, native_id, patient, place, kind, item))
    return found


MARKS = Marks()
