"""How far a task says it is: a fraction and a note, checked where they are told."""

from decimal import Decimal
from numbers import Real
from typing import Any

from .errors import InvalidTask, shown
from .phrases import percent
from .text import visible

NOTE_LENGTH = 200
_ROUNDING = 1e-6  # a sum of parts may come out a little above 1


def checked_fraction(value: Any) -> float | None:
    """From 0 to 1, or None: it doesn't know."""
    if value is None:
        return None
    number = isinstance(value, Real | Decimal) and not isinstance(value, bool)
    if not number or not -_ROUNDING <= value <= 1 + _ROUNDING:
        raise InvalidTask(
            f"progress({shown(value)}): give how much of the whole is done, from 0 to 1, such as 40 / 100; None if it "
            "isn't known."
        )
    return min(max(float(value), 0.0), 1.0)


def clean_note(note: object) -> str:
    """One line of a bounded length; control characters are shown instead of obeyed."""
    text = visible(str(note).encode("utf-8", "backslashreplace").decode())
    return text if len(text) <= NOTE_LENGTH else text[: NOTE_LENGTH - 1] + "…"


def in_words(fraction: float | None, note: str) -> str:
    """40 %, page 40 of 100"""
    return ", ".join(filter(None, ("" if fraction is None else percent(fraction), note))) or "unknown"
