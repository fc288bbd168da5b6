"""Whether this worker is shutting down: one byte shared by the parent that hears SIGTERM and its children."""

from typing import Any

from billiard.sharedctypes import RawValue

# Made when the parent imports this. A child that is forked inherits it, one that is spawned is given it.
_flag = RawValue("b", 0)


def flag() -> Any:
    """To be pickled for a child that is spawned, and for nobody else."""
    return _flag


def share(given: Any) -> None:
    """Use the parent's, in a child that was spawned."""
    global _flag
    _flag = given


def request() -> None:
    _flag.value = 1


def requested() -> bool:
    return bool(_flag.value)


def reset() -> None:
    """For tests, which have many lives in one process."""
    _flag.value = 0
