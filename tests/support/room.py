"""Gives the frames of Python's calls a piece of memory that all of them fit into.

Python has pieces of 16 KB for them, takes the next one from the kernel when a call doesn't fit into the last, and gives
it back when that call returns: 9 µs each time, for as long as something is called in a loop just there. Tests of pages
are hundreds of frames deep. A frame that needs a large piece gets one, and those of all that it calls lie in the rest
of it.
"""

from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")
VALUES = 65_536  # of the frame, 8 bytes each: half of a piece of 1 MB


def with_room(call: Callable[[], Result]) -> Result:
    return call()


with_room.__code__ = with_room.__code__.replace(co_stacksize=VALUES)
