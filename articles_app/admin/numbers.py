"""Reads the numbers that a page sends back: whatever somebody has made of them, it gets an answer."""

NONE = -1  # no article has it, and none was ever at it


def read_revision(text: str) -> int:
    """Which revision of an article the page was made from."""
    return _read(text, 9)


def read_id(text: str) -> int:
    return _read(text, 18)


def _read(text: str, digits: int) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= digits else NONE
