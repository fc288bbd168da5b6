"""Idempotency tokens for many tasks at once."""

import os
from collections.abc import Iterator

_DIGITS = 32


def random_uuids(count: int) -> Iterator[str]:
    """Random UUIDs of version 4 as hex digits. PostgreSQL's own opens a random device for each: 3 us a row."""
    digits = os.urandom(count * _DIGITS // 2).hex()
    for start in range(0, count * _DIGITS, _DIGITS):
        one = digits[start : start + _DIGITS]
        yield f"{one[:12]}4{one[13:16]}a{one[17:]}"
