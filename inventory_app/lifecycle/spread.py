"""When a product is synced first: at once if it never was, else at its own place in what is left of its window."""

from datetime import datetime, timedelta
from hashlib import blake2b


def next_sync(code: str, synced_at: datetime, now: datetime, window: timedelta) -> datetime:
    """A moment between now and a window after the last sync, the same for the same code and as good as random.

    Without it a catalogue that was exported in one go would come due in one go, and again after every window.
    """
    left = min(synced_at, now) + window - now
    return now + max(left, timedelta(0)) * place_of(code)


def place_of(code: str) -> float:
    """From 0 to 1, evenly spread over any set of codes; the same on every machine and in every release."""
    return int.from_bytes(blake2b(code.encode(), digest_size=6).digest()) / 2**48
