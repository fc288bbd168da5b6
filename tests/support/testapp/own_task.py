"""Handlers whose annotations are strings, and whose Task is not the scheduler's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from decimal import Decimal


@dataclass
class Task:
    """What this app calls a task."""

    title: str


def do(task: Task) -> Decimal: ...
