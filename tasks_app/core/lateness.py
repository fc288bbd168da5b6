"""A fixed histogram of lateness, small enough to keep on every batch and exact enough for percentiles."""

from collections.abc import Iterable, Sequence
from math import log2

# Buckets grow by 2^(1/4), 19 % each, from 0.25 ms up to about 4.5 hours; the last one is open.
_FIRST_MS = 0.25
_PER_DOUBLING = 4
BUCKETS = 104


def bucket_of(lateness_ms: float) -> int:
    if lateness_ms <= _FIRST_MS:
        return 0
    return min(int(log2(lateness_ms / _FIRST_MS) * _PER_DOUBLING) + 1, BUCKETS - 1)


def upper_bound_ms(bucket: int) -> float:
    return _FIRST_MS * 2 ** (bucket / _PER_DOUBLING)


def histogram(latenesses_ms: Iterable[float]) -> list[int]:
    counts = [0] * BUCKETS
    for lateness in latenesses_ms:
        counts[bucket_of(lateness)] += 1
    return counts


def percentile_ms(counts: Sequence[int], share: float) -> float | None:
    """The lateness that `share` (0 to 1) of the tasks did not exceed, to a bucket's width."""
    total = sum(counts)
    if not total:
        return None
    wanted, seen = share * total, 0
    for bucket, count in enumerate(counts):
        seen += count
        if count and seen >= wanted:
            return upper_bound_ms(bucket)
    return upper_bound_ms(BUCKETS - 1)
