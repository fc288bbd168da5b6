"""Owns the tasks that are measured, Punctual's and the peers': each with a key, a time and a small payload of its own.

A benchmark whose tasks are all alike measures something else: one time and no payload for 20,000 tasks made scheduling
look twice as fast as it is.
"""

STEP_SECONDS = 0.0001  # between the times of two tasks that are scheduled together


def key_of(number: int) -> str:
    """Scattered, so that neighbours in time are no neighbours in an index; the number stands behind the last dash."""
    return f"{number * 2_654_435_761 % 2**32:08x}-{number}"


def number_of(key: str) -> int:
    return int(key.rpartition("-")[2])


def payload_of(number: int) -> dict:
    return {
        "order": number,
        "customer": f"c-{number * 7919 % 100_003}",
        "channel": "mail",
        "total": f"{number % 997}.50",
    }


def times_from(first: float, tasks: int) -> list[float]:
    """Epoch seconds, one for each task."""
    return [first + number * STEP_SECONDS for number in range(tasks)]
