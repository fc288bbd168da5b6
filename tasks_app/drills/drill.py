"""What a drill is: the damage, the moment from which on its time counts, and its limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .judging import Limits

if TYPE_CHECKING:
    from .scene import Scene


@dataclass(frozen=True)
class Drill:
    name: str
    story: str  # what is done, as a sentence without its end
    limits: Limits
    since: str  # what the time counts from, in words
    # Does the damage and what an operator, or a tool of theirs, does about it; returns the moment that counts.
    strike: Callable[[Scene], float]
    prepare: Callable[[Scene], object] = lambda scene: None  # before the load begins
    standby: bool = False  # the database has a synchronous standby
    backup: bool = False  # and is backed up to two places meanwhile
    site: str = ""  # of the beats and workers that work at first
    margin: float = 30.0  # the load goes on for so much longer than the limit, unless all is well before
