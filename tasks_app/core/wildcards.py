"""Patterns in which * stands for any characters. Users write them and beats match them, so matching takes linear time
for every pattern, including stored ones beyond the present limits."""

from .errors import shown

PATTERN_LENGTH = 100
MOST_WILDCARDS = 5


def matches(pattern: str, text: str) -> bool:
    """Whether the whole text fits. Each part between two * is taken where it comes first: no place is tried again."""
    first, *parts = pattern.split("*")
    if not parts:
        return pattern == text
    last = parts.pop()
    if len(text) < len(first) + len(last) or not text.startswith(first) or not text.endswith(last):
        return False
    at, end = len(first), len(text) - len(last)
    for part in parts:
        if part:
            at = text.find(part, at, end)
            if at < 0:
                return False
            at += len(part)
    return True


def refused(pattern: str) -> str | None:
    """The limit that this pattern breaks, as a sentence; None if it keeps all."""
    if len(pattern) > PATTERN_LENGTH:
        return f"{shown(pattern)} has {len(pattern):,} characters; a pattern has at most {PATTERN_LENGTH}. Shorten it."
    if (wildcards := pattern.count("*")) > MOST_WILDCARDS:
        return (
            f"{shown(pattern)} has {wildcards} wildcards (*); a pattern has at most {MOST_WILDCARDS}. One * stands for "
            "any number of characters, so remove repeated ones, or give several patterns."
        )
    return None
