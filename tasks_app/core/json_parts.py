"""How many parts a JSON text has, counted before parsing: each costs many times its size in memory and time."""

MOST_PARTS = 250_000


def too_many_parts(text: bytes) -> int:
    """How many parts it has if they are too many, else 0: each value in a list or object, and each list and object."""
    if _marks(text) < MOST_PARTS:
        return 0  # nearly all: those in strings count too, so it has fewer
    # A byte of UTF-16 or UTF-32 can look like a quote, so all of their marks count.
    parts = 1 + _marks(text if b"\0" in text else _without_strings(text))
    return parts if parts > MOST_PARTS else 0


def _marks(text: bytes) -> int:
    return text.count(b",") + text.count(b"[") + text.count(b"{")


def _without_strings(text: bytes) -> bytes:
    return b"".join(text.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')[::2])
