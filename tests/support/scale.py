"""How much of a search is done: all of it by `make prove`, a part by `make test`."""

import os
from collections.abc import Sequence
from typing import TypeVar

FULL = os.environ.get("PUNCTUAL_SCALE") == "full"
Thing = TypeVar("Thing")


def some(things: Sequence[Thing], number: int, *, of: int) -> Sequence[Thing]:
    """One of so many parts of them, by the number of what they are tried with, so that each is tried; in full, all."""
    return things if FULL else things[number % of :: of]
