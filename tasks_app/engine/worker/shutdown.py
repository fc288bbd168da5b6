"""Whether this worker is shutting down: one byte shared by the parent that hears SIGTERM and its children."""

import mmap

# Anonymous and shared: made when the parent imports this, inherited by every child it forks.
_flag = mmap.mmap(-1, 1)


def request() -> None:
    _flag[0] = 1


def requested() -> bool:
    return _flag[0] == 1


def reset() -> None:
    """For tests, which have many lives in one process."""
    _flag[0] = 0
