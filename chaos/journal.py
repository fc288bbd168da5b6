"""Append-only files that survive the death of whoever writes them: one line, one write, and fsync where it matters."""

import os
from collections.abc import Iterator
from pathlib import Path

_open: dict[tuple[int, str], int] = {}


def append(name: str, line: str, *, durable: bool = False) -> None:
    """Add a line to the journal; when this returns and `durable`, it is on the disk."""
    handle = _handle(name)
    # O_APPEND and one write: lines of many processes don't mix, and a killed one leaves no half line.
    os.write(handle, line.encode() + b"\n")
    if durable:
        os.fsync(handle)


def read(name: str) -> Iterator[str]:
    path = _path(name)
    if path.exists():
        yield from path.read_text().splitlines()


def _handle(name: str) -> int:
    place = (os.getpid(), name)
    if place not in _open:
        _open[place] = os.open(_path(name), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    return _open[place]


def _path(name: str) -> Path:
    return Path(os.environ["CHAOS_FOLDER"]) / f"{name}.journal"
