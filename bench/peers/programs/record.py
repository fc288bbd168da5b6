"""Owns the record that every measured handler writes when it starts, Punctual's too: which task, which process, when.

One small append to a file opened once, so that measuring costs the same few microseconds for all.
"""

import os
import struct
import time
from pathlib import Path
from typing import NamedTuple

FILE = "BENCH_RECORDS"  # the environment variable that names the file
LAYOUT = struct.Struct("<qqd")

_file: int | None = None


class Start(NamedTuple):
    number: int
    process: int
    at: float  # epoch seconds, on the machine's clock


def stamp(number: int) -> None:
    """Called first thing in a handler."""
    global _file
    at = time.time()
    if _file is None:
        _file = os.open(os.environ[FILE], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(_file, LAYOUT.pack(number, os.getpid(), at))


def count() -> int:
    """Starts so far, asked of the file's size so that asking costs nothing."""
    path = Path(os.environ[FILE])
    return path.stat().st_size // LAYOUT.size if path.exists() else 0


def starts() -> list[Start]:
    whole = Path(os.environ[FILE]).read_bytes()
    return [Start(*fields) for fields in LAYOUT.iter_unpack(whole)]


def clear() -> None:
    """Appending goes on at the start of the file, also in processes that have it open."""
    Path(os.environ[FILE]).write_bytes(b"")


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def lateness(due_at: dict[int, float], *, after: float) -> dict[str, float]:
    """Percentiles in ms of handler start minus due time, of every task that was due later than `after`."""
    late = [(start.at - due_at[start.number]) * 1000 for start in starts() if due_at[start.number] > after]
    shares = {"p50_ms": 0.50, "p99_ms": 0.99, "p999_ms": 0.999, "max_ms": 1.0}
    return {name: round(percentile(late, share), 2) for name, share in shares.items()}
