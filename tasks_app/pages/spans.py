"""Lengths of time, in the language of the page."""

from datetime import timedelta
from functools import lru_cache

from django.utils.translation import get_language, gettext, gettext_noop

from tasks_app.core import phrases

UNITS = {
    "ms": gettext_noop("{} ms"),
    "s": gettext_noop("{} s"),
    "min": gettext_noop("{} min"),
    "h": gettext_noop("{} h"),
    "d": gettext_noop("{} d"),
}

_SIZES = (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1_000), ("ms", 1))  # in ms


def span(value: timedelta) -> str:
    """As `phrases.span` says it."""
    return _told(phrases.span(value))


def milliseconds(value: float) -> str:
    return _told(phrases.milliseconds(value))


def axis(value: float) -> str:
    """A round number of milliseconds, in the largest unit that it fills."""
    unit, size = next((unit, size) for unit, size in _SIZES if value >= size)
    return gettext(UNITS[unit]).format(f"{value / size:g}")


def _told(words: str) -> str:
    return _translated(words, get_language())


@lru_cache(10_000)  # a chart says the same few hundreds of them again and again
def _translated(words: str, language: str | None) -> str:
    if words.startswith("less"):
        return gettext("less than 1 ms")
    number, _, unit = words.partition(" ")
    return gettext(UNITS[unit]).format(number)
