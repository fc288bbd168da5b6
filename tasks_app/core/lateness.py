"""A fixed histogram of lateness, small enough to keep on every batch and exact enough for percentiles."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

# Buckets grow by 2^(1/4), 19 % each, from about 0.25 ms up to about 4.5 hours; the last one is open. 1 s and 2 s are
# bounds, so that what starts within a limit of 2,000 ms is never counted as later than that.
_FIRST_MS = 1_000 / 2**12
_PER_DOUBLING = 4
BUCKETS = 104


_BOUNDS_MS = [_FIRST_MS * 2 ** (bucket / _PER_DOUBLING) for bucket in range(BUCKETS - 1)]


def bucket_of(lateness_ms: float) -> int:
    return bisect_left(_BOUNDS_MS, lateness_ms)


def upper_bound_ms(bucket: int) -> float:
    return _FIRST_MS * 2 ** (bucket / _PER_DOUBLING)


def middle_ms(bucket: int) -> float:
    """What a task in this bucket was late by, for a sum."""
    return (upper_bound_ms(bucket) + (upper_bound_ms(bucket - 1) if bucket else 0.0)) / 2


def histogram(latenesses_ms: Iterable[float]) -> list[int]:
    ordered, counts, seen = sorted(latenesses_ms), [0] * BUCKETS, 0
    bucket = bucket_of(ordered[0]) if ordered else 0
    # A search for each bucket between the first and the last: one for each of thousands of values takes ten times as
    # long.
    while seen < len(ordered):
        upto = bisect_right(ordered, _BOUNDS_MS[bucket], seen) if bucket < BUCKETS - 1 else len(ordered)
        counts[bucket], seen, bucket = upto - seen, upto, bucket + 1
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
